"""The set-up script: what it chooses by hardware, what it says about the system, and that it repeats nothing."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[ModuleType]:
    sys.path.insert(0, str(PACKAGING))
    yield importlib.import_module("bootstrap")
    sys.path.remove(str(PACKAGING))


@pytest.fixture
def stamps(bootstrap: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    (tmp_path / "stamps").mkdir()
    return tmp_path / "stamps"


def test_step_runs_once_and_again_when_what_it_depends_on_changes(bootstrap: ModuleType, stamps: Path) -> None:
    runs: list[str] = []
    for depends_on in ("a", "a", "b", "b", "a"):
        bootstrap.step("thing", depends_on, lambda: runs.append(""))
    assert len(runs) == 3


def test_interrupted_step_is_done_again(bootstrap: ModuleType, stamps: Path) -> None:
    def fail() -> None:
        raise bootstrap.SetupError("no network")

    with pytest.raises(bootstrap.SetupError):
        bootstrap.step("thing", "a", fail)
    runs: list[str] = []
    bootstrap.step("thing", "a", lambda: runs.append(""))
    assert runs == [""]


@pytest.mark.parametrize(
    ("machine", "first", "last"),
    [
        (("Linux", "x86_64", False, True), "torch==2.13.0+cpu", "torch==2.13.0"),
        (("Linux", "x86_64", True, True), "torch==2.13.0", "torch==2.13.0"),
        (("Linux", "aarch64", False, False), "torch==2.13.0", "torch==2.13.0"),
        (("Darwin", "arm64", False, False), "torch==2.13.0", "torch==2.13.0"),
        (("Windows", "AMD64", False, False), "torch==2.13.0", "torch==2.13.0"),
    ],
)
def test_torch_by_hardware(bootstrap: ModuleType, machine: tuple[str, str, bool, bool], first: str, last: str) -> None:
    attempts = bootstrap.hardware.torch_attempts(bootstrap.hardware.Hardware(*machine))
    assert (attempts[0].arguments[0], attempts[-1].arguments[0]) == (first, last)


def test_index_of_the_environment_is_tried_before_the_large_build(bootstrap: ModuleType) -> None:
    machine = bootstrap.hardware.Hardware("Linux", "x86_64")
    attempts = bootstrap.hardware.torch_attempts(machine, "https://index.example/cpu")
    assert [("https://index.example/cpu" in attempt.arguments) for attempt in attempts] == [False, True, False]
    assert "3 GB" in attempts[-1].note


@pytest.mark.parametrize(
    ("machine", "flags"),
    [
        (("Linux", "x86_64", False, True), "-DGGML_NATIVE=OFF"),
        (("Linux", "x86_64", True, True), "-DGGML_NATIVE=OFF -DGGML_CUDA=on"),
        (("Linux", "x86_64", True, False), "-DGGML_NATIVE=OFF"),
        (("Darwin", "arm64", False, False), "-DGGML_NATIVE=OFF -DGGML_METAL=on"),
        (("Darwin", "x86_64", False, False), "-DGGML_NATIVE=OFF"),
    ],
)
def test_llama_by_hardware(bootstrap: ModuleType, machine: tuple[str, str, bool, bool], flags: str) -> None:
    assert bootstrap.hardware.llama_flags(bootstrap.hardware.Hardware(*machine)) == flags


def test_failed_llama_build_is_told_and_not_fatal(
    bootstrap: ModuleType, stamps: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "pip", lambda *arguments, **environment: False)
    bootstrap.install_llama(bootstrap.hardware.Hardware("Linux", "x86_64"))
    said = capsys.readouterr().out
    assert "quotations" in said
    assert "compiler" in said
    assert not (stamps / "llama").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="about Linux packages")
def test_missing_libraries_are_named_with_one_command(bootstrap: ModuleType) -> None:
    libraries = bootstrap.system_libraries
    assert not libraries._loads("libof-no-system.so.9")
    assert libraries._loads("libc.so.6")
    needs = [need for need in libraries.QT_LIBRARIES if "cursor" in need.name or "EGL" in need.name]
    assert libraries.install_command(needs, "apt-get") == "sudo apt-get install -y libegl1 libxcb-cursor0"
    assert libraries.install_command(needs, "pacman").endswith("--noconfirm libglvnd xcb-util-cursor")
    assert "libEGL.so.1" in libraries.install_command(needs, None)


def test_every_library_has_a_package_for_every_manager(bootstrap: ModuleType) -> None:
    libraries = bootstrap.system_libraries
    for need in (*libraries.QT_LIBRARIES, libraries.XVFB):
        assert len(need.packages) == len(libraries.MANAGERS), need.name


def test_ci_installs_what_the_test_command_asks_for(bootstrap: ModuleType) -> None:
    script = (PACKAGING.parent / ".ci" / "run").read_text()
    libraries = bootstrap.system_libraries
    for need in (*libraries.QT_LIBRARIES, libraries.XVFB):
        assert re.search(rf"\s{re.escape(need.package('apt-get'))}\s", script), need.name


def test_every_dependency_of_the_project_is_pinned(bootstrap: ModuleType) -> None:
    project = tomllib.loads((PACKAGING.parent / "pyproject.toml").read_text())["project"]
    base, test = (_pins(PACKAGING / "requirements" / f"{name}.txt") for name in ("base", "test"))
    by_hardware = {"torch", "llama-cpp-python"}
    assert {_name(line) for line in project["dependencies"]} - by_hardware <= set(base)
    assert {_name(line) for line in project["optional-dependencies"]["test"]} <= set(base) | set(test)
    assert not set(base) & set(test)


def test_wrong_usage_ends_with_2(bootstrap: ModuleType) -> None:
    for arguments in ([], ["dance"], ["run", "--faster"]):
        with pytest.raises(SystemExit) as end:
            bootstrap.main(arguments)
        assert end.value.code == 2


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match
    return re.sub(r"[-_.]+", "-", match[0]).lower()


def _pins(file: Path) -> dict[str, str]:
    lines = [line.partition(";")[0].strip() for line in file.read_text().splitlines() if not line.startswith("#")]
    pins = dict(line.split("==") for line in lines if line)
    assert len(pins) == len([line for line in lines if line])
    return {_name(name): version for name, version in pins.items()}
