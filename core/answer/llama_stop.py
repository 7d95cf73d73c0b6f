"""Stop within an evaluation: llama.cpp asks between two operations on the processor whether to go on.

It asks a C function, about six hundred times a token. A function of Python costs some per cent of a small model's speed
there, so it is given one of the C library: `strlen` of a string that is empty while work goes on and one character long
once it is to stop. A graphics card is not asked; it is through with a batch within milliseconds.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.base.events import Control

_LOOKS = 0.02  # seconds between two looks at the control


class Halt:
    """The stop of one llama.cpp context. Keep it as long as the context: llama.cpp holds pointers into it."""

    def __init__(self, context: Any) -> None:
        """`context` is the pointer to the llama_context."""
        import llama_cpp

        self._asked = ctypes.create_string_buffer(2)
        self._ask = ctypes.cast(_strlen(), llama_cpp.ggml_abort_callback)
        llama_cpp.llama_set_abort_callback(context, self._ask, ctypes.cast(self._asked, ctypes.c_void_p))

    @property
    def asked(self) -> bool:
        """Does the next operation end the evaluation?"""
        return self._asked.raw[0] != 0

    @contextmanager
    def listening(self, control: Control) -> Iterator[None]:
        """While it lasts, an evaluation ends at the next operation once `control` is cancelled: raises Cancelled."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(control, done), name="stop-watch", daemon=True)
        watcher.start()
        try:
            yield
        except RuntimeError:  # llama_decode ended early
            control.check()
            raise
        finally:
            done.set()
            watcher.join()
            self._asked[0] = b"\0"

    def _watch(self, control: Control, done: threading.Event) -> None:
        while not done.wait(_LOOKS):
            if control.cancelled or (control.interruptible and control.giving_way):
                self._asked[0] = b"\1"
                return


def _strlen() -> Any:
    library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
    return library.strlen
