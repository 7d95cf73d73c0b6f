"""Who does what to whom: does a sentence turn a relation of its source round?

"The Tern was built by Lind" and "Lind was built by the Tern" hold the same words. Where the order of words tells who
acts, the same verb (with its preposition) is looked up in the source: its two sides must not have changed places. A
relation that goes both ways ("differs from") counts as turned round, too; its sentence is then quoted, not restated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.answer.words import is_function_word
from core.text.analyze import term_texts

_ORDERED = frozenset({"en", "fr", "es", "it", "pt"})  # languages whose endings do not tell who acts
_CLAUSE = re.compile(r"[,;:.!?()\[\]\n“”\"–—]+")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ARTICLE_WORDS = "a an the le la les l un une des el los las lo unos unas il i gli uno una o os as um uma"
_PASSIVE_WORDS = "is are was were be been being est sont était étaient fut été"
_OF_WORDS = "of de du des di del della do dos"  # they hold a side together
_ARTICLES, _PASSIVE, _OF = (frozenset(words.split()) for words in (_ARTICLE_WORDS, _PASSIVE_WORDS, _OF_WORDS))
_AGENT = frozenset(("by", "par"))
_WIDEST = 3  # content words of a side


@dataclass(frozen=True, slots=True)
class _Relation:
    """A word with the small words after it, and the stems nearest on its two sides."""

    key: tuple[str, ...]
    left: frozenset[str]
    right: frozenset[str]

    def same_way(self, other: _Relation) -> bool:
        return bool(self.left & other.left or self.right & other.right)

    def turned(self, other: _Relation) -> bool:
        return bool(self.left & other.right and self.right & other.left)


def turned_round(answer: str, source: str, language: str) -> bool:
    """Does `answer` hold a relation of `source` with its sides exchanged, and nowhere as it stands there?"""
    if language not in _ORDERED:
        return False
    known = list(_relations(source, language))
    for told in _relations(answer, language):
        same = [one for one in known if one.key == told.key]
        if any(map(told.turned, same)) and not any(map(told.same_way, same)):
            return True
    return False


def _relations(text: str, language: str) -> Iterator[_Relation]:
    for clause in _CLAUSE.split(text):
        words = [w.casefold() for w in _WORD.findall(clause) if w.casefold() not in _ARTICLES]
        small = [is_function_word(word, language) for word in words]
        for n, word in enumerate(words):
            if not small[n]:
                yield from _around(words, small, n, _stem(word, language), language)


def _around(words: Sequence[str], small: Sequence[bool], n: int, stem: str, language: str) -> Iterator[_Relation]:
    end = next((m for m in range(n + 1, len(words)) if not small[m]), len(words))
    left = _side(words[:n][::-1], small[:n][::-1], language)
    right = _side(words[end:], small[end:], language)
    if not left or not right:
        return
    after = words[n + 1 : end]
    yield _Relation((stem, *after), left, right)
    if n and words[n - 1] in _PASSIVE and len(after) == 1 and after[0] in _AGENT:
        yield _Relation((stem,), right, left)  # what the active voice says


def _side(words: Sequence[str], small: Sequence[bool], language: str) -> frozenset[str]:
    """The nearest content words, up to the first small word behind them that begins something else."""
    found: list[str] = []
    for word, is_small in zip(words, small, strict=True):
        if (is_small and found and word not in _OF) or len(found) == _WIDEST:
            break
        if not is_small:
            found.append(_stem(word, language))
    return frozenset(found)


def _stem(word: str, language: str) -> str:
    return next(iter(term_texts(word, language)), word)
