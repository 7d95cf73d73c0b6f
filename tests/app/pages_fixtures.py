"""A context over a small real library and the pages' role, for the tests of the pages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pages_library import make_library

from app.context import Context
from app.engine.engine import Engine
from app.errors import Notifications
from app.settings import Settings
from app.tasks.jobs import Jobs
from app.theme import Theme
from core.library import Library

ROLE = Path(__file__).with_name("pages_role.py")


def command(role: str, library: str) -> list[str]:
    return [sys.executable, str(ROLE), role, library]


@dataclass
class Desk:
    """A context, and what its pages asked the window for."""

    context: Context
    visits: list[tuple[str, Any]]
    messages: list[Any]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library, made once; each test works on a copy of it (its files are shared, so put back what you change)."""
    folder = tmp_path_factory.mktemp("pages")
    make_library(folder / "library", folder / "files").close()
    return folder


@pytest.fixture
def desk(qtbot: Any, qapp: Any, theme: Theme, template: Path, tmp_path: Path) -> Iterator[Desk]:
    shutil.copytree(template / "library", tmp_path / "library")
    library = Library.open(tmp_path / "library")
    engine = Engine(str(tmp_path / "library"), command)
    visits: list[tuple[str, Any]] = []
    messages: list[Any] = []
    notifications = Notifications()
    notifications.shown.connect(messages.append)
    settings = Settings(tmp_path / "settings.json")
    made = Context(
        engine, library, settings, theme, lambda page, target: visits.append((page, target)),
        notifications, Jobs(engine),
    )  # fmt: skip
    yield Desk(made, visits, messages)
    engine.close()
    library.close()
    engine.deleteLater()
