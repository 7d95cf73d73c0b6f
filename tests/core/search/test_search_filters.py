from pathlib import Path

import pytest

from core.base.errors import BadQuery
from core.base.types import Filters
from core.search.filters import allowed
from core.store import database, documents
from tests.shelf import Item, Shelf, unit_vectors

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ROWS = [
    ("/docs/a/one.pdf", "en", "application/pdf", "2023-12-31T23:00:00+00:00"),
    ("/docs/a/two.docx", "de", DOCX, "2024-01-01"),
    ("/docs/ab/three.md", "en", "text/markdown", "2024-06-15T08:00:00"),
    ("C:\\docs\\four.txt", "ja", "text/plain", ""),
]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path / "library")
    vectors = unit_vectors(len(ROWS))
    shelf.add(
        [
            Item(name, name, v, language=language, media_type=media, modified=modified)
            for (name, language, media, modified), v in zip(ROWS, vectors, strict=True)
        ]
    )
    with database.transaction(shelf.db):
        documents.set_tags(shelf.db, 1, ["work", "old"])
        documents.set_tags(shelf.db, 3, ["work"])
    return shelf


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(folders=("/docs/a",)), [1, 2]),
        (Filters(folders=("/docs/a/",)), [1, 2]),
        (Filters(folders=("/docs",)), [1, 2, 3]),
        (Filters(folders=("/docs/a/two.docx", "C:\\docs")), [2, 4]),
        (Filters(folders=("/",)), [1, 2, 3]),
        (Filters(folders=("/DOCS/a",)), []),
        (Filters(folders=("~nosuchaccount/a",)), []),
        (Filters(types=("pdf", "md")), [1, 3]),
        (Filters(types=(DOCX,)), [2]),
        (Filters(types=("TXT",)), [4]),
        (Filters(languages=("en", "ja")), [1, 3, 4]),
        (Filters(tags=("work",)), [1, 3]),
        (Filters(tags=("old", "none")), [1]),
        (Filters(after="2024-01-01"), [2, 3]),
        (Filters(before="2024-01-01"), [1, 2]),
        (Filters(before="2023"), [1]),
        (Filters(after="2024-01", before="2024-05"), [2]),
        (Filters(documents=(2, 4, 99)), [2, 4]),
        (Filters(folders=("/docs",), languages=("en",), tags=("work",), after="2024"), [3]),
    ],
)
def test_filters(shelf: Shelf, filters: Filters, expected: list[int]) -> None:
    found = allowed(shelf.db, filters)
    assert found is not None
    assert found.tolist() == expected


def test_no_filters_allow_all(shelf: Shelf) -> None:
    assert allowed(shelf.db, Filters()) is None


@pytest.mark.parametrize("date", ["yesterday", "24-01-01", "2024/01/01", "2024-1"])
def test_a_date_that_is_none(shelf: Shelf, date: str) -> None:
    with pytest.raises(BadQuery):
        allowed(shelf.db, Filters(after=date))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(folders=("docs",)), [1, 2, 3, 4]),
        (Filters(folders=("docs/A",)), [1, 2]),
        (Filters(folders=("b",)), []),
        (Filters(names=("ONE",)), [1]),
        (Filters(names=("*.md", "four.*")), [3, 4]),
        (Filters(names=("docs",)), []),
        (Filters(titles=("NÓTE",)), [1, 2, 3, 4]),
        (Filters(authors=("ada",)), []),
        (Filters(also=(Filters(types=("pdf", "md")), Filters(folders=("/docs/a",)))), [1]),
        (Filters(none=(Filters(types=("pdf",)), Filters(languages=("ja",)))), [2, 3]),
        (Filters(none=(Filters(tags=("work",), languages=("de",)),)), [1, 2, 3, 4]),
        (Filters(also=(Filters(), Filters(none=(Filters(tags=("work",)),)))), [2, 4]),
    ],
)
def test_names_and_combinations(shelf: Shelf, filters: Filters, expected: list[int]) -> None:
    found = allowed(shelf.db, filters)
    assert found is not None
    assert found.tolist() == expected
