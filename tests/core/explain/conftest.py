"""A library about the tiny encoder's topics with its concepts, fitted once for all tests of explanations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.encode.encoder import Encoder
from core.index.concept_model import ConceptModel
from core.search.searcher import Searcher
from tests.core.concepts.library import fit_shelf, labels_of, made_items, make_shelf
from tests.shelf import Shelf

Fitted = tuple[Shelf, ConceptModel, dict[int, str]]


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder) -> Fitted:
    shelf = make_shelf(tmp_path_factory.mktemp("explain") / "library", tiny_encoder, made_items(tiny_encoder, 128))
    name = fit_shelf(shelf, tiny_encoder)
    assert name is not None
    shelf.writer().commit(concepts=name)
    return shelf, ConceptModel.load(shelf.folder / "models" / name), labels_of(shelf, name)


@pytest.fixture(scope="session")
def searcher(fitted: Fitted, tiny_encoder: Encoder) -> Iterator[Searcher]:
    found = Searcher(fitted[0].folder, tiny_encoder)
    yield found
    found.close()
