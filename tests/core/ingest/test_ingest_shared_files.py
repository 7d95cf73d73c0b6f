"""Real odd files through the sandbox: none hangs or crashes, each ends in a named state, nearly all are read right."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base.types import DocumentState, ReadDocument
from core.ingest.chunk import cut
from core.ingest.limits import Limits
from core.ingest.sandbox import Sandbox

pytestmark = pytest.mark.shared

KINDS = ("pdf", "docx", "html", "md", "txt")
# what stays unread, with its cause
KNOWN_MISSES = {
    "pdf/Brotli-Prototype-FileA.pdf": "a stream filter that is a draft",
    "pdf/issue-791-non-unicode-cmap.pdf": "the font does not say its letters",
    "pdf/issue_566_test_1.pdf": "the font's map to Unicode is wrong",
    "pdf/habibi-rotated.pdf": "a whole word is one sign, taken apart backwards",
}


@pytest.fixture(scope="module")
def rows(shared_folder: Path) -> list[dict[str, str]]:
    with (shared_folder / "files/index.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def documents(shared_folder: Path, rows: list[dict[str, str]]) -> dict[str, ReadDocument]:
    def found() -> Iterator[tuple[str, ReadDocument]]:
        with Sandbox(Limits(seconds=120)) as sandbox:
            for row in rows:
                yield row["path"], next(iter(sandbox.read(str(shared_folder / "files" / row["path"]), "")))

    return dict(found())


def normalized(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return re.sub(r"\s+", "", text).casefold()


def is_right(row: dict[str, str], document: ReadDocument) -> bool:
    text = normalized(document.text)
    if row["must_not_contain"] and normalized(row["must_not_contain"]) in text:
        return False
    match row["expect"]:
        case "phrase":
            return normalized(row["must_contain"]) in text
        case "some-text":
            return bool(text)
        case "empty":
            return document.state == DocumentState.EMPTY
        case "locked":
            return document.state == DocumentState.LOCKED
        case "ocr":  # nothing to read without looking at the picture: it has to be told
            return document.state == DocumentState.SCANNED or bool(document.warnings)
    return document.state.has_text or bool(document.reason)


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_read_right(kind: str, rows: list[dict[str, str]], documents: dict[str, ReadDocument]) -> None:
    wrong = {row["path"] for row in rows if row["kind"] == kind and not is_right(row, documents[row["path"]])}
    assert wrong == {path for path in KNOWN_MISSES if path.startswith(f"{kind}/")}


def test_every_file_ends_in_a_named_state(rows: list[dict[str, str]], documents: dict[str, ReadDocument]) -> None:
    states = Counter(documents[row["path"]].state for row in rows)
    assert sum(states.values()) == len(rows) > 150
    assert not states[DocumentState.TIMED_OUT]
    assert not states[DocumentState.CRASHED]
    for document in documents.values():
        assert document.state.has_text == bool(document.text)
        assert document.state == DocumentState.READ or document.reason


def test_offsets_and_passages_hold_on_real_files(documents: dict[str, ReadDocument]) -> None:
    for document in documents.values():
        for block in document.blocks:
            assert 0 <= block.start < block.end <= len(document.text)
        for page in document.pages:
            assert document.text[page.start : page.end] == document.text[page.start : page.end].strip()
        passages = cut(document, lambda texts: [len(re.findall(r"[a-zA-Z]{1,4}|\w|[^\w\s]", t)) for t in texts])
        assert bool(passages) == bool(document.text)
        assert all(p.end - p.start <= 2000 for p in passages)
