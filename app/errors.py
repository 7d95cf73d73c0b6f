"""What went wrong, as the person sees it: known errors with advice, bugs with details to copy, one manager for both."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from PySide6.QtCore import QObject, Signal

from app.i18n import tr
from core.base.errors import KnownError


@dataclass(frozen=True, slots=True)
class Bug:
    """Something that should not happen. `details` is what to send to the developers."""

    message: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """What a toast or banner shows. `tone` is "info", "success", "warning" or "danger"."""

    text: str
    advice: str = ""
    details: str = ""
    tone: str = "info"
    action: str = ""  # title of a button, e.g. "Undo"
    on_action: Callable[[], None] | None = None


def describe(error: KnownError | Bug | BaseException) -> Message:
    """The message for any error, wherever it came from."""
    if isinstance(error, KnownError):
        return Message(error.message, error.advice, tone="warning")
    if isinstance(error, Bug):
        return _bug(error.message, error.details)
    return _bug(f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def _bug(message: str, details: str) -> Message:
    return Message(
        tr("Something went wrong that should not."),
        tr("Your documents are safe. Please send the details to the developers."),
        details or message,
        "danger",
    )


class Notifications(QObject):
    """The one place where messages for the person go. The window shows what `shown` carries (`Message`)."""

    shown = Signal(object)

    def error(self, error: KnownError | Bug | BaseException) -> None:
        self.shown.emit(describe(error))

    def tell(
        self, text: str, *, tone: str = "info", action: str = "", on_action: Callable[[], None] | None = None
    ) -> None:
        self.shown.emit(Message(text, tone=tone, action=action, on_action=on_action))

    def message(self, message: Message) -> None:
        self.shown.emit(message)


def install_hooks(notifications: Notifications) -> Callable[[], None]:
    """Send unhandled exceptions of every thread to `notifications`. Returns a function that undoes it."""
    before, before_thread = sys.excepthook, threading.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            before(kind, value, trace)
            return
        sys.stderr.write("".join(traceback.format_exception(kind, value, trace)))
        notifications.error(value.with_traceback(trace))

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            hook(args.exc_type, args.exc_value, args.exc_traceback)

    sys.excepthook, threading.excepthook = hook, thread_hook

    def undo() -> None:
        sys.excepthook, threading.excepthook = before, before_thread

    return undo
