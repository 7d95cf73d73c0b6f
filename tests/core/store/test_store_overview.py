"""Roots in numbers, relatives of a document, what is left out, patterns: as the window asks for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.base.errors import BadSetting
from core.base.events import Control, ignore
from core.base.types import DocumentState
from core.library import Library
from core.worker import ingesting

BEES = "Bees live in hives and make honey out of the nectar of many flowers in the summer months.\n\n"
SHIPS = "Ships of the harbour sail on the morning tide and come back at night with herring and cod.\n\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    old = BEES * 3 + SHIPS * 3
    for name, text, when in (
        ("old.txt", old, 1_600_000_000), ("copy.txt", old, 1_650_000_000),
        ("new.txt", old + "And one more sentence at its end.", 1_700_000_000), ("other.txt", "Nothing alike.", 1),
    ):  # fmt: skip
        (made / name).write_text(text)
        os.utime(made / name, (when, when))
    return made


def ingest(library: Path, encoder, *paths: Path, **more) -> None:
    ingesting.ingest(library, paths, control=Control(), listener=ignore, encoder=encoder, **more)


def opened(library: Path) -> Library:
    return Library.open(library)


def by_name(library: Library) -> dict[str, int]:
    return {Path(d.path).name: d.id for d in library.documents()}


def test_relatives_are_copies_and_versions_the_newest_first(folder: Path, tmp_path: Path, tiny_encoder) -> None:
    ingest(tmp_path / "lib", tiny_encoder, folder)
    library = opened(tmp_path / "lib")
    ids = by_name(library)

    def names(name: str) -> tuple[list[str], list[str]]:
        found = library.relatives(ids[name])
        return [Path(d.path).name for d in found.copies], [Path(d.path).name for d in found.versions]

    assert names("old.txt") == (["copy.txt"], ["new.txt"])
    assert names("new.txt") == ([], ["copy.txt", "old.txt"])
    assert names("other.txt") == ([], [])
    assert library.relatives(999) == library.relatives(ids["other.txt"])
    library.close()


def test_roots_are_told_with_their_numbers_and_the_last_look(folder: Path, tmp_path: Path, tiny_encoder) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "one.txt").write_text(SHIPS)
    ingest(tmp_path / "lib", tiny_encoder, folder, tmp_path / "away")
    library = opened(tmp_path / "lib")
    away, papers = library.root_summaries()
    assert (away.files, away.documents, papers.files, papers.documents) == (1, 1, 4, 4)
    assert away.looked == papers.looked != ""
    (tmp_path / "away").rename(tmp_path / "gone")
    ingest(tmp_path / "lib", tiny_encoder)
    again, papers = library.root_summaries()
    assert again.looked == away.looked
    assert papers.looked >= again.looked
    assert (again.files, again.documents) == (1, 1)
    library.close()


def test_what_was_left_out_is_listed_and_taken_back(folder: Path, tmp_path: Path, tiny_encoder) -> None:
    lib = tmp_path / "lib"
    ingest(lib, tiny_encoder, folder)
    for name in ("old.txt", "other.txt"):
        ingesting.delete(lib, folder / name)
    library = opened(lib)
    assert library.excluded() == [str(folder / "old.txt"), str(folder / "other.txt")]
    library.take_back(str(folder / "other.txt"))
    ingest(lib, tiny_encoder, again=[folder / "other.txt"])
    assert library.excluded() == [str(folder / "old.txt")]
    assert set(by_name(library)) == {"copy.txt", "new.txt", "other.txt"}
    library.close()


def test_again_reads_these_files_only(folder: Path, tmp_path: Path, tiny_encoder) -> None:
    lib = tmp_path / "lib"
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "worse.pdf").write_bytes(b"%PDF-1.4 nothing either")
    ingest(lib, tiny_encoder, folder)
    library = opened(lib)
    assert library.paths([DocumentState.BROKEN]) == [str(folder / "broken.pdf"), str(folder / "worse.pdf")]
    looked: list[str] = []

    def listener(event: object) -> None:
        looked.append(getattr(event, "detail", ""))

    report = ingesting.ingest(
        lib, [], control=Control(), listener=listener, encoder=tiny_encoder, again=[folder / "broken.pdf"]
    )
    assert [f.path for f in report.failed] == [str(folder / "broken.pdf")]
    assert not any("worse" in detail for detail in looked)
    library.close()


def test_patterns_are_kept_and_checked(folder: Path, tmp_path: Path, tiny_encoder) -> None:
    lib = tmp_path / "lib"
    ingest(lib, tiny_encoder, folder)
    library = opened(lib)
    with pytest.raises(BadSetting):
        library.set_ignore_patterns("*.log\n!")
    assert library.ignore_patterns() == ""
    library.set_ignore_patterns("o*.txt")
    ingest(lib, tiny_encoder)
    assert set(by_name(library)) == {"copy.txt", "new.txt"}
    assert library.ignore_patterns() == "o*.txt"
    library.close()


def test_lists_are_sorted_by_every_column(folder: Path, tmp_path: Path, tiny_encoder) -> None:
    ingest(tmp_path / "lib", tiny_encoder, folder)
    library = opened(tmp_path / "lib")
    for sort in ("path", "name", "state", "pages", "passages", "seconds", "type", "reader"):
        up = [d.id for d in library.documents(sort=sort)]
        assert [d.id for d in library.documents(sort=sort, descending=True)] == up[::-1], sort
    library.close()
