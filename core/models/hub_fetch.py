"""Fetching a model's files: resumed where they broke off, compared with the hub's hashes, cancelled at once.

They come into a staging folder beside the bundles, which outlives a cancel and a kill and goes when the model is
installed or removed. A file that is being fetched bears its hash in its name: another revision never goes on with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from core.base.errors import Cancelled, DiskFull, KnownError, LibraryLocked, ModelDamaged, from_os_error
from core.base.events import Control, Listener, Progress, Throttle
from core.base.files import TEMPORARY_SUFFIX, FileLock
from core.base.paths import models
from core.models import hub_partial
from core.models.hub import TIMEOUT_SECONDS, USER_AGENT, Remote, RemoteFile, token_for

STAGE = "fetching"
_PREFIX = ".download-"
_TRIES = 5  # in a row without a single byte
_REST_SECONDS = 1.0  # before trying again
_LOOK_SECONDS = 0.1  # between two looks at a cancel
_SPARE = 200_000_000  # bytes that stay free


def staging(repo: str) -> Path:
    """Where the files of this model wait until all of them are there."""
    return models() / f"{_PREFIX}{re.sub('[^A-Za-z0-9._-]+', '--', repo)}"


def partial() -> list[hub_partial.Partial]:
    """All models that wait there."""
    return hub_partial.found(models().glob(f"{_PREFIX}*"))


def discard(repo: str) -> None:
    """Delete what was fetched of a model."""
    shutil.rmtree(staging(repo), ignore_errors=True)


def require_room(remote: Remote) -> None:
    """
    Raises:
        DiskFull: the disk has no room for what is still to be fetched, and for the model installed beside it.
    """
    missing = remote.download - _fetched(remote)
    needed = missing + remote.disk + _SPARE
    free = shutil.disk_usage(_existing(models())).free
    if free < needed:
        raise DiskFull(
            f"{remote.repo} needs {needed // 1_000_000:,} MB for the time of its installation; "
            f"{free // 1_000_000:,} MB are free.",
            "Free some space, then try again.",
        )


def fetch(remote: Remote, control: Control, listener: Listener) -> Path:
    """Fetch the files that are not there yet; returns the folder that holds all of them, named as the model.

    Raises:
        Cancelled: at once, also while the network stands still. What was fetched stays.
        ModelDamaged: a file differs from what the hub says of it. DiskFull, NoPermission
        KnownError: no network, no access, or the model is being fetched already.
    """
    require_room(remote)
    folder = staging(remote.repo)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _name(remote)).mkdir(exist_ok=True)
    except OSError as error:
        raise from_os_error(error, folder) from error
    hub_partial.tell(remote, folder)
    _beside(lambda stop: _fetch_all(remote, folder, stop, listener), control)
    return folder / _name(remote)


def _name(remote: Remote) -> str:
    return remote.repo.partition("/")[2]


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def _fetched(remote: Remote) -> int:
    """Bytes that are there already, whole files or their beginnings."""
    folder = staging(remote.repo)
    return sum(
        path.stat().st_size
        for file in remote.files
        for path in (folder / _name(remote) / file.name, _part(folder, file))
        if path.is_file()
    )


def _part(folder: Path, file: RemoteFile) -> Path:
    return folder / f"{file.digest.partition(':')[2]}{TEMPORARY_SUFFIX}"


def _beside(work: Callable[[Control], None], control: Control) -> None:
    """Run `work` on a thread of its own, so that a cancel is heard while a read waits for the network.

    `work` gets a control of its own, which is cancelled with the given one: it stops at the next piece that comes.
    """
    stop, errors = Control(), []

    def run() -> None:
        try:
            work(stop)
        except BaseException as error:  # raised again on the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run, name="fetch", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_SECONDS)
        (stop.pause if control.paused else stop.resume)()
        if control.cancelled:
            stop.cancel()
            thread.join(_LOOK_SECONDS)
            raise Cancelled("cancelled")
    if errors:
        raise errors[0]


def _fetch_all(remote: Remote, folder: Path, control: Control, listener: Listener) -> None:
    with _sole(folder, remote.repo, control):
        told = _Told(remote, _fetched(remote), listener)
        for file in remote.files:
            target = folder / _name(remote) / file.name
            with _written(target):
                if not (target.is_file() and target.stat().st_size == file.size and _digest(target, file, control)):
                    _fetch_file(remote, file, folder, target, control, told)


@contextlib.contextmanager
def _sole(folder: Path, repo: str, control: Control) -> Iterator[None]:
    """One at a time. A thread that was left with a dead connection lets go when that is given up: it is waited for."""
    lock, until = FileLock(folder / "lock", "fetch"), time.monotonic() + TIMEOUT_SECONDS + 1
    while True:
        try:
            lock.acquire()
            break
        except LibraryLocked:
            if time.monotonic() > until:
                raise KnownError(f"{repo} is being fetched already.", "Wait for that, or cancel it.") from None
            control.check()
            time.sleep(_LOOK_SECONDS)
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise from_os_error(error, path) from error


class _Told:
    """Progress over all files in bytes, with the time that is left at the speed since the beginning."""

    def __init__(self, remote: Remote, there: int, listener: Listener) -> None:
        self._total, self._there, self._listener = remote.download, there, listener
        self._done, self._begun, self._throttle = there, time.monotonic(), Throttle()

    def add(self, count: int, name: str) -> None:
        self._done += count
        if not self._throttle.ready() and self._done != self._total:
            return
        came, seconds = self._done - self._there, time.monotonic() - self._begun
        left = (self._total - self._done) * seconds / came if came > 0 and seconds > 1 else None
        counts = {"bytes": self._done}
        self._listener(Progress(STAGE, self._done, self._total, name, counts, left))


def _fetch_file(remote: Remote, file: RemoteFile, folder: Path, target: Path, control: Control, told: _Told) -> None:
    part = _part(folder, file)
    tries = 0
    while (before := part.stat().st_size if part.is_file() else 0) < file.size or not part.is_file():
        control.check()
        whole = _receive(remote, file, part, before, control, told)
        tries = 0 if part.stat().st_size > before else tries + 1
        if tries >= _TRIES:
            from core.models.hub_errors import offline

            raise offline(remote.endpoint)
        if not whole:
            _rest(control)
    if not _digest(part, file, control):
        part.unlink()
        raise ModelDamaged(
            f"{file.name} of {remote.repo} came with another content than {remote.endpoint} says.",
            "It was deleted here. Try again; if that does not help, do not use this model.",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)


def _rest(control: Control) -> None:
    until = time.monotonic() + _REST_SECONDS
    while time.monotonic() < until:
        control.check()
        time.sleep(_LOOK_SECONDS)


def _receive(remote: Remote, file: RemoteFile, part: Path, start: int, control: Control, told: _Told) -> bool:
    """Append what the hub sends from byte `start` on. False when the connection broke off."""
    import httpx2
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    from core.models.hub_errors import explained

    url = hf_hub_url(remote.repo, file.name, revision=remote.revision, endpoint=remote.endpoint)
    headers = build_hf_headers(token=token_for(remote), headers={**USER_AGENT, "accept-encoding": "identity"})
    if start:
        headers["range"] = f"bytes={start}-"
    with explained(remote.repo, remote.endpoint), part.open("ab") as out:
        try:
            with get_session().stream(
                "GET", url, headers=headers, timeout=TIMEOUT_SECONDS, follow_redirects=True
            ) as response:
                hf_raise_for_status(response)
                whole = response.status_code != 206
                _check_length(response.headers.get("content-length"), file, 0 if whole else start, remote)
                if start and whole:  # all of it comes again
                    out.truncate(0)
                    told.add(-start, file.name)
                for piece in response.iter_raw():
                    _append(out, piece, file, remote)
                    told.add(len(piece), file.name)
                    control.check()
        except httpx2.TransportError:
            return False
    return True


def _check_length(told: str | None, file: RemoteFile, start: int, remote: Remote) -> None:
    """Raises KnownError when what comes is not as long as the file: a page of somebody else, as a rule."""
    from core.models.hub_errors import garbage

    if told is not None and told != str(file.size - start):
        raise garbage(remote.repo, remote.endpoint)


def _append(out: BinaryIO, piece: bytes, file: RemoteFile, remote: Remote) -> None:
    """Raises KnownError when more comes than the file is long."""
    from core.models.hub_errors import garbage

    if out.tell() + len(piece) > file.size:
        out.truncate(0)
        raise garbage(remote.repo, remote.endpoint)
    out.write(piece)


def _digest(path: Path, file: RemoteFile, control: Control) -> bool:
    """Whether the file has the hash that the hub says: sha256 of large files, the git object of small ones."""
    kind, _, expected = file.digest.partition(":")
    made = hashlib.sha256() if kind == "sha256" else hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            control.check()
            made.update(piece)
    return made.hexdigest() == expected
