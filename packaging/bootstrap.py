"""Sets Whymatch up in its own folder and runs or tests it. Needs nothing but Python 3.11 or newer.

    python3 packaging/bootstrap.py run     set up, then open the window (without a display: the demo)
    python3 packaging/bootstrap.py test    set up, then run every check (further arguments go to pytest)

Safe to run again at any time: each step leaves a stamp with the hash of what it depends on, and is skipped when
nothing has changed. A step that was interrupted is done again; what pip has fetched or built stays in its cache.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

import hardware
import system_libraries

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "packaging" / "requirements"
WINDOWS = sys.platform == "win32"
PYTHON = VENV / ("Scripts/python.exe" if WINDOWS else "bin/python")
LONG_BUILD = 60  # seconds; a shorter failure is a missing compiler or network and is tried again each time
CHECKS = {
    "style": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "layers": ["lint-imports"],
    "types": ["mypy"],
    "tests": ["pytest"],
}


class SetupError(Exception):
    """What went wrong and what to do about it."""


def say(text: str) -> None:
    print(f"[whymatch] {text}", flush=True)


def call(command: Sequence[str | Path], **environment: str) -> int:
    """Run a command in the project folder with its output shown; the exit code."""
    return subprocess.call(
        [str(part) for part in command], cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.DEVNULL
    )


def pip(*arguments: str, **environment: str) -> bool:
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    return call(command, PIP_NO_INPUT="1", **environment) == 0


# --- steps and their stamps


def step(name: str, depends_on: str, work: Callable[[], None]) -> None:
    """Do `work` unless its stamp says that it was done for the same `depends_on`."""
    stamp = VENV / "stamps" / name
    digest = hashlib.sha256(depends_on.encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return
    started = time.monotonic()
    work()
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(digest)
    say(f"{name}: done in {time.monotonic() - started:.0f} s")


def make_venv() -> None:
    """A virtual environment of this Python; one that does not start is made anew."""
    if PYTHON.is_file():
        probe = [PYTHON, "-c", "import sys, pip; assert sys.version_info >= (3, 11)"]
        if subprocess.run(probe, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
            return
    say(f"making the environment {VENV} with Python {sys.version.split()[0]}")
    try:
        venv.EnvBuilder(with_pip=True, clear=True, symlinks=not WINDOWS).create(VENV)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SetupError(
            f"The environment could not be made ({error}). On Debian or Ubuntu: sudo apt-get install -y python3-venv"
        ) from error


def install_requirements(name: str) -> None:
    file = REQUIREMENTS / f"{name}.txt"

    def work() -> None:
        say(f"installing the packages of {file.relative_to(ROOT)}")
        if not pip("-r", str(file)):
            raise SetupError("The packages could not be installed. Check the network, then run this again.")

    step(f"packages-{name}", file.read_text(), work)


def install_torch(machine: hardware.Hardware) -> None:
    attempts = hardware.torch_attempts(machine, os.environ.get("WHYMATCH_TORCH_INDEX", ""))

    def work() -> None:
        for attempt in attempts:
            say(f"installing {attempt.note}")
            if pip(*attempt.arguments):
                return
        raise SetupError(
            "torch could not be installed. Check the network and the free disk space, then run this again."
        )

    step("torch", f"{hardware.TORCH} {machine.nvidia}", work)


def install_llama(machine: hardware.Hardware) -> None:
    """llama.cpp; without it answers are quotations, so a failure is told and not fatal."""
    flags = hardware.llama_flags(machine)
    failure, compiler = VENV / "stamps" / "llama-failed", f"{flags} {shutil.which('c++')} {shutil.which('cl')}"
    if failure.is_file() and failure.read_text() == compiler:
        say(f"answers will be quotations: llama.cpp could not be built before. To try again, delete {failure}")
        return
    started = time.monotonic()
    try:
        step("llama", f"{hardware.LLAMA} {flags}", lambda: build_llama(machine, flags))
    except SetupError as error:
        say(f"{error} Everything else works; answers will be quotations from your documents.")
        advice = compiler_advice(machine.system)
        say(f"To have written answers, install a C++ compiler, then run this again:\n  {advice}")
        if time.monotonic() - started > LONG_BUILD:
            failure.write_text(compiler)  # it would take as long and fail the same way each time


def build_llama(machine: hardware.Hardware, flags: str) -> None:
    options = [hardware.LLAMA]
    if machine.accelerator != "cpu":
        # pip keeps a built wheel under the version alone: an earlier build without the device must not come back
        options += ["--cache-dir", str(VENV / f"cache-{machine.accelerator}")]
    say(f"building llama.cpp for {machine.accelerator}: 6 to 10 minutes, unless pip has built it before")
    if not pip(*options, CMAKE_ARGS=flags):
        raise SetupError("llama.cpp could not be built.")


def compiler_advice(system: str) -> str:
    """How to get a C++ compiler."""
    if system == "Windows":
        return "install the Visual Studio Build Tools with the workload 'Desktop development with C++'"
    if system == "Darwin":
        return "xcode-select --install"
    packages = {
        "apt-get": "build-essential", "dnf": "gcc-c++ make", "pacman": "base-devel", "zypper": "gcc-c++ make",
    }  # fmt: skip
    manager = system_libraries.manager()
    if manager is None:
        return "install g++ and make with your package manager"
    return f"{system_libraries.MANAGERS[manager]} {packages[manager]}"


def install_project() -> None:
    def work() -> None:
        say("installing Whymatch itself")
        if not pip("--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT)):
            raise SetupError("Whymatch itself could not be installed.")

    step("project", (ROOT / "pyproject.toml").read_text() + str(ROOT), work)


def install_models() -> None:
    """The starter models; a whole one is left as it is (checked by hash, so this has no stamp)."""
    say("checking the starter models (fetched once, about 180 MB)")
    if call([PYTHON, "-m", "core.encode.install"]) != 0:
        raise SetupError("The starter models could not be installed: see the line above.")


def set_up() -> None:
    machine = hardware.detect()
    make_venv()
    install_requirements("base")
    install_torch(machine)
    install_llama(machine)
    install_project()
    install_models()


# --- what the system must have


def require_system(extra: list[system_libraries.Need]) -> None:
    """Name the missing system libraries and programs, with the command that installs them."""
    if not sys.platform.startswith("linux"):
        return
    missing = system_libraries.missing_libraries() + extra
    if missing:
        names = ", ".join(need.name for need in missing)
        command = system_libraries.install_command(missing, system_libraries.manager())
        raise SetupError(f"This system lacks {names}. Install them, then run this again:\n  {command}")


# --- commands


def run() -> int:
    if hardware.has_display():
        require_system([])
        set_up()
        say("opening the window")
        return call([PYTHON, "-m", "core.cli"])
    set_up()
    missing = sys.platform.startswith("linux") and system_libraries.missing_libraries()
    if missing:
        say(f"the window would also need: {system_libraries.install_command(missing, system_libraries.manager())}")
    say("there is no display, so here is the demo instead of the window")
    return call([PYTHON, "-m", "core.cli", "demo"])


def test(arguments: Sequence[str]) -> int:
    headless = not hardware.has_display()
    require_system([system_libraries.XVFB] if headless and shutil.which("xvfb-run") is None else [])
    set_up()
    install_requirements("test")
    failed = [name for name in CHECKS if not check(name, arguments if name == "tests" else (), headless)]
    if failed:
        say(f"FAILED: {', '.join(failed)}")
        return 1
    say("all checks passed")
    return 0


def check(name: str, arguments: Sequence[str], headless: bool) -> bool:
    """One check by name, its command shown."""
    command = [*CHECKS[name], *arguments]
    say(f"{name}: {' '.join(command)}")
    full = [str(PYTHON.parent / command[0]), *command[1:]]
    if name == "tests" and headless:
        full = ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1600x1000x24", *full]
    return call(full) == 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("command", choices=["run", "test"], help="run the app, or run its checks")
    if sys.version_info < (3, 11):  # noqa: UP036 (this file is what an older Python is started with)
        parser.error("Python 3.11 or newer is needed")
    chosen, rest = parser.parse_known_args(arguments)
    if chosen.command == "run" and rest:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    try:
        return run() if chosen.command == "run" else test(rest)
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("stopped; run the same command to go on")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
