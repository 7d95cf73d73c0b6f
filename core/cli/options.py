"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LibraryOption = Annotated[Path, typer.Option("--library", help="The library's folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
FilterOption = Annotated[
    list[str] | None, typer.Option("--filter", help="KEY=VALUE: folder, type, language, tag, date")
]
