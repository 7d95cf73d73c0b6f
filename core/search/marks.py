"""Where the words of a query stand in a passage, and which part of the passage to show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.base.types import Passage, Span
from core.text.analyze import QueryTerm, find, is_han
from core.text.parts import find_parts
from core.text.snippets import merge


def term_spans(passage: Passage, query_terms: Sequence[QueryTerm]) -> list[tuple[Span, ...]]:
    """For each query word the places in the passage's text where one of its forms stands."""
    return spans_of(passage, query_terms)[0]


def spans_of(passage: Passage, *lists: Sequence[QueryTerm]) -> list[list[tuple[Span, ...]]]:
    """`term_spans` of several lists of words, the text read once."""
    wanted = {text for words in lists for word in words if _marked(word, words) for text in word.alternatives}
    places: dict[str, list[Span]] = {}
    for term in find(passage.text, passage.language, wanted):
        places.setdefault(term.text, []).append(Span(term.start, term.end))
    return [[_places_of(word, words, places) for word in words] for words in lists]


def _places_of(word: QueryTerm, words: Sequence[QueryTerm], places: Mapping[str, Sequence[Span]]) -> tuple[Span, ...]:
    return merge([s for text in word.alternatives for s in places.get(text, ())]) if _marked(word, words) else ()


def part_spans(passage: Passage, parts: Sequence[QueryTerm]) -> list[tuple[Span, ...]]:
    """For each part of a query word the words of the passage's text that have it, too."""
    wanted = {text for part in parts for text in part.alternatives}
    found = find_parts(passage.text, passage.language, wanted) if wanted else []
    return [merge([Span(t.start, t.end) for t in found if t.text in part.alternatives]) for part in parts]


def _marked(word: QueryTerm, query_terms: Sequence[QueryTerm]) -> bool:
    """A Chinese character is marked only where the query does not say it within a word."""
    if not is_han(word.text):
        return True
    return not any(word.text in other.text and len(other.text) > 1 for other in query_terms)


def matched_spans(passage: Passage, query_terms: Sequence[QueryTerm]) -> tuple[Span, ...]:
    """All matched characters of the passage's text, sorted, not overlapping."""
    return merge([span for spans in term_spans(passage, query_terms) for span in spans])


def token_spans(passage: Passage, tokens: Sequence[str]) -> list[tuple[Span, ...]]:
    """For each vocabulary token the places where its characters begin or continue a word of the passage's text."""
    text = passage.text.casefold()
    if len(text) != len(passage.text):  # folding changed offsets (as of the sharp s)
        return [() for _ in tokens]
    return [_places(text, token) for token in tokens]


def _places(text: str, token: str) -> tuple[Span, ...]:
    """Sentence pieces begin a word with a low line of their own, word pieces continue it with two number signs."""
    within = token.startswith("##")
    piece = token.removeprefix("##").replace("\u2581", "").casefold()
    if not piece:
        return ()
    start = r"\B" if within else r"\b" if piece[0].isalnum() else ""
    return merge([Span(*found.span()) for found in re.finditer(start + re.escape(piece), text)])
