"""What tests of adapting share: a short recipe, whole runs, a gate that accepts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.base.events import Control, Event
from core.index import generation
from core.train.recipes import QueryStage, Recipe
from core.worker import adapting
from core.worker.doctor import examine

SMALL = Recipe("quick", 400, 5.0, QueryStage(epochs=2, rate=2e-3, moments=1))


def adapt(library: Path, **more: object) -> dict:  # type: ignore[type-arg]
    told: list[Event] = []
    made = adapting.adapt(library, "quick", control=Control(), listener=told.append, **more)  # type: ignore[arg-type]
    return {**made, "told": told}


def accepting(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.train import adapt, gate

    judged = gate.judge
    monkeypatch.setattr(adapt.gate, "judge", lambda *args: replace(judged(*args), accepted=True))


def queries(library: Path) -> str:
    current = generation.current(library)
    return current.queries if current else ""


def wrong(library: Path) -> list[str]:
    """What the doctor finds, but for the file that this library was made of without being read."""
    return [f"{f.check}: {f.detail}" for f in examine(library) if f.severity != "ok" and f.check != "files"]
