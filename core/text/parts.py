"""The parts of long words as index terms of their own, in languages that write compounds as one word.

A passage about a Kernkraftwerk is then found by Kraftwerk, and one about Kraftwerke by Kernkraftwerk. Parts stand
beside the words: they are marked terms that no word can be, count less than words, and not in a passage's length.

Measured for German and Finnish, with BM25: nDCG@10 rises by 0.014 to 0.037 on four collections.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from core.text.analyze import QueryTerm, Term, located_words, words
from core.text.pieces import split

PARTED = frozenset({"de", "fi"})  # the languages it was measured for
WEIGHT = 0.3  # of a part beside a word; chosen on one German collection, where 0.2 to 0.5 differ little
_MARK = "\u00b7"  # before a part; stands in no word
_LEAST = 3  # letters: shorter parts are endings and joints


def part_texts(text: str, language: str) -> list[str]:
    """The marked parts of the words of a passage; none where its language has no long words."""
    if language not in PARTED:
        return []
    return [_MARK + part for word in words(text) for part in _parts(word)]


def query_parts(terms: Sequence[QueryTerm], languages: Sequence[str]) -> list[QueryTerm]:
    """The parts of a query's words, to be looked up beside these in a library of these `languages`."""
    if PARTED.isdisjoint(languages):
        return []
    return [
        QueryTerm(part, (_MARK + part,), WEIGHT * term.weight, part_of=term.text)
        for term in terms
        for part in _parts(term.text)
    ]


def find_parts(text: str, language: str, wanted: Container[str]) -> list[Term]:
    """Those of the marked parts of a passage's words that are `wanted`, each with the range of its word."""
    if language not in PARTED:
        return []
    return [
        Term(_MARK + part, word.start, word.end)
        for word in located_words(text)
        for part in _parts(word.text)
        if _MARK + part in wanted
    ]


def _parts(word: str) -> list[str]:
    """The parts of a folded word that say something; none where it is a single piece."""
    pieces = split(word) if len(word) > _LEAST and word.isalpha() else ()
    return [piece for piece in pieces if len(piece) >= _LEAST] if len(pieces) > 1 else []
