"""Office packages (ZIP with XML parts), opened with care: sizes are checked, entities are never resolved."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from types import TracebackType
from typing import IO

from lxml import etree
from lxml.etree import _Element as Element

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.build import failure


class TooLarge(Exception):
    """A part, or all parts together, would unfold to more than the limit."""


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last word of the relation's type: officeDocument, styles, footnotes, ..."""

    id: str
    kind: str
    target: str  # name of the part in the package
    external: bool


@dataclass(frozen=True, slots=True)
class Properties:
    title: str = ""
    author: str = ""
    created: str = ""
    modified: str = ""
    language: str = ""


def name_of(node: Element) -> str:
    """The local name: transitional and strict packages differ in the namespace only. Empty for comments."""
    return etree.QName(node).localname if isinstance(node.tag, str) else ""


def attribute(node: Element | None, name: str) -> str:
    """The attribute of that local name, whatever its namespace."""
    if node is None:
        return ""
    return next((str(v) for k, v in node.attrib.items() if etree.QName(str(k)).localname == name), "")


def child(node: Element | None, *path: str) -> Element | None:
    """The first descendant along local names, one step a name."""
    for name in path:
        node = next((c for c in node if name_of(c) == name), None) if node is not None else None
    return node


def read_package(
    path: Path, limits: Limits, kind: str, read: Callable[[Package], ReadDocument], *, streamed: bool = False
) -> ReadDocument:
    """What `read` makes of the package at `path`; one that is too large or damaged is told, as a `kind` of file."""
    try:
        with Package(path, limits, streamed=streamed) as package:
            return read(package)
    except TooLarge:
        size = limits.inflated_bytes >> 20
        return failure(DocumentState.TOO_LARGE, f"The {kind} unfolds to more than {size:,} MB.")
    except zipfile.BadZipFile:
        return failure(DocumentState.BROKEN, f"The file is damaged: it cannot be unpacked as a {kind}.")


class Package:
    """An open package. `damaged` names the parts whose XML has errors; they are read as far as they go.

    With `streamed` the sizes that the package declares are not judged: who streams its parts stops by himself.

    Raises:
        zipfile.BadZipFile: it is no ZIP file, or a damaged one.
        TooLarge: its parts unfold to more than `limits.inflated_bytes`.
    """

    def __init__(self, path: Path, limits: Limits, *, streamed: bool = False) -> None:
        self._limit = limits.inflated_bytes
        self._spent = 0
        self._zip = zipfile.ZipFile(path)
        self._names = {info.filename.lower(): info for info in self._zip.infolist()}
        self.damaged: list[str] = []
        declared = sum(info.file_size for info in self._names.values() if _is_text_part(info.filename))
        if declared > self._limit and not streamed:
            self._zip.close()
            raise TooLarge

    def __enter__(self) -> Package:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        return [info.filename for info in self._names.values()]

    def stream(self, part: str) -> IO[bytes] | None:
        """The part as a stream that raises `TooLarge` when the package's budget is spent; None when there is none."""
        info = self._names.get(part.lstrip("/").lower())
        return _Metered(self, self._zip.open(info)) if info is not None else None  # type: ignore[return-value]

    def spend(self, count: int) -> None:
        """Count bytes that were unfolded.

        Raises:
            TooLarge: they are more than the limit.
        """
        self._spent += count
        if self._spent > self._limit:
            raise TooLarge

    def read(self, part: str) -> bytes | None:
        """The bytes of a part, None when there is no such part. Counts what really unfolds, not what is declared."""
        info = self._names.get(part.lstrip("/").lower())
        if info is None:
            return None
        with self._zip.open(info) as stream:
            data = stream.read(self._limit - self._spent + 1)
        self.spend(len(data))
        return data

    def xml(self, part: str) -> Element | None:
        """The root of an XML part; None when it is missing or empty. Damaged XML is read as far as it goes."""
        data = self.read(part)
        if not data:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True, remove_comments=True
        )
        root = etree.fromstring(data, parser)
        if any(error.level >= etree.ErrorLevels.FATAL for error in parser.error_log):
            self.damaged.append(part)
        return root

    def relations(self, part: str = "") -> list[Relation]:
        """What `part` refers to; without a part, what the package as a whole does."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found = []
        for node in root if root is not None else ():
            target = attribute(node, "Target")
            external = attribute(node, "TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = attribute(node, "Type").rpartition("/")[2]
            found.append(Relation(attribute(node, "Id"), kind, target, external))
        return found

    def properties(self) -> Properties:
        """Title, author and dates as the file states them."""
        part = next((r.target for r in self.relations() if r.kind == "core-properties"), "docProps/core.xml")
        root = self.xml(part)
        if root is None:
            return Properties()
        values = {name_of(node): (node.text or "").strip() for node in root}
        language = values.get("language", "").split("-")[0].lower()
        return Properties(
            title=values.get("title", ""),
            author=values.get("creator", ""),
            created=values.get("created", ""),
            modified=values.get("modified", ""),
            language=language if len(language) == 2 else "",
        )


class _Metered(RawIOBase):
    def __init__(self, package: Package, stream: IO[bytes]) -> None:
        self._package = package
        self._stream = stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size if size >= 0 else 1 << 20)
        self._package.spend(len(data))
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


def _is_text_part(name: str) -> bool:
    return name.lower().endswith((".xml", ".rels", ".html", ".htm", ".txt"))
