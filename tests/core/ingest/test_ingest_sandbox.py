"""A file that kills, hangs or floods its reader ends as a state with a reason, and the next file is read."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.base.errors import Cancelled
from core.base.events import Control
from core.base.types import DocumentState, ReadDocument
from core.ingest.budget import REST
from core.ingest.limits import Limits
from core.ingest.sandbox import Sandbox

ROOT = Path(__file__).parents[3]

# loaded by every Python that finds it: text files that begin with a magic word do harm to the process reading them
_HARMFUL = """
import ctypes, os, time
import core.ingest.readers.text as text

_read = text.read

def read(path, limits, tick):
    word = path.read_bytes().split(b"!")[0]
    if word == b"SLEEP":
        time.sleep(1000)
    elif word == b"SPIN":
        while True:
            pass
    elif word == b"LIVELY":
        while True:
            tick()
            time.sleep(0.01)
    elif word == b"HOLD":
        ctypes.PyDLL(None).sleep(1000)  # keeps the interpreter: no other thread of the child runs
    elif word == b"SEGV":
        ctypes.string_at(0)
    elif word == b"ABORT":
        os.abort()
    elif word == b"EXIT":
        os._exit(0)
    elif word == b"MEMORY":
        bytearray(8 << 30)
    elif word == b"STEPWISE":
        keep = []
        while True:
            keep.append(bytearray(32 << 20))
    elif word in (b"FLOOD", b"NOISE"):
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"x\\n" if word == b"NOISE" else b"x")
                while word == b"FLOOD":
                    os.write(descriptor, b"x" * 65536)
            except OSError:
                pass
    elif word == b"WRITE":
        with open(str(path) + ".out", "wb") as file:
            file.write(bytes(64 << 20))
    yield from _read(path, limits, tick)

text.read = read
"""


@pytest.fixture
def harmful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to put harmful text files in; the children of this test fall for them."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(_HARMFUL)
    monkeypatch.setenv("PYTHONPATH", str(site))
    return tmp_path


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(memory_bytes=512 << 20, output_characters=200_000)) as sandbox:
        yield sandbox


def one(sandbox: Sandbox, path: Path, text: str | None = None) -> ReadDocument:
    if text is not None:
        path.write_text(text)
    (document,) = sandbox.read(str(path), "")
    return document


def is_well(sandbox: Sandbox, folder: Path) -> bool:
    return one(sandbox, folder / "well.txt", "All is well.").text == "All is well."


@pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are POSIX")
@pytest.mark.parametrize(
    ("word", "state", "reason"),
    [
        ("SLEEP", DocumentState.TIMED_OUT, "longer than 2 seconds"),
        ("SPIN", DocumentState.TIMED_OUT, "longer than 2 seconds"),
        ("HOLD", DocumentState.TIMED_OUT, "longer than 2 seconds"),
        ("LIVELY", DocumentState.TIMED_OUT, "longer than 2 seconds"),
        ("SEGV", DocumentState.CRASHED, "SIGSEGV"),
        ("ABORT", DocumentState.CRASHED, "SIGABRT"),
        ("EXIT", DocumentState.CRASHED, "ended by itself"),
        ("MEMORY", DocumentState.CRASHED, "512 MB of memory"),
        ("STEPWISE", DocumentState.CRASHED, "512 MB of memory"),
        ("FLOOD", DocumentState.CRASHED, "more output than allowed"),
        ("NOISE", DocumentState.CRASHED, "lost its way"),
        ("WRITE", DocumentState.BROKEN, "File too large"),
    ],
)
def test_harm_ends_as_a_state_and_the_next_file_is_read(
    harmful: Path, word: str, state: DocumentState, reason: str
) -> None:
    seconds = {"LIVELY": 0.3}.get(word, 2.0 if state == DocumentState.TIMED_OUT else 60.0)
    limits = Limits(seconds, memory_bytes=512 << 20, output_characters=200_000, inflated_bytes=8 << 20)
    with Sandbox(limits) as sandbox:
        assert is_well(sandbox, harmful)
        document = one(sandbox, harmful / "bad.txt", f"{word}! and more")
        assert document.state == state
        assert reason.replace("2 seconds", f"{limits.seconds:g} seconds") in document.reason
        assert is_well(sandbox, harmful)


@pytest.mark.parametrize("word", ["SLEEP", "HOLD"])
def test_cancel_is_heard_during_a_hang(harmful: Path, word: str) -> None:
    (harmful / "bad.txt").write_text(f"{word}!")
    control = Control()
    with Sandbox(Limits(seconds=100)) as sandbox:
        assert is_well(sandbox, harmful)
        timer = threading.Timer(0.3, control.cancel)
        timer.start()
        with pytest.raises(Cancelled):
            list(sandbox.read(str(harmful / "bad.txt"), "", control))
        timer.join()
        assert not psutil.Process().children()
        assert is_well(sandbox, harmful)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent")
@pytest.mark.parametrize("word", ["SLEEP", "HOLD"])
def test_child_dies_with_its_parent(harmful: Path, word: str) -> None:
    (harmful / "bad.txt").write_text(f"{word}!")
    program = (
        "import sys; from core.ingest.sandbox import Sandbox; from core.ingest.limits import Limits\n"
        "list(Sandbox(Limits(seconds=100)).read(sys.argv[1], ''))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])}
    with subprocess.Popen([sys.executable, "-c", program, str(harmful / "bad.txt")], env=environment) as parent:
        child = _first_child(parent.pid)
        time.sleep(0.5)  # into the file
        parent.kill()
    gone, alive = psutil.wait_procs([child], timeout=10)
    assert gone == [child]
    assert not alive


def _first_child(pid: int) -> psutil.Process:
    for _ in range(600):
        children = psutil.Process(pid).children()
        if children:
            return children[0]
        time.sleep(0.05)
    raise AssertionError("no child was started")


@pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are POSIX")
def test_files_that_do_harm_in_archives_do_not_take_the_others_with_them(sandbox: Sandbox, harmful: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for name, text in (("1.txt", "One."), ("2.txt", "ABORT!"), ("3.txt", "Three.")):
            archive.writestr(name, text)
    path = harmful / "box.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("first.txt", "EXIT!")
        archive.writestr("good.txt", "Good.")
        archive.writestr("inner.zip", inner.getvalue())
        archive.writestr("segv.txt", "SEGV!")
        archive.writestr("last.txt", "Last.")
    found = [(d.external_id, d.text or d.state.value) for d in sandbox.read(str(path), "application/zip")]
    assert found == [
        ("first.txt", "crashed"), ("good.txt", "Good."), ("inner.zip/1.txt", "One."), ("inner.zip/2.txt", "crashed"),
        ("inner.zip/3.txt", "Three."), ("segv.txt", "crashed"), ("last.txt", "Last."),
    ]  # fmt: skip
    assert is_well(sandbox, harmful)


@pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are POSIX")
def test_archive_of_nothing_but_harm_ends(sandbox: Sandbox, harmful: Path) -> None:
    path = harmful / "box.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(50):
            archive.writestr(f"{number}.txt", "SEGV!")
    found = list(sandbox.read(str(path), "application/zip"))
    assert {document.state for document in found} == {DocumentState.CRASHED}
    assert found[-1].external_id == REST
    assert len(found) < 10


def test_child_that_died_between_two_files_is_replaced(sandbox: Sandbox, tmp_path: Path) -> None:
    assert is_well(sandbox, tmp_path)
    (child,) = psutil.Process().children()
    child.send_signal(signal.SIGTERM)
    child.wait(10)
    assert is_well(sandbox, tmp_path)


def test_one_child_reads_many_files_and_ends_with_the_sandbox(tmp_path: Path) -> None:
    with Sandbox() as sandbox:
        assert is_well(sandbox, tmp_path)
        (child,) = psutil.Process().children()
        assert is_well(sandbox, tmp_path)
        assert psutil.Process().children() == [child]
    assert not child.is_running()


def test_large_parent_does_not_wear_out_its_children(sandbox: Sandbox, tmp_path: Path) -> None:
    ballast = b"x" * (500 << 20)
    assert is_well(sandbox, tmp_path)
    assert len(psutil.Process().children()) == 1
    assert len(ballast) > 0


def test_leaving_a_collection_early_does_no_harm(sandbox: Sandbox, tmp_path: Path) -> None:
    collection = tmp_path / "corpus.jsonl"
    collection.write_text("".join(f'{{"_id": "d{i}", "title": "", "text": "Text {i}"}}\n' for i in range(3000)))
    documents = sandbox.read(str(collection), "")
    assert next(documents).external_id == "d0"
    documents.close()  # type: ignore[attr-defined]
    assert is_well(sandbox, tmp_path)
    assert [d.external_id for d in sandbox.read(str(collection), "")] == [f"d{i}" for i in range(3000)]


def test_name_that_is_no_utf8_is_read(sandbox: Sandbox, tmp_path: Path) -> None:
    name = os.fsencode(str(tmp_path)) + b"/caf\xe9.txt"
    try:
        with open(name, "wb") as file:
            file.write(b"Coffee.")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert one(sandbox, Path(os.fsdecode(name))).text == "Coffee."


def test_missing_and_forbidden_files_have_their_states(sandbox: Sandbox, tmp_path: Path) -> None:
    assert one(sandbox, tmp_path / "none.txt").state == DocumentState.MISSING
    closed = tmp_path / "closed.txt"
    closed.write_text("Secret.")
    closed.chmod(0)
    expected = DocumentState.READ if os.access(closed, os.R_OK) else DocumentState.DENIED
    assert one(sandbox, closed).state == expected


def test_limits_on_bytes_and_characters(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("word " * 1000)
    with Sandbox(Limits(output_characters=100)) as sandbox:
        document = one(sandbox, long)
        assert document.state == DocumentState.TRUNCATED
        assert len(document.text) == 100
        assert "first 100 characters" in document.reason
    with Sandbox(Limits(file_bytes=1000)) as sandbox:
        long.write_text("%PDF-1.4 " * 1000)
        assert one(sandbox, long).state == DocumentState.TOO_LARGE


def test_paused_control_waits_and_cancelled_control_reads_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    control = Control()
    control.cancel()
    with pytest.raises(Cancelled):
        list(sandbox.read(str(tmp_path / "any.txt"), "", control))
    assert not psutil.Process().children()
