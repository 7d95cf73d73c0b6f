"""Does a sentence hold the kind of answer that the question asks for: a person, a time, a number, a place, a reason?"""

from __future__ import annotations

import re

from core.answer.facts import folded_words, names, numbers, quantities
from core.answer.question import Wanted

_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")
_CLOCK = re.compile(r"\d{1,2}([:.h]\d{2}| ?(a\.?m|p\.?m|Uhr)\b)|\d{1,2}[日时時月]")
_TIME_WORDS = re.compile(
    r"\b(century|centuries|decade|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter|"
    r"jahrhundert\w*|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|frühjahr|sommer|herbst|"
    r"siècle|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|printemps|été|automne|hiver|siglo|lunes|martes|"
    r"miércoles|jueves|viernes|sábado|domingo)\b|世紀|世纪|曜日|星期|时代|時代",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|at|near|from|to|on|of|nach|aus|bei|im|am|à|en|au|aux|dans|de|da|em|в|из)\s+(?:the\s+|der\s+|la\s+|"
    r"le\s+|l['’])?"
    r"[A-ZÀ-ÞА-Я]\w+|[市県府州国國区區省町村]"
)
_REASON = re.compile(
    r"\b(because|due to|since|as a result|in order to|so that|caused|therefore|reason|weil|da|denn|wegen|aufgrund|"
    r"damit|"
    r"um .{3,60} zu|deshalb|daher|parce|car|afin|puisque|grâce|à cause|pour|porque|debido|ya que|perché|poiché|"
    r"omdat)\b|"
    r"потому|因为|因為|由于|由於|所以|ため|から|ので",
    re.IGNORECASE,
)
_CASELESS = frozenset({"ja", "zh", "ko", "ar", "he", "hi", "th", "fa"})


def fits(wanted: Wanted, sentence: str, question: str, language: str) -> float:
    """1.0 when `sentence` holds the wanted kind of thing and the question does not hold it already, else 0.0.

    0.5 where it cannot be told: any kind is wanted, or names carry no capitals in this script. A date counts little
    where a number is wanted, a bare number where a time is.
    """
    if wanted is Wanted.NUMBER:
        if quantities(sentence) - numbers(question):
            return 1.0
        return 0.4 * bool(numbers(sentence) - numbers(question))
    if wanted is Wanted.TIME:
        return _time(sentence, question)
    if wanted is Wanted.REASON:
        return float(bool(_REASON.search(sentence)))
    if wanted is Wanted.ANY or (language in _CASELESS and wanted is Wanted.PERSON):
        return 0.5
    new_names = bool(names(sentence, language) - folded_words(question))
    if wanted is Wanted.PERSON:
        return float(new_names)
    return 0.5 * float(new_names) + 0.5 * float(bool(_PLACE.search(sentence)))


def _time(sentence: str, question: str) -> float:
    new = numbers(sentence) - numbers(question)
    if any(_YEAR.fullmatch(number) or number.startswith("month") for number in new) or _CLOCK.search(sentence):
        return 1.0
    return 0.7 if _TIME_WORDS.search(sentence) else 0.3 * bool(new)
