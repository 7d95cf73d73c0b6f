"""`--filter key=value` to `Filters`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.base.errors import BadQuery
from core.base.types import Filters

KEYS = ("folder", "type", "language", "tag", "title", "author", "name", "date", "after", "before")
_FIELDS = {
    "folder": "folders", "type": "types", "language": "languages", "tag": "tags", "title": "titles",
    "author": "authors", "name": "names",
}  # fmt: skip
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def parse_filters(pairs: Sequence[str]) -> Filters:
    """`date` takes FROM..TO, either side may be left out. Raises BadQuery."""
    filters = Filters()
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not value or key not in KEYS:
            raise BadQuery(f"{pair!r} is no filter.", f"Write KEY=VALUE with one of the keys {', '.join(KEYS)}.")
        if key in _FIELDS:
            name = _FIELDS[key]
            filters = replace(filters, **{name: (*getattr(filters, name), value)})  # type: ignore[arg-type]
        elif key == "date":
            start, _, end = value.partition("..") if ".." in value else (value, "", value)
            filters = replace(filters, after=_date(start), before=_date(end))
        else:
            filters = replace(filters, **{key: _date(value)})  # type: ignore[arg-type]
    return filters


def placed(filters: Filters, library: Path) -> Filters:
    """With the folders as the library has them, which people also name from where they are or through a link."""
    if not filters.folders:
        return filters
    from core.library import Library

    reader = Library.open(library)
    try:
        return replace(filters, folders=tuple(reader.spelled(Path(folder)) for folder in filters.folders))
    finally:
        reader.close()


def _date(text: str) -> str:
    if text and not _DATE.fullmatch(text):
        raise BadQuery(f"{text!r} is no date.", "Write it as 2026-01-31, 2026-01 or 2026.")
    return text
