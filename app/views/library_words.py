"""What the Library page says of the library as a whole."""

from __future__ import annotations

from pathlib import Path

from app.i18n import grouped, plural, tr
from core.library import Coverage

WIPING = (
    "What you remove is gone from search, answers and lists at once. Traces of its words can stay in the files of the "
    "library until the room is used again. Wiping writes those files anew, so that no byte of it is left. It takes "
    "about as long as copying the library, and needs that much room on the disk meanwhile."
)


def summary(coverage: Coverage) -> str:
    """What the library holds, in one line, the most wanted first."""
    parts = [plural(coverage.documents, "{n} document", "{n} documents")]
    if coverage.pages:
        parts.append(plural(coverage.pages, "{n} page", "{n} pages"))
    if coverage.ocr_pages:
        parts[-1] += " " + tr("({n} by text recognition)", n=grouped(coverage.ocr_pages))
    parts.append(plural(coverage.passages, "{n} passage", "{n} passages"))
    if coverage.warnings:
        parts.append(plural(coverage.warnings, "{n} with a warning", "{n} with warnings"))
    return " · ".join(parts)


def outermost(paths: list[str]) -> list[str]:
    """The paths that lie in none of the others."""
    return [p for p in paths if not any(Path(other) in Path(p).parents for other in paths)]
