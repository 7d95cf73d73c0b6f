"""What several tests of the window share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core.base.types import DocumentState, Page, ReadDocument
from core.library import Library
from core.store import database, documents

FAKE_ROLE = Path(__file__).with_name("fake_role.py")


def fake_command(*flags: str) -> Callable[[str, str], list[str]]:
    """A command maker for `Engine` that starts the fake role."""

    def command(role: str, library: str) -> list[str]:
        return [sys.executable, str(FAKE_ROLE), role, *flags]

    return command


LONG_NAME = (
    "Minutes of the extraordinary general assembly of the Northern Harbour Association, second part, "
    "with all annexes and the signed list of attendance (final, corrected, 2023-11-04).pdf"
)

SAMPLES: tuple[tuple[str, str, DocumentState, str, int, int], ...] = (
    ("annual-report-2023.pdf", "en", DocumentState.READ, "", 48, 131),
    ("Satzung der Genossenschaft.docx", "de", DocumentState.READ, "", 12, 40),
    (LONG_NAME, "en", DocumentState.READ, "", 9, 22),
    ("scan-of-contract.pdf", "", DocumentState.SCANNED, "All 7 pages are pictures without a text layer.", 7, 0),
    ("payroll.pdf", "", DocumentState.LOCKED, "The file is encrypted and needs a password.", 0, 0),
    ("broken-export.pdf", "", DocumentState.BROKEN, "The cross-reference table points outside the file.", 0, 0),
    ("会議の記録.md", "ja", DocumentState.READ, "", 1, 6),
    ("huge-log.txt", "en", DocumentState.TRUNCATED, "Read up to the limit of 20 000 000 characters.", 1, 4210),
    ("photo.heic", "", DocumentState.UNSUPPORTED, "Pictures of this kind are not read.", 0, 0),
    ("empty.txt", "", DocumentState.EMPTY, "The file holds no text.", 0, 0),
    ("endless.pdf", "", DocumentState.CRASHED, "Reading it ended with SIGSEGV (memory fault).", 0, 0),
    ("private.docx", "", DocumentState.DENIED, "No permission to read the file.", 0, 0),
    ("guide-de-la-rade.html", "fr", DocumentState.READ, "", 1, 18),
)


def fill(folder: Path, samples: Sequence[tuple[str, str, DocumentState, str, int, int]] = SAMPLES) -> None:
    """A real library in `folder` with documents as reading them would leave them: (name, language, state, reason,
    pages, passages)."""
    Library.create(folder).close()
    db = database.open_writer(folder)
    with database.transaction(db):
        root = documents.add_root(db, "/home/ada/Documents", True)
        for name, language, state, reason, pages, passages in samples:
            path = f"/home/ada/Documents/{name}"
            text = "A paragraph of text.\n" * 10 if state.has_text else ""
            read = ReadDocument(
                text=text, pages=tuple(Page(n + 1, 0, len(text)) for n in range(pages)), title="", reader="pdfium",
                media_type="application/pdf", state=state, reason=reason,
                warnings=("Two words were cut at a line end and joined.",) if pages > 10 else (),
            )  # fmt: skip
            file = documents.put_file(db, root, path, 120_000, 1, f"hash of {name}")
            document = documents.put_document(db, file, path, f"hash of {name}", read, language=language, size=120_000)
            db.execute("UPDATE document SET passages = ? WHERE id = ?", (passages, document))
            documents.finish_file(db, file, state, reason, 0.4)
    db.conn.close()
