"""JSON as a person reads it: lines "path: value", the members of an object together.

Small objects are one block with their place in the tree; large ones are taken apart, their keys as headings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.plain_file import load

_LARGEST = 100 << 20  # bytes that are parsed; larger files are read as lines
_DEEPEST = 60
_TOGETHER = 24  # leaves that stand in one block
_HEADING_LEVELS = 4
_PACKED = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{400,}={0,2}")
_TITLES, _AUTHORS = ("title", "headline", "name"), ("author", "creator")
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.S)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])', re.S)


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    builder = TextBuilder(limits.output_characters)
    warnings = file.warnings
    value = None if file.cut or len(file.text) > _LARGEST else parse(file.text)
    if value is None:
        warnings += () if file.cut else ("The file is no valid JSON; its lines were read as they are.",)
        builder.add(file.text, BlockKind.CODE)
    else:
        add_value(value[0], builder, tick)
    known = value[0] if value and isinstance(value[0], dict) else {}
    document = builder.build(title=_named(known, _TITLES), author=_named(known, _AUTHORS), warnings=warnings)
    yield file.marked(document)


def parse(text: str) -> tuple[Any] | None:
    """The value in a tuple; None when it is no JSON, also after comments and last commas are taken out."""
    for attempt in (str, _without_comments):
        try:
            return (json.loads(attempt(text)),)
        except (ValueError, RecursionError):
            continue
    return None


def _without_comments(text: str) -> str:
    text = _COMMENT.sub(lambda match: match.group(1) or " ", text)
    return _LAST_COMMA.sub(lambda match: match.group(1) or "", text)


def _named(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((value[key] for key in keys if isinstance(value.get(key), str)), "")


def add_value(value: Any, builder: TextBuilder, tick: Tick, path: str = "") -> None:
    """Adds all leaves of `value`; `path` is its place in the tree."""
    _Tree(builder, tick).add(value, path, 1)


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Each leaf with its path below `value`; a list of plain values is one leaf."""
    if depth > _DEEPEST:
        yield path, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list) and any(isinstance(member, (dict, list)) for member in value):
        for index, member in enumerate(value):
            yield from leaves(member, f"{path}[{index}]", depth + 1)
    elif isinstance(value, list):
        yield path, ", ".join(filter(None, map(_plain, value)))
    else:
        yield path, _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return "" if _PACKED.fullmatch(value) else value  # pictures and the like, packed into letters
    return "" if value is None else json.dumps(value)


def lines_of(value: Any) -> str:
    """All leaves, one a line."""
    return "\n".join(f"{path}: {text}" if path else text for path, text in leaves(value) if text)


class _Tree:
    def __init__(self, builder: TextBuilder, tick: Tick) -> None:
        self._builder = builder
        self._tick = tick

    def add(self, value: Any, path: str, level: int) -> None:
        self._tick()
        if self._builder.full:
            return
        small = len(list(islice(leaves(value), _TOGETHER + 1))) <= _TOGETHER
        if small or level > _DEEPEST or not isinstance(value, (dict, list)):
            self._builder.add(lines_of(value), place=path)
        elif isinstance(value, dict):
            self._add_object(value, path, level)
        elif any(isinstance(member, (dict, list)) for member in value):
            for index, member in enumerate(value):
                self.add(member, f"{path}[{index}]", level + 1)
        else:
            self._builder.add(lines_of(value), place=path)

    def _add_object(self, value: dict[str, Any], path: str, level: int) -> None:
        plain = {key: member for key, member in value.items() if not isinstance(member, (dict, list))}
        self._builder.add(lines_of(plain), place=path)
        for key, member in value.items():
            if key not in plain:
                if level <= _HEADING_LEVELS and "[" not in path:
                    self._builder.heading(str(key), level)
                self.add(member, f"{path}.{key}" if path else str(key), level + 1)
