"""The sample documents are those that their sources make, and the sample questions are true of them."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import zipfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from core.base.paths import resources
from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.registry import read
from core.text.analyze import terms

SAMPLE = resources() / "sample"
QUESTIONS: list[dict[str, Any]] = json.loads((SAMPLE / "questions.json").read_text(encoding="utf-8"))
ANSWERABLE = [question for question in QUESTIONS if question["kind"] != "unanswerable"]
UNANSWERABLE = [question for question in QUESTIONS if question["kind"] == "unanswerable"]
FUNCTION_WORDS = frozenset(
    ("a", "do", "for", "had", "how", "i", "if", "is", "may", "must", "my", "of", "the", "to", "were", "what", "when",
     "which", "with")
)  # fmt: skip


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample_make", SAMPLE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


make = _script()


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The plain text of each document as its source has it, one line a block."""
    return {source.file: "\n".join(_block_text(block) for block in source.blocks) for source in make.sources()}


def _block_text(block: Any) -> str:
    cells = [cell for row in block.rows for cell in row]
    return make.plain(" ".join([block.text, *block.items, *cells]).strip())


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_another_run_of_the_script_gives_the_same_documents(tmp_path: Path) -> None:
    made = {path.name: path for path in make.make(tmp_path)}
    kept = {path.name: path for path in (SAMPLE / "documents").iterdir()}
    assert made.keys() == kept.keys()
    for name, path in made.items():
        # the same members packed by another zlib may be other bytes
        read = _members if path.suffix == ".docx" else Path.read_bytes
        assert read(path) == read(kept[name]), f"{name} is not what its source makes: run resources/sample/make.py"


def test_the_library_has_every_format_and_five_languages() -> None:
    kinds = [Path(source.file).suffix for source in make.sources()]
    assert set(kinds) == {".pdf", ".docx", ".html", ".md", ".txt"}
    assert kinds.count(".pdf") >= 3
    assert {source.language for source in make.sources()} == {"en", "de", "fr", "ja", "zh"}


def test_one_text_is_in_a_legacy_charset() -> None:
    data = (SAMPLE / "documents" / "station-meteo.txt").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        data.decode("utf-8")
    assert "bilan de l'année" in data.decode("windows-1252")


def test_there_are_forty_questions_of_four_kinds() -> None:
    assert len(QUESTIONS) == len({question["id"] for question in QUESTIONS}) == 40
    assert {question["kind"] for question in QUESTIONS} == {"direct", "paraphrase", "follow-up", "unanswerable"}


def test_the_first_question_can_be_shown_with_its_page() -> None:
    first = QUESTIONS[0]
    assert first["kind"] == "direct"
    assert first["documents"][0].endswith(".pdf")
    assert first["page"]
    assert first["answer"].count(".") == 1


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_the_answer_stands_in_its_document_and_in_no_other(question: dict[str, Any], texts: dict[str, str]) -> None:
    holders = [name for name, text in texts.items() if question["answer"] in _flat(text)]
    assert holders == question["documents"][:1]
    assert set(question["documents"]) <= texts.keys()


@pytest.mark.parametrize("question", UNANSWERABLE, ids=lambda question: question["id"])
def test_what_cannot_be_answered_is_in_no_document(question: dict[str, Any], texts: dict[str, str]) -> None:
    everything = "\n".join(texts.values()).casefold()
    assert question["documents"] == []
    assert question["absent"]
    assert [word for word in question["absent"] if word.casefold() in everything] == []


@pytest.mark.parametrize(
    "question",
    [question for question in QUESTIONS if question["kind"] == "paraphrase"],
    ids=lambda question: question["id"],
)
def test_a_paraphrase_shares_no_word_with_its_paragraph(question: dict[str, Any], texts: dict[str, str]) -> None:
    blocks = [block for block in texts[question["documents"][0]].splitlines() if question["answer"] in block]
    assert len(blocks) == 1
    assert _stems(question["question"]) & _stems(blocks[0]) == set()


def _stems(text: str) -> set[str]:
    return {term.text for term in terms(text, "en")} - FUNCTION_WORDS


@pytest.mark.parametrize(
    "question",
    [question for question in ANSWERABLE if question["kind"] == "follow-up"],
    ids=lambda question: question["id"],
)
def test_a_follow_up_comes_with_a_true_history(question: dict[str, Any], texts: dict[str, str]) -> None:
    everything = _flat("\n".join(texts.values()))
    assert question["history"]
    assert all(turn["answer"] in everything for turn in question["history"])


@pytest.mark.parametrize("source", make.sources(), ids=lambda source: source.file)
def test_a_document_is_read_whole(source: Any) -> None:
    document = _read(source.file)
    assert (document.state, document.warnings) == (DocumentState.READ, ())
    found = _flat(document.text)
    for block in source.blocks:
        parts = (block.text, *block.items, *(cell for row in block.rows for cell in row))
        assert [part for part in parts if make.plain(part) not in found] == []
    if not source.file.endswith(".txt"):
        assert (document.title, document.author, document.created[:10]) == (source.title, source.author, source.date)


@pytest.mark.parametrize(
    "source", [source for source in make.sources() if not source.file.endswith(".txt")], ids=lambda source: source.file
)
def test_the_headings_of_a_document_are_found(source: Any) -> None:
    document = _read(source.file)
    found = [document.text[b.start : b.end] for b in document.blocks if b.kind is BlockKind.HEADING]
    assert [text for text in found if text != source.title] == [b.text for b in source.blocks if b.kind == "heading"]


@pytest.mark.parametrize(
    "question", [question for question in ANSWERABLE if question["page"]], ids=lambda question: question["id"]
)
def test_the_answer_stands_on_its_page(question: dict[str, Any]) -> None:
    document = _read(question["documents"][0])
    pages = {page.number: _flat(document.text[page.start : page.end]) for page in document.pages}
    assert [number for number, text in pages.items() if question["answer"] in text] == [question["page"]]


def test_every_answer_out_of_a_pdf_names_its_page() -> None:
    for question in ANSWERABLE:
        assert (question["page"] is not None) == question["documents"][0].endswith(".pdf")


@cache
def _read(name: str) -> ReadDocument:
    (document,) = read(SAMPLE / "documents" / name, "", Limits())
    return document
