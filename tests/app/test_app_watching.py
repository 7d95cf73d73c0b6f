"""The window's part of watching folders: the resident child says that something changed, and it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.engine.engine import Engine
from app.settings import Settings
from app.tasks.jobs import Jobs
from app.tasks.watching import FolderWatch
from core.base.types import IngestReport


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "settings.json")


def test_what_changed_is_read_once_nothing_else_runs(
    qtbot: QtBot, engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CHANGES", "3")
    jobs = Jobs(engine, engine)
    watch = FolderWatch(engine, jobs, settings, engine)
    assert watch.watching
    done = []
    jobs.done.connect(lambda task, report: done.append((task.op, task.quiet, type(report))))
    jobs.demo()
    with qtbot.waitSignal(watch.folders_changed, timeout=10_000) as heard:
        pass
    assert heard.args == [3]
    qtbot.waitUntil(lambda: len(done) == 2, timeout=20_000)
    assert done == [("demo", False, IngestReport), ("ingest", True, IngestReport)]


def test_the_setting_starts_and_stops_it(qtbot: QtBot, engine: Engine, settings: Settings) -> None:
    settings.set("watch", False)
    watch = FolderWatch(engine, Jobs(engine, engine), settings, engine)
    assert not watch.watching
    settings.set("watch", True)
    assert watch.watching
    settings.set("watch", False)
    qtbot.waitUntil(lambda: not watch.watching, timeout=10_000)
