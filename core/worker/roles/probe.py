"""The `probe` child: loads one file of a language model and writes a few tokens. It may die of a bad file, alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from core.worker.server import Call


class ProbeRole:
    def open(self) -> dict[str, Any]:
        return {"role": "probe"}

    def handle(self, call: Call) -> Any:
        if call.request.op != "try":
            raise ValueError(f"probe has no operation {call.request.op!r}")
        path = Path(str(call.request.args["path"]))
        _limit_memory(path)
        from core.answer.llama import LlamaBackend

        backend = LlamaBackend(path, path.stem)
        try:
            return backend.measure(call.control)
        finally:
            backend.close()

    def close(self) -> None:
        pass


def _limit_memory(path: Path) -> None:
    """No more address space than the machine's memory and the file: a header that lies shall not make it swap.

    Left out where a graphics card maps its own memory, which is far more.
    """
    if sys.platform == "win32":
        return
    import resource

    import llama_cpp
    import psutil

    if not llama_cpp.llama_supports_gpu_offload():
        most = int(psutil.virtual_memory().total) + path.stat().st_size
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def make(library: Path | None) -> ProbeRole:
    return ProbeRole()
