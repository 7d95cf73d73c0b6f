"""Passages for an answer: what several searches found put in one order, over several documents, and read a bit wider.

A search shows what matches; an answer needs more of it: each part of the question wants its own passages, one document
must not crowd out the others, text that stands in two places counts once, a newer version goes before an older one,
and a sentence cut off from the one before it at a passage's border is given back what it lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from sqlite_utils import Database

from core.base.types import Hit, Passage, SearchResult, Span
from core.index.snapshot import Snapshot
from core.store import documents, passages
from core.text.sentences import split

MOST_OF_DOCUMENT = 4  # passages of one document that go before those of others
SAME = 0.9  # share of common words from which two passages count as one
WIDER = 3  # so many of the best passages are widened
AROUND = 2  # sentences before and after
_LONGEST = 400  # characters that are added on a side at most
_WORDS = re.compile("[\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff]|[^\\W\u0e01-\u0e5b\u3041-\u30ff\u3400-\u9fff]+")


def arranged(snapshot: Snapshot, results: Sequence[SearchResult], k: int) -> SearchResult:
    """One result of several: that of the whole question first, then those of its parts; at most `k` hits.

    With a single result the order stays, but for what is said twice, older versions, and documents with many hits.
    The texts and places of the best hits are widened to the sentences around them.
    """
    hits = _without_same(_in_turn([result.hits for result in results]))
    hits, newest = _newest_first(snapshot.db, hits)
    hits = _spread(hits)[:k]
    wide = _widened(snapshot.db, hits)
    ranked = tuple(replace(hit, rank=place) for place, hit in enumerate(wide, 1))
    there = {hit.passage.id for hit in ranked}
    kept = tuple(i for i in newest if i in there)
    searched = tuple(result.query.text for result in results)
    return replace(results[0], hits=ranked, searched=searched, newest=kept, milliseconds=_sum(results))


def _sum(results: Sequence[SearchResult]) -> dict[str, float]:
    total: dict[str, float] = {}
    for stage, ms in chain.from_iterable(result.milliseconds.items() for result in results):
        total[stage] = round(total.get(stage, 0.0) + ms, 3)
    return total


def _in_turn(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The first of each, the second of each, and so on; each passage once."""
    found: dict[int, Hit] = {}
    for row in zip_longest(*lists):
        for hit in row:
            if hit is not None:
                found.setdefault(hit.passage.id, hit)
    return list(found.values())


def _without_same(hits: Sequence[Hit]) -> list[Hit]:
    """Without passages that say what a better one says word for word."""
    kept: list[tuple[frozenset[str], Hit]] = []
    for hit in hits:
        words = frozenset(_WORDS.findall(hit.passage.text.casefold()))
        if not any(words and len(words & other) >= SAME * len(words | other) for other, _ in kept):
            kept.append((words, hit))
    return [hit for _, hit in kept]


def _newest_first(db: Database, hits: Sequence[Hit]) -> tuple[list[Hit], tuple[int, ...]]:
    """The places that versions of one document have among the hits go to the newest of them first.

    Also the ids of the passages that have older versions behind them, among the hits or folded into them.
    """
    ages = _ages(db, [hit.passage.document_id for hit in hits])
    places: dict[int, list[int]] = {}
    for place, hit in enumerate(hits):
        family = ages.get(hit.passage.document_id, (None, (0, "")))[0]
        if family is not None:
            places.setdefault(family, []).append(place)
    ordered, newest = list(hits), [h.passage.id for h in hits if any(not copy.exact for copy in h.copies)]
    for held in places.values():
        row = sorted((hits[p] for p in held), key=lambda h: ages[h.passage.document_id][1], reverse=True)
        for place, hit in zip(held, row, strict=True):
            ordered[place] = hit
        latest = ages[row[0].passage.document_id][1]
        if ages[row[-1].passage.document_id][1] < latest:
            newest += [h.passage.id for h in row if ages[h.passage.document_id][1] == latest]
    return ordered, tuple(dict.fromkeys(newest))


def _ages(db: Database, ids: Sequence[int]) -> dict[int, tuple[int | None, tuple[int, str]]]:
    """The family of each document and how new it is: its file's time, then the date it tells."""
    marks = ", ".join("?" * len(set(ids)))
    rows = db.execute(
        "SELECT d.id, o.family, f.mtime_ns, d.modified FROM document d JOIN file f ON f.id = d.file_id "
        f"JOIN document o ON o.id = coalesce(d.copy_of, d.id) WHERE d.id IN ({marks})",
        tuple(set(ids)),
    ).fetchall()
    return {row[0]: (row[1], (row[2], row[3])) for row in rows}


def _spread(hits: Sequence[Hit]) -> list[Hit]:
    """A document's hits beyond the first few go behind those of the others."""
    counts: dict[int, int] = {}
    first: list[Hit] = []
    later: list[Hit] = []
    for hit in hits:
        counts[hit.passage.document_id] = counts.get(hit.passage.document_id, 0) + 1
        (first if counts[hit.passage.document_id] <= MOST_OF_DOCUMENT else later).append(hit)
    return first + later


def _widened(db: Database, hits: Sequence[Hit]) -> list[Hit]:
    taken = {(hit.passage.document_id, hit.passage.ordinal) for hit in hits}
    return [_wider(db, hit, taken) if n < WIDER else hit for n, hit in enumerate(hits)]


def _wider(db: Database, hit: Hit, taken: set[tuple[int, int]]) -> Hit:
    """The hit with the sentences around its passage, of the same section; what another hit holds is not taken.

    The passage stays the one that was found (its id); its text still equals the document's between its start and end.
    """
    passage = hit.passage
    sides = [
        None if (passage.document_id, passage.ordinal + step) in taken else _beside(db, passage, step)
        for step in (-1, 1)
    ]
    start = passage.start if sides[0] is None else _begin(sides[0], passage)
    end = passage.end if sides[1] is None else _end(sides[1], passage)
    if (start, end) == (passage.start, passage.end):
        return hit
    text = documents.plain_text(db, passage.document_id) or ""
    if text[passage.start : passage.end] != passage.text:  # written anew meanwhile
        return hit
    first = passage.first_page if start == passage.start or sides[0] is None else sides[0].last_page
    wide = replace(passage, text=text[start:end], start=start, end=end, first_page=first)
    by = passage.start - start
    spans = tuple(Span(span.start + by, span.end + by) for span in hit.spans)
    return replace(hit, passage=wide, spans=spans, snippet=Span(hit.snippet.start + by, hit.snippet.end + by))


def _beside(db: Database, passage: Passage, step: int) -> Passage | None:
    """The passage before or after, where it belongs to the same section, and to the same place of a format that has
    places of its own: what is cited of it is told to stand there."""
    beside = passages.neighbour(db, passage.document_id, passage.ordinal + step)
    same = beside is not None and (beside.heading_path, beside.place) == (passage.heading_path, passage.place)
    return beside if same else None


def _begin(before: Passage, passage: Passage) -> int:
    """Where the last sentences of the passage before begin, in the document."""
    spans = [a for a, _ in split(before.text)[-AROUND:] if passage.start - before.start - a <= _LONGEST]
    return min([before.start + a for a in spans] + [passage.start])


def _end(after: Passage, passage: Passage) -> int:
    """Where the first sentences of the passage after end, in the document."""
    spans = [b for _, b in split(after.text)[:AROUND] if after.start + b - passage.end <= _LONGEST]
    return max([after.start + b for b in spans] + [passage.end])
