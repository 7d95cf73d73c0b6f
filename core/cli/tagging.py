"""Tags of the documents in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.base.errors import NotFound
from core.base.types import Document
from core.library import Library


def tag(library: Path, path: Path, tags: Sequence[str]) -> list[Document]:
    """Make `tags` those of the document(s) in the file at `path`; returns them as they are now.

    Raises:
        NotALibrary
        NotFound: no document of the library lies there.
    """
    reader = Library.open(library)
    try:
        text = reader.spelled(path)
        found = [d for d in reader.documents(text=text) if d.path == text]
        if not found:
            raise NotFound(f"{text} is not in this library.", "List what is in it with `documents`.")
        for document in found:
            reader.set_tags(document.id, tags)
        return [reader.document(d.id) for d in found]
    finally:
        reader.close()
