"""Levels against a plain aggregation of what the passage ranking says."""

import math
import re

import numpy as np
import pytest

from core.base.types import Level, Query
from core.search import levels
from core.search.levels import DECAY, DOCUMENT, MOST_PASSAGES, SENTENCE, VECTOR_WEIGHT
from core.search.searcher import Searcher
from core.text.sentences import split
from tests.kept import Kept

TEXTS = {
    "bees.md": "# Bees\n\n## Hive\n\n{hive}\n\n## Honey\n\n{honey}",
    "ships.md": "# Ships\n\n## Harbour\n\n{harbour}\n\n## Honey trade\n\n{honey}",
    "stars.md": "# Stars\n\n## Telescope\n\n{stars}",
}
SENTENCES = {
    "hive": "The hive holds sixty thousand bees. A queen lays her eggs in the comb. ",
    "honey": "Honey is made from nectar. The honey is sold in jars at the market. ",
    "harbour": "A storm broke the harbour wall. Ships waited for two days outside. ",
    "stars": "The telescope shows the rings of Saturn. Stars move with the seasons. ",
}
QUERY = "honey of the bees in the hive"


@pytest.fixture
def kept(tmp_library, tiny_encoder, tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    for number, (name, text) in enumerate(TEXTS.items()):
        parts = {k: "".join(f"{s} Note {number} {n}. " for n in range(14)) for k, s in SENTENCES.items()}
        (folder / name).write_text(text.format(**parts), "utf-8")
    kept = Kept(tmp_library, tiny_encoder)
    kept.run(folder)
    return kept


@pytest.fixture
def searcher(kept, monkeypatch):
    monkeypatch.setattr(levels, "BUDGET_SECONDS", math.inf)
    searcher = Searcher(kept.folder, kept.encoder)
    yield searcher
    searcher.close()


def aggregated(searcher, level):
    """{group: score} and {group: passages} by loops over the ranking of passages."""
    ranking, snapshot = searcher.ranking(Query(QUERY), 200), searcher.snapshot()
    passages = snapshot.passages(ranking.ids.tolist())
    vector = snapshot.query_vector(searcher.encoder.encode([QUERY], kind="query")[0]).astype(np.float64)
    groups, near = {}, {}
    for row, i in enumerate(ranking.ids.tolist()):
        groups.setdefault(key(passages[i], level), []).append((i, float(ranking.totals[row])))
    for group in groups:
        every = snapshot.passages(snapshot.ids().tolist()).values()
        rows = [snapshot.vector(p.id).astype(np.float64) for p in every if key(p, level) == group]
        mean = sum(rows)
        near[group] = float(mean @ vector) / float(np.sqrt(mean @ mean))
    floor, spread = min(near.values()), float(np.std(list(near.values())))
    spread = spread if spread > 1e-9 else 1.0
    scores = {
        g: sum(total * DECAY**n for n, (_, total) in enumerate(found[:MOST_PASSAGES]))
        + VECTOR_WEIGHT * (near[g] - floor) / spread
        for g, found in groups.items()
    }
    return scores, {g: tuple(i for i, _ in found) for g, found in groups.items()}


def key(passage, level):
    return (passage.path, passage.heading_path if level is Level.SECTION else ())


@pytest.mark.parametrize("level", [Level.SECTION, Level.DOCUMENT])
def test_larger_hits_equal_a_plain_aggregation(searcher, level):
    scores, within = aggregated(searcher, level)
    found = searcher.search(Query(QUERY, k=20, level=level, fold=False)).hits
    assert len(found) == len(scores) > 2
    for hit in found:
        group = key(hit.passage, level)
        assert hit.score == pytest.approx(scores[group], abs=1e-6)
        assert hit.within == within[group]
        assert hit.within[0] == hit.passage.id
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score, abs=1e-9)
        assert hit.parts[-1].channel == DOCUMENT
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    assert [h.rank for h in found] == list(range(1, len(found) + 1))


def test_documents_are_filtered_cut_off_and_explained(kept, searcher):
    every = searcher.search(Query(QUERY, level=Level.DOCUMENT)).hits
    assert len({h.passage.document_id for h in every}) == len(every) == 3
    assert len(searcher.search(Query(QUERY, k=1, level=Level.DOCUMENT)).hits) == 1
    stars = next(d.id for name, d in kept.documents().items() if name == "stars.md")
    from core.base.types import Filters

    query = Query(QUERY, level=Level.DOCUMENT, filters=Filters(documents=(stars,)))
    (hit,) = searcher.search(query).hits
    context = searcher.context(query, hit.passage.id)
    assert context.passage.id == hit.passage.id
    assert sum(p.contribution for p in context.parts) == pytest.approx(context.score)


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("asked_lately", [True, False])
def test_parts_of_an_explanation_are_those_of_the_hit(searcher, level, asked_lately):
    query = Query(QUERY, k=4, level=level)
    hits = searcher.search(query).hits
    if not asked_lately:
        searcher.reopen()
    for hit in hits:
        context = searcher.context(query, hit.passage.id)
        assert (context.parts, context.score) == (hit.parts, hit.score)


def test_sentences_are_the_nearest_of_their_passages(searcher):
    query = Query(QUERY, k=5, level=Level.SENTENCE)
    plain = {h.passage.id: h for h in searcher.search(Query(QUERY, k=5)).hits}
    found = searcher.search(query).hits
    assert {h.passage.id for h in found} == set(plain)
    snapshot = searcher.snapshot()
    vector = snapshot.query_vector(searcher.encoder.encode([QUERY], kind="query")[0])
    compared = [h for h in found if h.parts[-1].channel == SENTENCE]
    assert compared
    for hit in compared:
        text = hit.passage.text
        cosines = {s: float(searcher.encoder.encode([text[s[0] : s[1]]])[0] @ vector) for s in split(text)}
        assert cosines[hit.snippet.start, hit.snippet.end] == pytest.approx(max(cosines.values()), abs=1e-4)
        assert hit.score == pytest.approx(plain[hit.passage.id].score + hit.parts[-1].contribution)
        assert re.search(r"\w", text[hit.snippet.start : hit.snippet.end])
    assert [h.score for h in compared] == sorted((h.score for h in compared), reverse=True)
    assert searcher.search(query).hits == found


def test_without_time_the_best_passages_are_compared_and_the_rest_next_time(searcher, monkeypatch):
    query = Query(QUERY, k=5, level=Level.SENTENCE)
    plain = searcher.search(Query(QUERY, k=5)).hits
    whole = {h.passage.id: h.snippet for h in searcher.search(query).hits if h.parts[-1].channel == SENTENCE}
    assert len(whole) > 1
    monkeypatch.setattr(levels, "BUDGET_SECONDS", 0.0)
    searcher._sentences = levels.Sentences(searcher.encoder)
    hits = searcher.search(query).hits
    compared = [h for h in hits if h.parts[-1].channel == SENTENCE]
    assert 0 < len(compared) < len(whole)
    assert {h.passage.id for h in compared} == {h.passage.id for h in plain[: len(compared)]}
    assert [h.passage.id for h in hits[len(compared) :]] == [h.passage.id for h in plain[len(compared) :]]
    assert all(h.snippet == whole[h.passage.id] for h in compared)
    for hit in hits:
        context = searcher.context(query, hit.passage.id)
        assert (context.parts, context.score) == (hit.parts, hit.score)
    again = searcher.search(query).hits  # what was met costs no time
    assert sum(h.parts[-1].channel == SENTENCE for h in again) > len(compared)
