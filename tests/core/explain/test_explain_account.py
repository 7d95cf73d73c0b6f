"""The account of a score: every line is a reason that the search had, and the lines add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.events import Control
from core.base.types import BM25, CONCEPT, DENSE, RERANK, STEER, Level, Query, ScorePart
from core.encode.encoder import Encoder
from core.explain.account import account
from core.explain.decompose import decompose
from core.explain.explain import explain
from core.search.fuse import Fusing, Method
from core.search.searcher import Searcher
from tests.core.explain.conftest import Fitted

TEXT = "the ship in the harbour with cargo"


@pytest.mark.parametrize("channels", [(), (BM25,), (DENSE,)])
@pytest.mark.parametrize("level", list(Level))
def test_the_account_of_a_hit_adds_up_to_its_score(
    fitted: Fitted, searcher: Searcher, channels: tuple[str, ...], level: Level
) -> None:
    query = Query(TEXT, k=4, channels=channels, level=level)
    for hit in searcher.search(query).hits:
        found = explain(searcher, fitted[1], fitted[2], query, hit.passage.id)
        assert found.score == hit.score
        assert sum(line.contribution for line in found.account) == pytest.approx(hit.score, abs=1e-6)
        assert [abs(x.contribution) for x in found.account] == sorted(
            (abs(x.contribution) for x in found.account), reverse=True
        )
        for part in hit.parts:
            assert sum(x.contribution for x in found.account if x.channel == part.channel) == pytest.approx(
                part.contribution, abs=1e-6
            )


def test_what_other_passages_of_a_document_add_is_a_line_of_its_own(fitted: Fitted, searcher: Searcher) -> None:
    match = searcher.context(Query(TEXT), searcher.search(Query(TEXT)).hits[0].passage.id)
    words, meaning = match.parts
    own = ScorePart("document", 0.5, 1, 0.1, 0.04)
    more = (replace(words, contribution=words.contribution + 0.25), meaning, own)
    lines = account(replace(match, parts=more), (), 0.0)
    others = [line for line in lines if line.kind == "others"]
    assert [(line.channel, line.contribution) for line in others] == [(BM25, pytest.approx(0.25))]
    assert [line.contribution for line in lines if line.kind == "document"] == [0.04]
    assert sum(line.contribution for line in lines) == pytest.approx(match.score + 0.29, abs=1e-6)


def test_any_passage_has_an_account_too(fitted: Fitted, searcher: Searcher) -> None:
    query = Query(TEXT)
    for passage in searcher.snapshot().ids()[::9].tolist():
        found = explain(searcher, fitted[1], fitted[2], query, passage)
        assert sum(line.contribution for line in found.account) == pytest.approx(found.score, abs=1e-6)


def test_lines_are_words_and_concepts_in_units_of_the_score(fitted: Fitted, searcher: Searcher) -> None:
    query = Query(TEXT)
    hit = searcher.search(query).hits[0]
    found = explain(searcher, fitted[1], fitted[2], query, hit.passage.id)
    parts = {part.channel: part for part in hit.parts}
    words = {line.label: line for line in found.account if line.kind == "word"}
    own = [term for term in found.terms if not term.added]
    assert set(words) == {term.term for term in own}
    # floor 0: a word has the share of the channel's contribution that it has of its raw score
    for term in own:
        share = term.weight / parts[BM25].score
        assert words[term.term].contribution == pytest.approx(share * parts[BM25].contribution, abs=1e-6)
        assert words[term.term].spans == term.spans
    assert {line.label for line in found.account if line.kind == "added"} == {t.term for t in found.terms if t.added}
    concepts = {line.id: line for line in found.account if line.kind == "concept"}
    assert len(concepts) == len(found.concepts) > 0
    scale = {round(concepts[c.id].contribution / c.contribution, 4) for c in found.concepts}
    assert len(scale) == 1  # one unit for all of them
    unnamed = next(line for line in found.account if line.kind == "unnamed" and line.channel == DENSE)
    assert unnamed.contribution == pytest.approx(scale.pop() * found.residual, rel=1e-3)


@pytest.mark.parametrize("channels", [(), (DENSE,), (CONCEPT, BM25), (CONCEPT,)])
def test_concepts_that_were_steered_or_searched_by_have_lines(
    fitted: Fitted, searcher: Searcher, channels: tuple[str, ...]
) -> None:
    plain = explain(searcher, fitted[1], fitted[2], Query(TEXT), searcher.search(Query(TEXT)).hits[0].passage.id)
    top, next_one = plain.concepts[0].id, plain.concepts[1].id
    query = Query(TEXT, channels=channels, boosts={top: 3.0, next_one: 0.0})
    hit = next(h for h in searcher.search(query).hits if h.passage.id == plain.passage.id)
    found = explain(searcher, fitted[1], fitted[2], query, hit.passage.id)
    assert sum(line.contribution for line in found.account) == pytest.approx(hit.score, abs=1e-6)
    for part in hit.parts:
        lines = [line for line in found.account if line.channel == part.channel]
        assert sum(line.contribution for line in lines) == pytest.approx(part.contribution, abs=1e-6)
        if part.channel in (CONCEPT, STEER):
            assert top in {line.id for line in lines if line.kind == "concept"}
            assert all(line.label == fitted[2][line.id] for line in lines if line.kind == "concept")
    steered = {line.id: line.contribution for line in found.account if line.channel == STEER and line.id >= 0}
    if STEER in {part.channel for part in hit.parts}:
        assert steered[top] > 0 > steered[next_one]


def test_without_concepts_meaning_is_one_line(fitted: Fitted, searcher: Searcher) -> None:
    query = Query(TEXT)
    hit = searcher.search(query).hits[0]
    found = explain(searcher, None, {}, query, hit.passage.id)
    assert [line.kind for line in found.account if line.channel == DENSE] == ["unnamed"]
    assert sum(line.contribution for line in found.account) == pytest.approx(hit.score, abs=1e-6)


def test_ranks_that_were_added_stay_one_line_a_channel(fitted: Fitted, tiny_encoder: Encoder) -> None:
    searcher = Searcher(fitted[0].folder, tiny_encoder, Fusing(method=Method.RECIPROCAL))
    query = Query(TEXT)
    hit = searcher.search(query).hits[0]
    found = explain(searcher, fitted[1], fitted[2], query, hit.passage.id)
    searcher.close()
    assert sorted(line.channel for line in found.account) == [BM25, DENSE]
    assert sum(line.contribution for line in found.account) == pytest.approx(hit.score, abs=1e-9)


def test_pairs_and_their_rest_add_up_to_the_concept(fitted: Fitted, searcher: Searcher) -> None:
    model, query = fitted[1], Query(TEXT)
    seen = 0
    for hit in searcher.search(query).hits:
        found = explain(searcher, model, fitted[2], query, hit.passage.id)
        match = searcher.context(query, hit.passage.id)
        assert match.query_vector is not None
        asked = model.encode(match.query_vector[None])[0]
        for c in found.concepts:
            assert sum(p.contribution for p in c.pairs) + c.rest == pytest.approx(c.contribution, abs=1e-6)
            for p in c.pairs:
                cosine = float(model.decoder[c.id] @ model.decoder[p.query_id])
                expected = c.passage_activation * float(asked[p.query_id]) * cosine
                assert p.contribution == pytest.approx(expected, abs=1e-5)
                assert p.query_label == fitted[2][p.query_id]
                seen += 1
    assert seen > 5


def test_a_concept_of_both_pairs_with_itself_first(fitted: Fitted, searcher: Searcher) -> None:
    query = Query(TEXT)
    for hit in searcher.search(query).hits[:3]:
        found = explain(searcher, fitted[1], fitted[2], query, hit.passage.id)
        shared = [c for c in found.concepts if c.query_activation > 0]
        assert shared
        assert all(c.pairs[0].query_id == c.id for c in shared[:1])


def test_merged_concepts_count_as_one(fitted: Fitted, searcher: Searcher) -> None:
    _, model, labels = fitted
    query = Query(TEXT)
    hit = searcher.search(query).hits[0]
    apart = explain(searcher, model, labels, query, hit.passage.id).concepts
    into, other = apart[0], apart[1]
    together = {**labels, other.id: into.label}
    found = explain(searcher, model, together, query, hit.passage.id, {other.id: into.id})
    assert other.id not in [c.id for c in found.concepts]
    merged = next(c for c in found.concepts if c.id == into.id)
    assert merged.contribution == pytest.approx(into.contribution + other.contribution, abs=1e-6)
    assert merged.passage_activation == pytest.approx(into.passage_activation + other.passage_activation, abs=1e-5)
    assert sum(p.contribution for p in merged.pairs) + merged.rest == pytest.approx(merged.contribution, abs=1e-6)
    assert sum(line.contribution for line in found.account) == pytest.approx(hit.score, abs=1e-6)


def test_what_is_not_named_is_left_to_the_residual(fitted: Fitted, searcher: Searcher) -> None:
    _, model, labels = fitted
    match = searcher.context(Query(TEXT), searcher.search(Query(TEXT)).hits[0].passage.id)
    assert match.query_vector is not None
    assert match.passage_vector is not None
    whole = decompose(model, labels, match.query_vector, match.passage_vector, match.dense_score)
    fewer = {latent: label for latent, label in labels.items() if latent != whole.listed[0].latent}
    found = decompose(model, fewer, match.query_vector, match.passage_vector, match.dense_score)
    assert whole.listed[0].latent not in [part.latent for part in found.listed]
    assert all(pair[0] in fewer for part in found.listed for pair in part.pairs)
    total = sum(part.contribution for part in found.listed) + found.common + found.residual
    assert total == pytest.approx(match.dense_score, abs=1e-6)
    assert np.isclose(found.common, whole.common)


def test_a_steered_hit_is_accounted_for_by_concept(fitted: Fitted, searcher: Searcher) -> None:
    """What is muted is taken back in full, and is no reason any more."""
    _, model, labels = fitted
    query = Query(TEXT)
    plain = explain(searcher, model, labels, query, searcher.search(query).hits[0].passage.id)
    first, second = (c.id for c in plain.concepts[:2])
    steered = replace(query, boosts={first: 0.0, second: 2.0})
    found = explain(searcher, model, labels, steered, plain.passage.id)
    assert sum(line.contribution for line in found.account) == pytest.approx(found.score, abs=1e-9)
    lines = {line.id: line for line in found.account if line.channel == STEER}
    by_itself = {line.id: line for line in found.account if line.kind == "concept" and line.channel == DENSE}
    assert lines[first].contribution == pytest.approx(-by_itself[first].contribution, rel=1e-2)
    assert lines[second].contribution == pytest.approx(by_itself[second].contribution, rel=1e-2)
    assert lines[first].label == labels[first]
    assert f"«{labels[first]}»" in plain.sentence
    assert f"«{labels[first]}»" not in found.sentence


def test_more_like_a_passage_has_its_reasons(fitted: Fitted, searcher: Searcher) -> None:
    _, model, labels = fitted
    query = Query("", like=int(searcher.snapshot().ids()[0]))
    hit = searcher.search(query).hits[0]
    found = explain(searcher, model, labels, query, hit.passage.id)
    assert found.score == hit.score == pytest.approx(found.dense_score)
    assert found.concepts
    assert found.sentence


class Longest:
    """A reranker that likes long passages."""

    id = "longest"

    def score(
        self, query: str, passages: list[str], *, until: float | None = None, control: Control | None = None
    ) -> np.ndarray:
        return np.array([len(text) for text in passages], np.float32)


@pytest.mark.parametrize("level", [Level.PASSAGE, Level.DOCUMENT])
@pytest.mark.parametrize("method", list(Method))
def test_the_account_adds_up_beside_a_reranker_and_by_ranks(
    fitted: Fitted, tiny_encoder: Encoder, method: Method, level: Level
) -> None:
    searcher = Searcher(fitted[0].folder, tiny_encoder, Fusing(method=method), lambda name: Longest())
    first = next(iter(fitted[2]))
    for query in (Query(TEXT, k=3, level=level), Query(TEXT, k=3, level=level, boosts={first: 3.0})):
        for hit in searcher.search(query).hits:
            found = explain(searcher, fitted[1], fitted[2], query, hit.passage.id)
            assert RERANK in {line.kind for line in found.account}
            assert sum(line.contribution for line in found.account) == pytest.approx(hit.score, abs=1e-6)
    searcher.close()
