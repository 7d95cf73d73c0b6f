"""Fixtures of the tests with real processes."""

from pathlib import Path

import pytest


@pytest.fixture
def starter_home(starter_llm, tmp_path):
    """A fresh home that has the installed starter models."""
    home = tmp_path / "starter-home"
    home.mkdir()
    (home / "models").symlink_to(Path(starter_llm.folder).parent)
    return home
