"""Only a reranker that puts more right passages first, in time, is let in."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from core.base.events import Control
from core.encode.encoder import Encoder, FloatArray
from core.evaluate.kept_vectors import KeptVectors
from core.search.fuse import Fusing
from core.train import pool
from core.train.pool import Pool
from core.train.rerank_gate import RerankMeasured, judge_reranker, measured
from tests.core.train.asking import questions
from tests.core.train.made import documents


class Fixed:
    """A reranker with an opinion that is known beforehand."""

    id = "fixed"

    def __init__(self, right: dict[str, str], kind: str, seconds: float = 0.0) -> None:
        self._right, self._kind, self._seconds = right, kind, seconds
        self._luck = np.random.default_rng(0)

    def score(self, question: str, passages: Sequence[str], *, until: float, control: Control | None) -> FloatArray:
        time.sleep(self._seconds)
        if self._kind == "constant":
            return np.zeros(len(passages), np.float32)
        if self._kind == "random":
            return self._luck.standard_normal(len(passages)).astype(np.float32)
        return np.array([float(text.endswith(self._right[question])) for text in passages], np.float32)


@pytest.fixture(scope="module")
def asked() -> Pool:
    pieces = documents(70, sentences=3)
    return pool.make(pieces, questions(pieces))


@pytest.fixture(scope="module")
def right(asked: Pool) -> dict[str, str]:
    texts = {document.id: document.text for document in asked.dataset.corpus}
    return {question.text: texts[str(question.positive)] for question in asked.questions}


def _judged(asked: Pool, encoder: Encoder, reranker: Fixed, folder: Path, fusing: Fusing | None = None):  # type: ignore[no-untyped-def]
    with KeptVectors(folder / "vectors.db") as kept:
        found = measured(asked, encoder, reranker, kept, fusing=fusing, weights=(0.05, 4.0))
    kinds, groups = [q.kind for q in asked.questions], [q.group for q in asked.questions]
    return found, judge_reranker(found, found.best, kinds, groups)


def test_one_that_knows_is_let_in_and_its_weight_is_the_best(
    asked: Pool, right: dict[str, str], tiny_encoder: Encoder, tmp_path: Path
) -> None:
    found, verdict = _judged(asked, tiny_encoder, Fixed(right, "oracle"), tmp_path, Fusing(closely_seconds=1e9))
    assert verdict.accepted
    assert verdict.low > 0
    assert verdict.delta == pytest.approx(verdict.after - verdict.before)
    assert found.read == found.closely == 50
    assert found.best == 4.0
    assert found.reranked[4.0].mean() > found.reranked[0.05].mean() > found.fused.mean()


@pytest.mark.parametrize("kind", ["random", "constant"])
def test_one_that_knows_nothing_is_refused(
    asked: Pool, right: dict[str, str], tiny_encoder: Encoder, tmp_path: Path, kind: str
) -> None:
    found, verdict = _judged(asked, tiny_encoder, Fixed(right, kind), tmp_path, Fusing(closely_seconds=1e9))
    assert verdict.decided
    assert not verdict.accepted
    assert "Refused" in verdict.reason
    if kind == "constant":
        np.testing.assert_array_equal(found.reranked[4.0], found.fused)


def test_the_passages_lie_in_the_folder_that_is_given(
    asked: Pool, right: dict[str, str], tiny_encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, system, seen = tmp_path / "run", tmp_path / "system", set[int]()
    system.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(system))
    with KeptVectors(tmp_path / "vectors.db") as kept:
        measured(
            asked, tiny_encoder, Fixed(right, "constant"), kept, weights=(1.0,), folder=own,
            listener=lambda event: seen.add(10 * len(list(own.iterdir())) + len(list(system.iterdir()))),
        )  # fmt: skip
    assert seen == {10}
    assert list(own.iterdir()) == []


def test_one_that_is_too_slow_here_is_refused_however_much_it_knows(
    asked: Pool, right: dict[str, str], tiny_encoder: Encoder, tmp_path: Path
) -> None:
    found, verdict = _judged(
        asked, tiny_encoder, Fixed(right, "oracle", seconds=0.02), tmp_path, Fusing(closely_seconds=0.002)
    )
    assert found.read <= 5
    assert [check.name for check in verdict.checks if not check.passed] == ["time"]


def test_too_few_questions_decide_nothing() -> None:
    ones = np.ones(20)
    verdict = judge_reranker(RerankMeasured(0 * ones, {1.0: ones}, 50, 50, 1.0), 1.0, ["title"] * 20, range(20))
    assert not verdict.decided
    assert not verdict.accepted


def test_a_kind_of_question_that_loses_stands_in_its_way() -> None:
    fused, after = np.full(200, 0.5), np.concatenate([np.full(160, 0.9), np.full(40, 0.3)])
    kinds = ["title"] * 160 + ["heading"] * 40
    verdict = judge_reranker(RerankMeasured(fused, {1.0: after}, 50, 50, 1.0), 1.0, kinds, range(200))
    assert verdict.low > 0
    assert not verdict.accepted
    assert [check.name for check in verdict.checks if not check.passed] == ["kind:heading"]
