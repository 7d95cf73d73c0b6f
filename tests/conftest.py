"""Fixtures for all tests."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from core.base.errors import ModelDamaged, ModelMissing
from core.encode.encoder import Encoder
from core.encode.load import serve
from core.models.bundles import CONFIG, ENCODER, LLM, STARTERS, Bundle, find, load

ROOT = Path(__file__).parents[1]
_RECIPE = ("tests/tiny.py", "core/encode/graph.py", "core/encode/int8.py", "core/encode/export.py")


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the app's logs and settings of a test away from the person's own ones."""
    monkeypatch.setenv("WHYMATCH_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def tmp_library(tmp_path: Path) -> Path:
    """Where a library may be made; the folder does not exist yet."""
    return tmp_path / "library"


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Real files and data sets, where `WHYMATCH_SHARED` names them."""
    folder = os.environ.get("WHYMATCH_SHARED", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("WHYMATCH_SHARED names no folder")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def tiny_bundle(request: pytest.FixtureRequest) -> Bundle:
    """The bundle of the tiny encoder, trained once per recipe (see tests/tiny.py)."""
    recipe = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in _RECIPE)).hexdigest()[:16]
    cache = request.config.cache
    assert cache is not None
    target = Path(cache.mkdir("tiny")) / recipe
    if not (target / CONFIG).is_file():
        _train(target)
    return load(target)


def _train(target: Path) -> None:
    """Train in a child process and move the bundle into place by one rename (several runs may do so at once)."""
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        folder = Path(made) / "tiny"
        folder.mkdir()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, str(ROOT / "tests/tiny.py"), str(folder)],
            env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=500,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        if not target.exists():
            folder.rename(target)


@pytest.fixture(scope="session")
def tiny_encoder(tiny_bundle: Bundle) -> Encoder:
    """A real encoder of 64 dimensions that knows the topics of tests/tiny.py."""
    return serve(tiny_bundle, threads=1)


@pytest.fixture
def tiny_home(tiny_bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An app home in which the tiny encoder is installed and active, for child processes and the command line."""
    home = tmp_path / "tiny-home"
    shutil.copytree(tiny_bundle.folder, home / "models" / tiny_bundle.id)
    (home / "models" / "active.json").write_text(f'{{"{ENCODER}": "{tiny_bundle.id}"}}')
    monkeypatch.setenv("WHYMATCH_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def starter_encoder() -> Encoder:
    """The installed starter encoder."""
    return serve(_starter(ENCODER))


@pytest.fixture(scope="session")
def starter_llm() -> Bundle:
    """The bundle of the installed starter LLM."""
    return _starter(LLM)


def _starter(kind: str) -> Bundle:
    # `_own_home` may be in force by now: look in the home that the test run was started with
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WHYMATCH_HOME", raising=False)
        if _PERSONS_HOME is not None:
            patch.setenv("WHYMATCH_HOME", _PERSONS_HOME)
        try:
            return find(STARTERS[kind])
        except (ModelMissing, ModelDamaged) as error:
            pytest.skip(str(error))


_PERSONS_HOME = os.environ.get("WHYMATCH_HOME")


@pytest.fixture(autouse=True)
def _settled_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that a test has just written are read without a wait."""
    monkeypatch.setattr("core.ingest.reading.SETTLE_SECONDS", 0.05)
