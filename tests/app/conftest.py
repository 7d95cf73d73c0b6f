"""Fixtures of the window's tests: offscreen, Qt warnings fail, no process outlives its test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import psutil
import pytest
from app_helpers import fake_command
from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from pytestqt.qtbot import QtBot

from app.engine.engine import Engine
from app.theme import Theme

_HARMLESS = ("This plugin does not support", "QFont::fromString")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app's own folder of this test."""
    home = tmp_path / "home"
    monkeypatch.setenv("WHYMATCH_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def no_qt_warnings() -> Iterator[None]:
    """A warning of Qt fails the test that caused it."""
    seen: list[str] = []

    def handler(kind: QtMsgType, context: object, text: str) -> None:
        if kind in (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg) and not text.startswith(_HARMLESS):
            seen.append(text)

    before = qInstallMessageHandler(handler)
    yield
    qInstallMessageHandler(before)
    assert not seen, seen


@pytest.fixture(autouse=True)
def no_leaked_processes() -> Iterator[None]:
    """Every child process that a test started must be gone at its end."""
    me = psutil.Process()
    before = {p.pid for p in me.children(recursive=True)}
    yield
    left = [p for p in me.children(recursive=True) if p.pid not in before and p.status() != psutil.STATUS_ZOMBIE]
    for process in left:
        process.kill()
    assert not left, left


@pytest.fixture
def engine(qtbot: QtBot, tmp_path: Path) -> Iterator[Engine]:
    """An engine over the fake role."""
    made = Engine(str(tmp_path / "library"), fake_command())
    yield made
    made.close()
    made.deleteLater()


@pytest.fixture
def theme(qapp) -> Theme:
    return Theme(qapp, "light")
