"""Questions that stand in the documents with their answers below: headings, lines, and Q: with A:."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from core.train.pairs.heading import bare
from core.train.pairs.source import Source, asked
from core.train.pairs.words import letters
from core.train.types import FAQ, Piece, Question

_MARKS = "?؟？;"  # the last one is the Greek question mark
_LEAST_ANSWER = 40  # letters
_LONGEST = 240  # characters of a question
_ASKS = re.compile(r"^\s*(?:Q(?:uestion)?|F(?:rage)?|P(?:regunta|ergunta)?|D(?:omanda)?|S(?:oru)?|В(?:опрос)?|"
                   r"س|问|問|질문)\s*\d{0,3}\s*[:.：)]\s*", re.IGNORECASE)  # fmt: skip
_ANSWERS = re.compile(r"^\s*(?:A(?:nswer|ntwort)?|R(?:éponse|espuesta|esposta|isposta)?|C(?:evap)?|"
                      r"О(?:твет)?|ج|答|답변?)\s*\d{0,3}\s*[:.：)]\s*", re.IGNORECASE)  # fmt: skip
_INLINE = re.compile(r"(?<=[?؟？])\s+(?=(?:A(?:nswer|ntwort)?|R|C|О(?:твет)?|ج|答|답)\s*[:：])", re.IGNORECASE)


def pairs(source: Source) -> Iterator[Question]:
    for pieces in source.documents.values():
        yield from _headings(pieces)
        for place, piece in enumerate(pieces):
            following = pieces[place + 1] if place + 1 < len(pieces) else None
            yield from _lines(piece, following)


def _headings(pieces: Sequence[Piece]) -> Iterator[Question]:
    for section, group in groupby(pieces, key=lambda piece: piece.section):
        first = next(group)
        if section and _is_question(section[-1]) and letters(first.text) >= _LEAST_ANSWER:
            yield asked(bare(_ASKS.sub("", section[-1])), first, FAQ)


def _lines(piece: Piece, following: Piece | None) -> Iterator[Question]:
    """A line that is a question, and the text up to the next such line."""
    lines = [part for line in piece.text.splitlines() for part in _INLINE.split(line) if part.strip()]
    places = [place for place, line in enumerate(lines) if _is_question(line)]
    for place, stop in pairwise([*places, len(lines)]):
        text = _ASKS.sub("", lines[place]).strip(" -•*")
        answer = " ".join(_ANSWERS.sub("", line) for line in lines[place + 1 : stop])
        if letters(answer) >= _LEAST_ANSWER:
            yield asked(text, piece, FAQ)
        elif stop == len(lines) and not answer and _goes_on(piece, following):
            yield asked(text, following or piece, FAQ)


def _is_question(line: str) -> bool:
    """One question and nothing else on the line."""
    line = line.strip()
    marks = sum(line.count(mark) for mark in _MARKS[:3])
    greek = line.endswith(";") and any("\u0370" <= c <= "\u03ff" for c in line)
    return len(line) <= _LONGEST and ((marks == 1 and line[-1:] in _MARKS[:3]) or greek) and ". " not in _bare(line)


def _bare(line: str) -> str:
    return bare(_ASKS.sub("", line))


def _goes_on(piece: Piece, following: Piece | None) -> bool:
    return following is not None and following.section == piece.section and letters(following.text) >= _LEAST_ANSWER
