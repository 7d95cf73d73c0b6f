"""The child process that reads files: the `parse` role.

It has limits of its own, set before the first byte of a file is touched, and nothing to lose: when it dies,
the sandbox starts another. Replies: `progress` as a sign of life (with a `detail` when a long step of the file is
done), `partial` for each document, `result` at the end; `error` with code `memory` when a file needs more memory than
allowed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import IO

from core.base.events import Throttle
from core.base.types import DocumentState
from core.base.wire import from_plain, to_plain
from core.ingest import ocr_cache
from core.ingest.budget import Resume, shared
from core.ingest.limits import Limits
from core.ingest.readers import registry
from core.worker.protocol import Reply, Request, decode_request, encode_reply, private_streams, read_lines

MEMORY = "memory"  # error code
_FILE_BYTES = 1 << 20  # at least: the interpreter keeps compiled modules
_SIGN_OF_LIFE_SECONDS = 0.5


def main() -> None:
    """Serve requests from standard input until it closes."""
    requests, replies = private_streams()
    _die_with_parent()
    serve(requests, replies)


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer `read {path, media_type, limits, resume}` requests one after the other.

    The requests are heard on a thread, so that this process ends with its parent even in the middle of a file.
    """
    waiting = threading.Semaphore(0)
    queue: list[Request] = []

    def listen() -> None:
        for line in read_lines(requests):
            queue.append(decode_request(line))
            waiting.release()
        os._exit(0)

    threading.Thread(target=listen, name="requests", daemon=True).start()
    _send(replies, Reply(0, "ready", {"role": "parse"}))
    guard = _Guard()
    while True:
        waiting.acquire()
        _answer(queue.pop(0), replies, guard)


def _answer(request: Request, replies: IO[bytes], guard: _Guard) -> None:
    limits = from_plain(Limits, request.args.get("limits") or {})
    resume = request.args.get("resume")
    inside = shared(limits, resume=from_plain(Resume, resume) if resume else None)
    guard.begin(limits)
    tick = _Signs(request.id, replies, guard)
    begun = time.time()
    count, whole = 0, True
    try:
        for document in registry.read(request.args["path"], request.args.get("media_type", ""), inside, tick):
            guard.renew()
            _send(replies, Reply(request.id, "partial", to_plain(document)))
            count += 1
            whole = whole and document.state is not DocumentState.UNFINISHED
    except MemoryError:
        _send(replies, Reply(request.id, "error", {"code": MEMORY, "message": "not enough memory", "advice": ""}))
        return
    if limits.cache and whole:
        ocr_cache.sweep(limits.cache, begun)
    _send(replies, Reply(request.id, "result", {"documents": count, "peak_bytes": peak_bytes()}))


class _Signs:
    """The tick of one file: a `progress` reply now and then, and one with a `detail` for each long step."""

    def __init__(self, request: int, replies: IO[bytes], guard: _Guard) -> None:
        self._request = request
        self._replies = replies
        self._guard = guard
        self._throttle = Throttle(_SIGN_OF_LIFE_SECONDS)

    def __call__(self) -> None:
        if self._throttle.ready():
            self._guard.renew()
            _send(self._replies, Reply(self._request, "progress"))

    def step(self, detail: str) -> None:
        self._guard.renew()
        _send(self._replies, Reply(self._request, "progress", {"detail": detail}))


def _send(replies: IO[bytes], reply: Reply) -> None:
    data = memoryview(encode_reply(reply))
    while data:
        data = data[replies.write(data) :]


if sys.platform == "win32":

    def peak_bytes() -> int:
        """The most memory this process has held; 0 where that is not known."""
        return 0

    class _Guard:
        """There are no such limits on Windows: the sandbox watches the time alone."""

        def begin(self, limits: Limits) -> None: ...

        def renew(self) -> None: ...

    def _die_with_parent() -> None: ...

else:
    import resource

    def peak_bytes() -> int:
        """The most memory this process has held."""
        if sys.platform.startswith("linux"):  # where `ru_maxrss` begins with what the parent held when it forked
            with open("/proc/self/status", encoding="ascii", errors="replace") as file:
                return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:")), 0)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    class _Guard:
        """Limits of the operating system on this process."""

        def __init__(self) -> None:
            self._seconds = 0.0
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        def begin(self, limits: Limits) -> None:
            """Allow `limits.memory_bytes` more than is mapped now, and files as large as a packed one may unfold to."""
            self._seconds = limits.seconds
            _lower(resource.RLIMIT_FSIZE, max(_FILE_BYTES, limits.inflated_bytes))
            _lower(resource.RLIMIT_AS, _mapped_bytes() + limits.memory_bytes)
            self.renew()

        def renew(self) -> None:
            """Processor time until the next document: the sandbox's clock is the tighter one, while it lives."""
            used = time.process_time()
            _lower(resource.RLIMIT_CPU, int(used + 2 * self._seconds) + 10)

    def _lower(kind: int, value: int) -> None:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))

    def _mapped_bytes() -> int:
        try:
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[0]) * resource.getpagesize()
        except OSError:
            return 0

    def _die_with_parent() -> None:
        """Linux kills the child with its parent, also while native code holds the interpreter."""
        if sys.platform.startswith("linux"):
            import ctypes

            set_death_signal = 1  # PR_SET_PDEATHSIG
            ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
            if os.getppid() == 1:
                os._exit(0)


if __name__ == "__main__":
    main()
