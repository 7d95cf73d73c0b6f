import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.types import Filters, Query, Span
from core.search.syntax import LONGEST, ParsedQuery, parse, read


@pytest.mark.parametrize(
    ("text", "phrases", "words"),
    [
        ('"annual report" 2023', ("annual report",), "annual report 2023"),
        ("find “annual report”", ("annual report",), "find annual report"),
        ("„Häuser am See“ Miete", ("Häuser am See",), "Häuser am See Miete"),
        ("« rapport annuel » budget", ("rapport annuel",), "rapport annuel budget"),
        ("»Häuser« Miete", ("Häuser",), "Häuser Miete"),
        ("”årlig rapport”", ("årlig rapport",), "årlig rapport"),
        ("東京「大学」の歴史", ("大学",), "東京 大学 の歴史"),
        ('東京"大学"の歴史', ("大学",), "東京 大学 の歴史"),
        ('"one" "two"', ("one", "two"), "one two"),
    ],
)
def test_phrases_in_the_quotes_of_many_languages(text: str, phrases: tuple[str, ...], words: str) -> None:
    parsed = parse(text)
    assert parsed.phrases == phrases
    assert parsed.text == words


def test_exclusions() -> None:
    parsed = parse('jaguar -car -"big cat" speed')
    assert parsed == ParsedQuery(
        "jaguar speed", excluded=("car",), excluded_phrases=("big cat",), understood=("-car", '-"big cat"'),
        places=(Span(7, 11), Span(12, 22)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("x type:pdf type:md", Filters(types=("pdf", "md"))),
        ("x Type:Word", Filters(types=("docx", "doc", "odt", "rtf"))),
        ("x type:.PDF", Filters(types=("pdf",))),
        ("x in:reports", Filters(folders=("reports",))),
        ('x folder:"/home/me/my files"', Filters(folders=("/home/me/my files",))),
        ("x lang:de language:pt-BR", Filters(languages=("de", "pt"))),
        ("x lang:German", Filters(languages=("de",))),
        ("x tag:work tag:“for later”", Filters(tags=("work", "for later"))),
        ("x after:2023 before:2024-03", Filters(after="2023", before="2024-03")),
        ("x title:budget author:Müller", Filters(titles=("budget",), authors=("Müller",))),
        ("x name:report.pdf file:*.txt", Filters(names=("report.pdf", "*.txt"))),
    ],
)
def test_fields(text: str, filters: Filters) -> None:
    parsed = parse(text)
    assert (parsed.text, parsed.filters) == ("x", filters)
    assert len(parsed.understood) == text.count(":")


def test_places_are_those_of_what_was_typed() -> None:
    text = "x TYPE:pdf, －old 「大学」 lang:de"
    parsed = parse(text)
    assert [text[p.start : p.end] for p in parsed.places] == ["TYPE:pdf,", "－old", "「大学」", "lang:de"]
    assert parsed.understood == ("type:pdf", "-old", '"大学"', "lang:de")


def test_excluded_fields() -> None:
    parsed = parse('x -type:pdf -tag:"old stuff"')
    assert parsed.barred == (Filters(types=("pdf",)), Filters(tags=("old stuff",)))
    assert parsed.understood == ("-type:pdf", '-tag:"old stuff"')
    assert parsed.text == "x"


@pytest.mark.parametrize(
    "text",
    [
        "", " ", '"', 'a 5" pipe and a 6" pipe', '""', '"!"', "-", "a - b", "--all", "ls -l", "at -5 degrees",
        "well-known",
        "http://x.org", "12:30", "std::vector", "file:///home/x", "C++ -> Rust", "type:", "type: pdf", "before:noon",
        "type:blood", "lang:klingon", "note: this", "don't", "O'Neill's", "a\n-b\n\"c d\"", "“", "«", "title:-",
        "x" * LONGEST + ' -a "b c"',
    ],
)  # fmt: skip
def test_what_only_looks_like_syntax_stays_plain(text: str) -> None:
    assert parse(text) == ParsedQuery(text)


def test_fields_that_name_something_are_searched_for_when_alone() -> None:
    assert parse("title:budget -draft").text == "budget"
    assert parse("type:pdf -draft").text == ""


def test_literal_text_has_no_syntax() -> None:
    text = 'is "x" -y type:pdf?'
    assert read(Query(text, literal=True)) == ParsedQuery(text)
    assert read(Query(text)).filters == Filters() or read(Query(text)).phrases


def test_filters_of_the_query_and_of_its_text_both_hold() -> None:
    own = Filters(types=("pdf",))
    asked = parse("x in:a -tag:b").asked(Query("x in:a -tag:b", k=3, filters=own))
    assert asked == Query("x", k=3, filters=Filters(also=(own, Filters(folders=("a",))), none=(Filters(tags=("b",)),)))
    assert parse("x y").asked(Query("x y", filters=own)) == Query("x y", filters=own)


_PIECES = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.sampled_from(
            [
                '"',
                "“",
                "”",
                "„",
                "«",
                "»",
                "「",
                "」",
                "-",
                "－",
                " ",
                "type:",
                "title:",
                "before:2024",
                "a",
                "本",
                ":",
                "//",
            ]
        ),
    ),
    max_size=12,
)


@given(_PIECES)
def test_anything_can_be_parsed(pieces: list[str]) -> None:
    text = "".join(pieces)
    parsed = parse(text)
    assert parsed.understood or parsed == ParsedQuery(text)
    assert all(any(c.isalnum() for c in phrase) for phrase in (*parsed.phrases, *parsed.excluded_phrases))
    assert len(parsed.places) == len(parsed.understood)
    kept = "".join(parsed.text.split())
    assert not parsed.understood or all(c in text for c in kept)
