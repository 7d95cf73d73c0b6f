"""What was encoded before a stop, or by whoever serves the library, is not encoded again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from core.base.errors import Cancelled
from core.base.events import Control, Event, Progress
from core.encode.encoder import Encoder
from core.encode.load import serve
from core.encode.towers import TwoTowers
from core.evaluate.datasets import CorpusDocument, Dataset
from core.evaluate.throwaway import build
from core.index.snapshot import Snapshot
from core.models.bundles import Bundle
from core.search.searcher import Searcher
from core.store import database
from core.train import blocks, full_stage
from core.train.backbone import Backbone
from core.train.blocks import Keep, Vectors, encoded
from core.train.bundle import save, weights_hash
from core.train.dense_search import DenseSearch
from core.train.full_stage import _frozen, _pretrained
from core.train.library_vectors import of_library
from core.train.material import read
from core.train.plans import COCONDENSER, SIMLM
from core.train.recipes import FullStage
from core.train.refresh import Refresher
from core.train.types import Candidates
from tests.core.train.ance_run import mining
from tests.core.train.asking import questions
from tests.core.train.made import documents


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(blocks, "BLOCK", 4)


class Counted:
    """A backbone's `vectors` or `vectors_of`, with a count of texts and a stop after some."""

    def __init__(self, encode: Any, most: int = 10**9) -> None:
        self._encode, self._most, self.count = encode, most, 0

    def __call__(self, texts: Sequence[Any], *more: Any) -> Vectors:
        if self.count + len(texts) > self._most:
            raise Cancelled
        self.count += len(texts)
        made: Vectors = self._encode(texts, *more)
        return made


def test_blocks_that_were_made_are_taken_again(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(10)]
    luck = np.random.default_rng(0)
    known = {text: luck.standard_normal(3).astype(np.float32) for text in texts}

    def encode(part: Sequence[str]) -> Vectors:
        return np.stack([known[text] for text in part])

    told: list[Event] = []
    keep = Keep(tmp_path / "vectors", "weights", "stage", told.append)
    first = Counted(encode, most=8)
    with pytest.raises(Cancelled):
        encoded(texts, first, keep)
    again = Counted(encode)
    np.testing.assert_array_equal(encoded(texts, again, keep), encode(texts))
    assert (first.count, again.count) == (8, 2)
    assert [(e.stage, e.done, e.total) for e in told if isinstance(e, Progress)][-3:] == [
        ("stage", 0, 10), ("stage", 4, 10), ("stage", 8, 10)
    ]  # fmt: skip
    damaged = sorted(keep.folder.iterdir())[1]
    damaged.write_bytes(damaged.read_bytes()[:50])
    mended = Counted(encode)
    np.testing.assert_array_equal(encoded(texts, mended, keep), encode(texts))
    assert mended.count == 4
    moved = Counted(encode)
    encoded(texts, moved, replace(keep, key="other weights"))
    assert (moved.count, len(list(keep.folder.iterdir()))) == (10, 3)


def test_search_and_renewal_go_on_where_they_were_stopped(tiny_bundle: Bundle, tmp_path: Path) -> None:
    backbone, pieces = Backbone.open(tiny_bundle, "cpu"), documents(14, sentences=2)
    keep = Keep(tmp_path / "vectors", weights_hash(backbone.weights()))
    with pytest.raises(Cancelled):
        DenseSearch(Counted(backbone.vectors, most=9), pieces, keep=keep)
    rest = Counted(backbone.vectors)
    search = DenseSearch(rest, pieces, keep=keep)
    assert rest.count == 6
    np.testing.assert_allclose(search.vectors, backbone.vectors([piece.input for piece in pieces]), atol=1e-6)

    asked = questions(pieces)
    before = tuple(Candidates(number, q.positive, (pieces[number - 1].id,)) for number, q in enumerate(asked))
    ids = backbone.ids([piece.input for piece in pieces])
    whole_keep = replace(keep, folder=tmp_path / "whole")
    expected = Refresher(backbone, asked, pieces, ids, 24, mining()).renew(before, 1, keep=whole_keep)
    backbone.vectors_of, whole = Counted(backbone.vectors_of, most=9), backbone.vectors_of  # type: ignore[method-assign]
    refresher = Refresher(backbone, asked, pieces, ids, 24, mining())
    keep = replace(keep, folder=tmp_path / "renewed")
    with pytest.raises(Cancelled):
        refresher.renew(before, 1, keep=keep)
    backbone.vectors_of = rest = Counted(whole)  # type: ignore[method-assign]
    assert refresher.renew(before, 1, keep=keep) == expected  # to the bit
    assert rest.count == 14 - 8 + len(asked)


def library_of(folder: Path, encoder: Encoder) -> Path:
    folder.mkdir()
    corpus = tuple(CorpusDocument(str(p.id), "", p.text) for p in documents(12, sentences=2))
    build(folder, Dataset("made", folder, corpus, {}, {}), encoder, Control(), lambda event: None)
    return folder


def test_vectors_of_the_library_are_not_made_again(tiny_bundle: Bundle, tmp_path: Path) -> None:
    class Watched(Counted):
        id, dimension = tiny_bundle.id, 64

        def encode(self, texts: Sequence[str], **more: Any) -> Vectors:
            return self(texts)

    encoder = serve(tiny_bundle, threads=1)
    library = library_of(tmp_path / "library", encoder)
    db = database.open_writer(library)
    pieces = read(db)
    present: Any = Watched(lambda texts: encoder.encode(texts))
    expected = encoder.encode([piece.input for piece in pieces])
    np.testing.assert_allclose(of_library(db, pieces, present, "x"), expected, atol=1e-5)
    assert present.count == 0
    lost = pieces[3].input
    db.execute("DELETE FROM vector WHERE hash = (SELECT hash FROM passage WHERE id = ?)", (pieces[3].id,))
    told: list[Event] = []
    np.testing.assert_allclose(of_library(db, pieces, present, "x", listener=told.append), expected, atol=1e-5)
    assert present.count == 1, lost
    assert told == [Progress("x", 0, 1)]
    present.id = "another"
    of_library(db, pieces, present, "x")
    assert present.count == 13
    db.conn.close()


def test_questions_are_frozen_by_the_model_that_is_trained(tiny_bundle: Bundle, tmp_path: Path) -> None:
    """Not by the encoder of queries that the library has beside it."""
    backbone = Backbone.open(tiny_bundle, "cpu")
    moved = {name: weight + 0.05 * torch.randn_like(weight) for name, weight in backbone.weights().items()}
    other = serve(save(moved, tiny_bundle, tmp_path / "models", {"role": "query"}), threads=1)
    present = TwoTowers(serve(tiny_bundle, threads=1), other)
    library = library_of(tmp_path / "library", present)
    with Snapshot.open(library) as snapshot:
        pieces = read(snapshot.db)
    asked = questions(pieces)
    searcher = Searcher(library, present)
    frozen = _frozen(backbone, asked, pieces, searcher, present, tmp_path / "full", None, lambda event: None)
    searcher.close()
    texts = [q.text for q in asked]
    np.testing.assert_allclose(frozen.questions, backbone.vectors(texts, "query"), atol=1e-6)
    assert np.abs(frozen.questions - present.encode(texts, kind="query")).max() > 0.05
    np.testing.assert_allclose(frozen.pieces, present.encode([p.input for p in pieces]), atol=1e-5)


def test_spans_are_cut_only_where_they_are_contrasted(
    tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = []
    real = full_stage.spans.make
    monkeypatch.setattr(full_stage.spans, "make", lambda *args, **more: cut.append(1) or real(*args, **more))
    backbone, pieces = Backbone.open(tiny_bundle, "cpu"), documents(10)

    def made(stage: FullStage) -> Any:
        return _pretrained(backbone, pieces, stage, tmp_path, None, None, lambda event: None, lambda name: ())

    contrasted = FullStage(objective=COCONDENSER, pretraining=2)
    assert made(replace(contrasted, pretraining=0)) is None
    assert made(replace(contrasted, objective=SIMLM)) is None  # too few passages
    assert cut == []
    assert made(contrasted) is None  # too few documents
    assert cut == [1]
