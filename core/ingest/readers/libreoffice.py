"""LibreOffice, where it is installed, turns an old Office file into a new one, which its own reader then reads.

It runs without a window, with a profile of its own in a temporary folder, macros off, without links to the network,
and under a time limit. It ends with this process: a watcher in its process group waits for our end of a pipe.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from core.ingest.limits import Limits, Tick

_PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    r"C:\Program Files\LibreOffice\program\soffice.exe",
    r"C:\Program Files (x86)\LibreOffice\program\soffice.exe",
)
_SECONDS = 90.0
_LOOK_SECONDS = 0.1
# limits of its own, since those of the reading child are too tight for it: kilobytes of memory, seconds of processor
# time; then the program itself, and the watcher that ends the group when its standard input closes
_WRAPPER = """
ulimit -S -v 6291456 2>/dev/null; ulimit -S -t 180 2>/dev/null; ulimit -S -f 2097152 2>/dev/null
"$@" </dev/null &
program=$!
{ read -r _; kill -9 0; } <&3 &
wait "$program"
"""
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
</oor:items>
"""


def program() -> str:
    """The path of LibreOffice, empty when it is not installed."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    return found or next((place for place in _PLACES if Path(place).is_file()), "")


@contextlib.contextmanager
def converted(path: Path, kind: str, limits: Limits, tick: Tick) -> Iterator[Path | None]:
    """The file at `path` as `kind` ("docx", "pptx", "xlsx"); None when LibreOffice is missing or fails.

    The converted file lives as long as the `with` block.
    """
    office = program()
    if not office:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="office-", dir=limits.spool or None))
    try:
        source = folder / f"source{path.suffix.lower()[:8]}"
        shutil.copyfile(path, source)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
        _run([office, *_arguments(folder, kind), str(source)], folder, tick)
        result = folder / "out" / f"source.{kind}"
        yield result if result.is_file() and result.stat().st_size else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _arguments(folder: Path, kind: str) -> list[str]:
    return [
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        "--headless", "--invisible", "--norestore", "--nolockcheck", "--nodefault", "--nologo",
        "--convert-to", kind, "--outdir", str(folder / "out"),
    ]  # fmt: skip


def _run(line: list[str], folder: Path, tick: Tick) -> None:
    """Run until it ends, or for `_SECONDS`; nothing of it is left afterwards."""
    windows = sys.platform == "win32"
    process = subprocess.Popen(
        line if windows else ["/bin/sh", "-c", f"exec 3<&0\n{_WRAPPER}", "sh", *line],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
        env=os.environ | {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"},
        start_new_session=not windows,
    )  # fmt: skip
    deadline = time.monotonic() + _SECONDS
    try:
        while process.poll() is None and time.monotonic() < deadline:
            tick()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()
