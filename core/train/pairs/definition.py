"""A sentence that says what something is answers the question what it is, asked in the language of the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from core.search.function_words import FUNCTION_WORDS
from core.text.sentences import split
from core.train.pairs.source import Source, asked
from core.train.pairs.words import letters
from core.train.types import DEFINITION, Question

_LABEL = re.compile(r"^[A-Z]{4,}(?: [A-Z]{3,})*:? (?=[A-Z][a-z])")  # of a structured abstract: "CONTEXT The ..."
_INSIDE = frozenset(
    ("of", "de", "du", "des", "del", "della", "di", "do", "da", "dos", "van", "von", "der", "den", "la")
)
_ARE, _PLURAL = " are ", "what are {}?"
_LEAST, _MOST = 40, 500  # letters and characters of the sentence
_TERM = r"(?P<term>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,4}?)(?: \([^()]{1,40}\))?,?"
_SHORT = r"(?P<term>[^\W\d_][\w'’-]*(?: [\w'’-]+){0,2}?)"
# language: how such a sentence begins (after an article), and how it is asked for
_FORMS = {
    "en": (rf"(?:(?:an?|the) )?{_TERM} (?:is|are) (?:an?|the|any|one of|defined as|known as) ", "what is {}?"),
    "de": (rf"(?:(?:der|die|das|eine?) )?{_TERM} (?:ist|sind|bezeichnet|nennt man) (?:eine?n?|der|die|das) ",
           "was ist {}?"),
    "fr": (rf"(?:(?:une?|les?|la) |l['’])?{_TERM} (?:est|sont|désigne) (?:une?|des|les?|la|l['’])",
           "qu'est-ce que {} ?"),
    "es": (rf"(?:(?:una?|el|la|los|las) )?{_TERM} (?:es|son) (?:una?|el|la|los|las) ", "¿qué es {}?"),
    "it": (rf"(?:(?:una?|il|lo|la|i|gli|le) |l['’])?{_TERM} (?:è|sono) (?:una?|uno|il|lo|la|l['’])", "che cos'è {}?"),
    "pt": (rf"(?:(?:uma?|o|a|os|as) )?{_TERM} (?:é|são) (?:uma?|o|a|os|as) ", "o que é {}?"),
    "nl": (rf"(?:(?:een|de|het) )?{_TERM} (?:is|zijn) (?:een|de|het) ", "wat is {}?"),
    "sv": (rf"(?:(?:en|ett) )?{_TERM} är (?:en|ett|den|det) ", "vad är {}?"),
    "da": (rf"(?:(?:en|et) )?{_TERM} er (?:en|et|den|det) ", "hvad er {}?"),
    "no": (rf"(?:(?:en|et|ei) )?{_TERM} er (?:en|et|ei|den|det) ", "hva er {}?"),
    "fi": (rf"{_SHORT} on ", "mikä on {}?"),
    "pl": (rf"{_TERM} (?:[–—-] )?(?:to|jest to) ", "co to jest {}?"),
    "ru": (rf"{_TERM} [–—-] это ", "что такое {}?"),
    "uk": (rf"{_TERM} [–—-] це ", "що таке {}?"),
    "el": (rf"(?:(?:ο|η|το) )?{_TERM} είναι (?:ένας|μία|μια|ένα|ο|η|το) ", "τι είναι {};"),
    "tr": (rf"{_SHORT},? (?=.{{15,}}(?:[dt][ıiuü]r|denir)\.?$)", "{} nedir?"),
    "id": (rf"{_TERM} (?:adalah|ialah|merupakan) ", "apa itu {}?"),
    "vi": (rf"{_TERM} là (?:một|loại|quá trình|phương pháp) ", "{} là gì?"),
    "ar": (rf"{_SHORT} (?:هو|هي) ", "ما معنى {}؟"),
    "he": (rf"{_SHORT} (?:הוא|היא) ", "מה זה {}?"),
    "zh": (r"(?P<term>[^，。、：；“”\s也就都还则便仍认]{2,12}?)(?:\s?[（(][^）)]{1,40}[）)])?，?"
           r"(?:是指|是一[种種个個类類]|指的是)",
           "什么是{}？"),
    "ja": (r"(?P<term>[^、。\s]{2,16}?)(?:\s?[（(][^）)]{1,40}[）)])?とは、?", "{}とは何ですか？"),
    "ko": (r"(?P<term>[가-힣\w]{2,12}(?: [가-힣\w]{1,10}){0,2}?)(?:이?란|은|는) "
           r"(?=.{8,}(?:이다|입니다|말한다|뜻한다)\.?$)",
           "{}의 뜻은 무엇인가요?"),
}  # fmt: skip
_FORMS["nb"] = _FORMS["nn"] = _FORMS["no"]
_FORMS["ms"] = _FORMS["id"]
# words that stand for something said before, or that no name begins or ends with
_NO_NAME = {
    "en": "it this that these those there he she they we you i what who which where when why how one here if as in on "
    "at by for of to from with and or but so all both each most many some such another other any no not his her its "
    "their our my your since while although because once whether after before thus therefore however same only first "
    "second last next result point reason problem",
    "de": "es dies dieser diese dieses das er sie wir ihr ich hier dort da was wer wie wo wenn als in an auf bei mit "
    "von zu und oder aber auch nur alle viele einige jeder jede jedes sein seine ihre grund ziel",
    "fr": "il elle ce c cela ceci ils elles nous vous je on ici que qui quoi où quand si comme dans en sur par pour de "
    "du et ou mais tout tous cette ces cet son sa ses leur notre votre but",
    "es": "él ella esto eso este esta ese esa ello ellos ellas nosotros aquí que qué quién si como en por para de y o "
    "pero todo todos su sus nuestro cada objetivo",
    "it": "esso essa questo questa quello quella egli lui lei loro noi qui che chi se come in per di e o ma tutto suo "
    "sua nostro ogni scopo",
    "pt": "ele ela isto isso este esta esse essa eles elas nós aqui que quem se como em por para de e ou mas todo seu "
    "sua nosso cada objetivo",
}  # fmt: skip


def pairs(source: Source) -> Iterator[Question]:
    for piece in source.pieces:
        for start, end in split(piece.text) if _language(piece.language) in _FORMS else ():
            text = question(piece.text[start:end], _language(piece.language))
            if text:
                yield asked(text, piece, DEFINITION)


def question(sentence: str, language: str) -> str:
    """What a sentence defines, as a question; empty when it defines nothing."""
    sentence = " ".join(sentence.split())
    if language not in _FORMS or len(sentence) > _MOST or letters(sentence) < _LEAST / (1 + _is_dense(language)):
        return ""
    found = _pattern(language).match(_LABEL.sub("", sentence))
    if found is None:
        return ""
    words = found["term"].casefold().split()
    inner = set(words[1:-1]) - _INSIDE
    if ({words[0], words[-1]} | inner) & _no_name(language) or letters(found["term"]) < 2:
        return ""
    form = _PLURAL if _ARE in found[0].casefold() else _FORMS[language][1]
    return form.format(found["term"])


def _is_dense(language: str) -> int:
    """Whether a letter says about as much as two to three of other scripts."""
    return 2 * (language in ("zh", "ja", "ko"))


def _language(code: str) -> str:
    return code.partition("-")[0].casefold()


@cache
def _pattern(language: str) -> re.Pattern[str]:
    return re.compile(_FORMS[language][0], re.IGNORECASE)


@cache
def _no_name(language: str) -> frozenset[str]:
    return frozenset(_NO_NAME.get(language, "").split()) | FUNCTION_WORDS.get(language, frozenset())
