"""What people write in a search box beside words: "phrases", -exclusions and field:value.

Nothing that is typed is an error here. What only looks like syntax stays plain text: a lone quote or minus, a negative
number, an option like --all, a field that is not known (`http://`, `12:30`, `std::vector`) or whose value fits no
such field (`before:noon`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache

from core.base.types import Filters, Query, Span
from core.search.filters import DATE, SHORT_TYPES

LONGEST = 1000  # characters of a text that is still typed by hand; what is longer, or has lines, was pasted: no syntax

# opening quotes and what closes them: the quotes of many languages, some of which open and close alike
_QUOTES = {
    '"': '"', "＂": "＂", "“": '”“"', "”": "”", "„": '“”"', "«": "»", "»": "«»", "「": "」", "『": "』", "〝": "〞〟",
}  # fmt: skip
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0eff"  # no space need stand before a quote here
_SPLIT_TYPES = {
    "word": ("docx", "doc", "odt", "rtf"), "excel": ("xlsx", "xls", "ods"), "powerpoint": ("pptx", "ppt", "odp"),
    "markdown": ("md",), "text": ("txt",), "email": ("mail",), "eml": ("mail",), "msg": ("mail",), "htm": ("html",),
    "picture": ("image",), "photo": ("image",), "jpg": ("image/jpeg",), "jpeg": ("image/jpeg",), "png": ("image/png",),
    "tif": ("image/tiff",), "tiff": ("image/tiff",), "gif": ("image/gif",),
}  # fmt: skip
_LANGUAGES = {
    "arabic": "ar", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en", "finnish": "fi",
    "french": "fr", "german": "de", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "italian": "it", "japanese": "ja", "korean": "ko", "norwegian": "no", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "spanish": "es", "swedish": "sv",
    "thai": "th", "turkish": "tr", "ukrainian": "uk", "vietnamese": "vi",
}  # fmt: skip
_FIELDS = {
    "type": "types", "folder": "folders", "in": "folders", "lang": "languages", "language": "languages",
    "tag": "tags", "before": "before", "after": "after", "title": "titles", "name": "names", "file": "names",
    "author": "authors",
}  # fmt: skip
_SAYING = ("titles", "authors", "names")  # fields whose value is worth searching for when there is nothing else


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """`text` is what the channels search: words, and those of the phrases.

    A passage must hold all `phrases` and none of `excluded_phrases` and `excluded` (words, in any of their forms).
    `filters` must let its document through, each of `barred` must not. `understood` lists what was taken as syntax,
    as one would write it; `places` says where each of it stands in what was typed.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    barred: tuple[Filters, ...] = ()
    understood: tuple[str, ...] = ()
    places: tuple[Span, ...] = ()

    def asked(self, query: Query) -> Query:
        """`query` with the text for the channels and with its own filters and these."""
        also = (self.filters,) if self.filters else ()
        if not also and not self.barred:
            return replace(query, text=self.text)
        return replace(query, text=self.text, filters=Filters(also=(query.filters, *also), none=self.barred))


def read(query: Query) -> ParsedQuery:
    """`parse` its text, unless it is literal."""
    return ParsedQuery(query.text) if query.literal else parse(query.text)


def parse(text: str) -> ParsedQuery:
    """Never raises; without any syntax the text stays as it is."""
    if len(text) > LONGEST or "\n" in text.strip():
        return ParsedQuery(text)
    parsed, plain, position = ParsedQuery(""), [], 0
    for match in _piece().finditer(text):
        taken = _with(parsed, match)
        if taken is not None:
            plain += [text[position : match.start()], _said(match)]
            parsed, position = replace(taken, places=(*taken.places, Span(*match.span()))), match.end()
    if not parsed.understood:
        return ParsedQuery(text)
    words = " ".join("".join([*plain, text[position:]]).split())
    return replace(parsed, text=words or " ".join(v for name in _SAYING for v in getattr(parsed.filters, name)))


@cache
def _piece() -> re.Pattern[str]:
    """What may be syntax: [-] [field:] then a quoted text, or else a run without spaces."""
    quoted = "|".join(rf"{o}(?P<q{n}>[^{c}]*)[{c}]" for n, (o, c) in enumerate(_QUOTES.items()))
    named = rf"(?P<field>{'|'.join(_FIELDS)}):(?!//)"
    # ASCII quotes must not stand behind a letter or digit, as the inches of `5" pipe`
    start = rf"(?<![^\s(（{_UNSPACED}，、。,;])"
    signed = rf"{start}(?P<not>[-－−])?(?:{named})?(?:{quoted})"
    bare = rf"{start}(?:(?P<bar>[-－−])?(?P<named>{'|'.join(_FIELDS)}):(?!//)(?P<value>[^\s:\"][^\s\"]*)"
    minus = r"|[-－−](?P<word>\w[^\s\"]*))"
    return re.compile(f"{signed}|{bare}{minus}", re.IGNORECASE)


def _quoted(match: re.Match[str]) -> str | None:
    return next((v for v in (match[f"q{n}"] for n in range(len(_QUOTES))) if v is not None), None)


def _said(match: re.Match[str]) -> str:
    """What stays of a piece in the text for the channels: the words of a phrase that is asked for."""
    phrase = _quoted(match)
    return f" {phrase} " if phrase is not None and not match["not"] and not match["field"] else " "


def _with(parsed: ParsedQuery, match: re.Match[str]) -> ParsedQuery | None:
    """`parsed` and what this piece asks for; None when it is plain text after all."""
    phrase = _quoted(match)
    if match["field"] or match["named"]:
        return _with_field(parsed, match, phrase)
    if phrase is not None:
        return _with_phrase(parsed, phrase.strip(), barred=bool(match["not"]))
    word = match["word"]
    # a negative number, or the letter of an option as in `ls -l`
    if word[0].isdecimal() or (len(word) == 1 and word.isascii()):
        return None
    return replace(parsed, excluded=(*parsed.excluded, word), understood=(*parsed.understood, f"-{word}"))


def _with_phrase(parsed: ParsedQuery, phrase: str, *, barred: bool) -> ParsedQuery | None:
    if not any(c.isalnum() for c in phrase):
        return None
    shown = (*parsed.understood, f'{"-" if barred else ""}"{phrase}"')
    if barred:
        return replace(parsed, excluded_phrases=(*parsed.excluded_phrases, phrase), understood=shown)
    return replace(parsed, phrases=(*parsed.phrases, phrase), understood=shown)


def _with_field(parsed: ParsedQuery, match: re.Match[str], phrase: str | None) -> ParsedQuery | None:
    typed = (match["field"] or match["named"]).lower()
    value = (phrase if phrase is not None else match["value"].rstrip(",;")).strip()
    name, barred = _FIELDS[typed], bool(match["not"] or match["bar"])
    values = _values(name, value)
    if not values:
        return None
    written = f'"{value}"' if " " in value else value
    shown = f"{'-' if barred else ''}{typed}:{written}"
    parsed = replace(parsed, understood=(*parsed.understood, shown))
    if barred:
        return replace(parsed, barred=(*parsed.barred, _filter(Filters(), name, values)))
    return replace(parsed, filters=_filter(parsed.filters, name, values))


def _filter(filters: Filters, name: str, values: tuple[str, ...]) -> Filters:
    """Values of one field are alternatives; of several dates the last one counts."""
    if name in ("before", "after"):
        return replace(filters, **{name: values[0]})  # type: ignore[arg-type]
    return replace(filters, **{name: (*getattr(filters, name), *values)})  # type: ignore[arg-type]


def _values(name: str, value: str) -> tuple[str, ...]:
    """The value as the filter has it; nothing when it is none of this field's."""
    lower = value.lower().lstrip(".")
    if name == "types":
        return _SPLIT_TYPES.get(lower) or ((lower,) if lower in SHORT_TYPES or _is_media(lower) else ())
    if name == "languages":
        code = _LANGUAGES.get(lower, re.split("[-_]", lower)[0])
        return (code,) if len(code) == 2 and code.isascii() and code.isalpha() else ()
    if name in ("before", "after"):
        return (value,) if DATE.fullmatch(value) else ()
    return (value,) if any(c.isalnum() or c in "/\\~" for c in value) else ()


def _is_media(text: str) -> bool:
    return re.fullmatch(r"(?:application|audio|image|message|multipart|text|video)/[\w.+-]+", text) is not None
