"""Collections in BEIR layout: one JSON object a line with `_id`, `title` and `text`; one document each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers import json_tree
from core.ingest.readers.build import TextBuilder, failure
from core.ingest.readers.charset import decode

_LONGEST_LINE = 64 << 20
_BAD_LINES_NAMED = 20


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    """Documents as they are read; bad lines are told by a warning on the last one.

    Documents without text are passed over as bad lines: there is nothing of them to find.
    """
    bad: list[int] = []
    bad_count = 0
    previous: ReadDocument | None = None
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            tick()
            if not line.strip():
                continue
            document = _document(line, number, limits)
            if document is None or document.external_id in seen:
                bad_count += 1
                bad = [*bad, number] if len(bad) < _BAD_LINES_NAMED else bad
                continue
            seen.add(document.external_id)
            if previous is not None:
                yield previous
            previous = document
    if previous is None:
        yield _as_lines(path, limits, tick) if bad else failure(DocumentState.EMPTY, "The file holds no text.")
        return
    warnings = (_warning(bad, bad_count),) if bad else ()
    yield _with_warnings(previous, warnings)


def _as_lines(path: Path, limits: Limits, tick: Tick) -> ReadDocument:
    """A file of other objects (a log, a data set): one document, each line as it is read by a person."""
    builder = TextBuilder(limits.output_characters)
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            tick()
            text = decode(line).text
            value = json_tree.parse(text)
            builder.add(json_tree.lines_of(value[0]) if value else text, place=f"line {number}")
            if builder.full:
                break
    return builder.build()


def _lines(file: Any) -> Iterator[bytes]:
    while line := file.readline(_LONGEST_LINE):
        yield line


def _document(line: bytes, number: int, limits: Limits) -> ReadDocument | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    text, title = _string(value.get("text")), _string(value.get("title"))
    external_id = value.get("_id", value.get("id", number))
    if not isinstance(external_id, (str, int)) or not (text.strip() or title.strip()):
        return None
    builder = TextBuilder(limits.output_characters)
    for paragraph in (text if text.strip() else title).split("\n"):
        builder.add(paragraph, separator="\n")
    if not builder.length:
        return None
    metadata = value.get("metadata")
    language = _string(metadata.get("language")) if isinstance(metadata, dict) else ""
    return builder.build(title=title, external_id=str(external_id), language=language[:2].lower())


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _warning(bad: list[int], count: int) -> str:
    more = " and more" if count > len(bad) else ""
    return f"{count:,} lines hold no document or one that was there before: {', '.join(map(str, bad))}{more}."


def _with_warnings(document: ReadDocument, warnings: tuple[str, ...]) -> ReadDocument:
    from dataclasses import replace

    return replace(document, warnings=document.warnings + warnings)
