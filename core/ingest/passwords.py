"""Passwords of locked files: those a person gave for a job, and those remembered in the system's keyring.

A password is kept under the hash of the content it opens, never under a name, and nowhere but in the keyring.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits

SERVICE = "whymatch"
_SECONDS = 15.0  # a keyring may ask the person to open it
_log = logging.getLogger(__name__)


class _Silent(Exception):
    """The keyring did not answer in time."""


def known(content_hash: str) -> str:
    """The remembered password; empty when there is none, or no keyring that answers."""
    try:
        return _known(content_hash)
    except _Silent:
        return ""


def remember(content_hash: str, password: str) -> bool:
    """Keep the password. False when there is no keyring that keeps it."""

    def keep() -> str:
        import keyring

        keyring.set_password(SERVICE, content_hash, password)
        return keyring.get_password(SERVICE, content_hash) or ""  # some keyrings take everything and keep nothing

    try:
        return bool(content_hash and password) and _in_time(keep) == password
    except _Silent:
        return False


def forget(content_hash: str) -> None:
    """Take the password out of the keyring, if it is there."""

    def drop() -> str:
        import keyring

        if keyring.get_password(SERVICE, content_hash) is not None:
            keyring.delete_password(SERVICE, content_hash)
        return ""

    try:
        _in_time(drop)
    except _Silent:
        _log.warning("the keyring did not answer")


def _known(content_hash: str) -> str:
    def look() -> str:
        import keyring

        return keyring.get_password(SERVICE, content_hash) or ""

    return _in_time(look) if content_hash else ""


def _in_time(call: Callable[[], str]) -> str:
    """What `call` gives; empty when it fails, as each keyring does in its own way. Raises _Silent."""
    answers: list[str] = []

    def run() -> None:
        try:
            answers.append(call())
        except Exception as error:  # told without its text: that may hold what was asked for
            _log.info("no keyring: %s", type(error).__name__)
            answers.append("")

    thread = threading.Thread(target=run, name="keyring", daemon=True)
    thread.start()
    thread.join(_SECONDS)
    if not answers:
        raise _Silent
    return answers[0]


class Passwords:
    """The passwords for one job. `given` is by path, as paths are stored; `keep` remembers those of them that open."""

    def __init__(self, given: Mapping[str, str] | None = None, *, keep: bool = False) -> None:
        self._given = dict(given or {})
        self._keep = keep
        self._silent = False
        self.lost = False  # one that was to be remembered could not be

    def read(
        self, path: str, content_hash: str, limits: Limits, read: Callable[[Limits], Iterator[ReadDocument]]
    ) -> Iterator[ReadDocument]:
        """The documents that `read` gives under the limits with the password for this file.

        A file that stays locked is tried once more with the remembered password.
        """
        given = self._given.get(path, "")
        documents = read(replace(limits, password=given) if given else limits)
        first = next(documents, None)
        if first is None:
            return
        if not _is_locked(first):
            if given and self._keep and not remember(content_hash, given):
                self.lost = True
            yield first
            yield from documents
            return
        rest = list(documents)  # a locked file has hardly any
        other = self._remembered(content_hash)
        if other and other != (given or limits.password):
            yield from read(replace(limits, password=other))
        else:
            yield from (first, *rest)

    def _remembered(self, content_hash: str) -> str:
        """Without asking a keyring again that did not answer."""
        if self._silent:
            return ""
        try:
            return _known(content_hash)
        except _Silent:
            self._silent = True
            return ""


def _is_locked(document: ReadDocument) -> bool:
    return document.state is DocumentState.LOCKED and not document.external_id
