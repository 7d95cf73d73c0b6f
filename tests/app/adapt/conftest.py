"""The Adapt page over the fake role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import fake_adapt
import pytest
from app_helpers import fake_command, fill
from pytestqt.qtbot import QtBot

from app.errors import Message, Notifications
from app.models.adapt_entries import RECIPES, estimate
from app.settings import Settings
from app.tasks.adapt import AdaptWork
from app.theme import Theme
from app.views.adapt_page import AdaptPage
from app.views.main_window import MainWindow
from core.library import Judgement, Library

WAIT = 30_000


@pytest.fixture
def told() -> list[Message]:
    return []


@pytest.fixture
def window(
    qtbot: QtBot, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: list[Message]
) -> Iterator[MainWindow]:
    fill(tmp_path / "library")
    monkeypatch.setattr(Library, "passage_count", lambda _: 200)
    settings = Settings(tmp_path / "settings.json")
    settings.set("start_search_early", False)
    settings.set("watch", False)
    notifications = Notifications()
    notifications.shown.connect(told.append)
    made = MainWindow(tmp_path / "library", settings, theme, notifications, fake_command())
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.context is not None, timeout=WAIT)
    yield made
    made.close()


@pytest.fixture
def open_page(window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AdaptPage]:
    """The page as the engine's state `kind` makes it, when all is known; `tried` has the recipes tried by a child."""

    def make(kind: str = "accepted", *, tried: bool = False) -> AdaptPage:
        monkeypatch.setenv("FAKE_ADAPT", kind)
        monkeypatch.setenv("FAKE_ADAPT_REST", "0.002")
        if not tried:
            known = {recipe: estimate(fake_adapt.estimate(recipe)) for recipe in RECIPES}
            monkeypatch.setattr(AdaptWork, "try_next", lambda work: work.estimates.update(known))
        window.navigate("adapt", None)
        page = window.page("adapt")
        assert isinstance(page, AdaptPage)
        qtbot.waitUntil(lambda: len(page.work.estimates) == 3 and page.work.history is not None, timeout=WAIT)
        return page

    return make


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[int, int]]]:
    said: list[tuple[str, dict[int, int]]] = []
    monkeypatch.setattr(Library, "judge", lambda _, question, gains: said.append((question, gains)))
    judged = [Judgement(1, "judged", question, 1, "", 2, "") for question in "ab"]
    monkeypatch.setattr(Library, "judgements", lambda _, kinds=(): judged if said and "judged" in kinds else [])
    return said
