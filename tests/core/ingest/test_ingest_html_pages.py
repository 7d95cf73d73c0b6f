"""Pages: main part first, nothing lost, nothing hidden shown, what they say of themselves, and hostile nesting."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.html_source import without_deep_tags
from core.ingest.readers.registry import read


def page(folder: Path, source: str | bytes, name: str = "a.html") -> ReadDocument:
    path = folder / name
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    (document,) = read(path, "", Limits())
    return document


def test_the_main_part_comes_first_and_nothing_is_lost(tmp_path: Path) -> None:
    source = "<body><header>Site</header><nav>Menu</nav><main><h1>Story</h1><p>Text.</p></main><footer>Imprint</footer>"
    assert page(tmp_path, source).text.split("\n\n") == ["Story", "Text.", "Site", "Imprint"]


def test_a_page_that_is_all_hidden_is_read_all_the_same(tmp_path: Path) -> None:
    source = "<html><body style='display:none'><nav>Only words</nav><script>bad()</script></body></html>"
    assert page(tmp_path, f"{source}").text == "Only words"


@pytest.mark.parametrize(
    "hidden",
    ["<script>{}</script>", "<style>{}</style>", "<template>{}</template>", "<p hidden>{}</p>",
     "<noscript>{}</noscript>",
     "<p style='color:red;display : none'>{}</p>", "<p aria-hidden=true>{}</p>", "<!-- {} -->"],
)  # fmt: skip
def test_what_no_visitor_sees_is_not_read_at_any_depth(tmp_path: Path, hidden: str) -> None:
    part = hidden.format("secret")
    source = f"<html><body>{part}<p>shown</p>{'<div>' * 300}{part}<b>deep</b>"
    document = page(tmp_path, source)
    assert "secret" not in document.text
    assert "shown" in document.text
    assert "deep" in document.text


def test_what_a_page_says_of_itself(tmp_path: Path) -> None:
    meta = (
        '<meta property="og:title" content="From meta"><meta name="dc.creator" content="Ann &amp; Ben">'
        '<meta name="dcterms.created" content="2024/05/06"><meta http-equiv="last-modified" '
        'content="Tue, 07 May 2024 10:00:00 GMT"><meta http-equiv="content-language" content="de-AT">'
    )
    document = page(tmp_path, f"<html><head>{meta}</head><body>x</body></html>")
    assert (document.title, document.author, document.language) == ("From meta", "Ann & Ben", "de")
    assert (document.created, document.modified) == ("2024-05-06", "2024-05-07T10:00:00+00:00")


def test_linked_data_names_author_and_date(tmp_path: Path) -> None:
    data = '{"@graph": [{"@type": "WebSite"}, {"headline": "News", "author": [{"name": "Ann"}, {"name": "Ben"}],'
    data += ' "datePublished": "2024-05-06T10:00:00Z"}]}'
    document = page(
        tmp_path, f'<html><body><script type="application/ld+json">{data}</script><p>Text.</p></body></html>'
    )
    assert (document.title, document.author, document.created) == ("News", "Ann, Ben", "2024-05-06T10:00:00Z")
    assert document.text == "Text."


def test_xhtml_elements_closed_at_once(tmp_path: Path) -> None:
    source = (
        '<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head><body>'
        "<p>Größe<br/>zwei</p>"
    )
    document = page(tmp_path, source.encode("latin-1"), "a.xhtml")
    assert (document.reader, document.text) == ("html", "Größe\nzwei")


def test_a_table_with_a_head(tmp_path: Path) -> None:
    source = "<html><table><thead><tr><td>Name<td>Sum</thead><tr><td>Ann<td>3</table>"
    document = page(tmp_path, source)
    assert document.text.split("\n")[-1] == "Name: Ann | Sum: 3"
    assert document.blocks[-1].kind is BlockKind.TABLE_ROW


@pytest.mark.parametrize("tag", ["div", "b", "table><tr><td", "ul><li", "x-thing", "font"])
def test_endless_nesting_ends_with_all_words(tmp_path: Path, tag: str) -> None:
    document = page(tmp_path, "<html><body>" + f"<{tag}>w " * 30_000 + "last")
    assert document.state == DocumentState.READ
    assert document.text.count("w") == 30_000
    assert document.text.endswith("last")


def test_pages_of_usual_depth_stay_as_they_are() -> None:
    source = "<div><p>a<br><img src=x><ul><li>b</ul></div>" * 3000 + "<script>'<div>'.repeat(3)</script>" * 2000
    assert without_deep_tags(source) == source
