"""Frozen types to plain JSON values and back, for pipes, files and the command line."""

from __future__ import annotations

import dataclasses
import types
import typing
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

T = TypeVar("T")


def to_plain(value: Any) -> Any:
    """`value` with dataclasses as dicts, enums as their values, tuples as lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def from_plain(cls: type[T], value: Any) -> T:
    """The reverse of `to_plain`. Unknown fields are ignored, absent ones take their default.

    Raises:
        TypeError: a field without a default is absent.
    """
    return typing.cast(T, _revive(cls, value))


def _revive(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _revive(next(a for a in get_args(kind) if a is not type(None)), value)
    if origin is tuple:
        args = get_args(kind)
        if len(args) == 2 and args[1] is Ellipsis:
            return tuple(_revive(args[0], v) for v in value)
        return tuple(_revive(a, v) for a, v in zip(args, value, strict=True))
    if origin is list:
        return [_revive(get_args(kind)[0], v) for v in value]
    if origin is dict:
        key, val = get_args(kind)
        return {key(k): _revive(val, v) for k, v in value.items()}
    if isinstance(kind, type):
        if dataclasses.is_dataclass(kind):
            hints = _hints(kind)
            names = {f.name for f in dataclasses.fields(kind)}
            return kind(**{k: _revive(hints[k], v) for k, v in value.items() if k in names})
        if issubclass(kind, Enum):
            return kind(value)
        if kind is float and value is not None:
            return float(value)
    return value
