"""A library that can be adapted by a short recipe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from core.base.events import Control
from core.encode.encoder import Encoder
from core.evaluate.datasets import CorpusDocument, Dataset
from core.evaluate.throwaway import build
from core.train.recipes import RECIPES
from tests.core.train.made import documents
from tests.core.worker.adapting_runs import SMALL


@pytest.fixture
def library(tiny_home: Path, tiny_encoder: Encoder, tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    pieces = documents(240, sentences=4)
    corpus = tuple(CorpusDocument(str(p.id), f"On {' '.join(p.text.split()[1:4])}", p.text) for p in pieces)
    build(folder, Dataset("made", folder, corpus, {}, {}), tiny_encoder, Control(), lambda event: None)
    return folder


@pytest.fixture
def short_recipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A short recipe, on one thread: a model this small is slower on two."""
    monkeypatch.setitem(RECIPES, "quick", SMALL)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
