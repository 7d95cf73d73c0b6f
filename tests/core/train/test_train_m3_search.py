"""Trained heads in a library: all channels search, their weights are found on held-out questions, terms explain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from core.base.events import Control
from core.base.types import BM25, DENSE, LEXICAL, MULTI, Query
from core.encode.heads import read_heads
from core.encode.onnx import FP32, OnnxEncoder
from core.evaluate.throwaway import build
from core.explain.explain import explain
from core.models.bundles import Bundle
from core.search.searcher import Searcher
from core.train.backbone import Backbone
from core.train.bundle import save
from core.train.finetune import FineTuneSettings
from core.train.hybrid import calibrated
from core.train.loop import Settings
from core.train.m3 import M3Settings
from core.train.m3_heads import HeadSettings
from core.train.m3_training import train_m3
from core.train.negatives import Mining, mine
from core.train.pool import Pool, make
from tests.core.train.asking import ByWords, questions
from tests.core.train.made import documents

BATCH = FineTuneSettings(questions=16, negatives=2, passage_tokens=48, temperature=0.05)
PIECES = documents(60, sentences=3)


def _served(bundle: Bundle, folder: Path, *, expansion: bool = False, seed: int = 0, noise: float = 0.0) -> OnnxEncoder:
    """Heads trained on the tiny encoder, or on one that `noise` in its weights has made to know less."""
    asked = questions(PIECES, seed=seed)
    backbone = Backbone.open(bundle, "cpu")
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in backbone.parameters():
            weight.add_(torch.randn_like(weight) * noise)
    settings = M3Settings(BATCH, HeadSettings(expansion=expansion), warmup_steps=40)
    candidates = mine(asked, PIECES, ByWords(PIECES), Mining(count=4))
    made = train_m3(backbone, asked, candidates, PIECES, settings, Settings(40, 3e-3, seed=seed), folder / "run")
    return OnnxEncoder(
        save(backbone, bundle, folder / "models", {}, FP32, made.heads.served(read_heads(bundle))), threads=1, file=FP32
    )


def _pool() -> Pool:
    return make(PIECES, [*questions(PIECES, seed=90), *questions(PIECES, seed=91)])


@pytest.fixture(params=[False, True], ids=["tokens", "expansion"])
def searcher(request: pytest.FixtureRequest, tiny_bundle: Bundle, tmp_path: Path) -> Iterator[Searcher]:
    encoder = _served(tiny_bundle, tmp_path, expansion=request.param)
    folder = tmp_path / "library"
    folder.mkdir()
    build(folder, _pool().dataset, encoder, Control(), lambda event: None, sorted(encoder.heads))
    made = Searcher(folder, encoder)
    yield made
    made.close()


def test_learned_words_search_and_explain(searcher: Searcher) -> None:
    """Parts add up to the score, and the terms to the part that the learned words have in it."""
    text = questions(PIECES, seed=90)[3].text
    hits = searcher.search(Query(text, k=10)).hits
    assert {part.channel for part in hits[0].parts} >= {DENSE, LEXICAL, MULTI}
    for hit in hits[:3]:
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score)
        told = explain(searcher, None, {}, Query(text, k=10), hit.passage.id)
        raw = next(part.score for part in told.parts if part.channel == LEXICAL)
        assert sum(term.weight for term in told.tokens) == pytest.approx(raw, rel=1e-3)
    assert any(term.spans for term in told.tokens)
    alone = searcher.search(Query(text, k=10, channels=(LEXICAL,))).hits
    assert [hit.score for hit in alone] == sorted((hit.score for hit in alone), reverse=True)
    assert alone[0].score > 0


def test_all_together_find_about_what_the_best_of_them_finds(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Row 14, where meaning is the best of all; and the lexical head is alive."""
    encoder = _served(tiny_bundle, tmp_path)
    found = calibrated(_pool(), encoder)
    assert found.queries >= 40
    assert max(found.channels, key=lambda channel: found.channels[channel]) == DENSE
    assert found.after >= found.channels[DENSE] - 0.01, found
    assert found.channels[LEXICAL] > 0.3
    terms = encoder.encode_heads([piece.input for piece in PIECES], (LEXICAL,)).lexical
    assert terms is not None
    assert min(map(len, terms)) > 0
    assert np.mean([len(own) for own in terms]) > 5


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weights_of_held_out_questions_find_out_what_an_encoder_is_worth(
    tiny_bundle: Bundle, tmp_path: Path, seed: int
) -> None:
    """Row 14, where words are the best of all: the default weights would trust a poor encoder too far."""
    found = calibrated(_pool(), _served(tiny_bundle, tmp_path, seed=seed, noise=0.07))
    assert max(found.channels, key=lambda channel: found.channels[channel]) == BM25
    assert found.after > found.before + 0.025, found
    assert found.after >= found.channels[BM25] - 0.045, found
    assert found.weights[DENSE] < 1


def test_nothing_is_found_by_what_is_not_held_out(tiny_bundle: Bundle) -> None:
    pool = _pool()
    one = replace(pool, questions=tuple(replace(question, group=1) for question in pool.questions))
    with pytest.raises(ValueError, match="held out"):
        calibrated(one, OnnxEncoder(tiny_bundle, threads=1, file=FP32))
