"""Mailboxes in one file (RFC 4155): each message a document named by its Message-ID, one in memory at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from core.base.types import DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.budget import shared
from core.ingest.limits import Limits, Tick
from core.ingest.members import read_member
from core.ingest.readers.build import failure

_SEPARATOR = re.compile(rb"From .{0,1000}\d{1,2}:\d\d")
_QUOTED = re.compile(rb">+From ")
_MESSAGE_ID = re.compile(rb"^message-id:\s*<?([^>\s]{1,300})>?\s*$", re.I | re.M)
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LONGEST_LINE = 1 << 20
_HEAD = 64 << 10


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    inside = shared(limits)
    number = 0
    with path.open("rb") as file:
        for number, message in enumerate(messages(file, tick), 1):
            yield from read_member(_name(message, number), message, inside, tick, media_type=sniff.EML, packed=False)
    if not number:
        yield failure(DocumentState.EMPTY, "The mailbox holds no messages.")


def messages(file: IO[bytes], tick: Tick) -> Iterator[bytes]:
    """The messages without their separator lines; ">From " stands for "From " again."""
    lines: list[bytes] = []
    inside, after_blank = False, True
    while line := file.readline(_LONGEST_LINE):
        tick()
        if after_blank and _SEPARATOR.match(line):
            if inside:
                yield b"".join(lines)
            lines, inside = [], True
        elif inside:
            lines.append(line[1:] if _QUOTED.match(line) else line)
        after_blank = not line.strip()
    if inside:
        yield b"".join(lines)


def _name(message: bytes, number: int) -> str:
    head = _HEAD_END.split(message[:_HEAD], maxsplit=1)[0]
    found = _MESSAGE_ID.search(head)
    return found.group(1).decode("utf-8", "replace").replace("/", "_") if found else f"message {number}"
