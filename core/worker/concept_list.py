"""All concepts of the generation in use at once, with the figures of their model: what the Concepts page lists."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.base.errors import IndexDamaged
from core.base.files import read_json
from core.base.types import Concept
from core.concepts.folder import FOLDER
from core.concepts.stale import LEAST_PASSAGES
from core.index import generation
from core.index.concept_model import CONFIG
from core.library import Library


@dataclass(frozen=True, slots=True)
class ConceptList:
    """`model` is empty while there are no concepts: the library has fewer than `least` passages, or none were found
    yet. `figures` are those of `core.concepts.fidelity`, empty when they cannot be read; `created` is an ISO time.
    """

    model: str
    concepts: tuple[Concept, ...]
    figures: dict[str, Any] = field(default_factory=dict)
    passages: int = 0
    least: int = LEAST_PASSAGES
    fitted: int = 0  # passages that there were when the concepts were found
    created: str = ""


def concept_list(folder: Path) -> ConceptList:
    """The concepts as the person named them, hidden ones among them.

    Raises:
        NotALibrary, LibraryTooNew, LibraryDamaged, NoPermission
    """
    library = Library.open(folder)
    try:
        passages = library.passage_count()
        model = _model(folder)
        if not model:
            return ConceptList("", (), passages=passages)
        config = _config(folder / FOLDER / model / CONFIG)
        figures = dict(config.get("fidelity", {}))
        return ConceptList(
            model, tuple(library.concepts(model)), figures, passages,
            fitted=int(config.get("passages", 0)), created=str(config.get("created", "")),
        )  # fmt: skip
    finally:
        library.close()


def _model(folder: Path) -> str:
    with contextlib.suppress(IndexDamaged):  # the search says so, and mends it
        current = generation.current(folder)
        return current.concepts if current else ""
    return ""


def _config(path: Path) -> dict[str, Any]:
    try:
        config = read_json(path)
    except (OSError, ValueError):
        return {}  # the names are there all the same; `doctor` tells of the model
    return config if isinstance(config, dict) else {}
