from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.types import BM25
from core.index.snapshot import Snapshot
from core.search.phrases import allowed
from core.search.syntax import parse
from core.text.adjacent import phrase_pattern
from core.text.analyze import phrase_terms, term_texts
from core.text.letters import plain
from tests.shelf import Item, Shelf, unit_vectors

TEXTS = [
    ("The annual report of 2023.", "en"),
    ("Reports are annual; the Report, annual as ever.", "en"),
    ("An ANNUAL\nRÉPORT in capitals", "en"),
    ("annual reports of ISO-9001 and C++ code", "en"),
    ("東京大学の歴史", "ja"),
    ("大学は東京にある。PCの設定", "ja"),
    ("tiếng Việt và ma", "vi"),
    ("tieng Viet va má", "vi"),
    ("한국어 문서의 목록", "ko"),
    ("Der Jahresbericht für Häuser", "de"),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    shelf = Shelf(Path(tmp_path_factory.mktemp("phrases")))
    vectors = unit_vectors(len(TEXTS))
    rows = [
        Item(f"/p/{n}", text, v, language=code) for n, ((text, code), v) in enumerate(zip(TEXTS, vectors, strict=True))
    ]
    shelf.add(rows[:5])
    shelf.add(rows[5:])
    with Snapshot.open(shelf.folder) as opened:
        yield opened


def found(snapshot: Snapshot, text: str, within: list[int] | None = None) -> list[int] | None:
    ids = None if within is None else np.array(within, np.int64)
    result = allowed(snapshot, parse(text), snapshot.languages(), ids)
    return None if result is None else result.tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("annual report", None),
        ('"annual report"', [1, 3]),
        ('"report annual"', [2]),
        ('"annual" "report"', [1, 2, 3]),
        ('"annual reports"', [4]),
        ('"iso 9001"', [4]),
        ('"9001 and c++"', [4]),
        ('"9001 and c"', []),
        ('"東京大"', [5]),
        ("「東京」", [5, 6]),
        ('"pcの"', [6]),
        ('"の"', [5, 6]),
        ('"tieng viet"', [8]),
        ('"tiếng việt"', [7]),
        ('"ma"', [7]),
        ('"국어 문서"', [9]),
        ('"어"', [9]),
        ('"hauser"', [10]),
        ('"für Häuser"', [10]),
        ("x -report", [5, 6, 7, 8, 9, 10]),
        ('x -"annual report"', [2, 4, 5, 6, 7, 8, 9, 10]),
        ("x -東京大", [1, 2, 3, 4, 6, 7, 8, 9, 10]),
        ("x -ISO-9001 -häuser", [1, 2, 3, 5, 6, 7, 8, 9]),
        ('"annual report" -capitals', [1]),
        ('"no such phrase"', []),
    ],
)
def test_passages_that_hold_what_is_asked_for(snapshot: Snapshot, text: str, expected: list[int] | None) -> None:
    assert found(snapshot, text) == expected


def test_filters_narrow_what_is_looked_through(snapshot: Snapshot) -> None:
    assert found(snapshot, '"annual report"', [2, 3, 4]) == [3]
    assert found(snapshot, "plain", [2, 3]) == [2, 3]
    assert found(snapshot, "x -report", [2, 5]) == [5]


_SAID = st.lists(
    st.sampled_from(
        ["userName", "RTX4090", "ISO-9001", "e-mail", "C++", "obj-c++", "3.5", "Häuser", "東京", "大", "データ", "の",
         "한국어", "ไทย", "हिन्दी", "v2.1.3", "١٢٣", "PC", "x_y", "straße", "שָׁלוֹם", "مدرسة", ",", "."]
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@settings(deadline=None)
@given(_SAID, _SAID, _SAID, st.sampled_from([" ", "", "\n"]), st.sampled_from(["en", "ja", "ko", "vi", "ar", ""]))
def test_postings_and_texts_agree_on_phrases(
    before: list[str], said: list[str], after: list[str], joint: str, language: str
) -> None:
    """A text in which the phrase is found has all terms by which it is looked up."""
    phrase, text = joint.join(said), joint.join([*before, *said, *after])
    if phrase_pattern(phrase, language).search(plain(text, language)):
        have = set(term_texts(text, language))
        assert all(have & set(term.alternatives) for term in phrase_terms(phrase, ["en", language, "de"]))
    if joint == " ":
        assert phrase_pattern(phrase, language).search(plain(text, language))


def test_the_sparse_channel_names_all_holders(snapshot: Snapshot) -> None:
    ids, _ = snapshot.sparse(BM25, phrase_terms("report", ["en"]), snapshot.passage_count)
    assert sorted(ids.tolist()) == [1, 2, 3, 4]
