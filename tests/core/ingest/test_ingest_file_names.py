"""File names with accents in two ways of writing, and names that are no UTF-8: the path opens, the name is readable."""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path

import pytest

from core.base.files import path_forms, path_shown, path_text, text_path
from core.base.types import Filters, context_title
from core.search.filters import _document_clauses
from core.store.documents import is_under

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems refuse such names")
NFD = unicodedata.normalize("NFD", "Café")
ODD = os.fsdecode(b"caf\xe9.txt")


@linux
def test_a_path_that_is_no_utf8_is_kept_and_opens(tmp_path: Path) -> None:
    path = tmp_path / ODD
    path.write_text("words")
    text = path_text(path)
    text.encode("utf-8")
    assert text_path(text) == path
    assert text_path(text).read_text() == "words"
    assert path_shown(text).endswith("/caf\ufffd.txt")
    assert context_title("", text, "") == "caf\ufffd"


@linux
def test_names_are_shown_composed_and_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / f"{NFD}.txt"
    path.write_text("words")
    text = path_text(path)
    assert text_path(text).read_text() == "words"
    assert NFD in text
    assert context_title("", text, "") == "Café"


@linux
@pytest.mark.parametrize("folder", ["/home/Café", f"/home/{NFD}", "/home/Café/"])
@pytest.mark.parametrize("name", ["a.txt", ODD])
@pytest.mark.parametrize("written", ["Café", NFD])
def test_the_filter_by_folder_finds_every_writing(folder: str, name: str, written: str) -> None:
    assert _passes(path_text(f"/home/{written}/{name}"), folder)
    assert not _passes(path_text(f"/home/{written}s/{name}"), folder)


@linux
def test_the_filter_takes_a_folder_that_is_no_utf8() -> None:
    folder = os.fsdecode(b"/home/caf\xe9")
    assert _passes(path_text(folder + "/a.txt"), folder)
    assert _passes(path_text(folder + "/a.txt"), path_text(folder))


def _passes(path: str, folder: str) -> bool:
    import sqlite3

    ((sql, values),) = _document_clauses(Filters(folders=(folder,)))
    db = sqlite3.connect(":memory:")
    try:
        query = f"SELECT count(*) FROM (SELECT ? AS path) d WHERE {sql}"
        return bool(db.execute(query, (path, *values)).fetchone()[0])
    finally:
        db.close()


@linux
def test_what_lies_in_a_folder_is_told_exactly() -> None:
    assert is_under(path_text(f"/home/{ODD}"), "/home")
    assert not is_under(path_text(f"/homes/{ODD}"), "/home")
    assert not is_under(f"/home/{NFD}/a.txt", "/home/Café")  # two folders that look alike: one may be taken out


def test_forms_of_a_path_are_few_and_the_given_one_is_first() -> None:
    assert path_forms("/a/b")[0] == "/a/b"
    assert len(path_forms("/a/b")) == 2
