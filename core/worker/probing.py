"""A file of a language model tried in a process of its own, and adding models so: a bad file cannot kill anything."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from core.base.errors import ChildDied, KnownError, ModelDamaged
from core.base.events import Control, Listener, Progress, ignore
from core.base.wire import from_plain
from core.models import bundles, speeds
from core.models.bundles import LLM, Bundle
from core.models.speeds import Speed
from core.worker.client import ChildClient
from core.worker.protocol import PROBE

SECONDS = 120.0  # for loading and some tokens, and besides
BYTES_A_SECOND = 20_000_000  # of a slow disk
_POLL_SECONDS = 0.05
TRYING = "trying"


def probe(path: Path, control: Control | None = None, *, seconds: float | None = None) -> Speed:
    """Load the file and write a few tokens, in a child.

    Raises:
        ModelDamaged: llama.cpp refuses the file, or the child died of it.
        KnownError: it took longer than any model of its size should.
        Cancelled
    """
    control = control or Control()
    seconds = seconds or SECONDS + path.stat().st_size / BYTES_A_SECOND
    with ChildClient(PROBE) as child, _watched(child, control, seconds) as overdue:
        try:
            return from_plain(Speed, child.call("try", {"path": str(path.resolve())}))
        except ChildDied as died:
            control.check()
            if overdue.is_set():
                what = f"{path.name} could not be tried within {seconds:.0f} seconds."
                raise KnownError(what, "Choose a smaller model, or try again when less else is running.") from died
            what = f"{path.name} cannot be used: the process that tried it {child.ending()}."
            raise ModelDamaged(what, "Choose another file.") from died
        except RuntimeError as bug:  # the child lives and met what it did not foresee
            raise ModelDamaged(f"{path.name} cannot be used.", "Choose another file.") from bug


@contextlib.contextmanager
def _watched(child: ChildClient, control: Control, seconds: float) -> Iterator[threading.Event]:
    """Kill the child when it is cancelled or late: while native code loads a file it hears nothing."""
    done, overdue = threading.Event(), threading.Event()

    def watch() -> None:
        until = time.monotonic() + seconds
        while not done.wait(_POLL_SECONDS):
            if time.monotonic() > until:
                overdue.set()
            if overdue.is_set() or control.cancelled:
                child.kill()
                return

    thread = threading.Thread(target=watch, name="probe-watch", daemon=True)
    thread.start()
    try:
        yield overdue
    finally:
        done.set()
        thread.join()


def add(spec: str, *, control: Control | None = None, listener: Listener = ignore) -> Bundle:
    """Install a model as `core.encode.install.add` does, a language model only when it runs here.

    Raises what that raises, and what `probe` raises.
    """
    from core.encode.install import add as install  # heavy: it exports

    measured: list[Speed] = []

    def attempt(path: Path) -> None:
        listener(Progress(TRYING, 0, 0, path.name))
        measured.append(probe(path, control))

    bundle = install(spec, control=control, listener=listener, try_llm=attempt)
    if measured:
        speeds.remember(bundle.id, measured[0])
    return bundle


def measure(id: str, *, control: Control | None = None) -> Speed:
    """How fast an installed language model is on this machine; kept for the list.

    Raises:
        ModelMissing, ModelDamaged, Cancelled
        KnownError: it is no language model, or takes too long.
    """
    bundle = bundles.find(id)
    if bundle.kind != LLM:
        raise KnownError(f"{id} is of the kind {bundle.kind}, not {LLM}.", "Choose a language model.")
    speed = probe(bundle.path(str(bundle.config["model"])), control)
    speeds.remember(id, speed)
    return speed
