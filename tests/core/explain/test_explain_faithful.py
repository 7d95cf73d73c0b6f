"""Reasons are the reasons: without the top concept a passage scores less than without another one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from core.base.types import ConceptShare, Query, Span
from core.encode.encoder import Encoder
from core.explain.explain import explain
from core.explain.faithful import tried, without
from core.explain.sentences import places, read
from core.search.searcher import Searcher
from tests.core.explain.conftest import Fitted
from tests.tiny import sentence, topics


def _queries() -> list[str]:
    """Two things of each topic."""
    return [f"the {things[0][0]} and the {things[1][0]}" for things in topics().values()]


Matched = tuple[np.ndarray, np.ndarray, tuple[ConceptShare, ...]]


@pytest.fixture(scope="module")
def matched(fitted: Fitted, searcher: Searcher) -> list[Matched]:
    """Vectors of questions and hits, and the concepts of their explanations."""
    found = []
    for text in _queries():
        for hit in searcher.search(Query(text, k=3)).hits:
            why = explain(searcher, fitted[1], fitted[2], Query(text), hit.passage.id)
            match = searcher.context(Query(text), hit.passage.id)
            assert match.query_vector is not None
            assert match.passage_vector is not None
            found.append((match.query_vector, match.passage_vector, why.concepts))
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_top_concept_costs_more_than_another_one(fitted: Fitted, matched: list[Matched], seed: int) -> None:
    luck = np.random.default_rng(seed)
    trials = [tried(fitted[1], query, passage, shares, luck) for query, passage, shares in matched]
    done = [trial for trial in trials if trial is not None]
    assert len(done) > 20
    assert np.mean([trial.faithful for trial in done]) >= 0.8
    assert np.mean([trial.without_other - trial.without_top for trial in done]) > 0.05


def test_others_may_be_given(fitted: Fitted, matched: list[Matched]) -> None:
    """One that is not active in the passage costs nothing."""
    query, passage, shares = matched[0]
    idle = np.flatnonzero(fitted[1].encode(passage[None])[0] == 0)[:3].tolist()
    trial = tried(fitted[1], query, passage, shares, np.random.default_rng(0), idle)
    assert trial is not None
    assert trial.without_other == pytest.approx(trial.score, abs=1e-6)
    assert tried(fitted[1], query, passage, (), np.random.default_rng(0)) is None


def test_taking_a_concept_out_takes_it_out_and_leaves_a_unit_vector(fitted: Fitted, searcher: Searcher) -> None:
    model = fitted[1]
    for vector in searcher.snapshot().vectors(searcher.snapshot().ids()[::20]):
        active = model.encode(vector[None])[0]
        top = int(active.argmax())
        left = without(model, vector, top)
        assert np.linalg.norm(left) == pytest.approx(1.0, abs=1e-5)
        assert model.preactivations(left[None])[0, top] < active[top]
        gone = active[top] * np.linalg.norm(model.decoder[top])
        along = model.decoder[top] / np.linalg.norm(model.decoder[top])
        assert left @ along * np.linalg.norm(vector - active[top] * model.decoder[top]) == pytest.approx(
            vector @ along - gone, abs=1e-5
        )
        assert without(model, vector, int(np.flatnonzero(active == 0)[0])) == pytest.approx(vector, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_concept_stands_in_the_sentence_of_its_topic(fitted: Fitted, tiny_encoder: Encoder, seed: int) -> None:
    """Of three sentences one is about another topic."""
    model, luck, right = fitted[1], random.Random(seed), []
    for theme, other in _topics_and_others():
        parts = [sentence(luck.sample(some, 3), luck).capitalize() + "." for some in (other, theme, other)]
        text, start = " ".join(parts), len(parts[0]) + 1
        latent = int(model.encode(tiny_encoder.encode([parts[1]]))[0].argmax())
        where = places(model, None, "en", read(tiny_encoder, text, "en"), [latent])[latent]
        assert all(any(s.start <= w.start and w.end <= s.end for s in where.spans) for w in where.words)
        right.append([s.start for s in where.spans] == [start])
    assert np.mean(right) >= 0.6  # by chance less than a third


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_concept_stands_in_the_word_of_its_topic(fitted: Fitted, tiny_encoder: Encoder, seed: int) -> None:
    """Of three things in a sentence one is of the topic."""
    model, luck, right = fitted[1], random.Random(seed), []
    for theme, other in _topics_and_others():
        about = [sentence(luck.sample(theme, 3), luck) for _ in range(3)]
        latent = int(model.encode(tiny_encoder.encode(about)).sum(0).argmax())
        text = sentence(luck.sample([luck.choice(theme), *luck.sample(other, 2)], 3), luck).capitalize() + "."
        where = places(model, None, "en", read(tiny_encoder, text, "en"), [latent])[latent]
        first = where.words[0] if where.words else Span(0, 0)
        right.append(text[first.start : first.end].casefold() in {word for thing in theme for word in thing})
    assert np.mean(right) >= 0.5  # by chance a third


def _topics_and_others() -> list[tuple[list[list[str]], list[list[str]]]]:
    themes = list(topics().values())
    return [(theme, themes[(number + 3) % len(themes)]) for number, theme in enumerate(themes)]
