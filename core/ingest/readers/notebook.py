"""Jupyter notebooks: text and code cells with what they printed. Pictures and widgets are no text.

The place of a block is its cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.charset import decode
from core.ingest.readers.html import walk
from core.ingest.readers.html_source import parse_page
from core.ingest.readers.markdown import add_markdown

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PACKED = re.compile(r"[A-Za-z0-9+/]{400,}={0,2}")
_WIDGETS = "application/vnd.jupyter.widget-view+json"


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    decoded = decode(path.read_bytes())
    notebook = json.loads(decoded.text)
    builder = TextBuilder(limits.output_characters)
    title = ""
    for number, cell in enumerate(_cells(notebook), 1):
        tick()
        builder.place = f"cell {number}"
        title = _add_cell(cell, builder, title)
    metadata = _dict(notebook.get("metadata"))
    authors = [_dict(author).get("name", "") for author in _list(metadata.get("authors"))]
    yield builder.build(
        title=_joined(metadata.get("title")) or title,
        author=", ".join(name for name in authors if isinstance(name, str)),
        warnings=decoded.warnings,
    )


def _cells(notebook: Any) -> list[dict[str, Any]]:
    """Cells of all versions of the format; up to version 3 they stand in worksheets."""
    sheets = [_dict(sheet) for sheet in _list(notebook.get("worksheets"))] or [notebook]
    return [_dict(cell) for sheet in sheets for cell in _list(sheet.get("cells"))]


def _add_cell(cell: dict[str, Any], builder: TextBuilder, title: str) -> str:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input")))
    if kind == "markdown":
        heading = add_markdown(source, builder)
        return title or heading
    if kind == "heading":
        builder.heading(source, int(cell.get("level", 1)))
        return title or source
    builder.add(source, BlockKind.CODE if kind == "code" else BlockKind.PARAGRAPH)
    for output in _list(cell.get("outputs")):
        _add_output(_dict(output), builder)
    return title


def _add_output(output: dict[str, Any], builder: TextBuilder) -> None:
    if output.get("output_type") in ("error", "pyerr"):
        builder.add(f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}", BlockKind.CODE)
        return
    data = _dict(output.get("data")) or {_FORMER.get(key, key): value for key, value in output.items()}
    if _WIDGETS in data:
        return
    if "text/markdown" in data:
        add_markdown(_joined(data["text/markdown"]), builder)
    elif "text/plain" in data and not _is_table(data):
        builder.add(_printed(_joined(data["text/plain"])), BlockKind.CODE)
    elif "text/html" in data:
        tree = parse_page(_joined(data["text/html"]))
        if tree.body is not None:
            walk(tree.body, builder)
    else:
        builder.add(_printed(_joined(output.get("text") or data.get("text/latex"))), BlockKind.CODE)


_FORMER = {"text": "text/plain", "html": "text/html", "latex": "text/latex"}  # names in version 3


def _is_table(data: dict[str, Any]) -> bool:
    """A data frame is printed twice; its table keeps the names of the columns with the values."""
    return "<table" in _joined(data.get("text/html"))


def _printed(text: str) -> str:
    """Printed text without colours and without what stands for bytes."""
    return _PACKED.sub("", _ANSI.sub("", text))


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
