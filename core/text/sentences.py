"""Where sentences begin and end, by rule, for all scripts.

A line break ends a sentence (readers join wrapped lines beforehand), and so does a full stop of any script.
A Latin full stop is looked at twice: after an abbreviation, an initial or a list number it does not end one.
"""

from __future__ import annotations

import re

# full stops that end a sentence even without a space behind them
_WIDE_STOPS = "。！？｡．‼⁇⁈⁉"
# full stops that need a space behind them; the Latin dot, and those of other scripts
_STOPS = ".!?…؟۔।॥։።፧།။៖។꘎߹᙮"
_CLOSERS = "\"'”’»«›‹)]}）】」』》〉〕］｝＂＇"

_BREAKS = r"\n\r\f\v\x85\u2028\u2029"
_ALL_STOPS = _STOPS + _WIDE_STOPS
# a run of stops with one that is wide or with a space behind it, or line breaks; one class at its head to search for
_CANDIDATE = re.compile(
    rf"[{_ALL_STOPS}{_BREAKS}](?:(?<=[{_BREAKS}])[{_BREAKS}]*"
    rf"|(?<=[{_WIDE_STOPS}])[{_ALL_STOPS}]*[{re.escape(_CLOSERS)}]*"
    rf"|(?<=[{_STOPS}])(?:[{_STOPS}]*[{_WIDE_STOPS}][{_ALL_STOPS}]*[{re.escape(_CLOSERS)}]*"
    rf"|[{_STOPS}]*[{re.escape(_CLOSERS)}]*(?=\s|$)))"
)
_LAST_WORD = re.compile(r"[^\s(\[{\"'“„«‘]+$")
_NEXT = re.compile(r"\s*[\"'“”„«»‘’(\[{¿¡]*(\w+)", re.UNICODE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+", re.UNICODE)
_NUMBER = re.compile(r"\(?\d{1,2}\.|[ivxlcIVXLC]{1,5}\.|\d+(?:\.\d+)+\.")


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


# never the end of a sentence: a name or more words follow
_ABBREVIATIONS = _words(
    "mr mrs ms dr prof rev hon gen sgt capt lt st ste sr sra dna dott ing hr fr frl mme mlle mgr cf vs ca approx "
    "bzw bspw vgl ggf ggfs inkl exkl evtl usf sog geb bd hrsg aufl viz resp ej "
    "e.g i.e z.b d.h u.a o.ä z.t i.d.r v.a u.u n.chr v.chr op.cit p.ex"
)
# never the end of a sentence when a number follows
_NUMBERED = _words(
    "fig figs eq eqs sec secs ch chap vol no nos nr p pp pg art abs abb tab kap anm ziff str tel núm pág num col "
    "bd cap sez s"
)
# the end of a sentence only when the next word is one that sentences begin with
_OPEN_ABBREVIATIONS = _words(
    "etc inc ltd co corp jr bros dept est usw al jan feb mar apr jun jul aug sep sept oct okt nov dec dez a.m p.m "
    "ph.d u.s u.k u.s.a u.n e.u"
)
_STARTERS = _words(
    "the this that these those it its he she we they i you there in on at as if when while after before for from "
    "but and or however a an all some many most such our their his her what who how why where no not "
    "der die das den dem ein eine es er sie wir ich in im am auf bei mit nach aber und als wenn dies diese dieser "
    "le la les un une il elle nous ils elles ce cette ces dans el los las en se su por para"
)
_MONTHS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember "
    "jahrhundert jahrhunderts klasse auflage kapitel"
)


def split(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, without the white space around them, in order.

    Every character that is no white space lies in exactly one span.
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for match in _CANDIDATE.finditer(text):
        if _ends_sentence(text, begin, match):
            _add(spans, text, begin, match.end())
            begin = match.end()
    _add(spans, text, begin, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    inner = piece.strip()
    if inner:
        start += len(piece) - len(piece.lstrip())
        spans.append((start, start + len(inner)))


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[0] != ".":
        goes_on = mark[0] == "…" or mark[-1] in _CLOSERS  # “What?” he asked
        return not (goes_on and mark[0] in _STOPS and _next_is_lower(text, match.end()))
    if _next_is_lower(text, match.end()):
        return False
    if len(mark) > 1 and mark[1] == ".":
        return True
    return not _dot_of_a_word(text, begin, match.start(), match.end())


def _next_is_lower(text: str, position: int) -> bool:
    found = _NEXT.match(text, position)
    return found is not None and found.group(1)[0].islower()


def _dot_of_a_word(text: str, begin: int, dot: int, after: int) -> bool:
    """Is the dot at `dot` part of an abbreviation, an initial or a list number?"""
    found = _LAST_WORD.search(text, max(begin, dot - 40), dot)
    if found is None:
        return False
    word = found.group()
    following = _NEXT.match(text, after)
    next_word = following.group(1).casefold() if following else ""
    if _NUMBER.fullmatch(word + "."):
        return not text[begin : found.start()].strip(" \t([") or next_word in _MONTHS
    bare = word.casefold().rstrip(".")
    if bare in _ABBREVIATIONS:
        return following is not None
    if bare in _NUMBERED and next_word[:1].isdigit():
        return True
    if bare in _OPEN_ABBREVIATIONS or _INITIALS.fullmatch(word + "."):
        return following is not None and next_word not in _STARTERS
    return False
