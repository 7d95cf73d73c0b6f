"""The channel of concepts: against brute force, in what it costs, and where words fail."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.base.types import BM25, CONCEPT, DENSE, Query
from core.base.types.records import EFFICIENT, MAX
from core.concepts.sae import export, train
from core.concepts.settings import SaeConfig
from core.encode.encoder import Encoder
from core.evaluate.sparsity import Sparsity, sparsity
from core.index.concept_coding import KEPT, strengths
from core.index.concept_model import ConceptModel
from core.index.snapshot import Snapshot
from core.models import adapted
from core.search.concept_terms import K2, concept_terms
from core.search.searcher import Searcher
from core.text.analyze import term_texts
from tests.core.concepts.library import fit_shelf
from tests.core.concepts.planted import sparse_mixtures
from tests.shelf import Item, Shelf
from tests.tiny import topics

K1, SEEDS = 0.2, (0, 1, 2)


def trained(vectors: np.ndarray, k: int, seed: int) -> ConceptModel:
    model = export(train(vectors, SaeConfig(latents=160, k=k, steps=80, seed=seed)))
    return replace(model, config={**model.config, "encoder": "test-vectors"})


def coded_shelf(folder: Path, vectors: np.ndarray, model: ConceptModel, codes: str = MAX) -> Shelf:
    """In two segments, with passages deleted from both."""
    shelf = Shelf(folder, dimension=vectors.shape[1])
    items = [Item(f"/shelf/{n:03d}", f"word{n}", v) for n, v in enumerate(vectors)]
    shelf.add(items[: len(items) // 2])
    shelf.add(items[len(items) // 2 :])
    put = adapted.folder(folder) / "sae-test"
    put.mkdir(parents=True)
    model.save(put)
    shelf.writer().commit(concepts="sae-test", codes=codes)
    for item in items[::9]:
        shelf.remove(item.name)
    return shelf


def brute_force(model: ConceptModel, passages: np.ndarray, query: np.ndarray, codes: str) -> np.ndarray:
    """Scores [N] by loops, in the order of `passages`; weights are rounded as the index does."""
    kept = KEPT[codes]
    held = strengths(model, passages, kept.passage, weak=kept.weak).astype(np.float16).astype(float)
    asked = strengths(model, query[None], kept.query, weak=kept.weak)[0].astype(float)
    saturated = held * (K1 + 1) / (held + K1)
    scores = np.zeros(len(passages))
    for latent in np.flatnonzero(asked):
        holding = int((held[:, latent] > 0).sum())
        idf = np.log1p((len(passages) - holding + 0.5) / (holding + 0.5))
        assert idf > 0
        scores += (K2 + 1) * asked[latent] / (K2 + asked[latent]) * idf * saturated[:, latent]
    return scores / np.sqrt((saturated**2).sum(1))


@pytest.mark.parametrize("codes", KEPT)
def test_the_index_finds_what_brute_force_does(tmp_path: Path, codes: str) -> None:
    vectors = sparse_mixtures(300)
    model = trained(vectors[:260], 12, 0)
    shelf = coded_shelf(tmp_path / "library", vectors[:260], model, codes)
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is not None
        ids = snapshot.ids()
        passages = snapshot.vectors(ids)
        for query in vectors[260:]:
            terms = concept_terms(snapshot.codes, query)
            expected = brute_force(model, passages, query, codes)
            np.testing.assert_allclose(snapshot.sparse_scores(CONCEPT, terms, ids), expected, rtol=2e-3)
            found, scores = snapshot.sparse(CONCEPT, terms, 20)
            np.testing.assert_allclose(scores, np.sort(expected)[::-1][: len(found)], rtol=2e-3)
            assert set(found[:5].tolist()) <= set(ids[np.argsort(-expected)[:20]].tolist())
            assert (scores > 0).all()


def test_a_common_latent_and_an_empty_passage_never_make_a_score_negative(tmp_path: Path) -> None:
    """A latent in every passage has an idf near 0, a passage without any has no length to divide by."""
    vectors = np.eye(16, dtype=np.float32)[np.arange(40) % 2]
    rows = np.eye(16, dtype=np.float32)[:3]
    bias = np.array([0.5, -0.5, -0.5], np.float32)  # the first is active in all
    model = ConceptModel(rows, bias, rows, np.zeros(16, np.float32), 0.3, {"encoder": "test-vectors"})
    shelf = coded_shelf(tmp_path / "library", np.concatenate([vectors, -np.eye(16, dtype=np.float32)[:1]]), model)
    with Snapshot.open(shelf.folder) as snapshot:
        assert snapshot.codes is not None
        terms = concept_terms(snapshot.codes, vectors[0])
        scores = snapshot.sparse_scores(CONCEPT, terms, snapshot.ids())
        assert np.isfinite(scores).all()
        assert scores.min() == 0.0  # of the passage that holds nothing
        assert (np.sort(scores)[1:] > 0).all()


def cost(model: ConceptModel, queries: np.ndarray, passages: np.ndarray, codes: str) -> Sparsity:
    kept = KEPT[codes]
    asked = strengths(model, queries, kept.query, weak=kept.weak) > 0
    return sparsity(asked.mean(0), (strengths(model, passages, kept.passage, weak=kept.weak) > 0).mean(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_products_and_length_rise_with_k(seed: int) -> None:
    vectors = sparse_mixtures(500)
    costs = [cost(trained(vectors[:400], k, seed), vectors[400:], vectors[:400], EFFICIENT) for k in (2, 8)]
    assert costs[1].flops > 2 * costs[0].flops
    assert costs[1].length > 1.5 * costs[0].length
    assert costs[1].length <= KEPT[EFFICIENT].passage
    model = trained(vectors[:400], 8, seed)
    assert cost(model, vectors[400:], vectors[:400], MAX).flops > costs[-1].flops
    assert cost(model, vectors[400:], vectors[:400], MAX).length <= KEPT[MAX].passage


def said_otherwise(seed: int, passages: int = 96) -> tuple[list[str], list[int], list[tuple[str, int]]]:
    """Passages with their topics, and questions about the same things that share no word with any passage."""
    luck = random.Random(seed)
    themes = [[t for t in things if term_texts(t[0], "en") != term_texts(t[-1], "en")] for things in topics().values()]
    numbers = [n % len(themes) for n in range(passages)]
    texts = [" ".join(thing[0] for thing in luck.sample(themes[n], min(4, len(themes[n])))) for n in numbers]
    questions = [(" ".join(thing[-1] for thing in luck.sample(themes[n], 2)), n) for n in range(len(themes))]
    return texts, numbers, questions


@pytest.fixture(scope="module", params=SEEDS)
def otherwise(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder
) -> Iterator[tuple[Searcher, list[int], list[tuple[str, int]]]]:
    texts, numbers, questions = said_otherwise(request.param)
    shelf = Shelf(tmp_path_factory.mktemp("otherwise") / "library", tiny_encoder.id, tiny_encoder.dimension)
    vectors = tiny_encoder.encode(texts)
    shelf.add([Item(f"/shelf/{n:03d}", t, v, title="") for n, (t, v) in enumerate(zip(texts, vectors, strict=True))])
    name = fit_shelf(shelf, tiny_encoder)
    shelf.writer().commit(concepts=name)
    searcher = Searcher(shelf.folder, tiny_encoder)
    yield searcher, numbers, questions
    searcher.close()


def test_concepts_find_what_is_said_in_other_words(
    otherwise: tuple[Searcher, list[int], list[tuple[str, int]]],
) -> None:
    searcher, numbers, questions = otherwise
    topic = dict(zip(searcher.snapshot().ids().tolist(), numbers, strict=True))
    found = []
    for question, number in questions:
        assert len(searcher.ranking(Query(question, channels=(BM25,)), 10).ids) == 0
        best = searcher.ranking(Query(question, channels=(CONCEPT,)), 10).ids[:6].tolist()
        found.append(sum(topic[i] == number for i in best) / 6)
    assert np.mean(found) > 0.35  # by chance 0.06


def test_the_parts_of_a_concept_score_add_up(otherwise: tuple[Searcher, list[int], list[tuple[str, int]]]) -> None:
    searcher, _, questions = otherwise
    query = Query(questions[0][0], channels=(BM25, DENSE, CONCEPT), weights={CONCEPT: 0.5})
    result = searcher.search(query)
    assert [part.channel for part in result.hits[0].parts] == [BM25, DENSE, CONCEPT]
    for hit in result.hits[:3]:
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score)
        context = searcher.context(query, hit.passage.id)
        assert sum(context.concepts.values()) == pytest.approx(hit.parts[2].score, rel=1e-9)
        assert context.concepts


def test_without_a_weight_concepts_take_no_part(otherwise: tuple[Searcher, list[int], list[tuple[str, int]]]) -> None:
    searcher, _, questions = otherwise
    result = searcher.search(Query(questions[0][0]))
    assert {part.channel for hit in result.hits for part in hit.parts} == {BM25, DENSE}
    assert searcher.context(Query(questions[0][0]), result.hits[0].passage.id).concepts == {}
