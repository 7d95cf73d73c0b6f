"""Explanations on a real index: numbers that add up, places that exist, a sentence a person can read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.base.errors import BadQuery, NotFound
from core.base.types import BM25, DENSE, ConceptShare, Explanation, Passage, Query, Span, TermMatch, TokenAlignment
from core.encode.encoder import Encoder
from core.explain.align import align
from core.explain.decompose import decompose
from core.explain.explain import explain
from core.explain.reason import reason
from core.explain.sentences import places, read
from core.search.searcher import Searcher
from tests.core.explain.conftest import Fitted
from tests.tiny import topics

QUERIES = (
    "the ship in the harbour with cargo",
    "how does the doctor cure fever",
    "snow and wind forecast",
    "bread oven",
)


@pytest.fixture(scope="module")
def explained(fitted: Fitted, searcher: Searcher) -> list[Explanation]:
    """Explanations of good and of bad matches."""
    _, model, labels = fitted
    ids = [int(i) for i in searcher.snapshot().ids()[::17]]
    found = []
    for text in QUERIES:
        best = [hit.passage.id for hit in searcher.search(Query(text, k=3)).hits]
        found += [explain(searcher, model, labels, Query(text), i) for i in dict.fromkeys(best + ids)]
    return found


def test_parts_of_the_dense_score_add_up(explained: list[Explanation]) -> None:
    for e in explained:
        total = sum(c.contribution for c in e.concepts) + e.common + e.residual
        assert total == pytest.approx(e.dense_score, abs=1e-5)
        assert sum(p.contribution for p in e.parts) == pytest.approx(e.score, abs=1e-9)


def test_contributions_are_those_of_the_model(fitted: Fitted, explained: list[Explanation], searcher: Searcher) -> None:
    model = fitted[1]
    for e in explained[:8]:
        match = searcher.context(Query(e.query), e.passage.id)
        assert match.query_vector is not None
        assert match.passage_vector is not None
        assert e.dense_score == pytest.approx(float(match.query_vector @ match.passage_vector), abs=1e-5)
        z_query, z_passage = model.encode(np.stack([match.query_vector, match.passage_vector]))
        for c in e.concepts:
            assert c.contribution == pytest.approx(
                float(z_passage[c.id] * (match.query_vector @ model.decoder[c.id])), abs=1e-5
            )
            assert c.passage_activation > 0
            assert c.passage_activation == pytest.approx(float(z_passage[c.id]))
            assert c.query_activation == pytest.approx(float(z_query[c.id]))
            assert c.share == pytest.approx(c.contribution / e.dense_score if e.dense_score > 0 else 0)
        rebuilt = match.query_vector @ model.decode(z_passage[None])[0]
        everything = sum(z_passage[i] * (match.query_vector @ model.decoder[i]) for i in range(model.latents))
        assert everything + e.common == pytest.approx(float(rebuilt), abs=1e-5)


def test_explained_share_is_what_the_listed_concepts_carry(explained: list[Explanation]) -> None:
    for e in explained:
        carried, beyond = sum(c.contribution for c in e.concepts), e.dense_score - e.common
        expected = min(1.0, max(0.0, carried / beyond)) if beyond > 0.003 else 0.0
        assert e.explained_share == pytest.approx(expected, abs=1e-6)
    assert max(e.explained_share for e in explained) > 0.5
    assert min(e.explained_share for e in explained) < 0.2


def test_concepts_are_named_and_ordered(explained: list[Explanation], fitted: Fitted) -> None:
    for e in explained:
        values = [c.contribution for c in e.concepts]
        assert values == sorted(values, reverse=True)
        assert all(c.label == fitted[2][c.id] for c in e.concepts)
    assert any(c.contribution < 0 for e in explained for c in e.concepts)  # what speaks against is shown too


def test_good_matches_share_concepts_and_bad_ones_hardly(explained: list[Explanation]) -> None:
    shared = lambda e: sum(c.contribution for c in e.concepts if c.query_activation > 0)  # noqa: E731
    good = [shared(e) for e in explained if e.dense_score > 0.6]
    bad = [shared(e) for e in explained if e.dense_score < 0.2]
    assert len(good) > 3
    assert len(bad) > 3
    assert np.median(good) > 5 * max(np.median(bad), 0.01)


def test_removing_the_top_concept_costs_more_than_removing_another(fitted: Fitted, searcher: Searcher) -> None:
    model, luck = fitted[1], np.random.default_rng(0)
    wins = total = 0
    for text in QUERIES:
        for hit in searcher.search(Query(text, k=4)).hits:
            match = searcher.context(Query(text), hit.passage.id)
            assert match.query_vector is not None
            assert match.passage_vector is not None
            z = model.encode(match.passage_vector[None])
            found = decompose(model, fitted[2], match.query_vector, match.passage_vector, match.dense_score)
            others = [i for i in np.flatnonzero(z[0]) if i != found.listed[0].latent]

            def without(latent: int, z: np.ndarray = z, query: np.ndarray = match.query_vector) -> float:
                left = z.copy()
                left[0, latent] = 0
                return float(query @ model.decode(left)[0])

            wins += without(found.listed[0].latent) < without(int(luck.choice(others)))
            total += 1
    assert wins >= 0.9 * total


def test_opposed_vectors_have_nothing_explained(fitted: Fitted) -> None:
    model = fitted[1]
    vector = model.decoder[next(iter(fitted[2]))] / np.linalg.norm(model.decoder[next(iter(fitted[2]))])
    found = decompose(model, fitted[2], -vector, vector, -1.0)
    assert found.explained_share == 0.0
    assert sum(p.contribution for p in found.listed) + found.common + found.residual == pytest.approx(-1.0)


def test_spans_lie_on_sentences_in_which_the_concept_is_strongest(
    explained: list[Explanation], fitted: Fitted, tiny_encoder: Encoder
) -> None:
    model = fitted[1]
    seen = 0
    for e in explained:
        for c in e.concepts:
            for span in c.spans:
                assert 0 <= span.start < span.end <= len(e.passage.text)
                assert e.passage.text[span.end - 1] == "."
            if c.spans and len(c.spans) < 4:
                rest = [
                    s
                    for s in e.passage.text.split(". ")
                    if not any(s.strip(".") in e.passage.text[p.start : p.end] for p in c.spans)
                ]
                if not rest:
                    continue
                texts = [e.passage.text[s.start : s.end] for s in c.spans]
                strength = model.preactivations(tiny_encoder.encode([*texts, *[s.strip(".") + "." for s in rest]]))[
                    :, c.id
                ]
                assert strength[: len(texts)].max() >= strength[len(texts) :].max() - 1e-4
                seen += 1
    assert seen > 10


def test_long_passages_are_read_in_few_groups(fitted: Fitted, tiny_encoder: Encoder) -> None:
    text = " ".join(f"The ship of port {n} has cargo." for n in range(40))
    latent = next(iter(fitted[2]))
    sentences = read(tiny_encoder, text, "en")
    assert 5 <= len(sentences) <= 10
    assert sentences[0].span.start == 0
    assert sentences[-1].span.end == len(text)
    assert len(places(fitted[1], None, "en", sentences, [latent])[latent].spans) <= 10
    assert read(tiny_encoder, "", "en") == []
    assert places(fitted[1], None, "en", [], [latent])[latent].spans == ()


def _aligned(encoder: Encoder, query: str, passage: str) -> tuple[TokenAlignment, ...]:
    return align(encoder, query, passage, "en", read(encoder, passage, "en"))


def test_alignment_pairs_whole_words_of_like_meaning(tiny_encoder: Encoder) -> None:
    known = topics()
    paired = right = tried = 0
    for number, (name, things) in enumerate(known.items()):
        other = list(known.values())[(number + 5) % len(known)]
        for one, two, *_ in (thing for thing in things if len(thing) > 1):
            passage = f"We found {two} in the {name}. They keep the {other[0][0]} for {other[1][0]}."
            tried += 1
            for pair in _aligned(tiny_encoder, f"the {one}", passage):
                assert passage[pair.span.start : pair.span.end] == pair.passage_token
                assert 0.4 < pair.score <= 1.0001
                assert pair.query_token == one
                paired += 1
                right += pair.passage_token in (two, name)
    assert paired >= tried / 3
    assert right >= 0.8 * paired


def test_an_equal_word_is_the_nearest(tiny_encoder: Encoder) -> None:
    passage = "They keep the vessel in the harbour. The baker sold bread."
    pairs = {p.query_token: p for p in _aligned(tiny_encoder, "the harbour and the bread", passage)}
    assert {q: p.passage_token for q, p in pairs.items()} == {"harbour": "harbour", "bread": "bread"}


def test_alignment_of_nothing_is_empty(tiny_encoder: Encoder) -> None:
    assert _aligned(tiny_encoder, "what is it", "The ship.") == ()
    assert _aligned(tiny_encoder, "ship", "") == ()


def test_sentences_name_concepts_and_words(explained: list[Explanation]) -> None:
    for e in explained:
        assert e.sentence.endswith(".")
        if any(c.contribution > 0 for c in e.concepts):
            assert any(f"«{c.label}»" in e.sentence for c in e.concepts), e.sentence
    best = explained[0]
    assert best.sentence.startswith("Both are about «")
    assert any(f"«{c.label}»" in best.sentence for c in best.concepts if c.query_activation > 0)


PASSAGE = Passage(1, 1, 0, "Heating the roof with sun.", 0, 26, None, None, (), "en")
SOLAR = ConceptShare(1, "solar heating", 0.3, 0.6, 1.0, 1.0)
ROOF = ConceptShare(2, "roof repair", 0.1, 0.2, 0.5, 1.0)
FAR = ConceptShare(3, "garden", -0.1, -0.2, 0.0, 1.0)
WORDS = (
    TermMatch("heat", 2.0, (Span(0, 7),)),
    TermMatch("roof", 1.0, (Span(12, 16),)),
    TermMatch("with", 3.0, (Span(17, 21),)),
)


NEAR = (TokenAlignment("star", "sun", 0.7, Span(22, 25)),)
SENTENCES = [
    ((SOLAR, ROOF, FAR), WORDS, (),
     "Both are about «solar heating» and «roof repair»; the words Heating and roof stand in it."),
    ((SOLAR,), (), (), "Both are about «solar heating»."),
    ((replace(SOLAR, query_activation=0.0),), (), (),
     "The passage is about «solar heating», which is close to the question."),
    ((FAR,), WORDS[1:2], (), "The word roof stands in it."),
    ((), (TermMatch("sun", 1.0, ()),), (), "The word sun stands in its title or headings."),
    ((), (TermMatch("ing", 1.0, (Span(0, 7),), part_of="roofing"),), (),
     "The word Heating in the passage and roofing in the question have a part in common."),
    ((), WORDS[2:], NEAR, "“sun” in the passage comes close to “star” in meaning."),
    ((), (), (), "No single word or topic stands out; the passage is near the question only as a whole."),
]  # fmt: skip


@pytest.mark.parametrize(("concepts", "terms", "pairs", "expected"), SENTENCES)
def test_reason(
    concepts: tuple[ConceptShare, ...], terms: tuple[TermMatch, ...], pairs: tuple[TokenAlignment, ...], expected: str
) -> None:
    assert reason(PASSAGE, concepts, terms, pairs) == expected


def test_without_concepts_all_of_the_score_is_residual(searcher: Searcher) -> None:
    best = searcher.search(Query(QUERIES[0])).hits[0].passage.id
    e = explain(searcher, None, {}, Query(QUERIES[0]), best)
    assert e.concepts == ()
    assert e.explained_share == 0
    assert e.residual == e.dense_score > 0.3
    assert e.alignment
    assert e.sentence


def test_a_model_of_another_size_is_not_used(fitted: Fitted, searcher: Searcher) -> None:
    other = replace(fitted[1], bias=np.zeros(8, np.float32))
    e = explain(searcher, other, fitted[2], Query(QUERIES[0]), int(searcher.snapshot().ids()[0]))
    assert e.concepts == ()


@pytest.mark.parametrize("channels", [(BM25,), (DENSE,), (BM25, DENSE)])
def test_the_dense_score_is_explained_in_every_channel_choice(
    fitted: Fitted, searcher: Searcher, channels: tuple[str, ...]
) -> None:
    query = Query(QUERIES[0], channels=channels)
    best = searcher.search(query).hits[0].passage.id
    e = explain(searcher, fitted[1], fitted[2], query, best)
    assert tuple(p.channel for p in e.parts) == channels
    assert e.concepts
    assert sum(c.contribution for c in e.concepts) + e.common + e.residual == pytest.approx(e.dense_score, abs=1e-5)


def test_unknown_passage_and_empty_query(fitted: Fitted, searcher: Searcher) -> None:
    with pytest.raises(NotFound):
        explain(searcher, fitted[1], fitted[2], Query("ship"), 999_999)
    with pytest.raises(BadQuery):
        explain(searcher, fitted[1], fitted[2], Query("  "), 1)


def test_a_weak_match_is_called_loose() -> None:
    passage = Passage(1, 1, 0, "The bees made honey.", 0, 20, None, None, (), "en")
    share = ConceptShare(1, "bees, honey", 0.1, 0.5, 0.3, 0.3)
    assert reason(passage, [share], (), ()) == "Both are about «bees, honey»."
    assert reason(passage, [share], (), (), loose=True) == "Loosely related: both touch on «bees, honey»."
