"""Reading what a GGUF file says about itself (format: ggml/docs/gguf.md), without loading the model."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from core.base.errors import KnownError

_MAGIC = b"GGUF"
_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LONGEST_STRING = 1 << 24


def metadata(path: Path) -> dict[str, Any]:
    """Key -> value of the file's header; arrays (the vocabulary) are left out.

    Raises:
        KnownError: the file is no GGUF file, or its header is cut short.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != _MAGIC:
                raise KnownError(f"{path.name} is not a GGUF model.", "Choose a .gguf file.")
            version, _tensors, count = _read(file, "IQQ")
            if version not in (2, 3):
                raise KnownError(f"{path.name} has GGUF version {version}.", "Convert it to version 3.")
            pairs = ((_string(file), _value(file, _read(file, "I")[0])) for _ in range(count))
            return {key: value for key, value in pairs if value is not None}
    except (struct.error, ValueError, KeyError) as error:
        raise KnownError(f"{path.name} is damaged.", "Fetch it again.") from error


def _read(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))


def _string(file: BinaryIO) -> str:
    length = _read(file, "Q")[0]
    data = file.read(min(length, _LONGEST_STRING))
    if len(data) != length:
        raise ValueError("a string is cut short or too long")
    return data.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _read(file, _SCALARS[kind])[0]
    member, count = _read(file, "IQ")
    if member in _SCALARS:
        file.seek(count * struct.calcsize(f"<{_SCALARS[member]}"), 1)
    else:
        for _ in range(count):
            _value(file, member)
    return None
