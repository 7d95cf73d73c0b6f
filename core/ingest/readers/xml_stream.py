"""XML read as a stream of events: memory stays small whatever the file holds, and entities are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Protocol
from xml.parsers import expat

_CHUNK = 64 << 10

XmlError = expat.ExpatError


class Handler(Protocol):
    """Hears the events. Names come without their prefix, attributes as they are written."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, data: str) -> None: ...


class EntitiesRefused(Exception):
    """The file declares entities; office files have none."""


def parse(stream: IO[bytes], handler: Handler, go_on: Callable[[], bool]) -> None:
    """Send the events of `stream` to `handler` until its end, or until `go_on`, asked every 64 KB, says no.

    Raises:
        XmlError: the XML is damaged; what came before was handed on.
        EntitiesRefused: the XML declares entities.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: handler.start(name.rpartition(":")[2], attributes)
    parser.EndElementHandler = lambda name: handler.end(name.rpartition(":")[2])
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = _refuse
    while data := stream.read(_CHUNK):
        parser.Parse(data, False)
        if not go_on():
            return
    parser.Parse(b"", True)


def _refuse(*_: object) -> None:
    raise EntitiesRefused
