"""The reason of a match in one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.types import ConceptShare, Passage, TermMatch, TokenAlignment
from core.concepts.terms import has_content

_CONCEPTS = 2
_WORDS = 3
_CLEAR = 0.05  # of the score: a concept with less is no reason


def reason(
    passage: Passage,
    concepts: Sequence[ConceptShare],
    terms: Sequence[TermMatch],
    alignment: Sequence[TokenAlignment],
    *,
    loose: bool = False,
) -> str:
    """What both are about, then which words of the question stand in the passage; the nearest words otherwise.

    `loose` says that the match is weak in meaning: the sentence then claims less.
    """
    about = _about(concepts, loose)
    words = _words(passage, terms)
    if about and words:
        return f"{about}; {words}."
    if about:
        return f"{about}."
    if words:
        return f"{words[0].upper()}{words[1:]}."
    if alignment:
        best = max(alignment, key=lambda a: a.score)
        return f"“{best.passage_token}” in the passage comes close to “{best.query_token}” in meaning."
    if parts := sorted((t for t in terms if t.part_of and t.spans), key=lambda t: -t.weight):
        word = passage.text[parts[0].spans[0].start : parts[0].spans[0].end]
        return f"The word {word} in the passage and {parts[0].part_of} in the question have a part in common."
    return "No single word or topic stands out; the passage is near the question only as a whole."


def _about(concepts: Sequence[ConceptShare], loose: bool) -> str:
    helping = [c for c in concepts if c.contribution > 0]
    shared = [c for c in helping if c.query_activation > 0 and c.share >= _CLEAR]
    if shared:
        verb = "Loosely related: both touch on" if loose else "Both are about"
        return f"{verb} {_listed([f'«{c.label}»' for c in shared[:_CONCEPTS]])}"
    if helping:
        near = "only loosely related to" if loose else "close to"
        return f"The passage is about «{helping[0].label}», which is {near} the question"
    return ""


def _words(passage: Passage, terms: Sequence[TermMatch]) -> str:
    ordered = sorted((t for t in terms if not (t.added or t.part_of)), key=lambda t: -t.weight)
    inside = [passage.text[t.spans[0].start : t.spans[0].end] for t in ordered if t.spans]
    for words, where in ((inside, "it"), ([t.term for t in ordered if not t.spans], "its title or headings")):
        if telling := [word for word in words if has_content(word, passage.language)]:
            return _stands(telling, where)
    return ""


def _stands(words: Sequence[str], where: str) -> str:
    distinct = list({word.casefold(): word for word in reversed(words)}.values())[::-1][:_WORDS]
    if len(distinct) == 1:
        return f"the word {distinct[0]} stands in {where}"
    return f"the words {_listed(distinct)} stand in {where}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
