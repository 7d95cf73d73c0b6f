"""Reading what a GGUF file says about itself (format: ggml/docs/gguf.md), without loading the model.

The header is someone else's: each length and count is compared with what the file can hold before anything is read or
kept, and each tensor must lie within the file. What is read here cannot crash; what llama.cpp makes of the file is
tried in a process of its own.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

from core.base.errors import KnownError, ModelDamaged, from_os_error
from core.models.gguf_types import TYPES, TensorType

_MAGIC = b"GGUF"
_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LONGEST_HEADER = 1 << 28  # bytes; vocabularies of a quarter of a million words take about 10 MB
_LONGEST_STRING, _LONGEST_NAME = 1 << 24, 1 << 16
_MOST_ITEMS = 4_000_000  # members of arrays of strings and of arrays, and those that are kept, all together
_MOST_FIELDS = _MOST_TENSORS = 1 << 16
_DEEPEST = 3  # arrays in arrays
_KEPT = 1024  # members of an array of numbers that is kept: one for each layer
_LEAST_FIELD, _LEAST_TENSOR = 8 + 4 + 1, 8 + 4 + 4 + 8  # bytes
_MOST_DIMENSIONS = 4
_AGAIN = "Fetch it again."


@dataclass(frozen=True, slots=True)
class Tensor:
    """One matrix of weights; `offset` counts from where the file's data begins."""

    name: str
    shape: tuple[int, ...]
    type: TensorType
    offset: int

    @property
    def items(self) -> int:
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.items // self.type.block * self.type.size


@dataclass(frozen=True, slots=True)
class Header:
    """`fields` holds single values, and short arrays of numbers as tuples; `lengths` those of all arrays."""

    version: int
    fields: dict[str, Any]
    lengths: dict[str, int]
    tensors: tuple[Tensor, ...]
    size: int  # bytes of the file


def header(path: Path) -> Header:
    """The checked header of a file.

    Raises:
        KnownError: the file is no GGUF file, or of a version, byte order or number type that is not known.
        ModelDamaged: the header is cut short or contradicts itself, or the file is shorter than its tensors.
    """
    try:
        with path.open("rb") as file:
            return _header(_Reader(file, path.stat().st_size), path)
    except (struct.error, ValueError) as error:
        raise ModelDamaged(f"{path.name} is damaged: {error}.", _AGAIN) from error
    except OSError as error:
        raise from_os_error(error, path) from error


def metadata(path: Path) -> dict[str, Any]:
    """Key -> single value of the file's header. Raises as `header`."""
    return {key: value for key, value in header(path).fields.items() if not isinstance(value, tuple)}


class _Reader:
    """Numbers and strings from the beginning of a file, never more than it holds."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size
        self._left = min(size, _LONGEST_HEADER)
        self._items = _MOST_ITEMS

    @property
    def at(self) -> int:
        return self._file.tell()

    def bytes(self, count: int) -> bytes:
        self.room(count)
        self._left -= count
        data = self._file.read(count)
        if len(data) != count:
            raise ValueError("its header is cut short")
        return data

    def skip(self, count: int) -> None:
        self.room(count)
        self._left -= count
        self._file.seek(count, 1)

    def room(self, count: int) -> None:
        """Raises ValueError when fewer than `count` bytes are left."""
        if count > self._left:
            raise ValueError("its header is cut short, or tells of more than the file holds")

    def numbers(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", self.bytes(struct.calcsize(f"<{form}")))

    def number(self, form: str) -> int:
        return int(self.numbers(form)[0])

    def string(self, longest: int = _LONGEST_STRING) -> str:
        length = self.number("Q")
        if length > longest:
            raise ValueError("a text in its header is too long")
        return self.bytes(length).decode("utf-8", "replace")

    def counted(self, items: int) -> None:
        """Raises ValueError when the header's arrays hold more than any model needs."""
        self._items -= items
        if self._items < 0:
            raise ValueError("its header holds too much")


def _header(reader: _Reader, path: Path) -> Header:
    if reader.size < len(_MAGIC) or reader.bytes(4) != _MAGIC:
        raise KnownError(f"{path.name} is not a GGUF model.", "Choose a .gguf file.")
    version = reader.number("I")
    if version & 0xFFFF == 0 and version:
        raise KnownError(f"{path.name} was made for machines of another byte order.", "Choose another file.")
    if version not in (2, 3):
        raise KnownError(f"{path.name} has GGUF version {version}.", "Convert it to version 3.")
    tensors, count = reader.numbers("QQ")
    _check_count(reader, tensors, _MOST_TENSORS, _LEAST_TENSOR)
    _check_count(reader, count, _MOST_FIELDS, _LEAST_FIELD)
    fields, lengths = _fields(reader, count)
    found = tuple(_tensor(reader, path.name) for _ in range(tensors))
    _check_places(found, reader, fields.get("general.alignment", 32))
    return Header(version, fields, lengths, found, reader.size)


def _check_count(reader: _Reader, count: int, most: int, least: int) -> None:
    if count > most:
        raise ValueError("its header tells of too many entries")
    reader.room(count * least)


def _fields(reader: _Reader, count: int) -> tuple[dict[str, Any], dict[str, int]]:
    fields, lengths = dict[str, Any](), dict[str, int]()
    for _ in range(count):
        key, kind = reader.string(_LONGEST_NAME), reader.number("I")
        if not key or key in fields or key in lengths:
            raise ValueError("a name in its header is empty or stands there twice")
        if kind == _ARRAY:
            lengths[key], values = _array(reader)
            fields |= {key: values} if values else {}
        else:
            fields[key] = _value(reader, kind)
    return fields, lengths


def _value(reader: _Reader, kind: int) -> Any:
    if kind == _STRING:
        return reader.string()
    if kind not in _SCALARS:
        raise ValueError(f"its header holds a value of the unknown kind {kind}")
    return reader.numbers(_SCALARS[kind])[0]


def _array(reader: _Reader, depth: int = 1) -> tuple[int, tuple[Any, ...]]:
    """Length and, of a short array of numbers, the members."""
    member, count = reader.numbers("IQ")
    if member in _SCALARS:
        size = struct.calcsize(f"<{_SCALARS[member]}")
        reader.room(count * size)
        if 0 < count <= _KEPT:
            reader.counted(count)
            return count, reader.numbers(f"{count}{_SCALARS[member]}")
        reader.skip(count * size)
        return count, ()
    if member not in (_STRING, _ARRAY) or (member == _ARRAY and depth == _DEEPEST):
        raise ValueError(f"its header holds an array of the unknown kind {member}, or too deep a one")
    reader.counted(count)
    reader.room(count * 8)
    for _ in range(count):
        if member == _STRING:
            reader.skip(reader.number("Q"))
        else:
            _array(reader, depth + 1)
    return count, ()


def _tensor(reader: _Reader, file: str) -> Tensor:
    name, dimensions = reader.string(_LONGEST_NAME), reader.number("I")
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise ValueError(f"a tensor has {dimensions} dimensions")
    shape = tuple(map(int, reader.numbers(f"{dimensions}Q")))
    kind, offset = reader.numbers("IQ")
    if kind not in TYPES:
        what = f"{file} holds numbers of a kind that is not known here ({kind})."
        raise KnownError(what, "Choose another quantisation, such as Q4_K_M.")
    if not all(shape) or shape[0] % TYPES[kind].block:
        raise ValueError("a tensor has a shape that cannot be")
    return Tensor(name, shape, TYPES[kind], int(offset))


def _check_places(tensors: tuple[Tensor, ...], reader: _Reader, alignment: Any) -> None:
    """Each tensor within the file, aligned, none upon another."""
    if type(alignment) is not int or not 8 <= alignment <= 1 << 16 or alignment & (alignment - 1):
        raise ValueError("its alignment cannot be")
    if len({tensor.name for tensor in tensors}) != len(tensors):
        raise ValueError("a tensor stands there twice")
    start = -(-reader.at // alignment) * alignment
    ordered = sorted(tensors, key=lambda tensor: tensor.offset)
    if any(tensor.offset % alignment for tensor in ordered):
        raise ValueError("a tensor is not aligned")
    if any(one.offset + one.size > other.offset for one, other in pairwise(ordered)):
        raise ValueError("a tensor lies upon another")
    needed = start + (ordered[-1].offset + ordered[-1].size if ordered else 0)
    if ordered and needed > reader.size:
        raise ValueError(f"it has {reader.size:,} bytes and should have {needed:,}")
