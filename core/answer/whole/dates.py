"""Dates in sentences: which day, month or year they tell of, in the ways that many languages write them.

A bare four-digit number is a year only where the words around it say so ("in 1914", "1914-1918", "(1914)"): most
numbers of four digits are amounts. A date such as 05/06/2019 tells its year alone: who wrote it may have meant either.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

_MONTHS = (
    "january januar jänner janvier enero gennaio janeiro januari январь января jan",
    "february februar février febrero febbraio fevereiro februari февраль февраля feb",
    "march märz mars marzo março maart март марта mar",
    "april avril abril aprile апрель апреля apr",
    "may mai mayo maggio maio mei май мая",
    "june juni juin junio giugno junho июнь июня jun",
    "july juli juillet julio luglio julho июль июля jul",
    "august août agosto augustus август августа aug",
    "september septembre septiembre settembre setembro сентябрь сентября sep sept",
    "october oktober octobre octubre ottobre outubro октябрь октября oct okt",
    "november novembre noviembre novembro ноябрь ноября nov",
    "december dezember décembre diciembre dicembre dezembro декабрь декабря dec dez",
)  # fmt: skip
_HAN_YEAR = re.compile("[〇零一二三四五六七八九]{4}(?=年)")
_HAN_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
_YEAR = r"(?P<y{n}>1[0-9]\d\d|20\d\d)"
_BEFORE_YEAR = (
    "in|since|by|until|till|from|before|after|around|circa|ca|during|year|im|seit|bis|vor|nach|um|von|jahr|"
    "jahre|en|depuis|avant|après|vers|dès|année|an|desde|hasta|hacia|antes de|después de|año|nel|dal|fino al|dopo il|"
    "anno|em|até|ano|sinds|tot|voor|na|omstreeks|jaar|в|с|до|около|spring|summer|autumn|fall|winter|frühjahr|sommer|"
    "herbst"
)


class Date(NamedTuple):
    """A year with the month and day where they are told (0: not told). It sorts by time."""

    year: int
    month: int = 0
    day: int = 0

    def __str__(self) -> str:
        told = [f"{self.year:04d}", *(f"{part:02d}" for part in (self.month, self.day) if part)]
        return "-".join(told)


@cache
def _month() -> dict[str, int]:
    return {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}


@cache
def _pattern() -> re.Pattern[str]:
    names = "|".join(sorted(_month(), key=len, reverse=True))
    day = r"(?P<d{n}>[0-3]?\d)"
    ways = (
        r"(?<!\d)(?P<y1>1\d{3}|20\d\d)-(?P<m1>[01]\d)(?:-(?P<d1>[0-3]\d))?(?!\d)",
        r"(?<!\d)(?P<y2>1\d{3}|20\d\d)\s?[年년]\s?(?:(?P<m2>1?\d)\s?[月월]\s?(?:(?P<d2>[0-3]?\d)\s?[日일])?)?",
        rf"(?<!\d){day.format(n=3)}(?:st|nd|rd|th|er|\.|º|o)?\s+(?:of\s+|de\s+|di\s+)?(?P<m3>{names})\b\.?,?\s+"
        rf"(?:de\s+|del\s+)?{_YEAR.format(n=3)}(?!\d)",
        rf"\b(?P<m4>{names})\.?\s+{day.format(n=4)}(?:st|nd|rd|th)?,?\s+{_YEAR.format(n=4)}(?!\d)",
        rf"\b(?P<m5>{names})\.?,?\s+(?:of\s+|de\s+|del\s+)?{_YEAR.format(n=5)}(?!\d)",
        r"(?<![\w./])(?P<a6>[0-3]?\d)[./](?P<b6>[0-3]?\d)[./](?P<y6>1\d{3}|20\d\d)(?!\w)",
        rf"\b(?:{_BEFORE_YEAR})\.?\s+(?:the\s+)?{_YEAR.format(n=7)}(?![\d.,]\d|\d|\s*(?:%|€|\$))",
        rf"(?<=\(){_YEAR.format(n=8)}(?=[),;–—-])",
        rf"(?<!\d){_YEAR.format(n=9)}(?=\s?[–—-]\s?(?:1\d|20)\d\d(?!\d))",
        rf"(?:^|[,;(]\s*){_YEAR.format(n=10)}(?=\s*[:,–—]\s)",
        rf"(?<!\d){_YEAR.format(n=11)}(?=\s?(?:году|года|год|г\.))",
    )  # fmt: skip
    return re.compile("|".join(ways), re.IGNORECASE)


def dates(text: str) -> list[Date]:
    """The dates that `text` tells of, in reading order, each once."""
    plain = _HAN_YEAR.sub(lambda match: match.group().translate(_HAN_DIGITS), unicodedata.normalize("NFC", text))
    found = [_date(match) for match in _pattern().finditer(plain)]
    return list(dict.fromkeys(date for date in found if date is not None))


def _date(match: re.Match[str]) -> Date | None:
    given = {name[0]: value for name, value in match.groupdict().items() if value}
    year = int(given["y"])
    if "a" in given:
        return _numeric(year, int(given["a"]), int(given["b"]), dotted="." in match.group())
    month = given.get("m", "0").casefold()
    return _checked(year, int(month) if month.isdecimal() else _month()[month], int(given.get("d", 0)))


def _numeric(year: int, first: int, second: int, *, dotted: bool) -> Date:
    """Day and month as points between them or the numbers tell; the year alone where neither does."""
    if (dotted or first > 12) and 1 <= second <= 12:
        return _checked(year, second, first)
    return _checked(year, first, second) if second > 12 else Date(year)


def _checked(year: int, month: int, day: int) -> Date:
    if not 1 <= month <= 12:
        return Date(year)
    return Date(year, month, day if 1 <= day <= 31 else 0)
