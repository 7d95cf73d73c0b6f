"""Each reader gives the text a person would read, in blocks whose offsets are right, or a state with a reason."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.build import TextBuilder, clean
from core.ingest.readers.charset import decode
from core.ingest.readers.registry import read


def one(path: Path, limits: Limits | None = None) -> ReadDocument:
    (document,) = read(path, "", limits or Limits())
    assert_sound(document)
    return document


def assert_sound(document: ReadDocument) -> None:
    assert document.text == clean(document.text)
    position = 0
    for block in document.blocks:
        assert position <= block.start < block.end <= len(document.text)
        assert not document.text[position : block.start].strip()
        position = block.end


def blocks(document: ReadDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, document.text[block.start : block.end]) for block in document.blocks]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


class TestText:
    def test_paragraphs_lists_and_wrapped_lines(self, tmp_path: Path) -> None:
        text = (
            "The first paragraph goes over two lines because\r\nthe margin was reached at that very place.\r\n\r\n"
            "Roses are red\r\nViolets are blue\r\n\r\n- one\r\n- two\r\n"
        )
        document = one(write(tmp_path, "a.txt", text))
        assert blocks(document) == [
            ("paragraph", "The first paragraph goes over two lines because the margin was reached at that very place."),
            ("paragraph", "Roses are red\nViolets are blue"),
            ("list-item", "- one"),
            ("list-item", "- two"),
        ]

    def test_form_feeds_are_pages(self, tmp_path: Path) -> None:
        document = one(write(tmp_path, "a.txt", "First page.\fSecond page.\f"))
        assert [document.text[p.start : p.end] for p in document.pages] == ["First page.", "Second page."]
        assert [block.page for block in document.blocks] == [1, 2]

    def test_underlined_lines_are_headings(self, tmp_path: Path) -> None:
        text = (
            "\nThe lamp\n========\n\nAnn Writer\n\nBefore we begin\n---------------\nText comes\nright below.\n\n"
            "灯台の冬\n--------\n\nMore text.\n"
        )
        document = one(write(tmp_path, "a.txt", text))
        assert blocks(document) == [
            ("heading", "The lamp"),
            ("paragraph", "Ann Writer"),
            ("heading", "Before we begin"),
            ("paragraph", "Text comes\nright below."),
            ("heading", "灯台の冬"),
            ("paragraph", "More text."),
        ]
        assert [block.level for block in document.blocks] == [1, 0, 2, 0, 2, 0]
        assert document.blocks[-1].heading_path == ("The lamp", "灯台の冬")
        assert document.title == "The lamp"

    @pytest.mark.parametrize(
        "text",
        [
            "Name   Sum\n----------\nAnn    3",
            "Best regards\n--\nAnn",
            "Ann\n--------------------\nFrom: Ben",
            "A long line of a letter that ends here\nwith another one\n----------------",
            "-----\nand so on",
        ],
    )
    def test_other_lines_of_dashes_are_text(self, tmp_path: Path, text: str) -> None:
        document = one(write(tmp_path, "a.txt", text))
        assert {block.kind for block in document.blocks} <= {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM}
        assert all(line.strip() in document.text for line in text.split("\n"))

    def test_numbered_lines_are_headings(self, tmp_path: Path) -> None:
        text = (
            "\n1. Purpose\n\nWhy it is.\n\n2 Rules\n\n2.1 On land\n\nWalk.\n\n2.2 At sea\n\nSwim.\n\n3. End\n\nDone.\n"
        )
        document = one(write(tmp_path, "a.txt", text))
        found = [(b.level, document.text[b.start : b.end]) for b in document.blocks if b.kind is BlockKind.HEADING]
        assert found == [(1, "1. Purpose"), (1, "2 Rules"), (2, "2.1 On land"), (2, "2.2 At sea"), (1, "3. End")]
        assert document.blocks[-1].heading_path == ("3. End",)

    @pytest.mark.parametrize(
        "text",
        [
            "To do:\n\n1. Buy bread\n\n2. Call Ann\n\n3. Sleep\n",
            "1. Buy bread\n2. Call Ann\n",
            "1. Only one line\n\nText below.\n",
            "3. Not the first\n\nText.\n\n7. Not the next\n\nText.\n",
            "1. This is a sentence.\n\nText.\n\n2. And another one.\n\nText.\n",
        ],
    )
    def test_numbered_lists_are_no_headings(self, tmp_path: Path, text: str) -> None:
        document = one(write(tmp_path, "a.txt", text))
        assert all(block.kind is not BlockKind.HEADING for block in document.blocks)

    def test_controls_are_removed_and_text_is_nfc(self, tmp_path: Path) -> None:
        document = one(write(tmp_path, "a.txt", "Cafe\u0301 op\u00adtion\u200f al \x07bell"))
        assert document.text == "Café option al bell"

    @pytest.mark.parametrize("data", [b" \n\r\n ", b"\xef\xbb\xbf"])
    def test_nothing_to_read_is_empty(self, tmp_path: Path, data: bytes) -> None:
        document = one(write(tmp_path, "a.txt", data))
        assert (document.state, bool(document.reason)) == (DocumentState.EMPTY, True)


class TestCharset:
    @pytest.mark.parametrize(
        ("encoding", "text"),
        [
            ("utf-8", "Übung macht den Meister"),
            ("utf-8-sig", "Übung macht den Meister"),
            ("utf-16", "Übung macht den Meister"),
            ("utf-16-be", "Practice makes perfect"),
            ("cp1252", "Übung macht den Meister, sagt man – und das ist schön für die Fleißigen unter den Schülern."),
            ("cp1251", "Повторение — мать учения, говорят учителя своим ученикам каждый день."),
            ("cp932", "日本語の文章は、文字コードによって、たいへん読みにくくなることがあります。"),
            ("gb18030", "中文文本的编码有时候会让人感到非常困惑，但是这个问题可以解决。"),
            ("euc_kr", "한국어 문장은 인코딩에 따라 읽기 어려워질 수 있습니다. 그래서 검사합니다."),
            ("iso2022_jp", "日本語の文章です。"),
        ],
    )
    def test_tells_the_encoding(self, encoding: str, text: str) -> None:
        decoded = decode(text.encode(encoding))
        assert (decoded.text, decoded.lost) == (text, 0)

    def test_declared_charset_is_believed_when_it_fits(self) -> None:
        assert decode("naïve".encode("cp1252"), "iso-8859-1").text == "naïve"
        assert decode("naïve".encode(), "iso-8859-1").text == "naïve"

    def test_lost_bytes_are_told(self) -> None:
        decoded = decode(("Grüße an alle Wörter. " * 50).encode() + b"\xff\xfe end")
        assert decoded.text.count("\ufffd") == decoded.lost == 2
        assert decoded.warnings


class TestMarkdown:
    def test_clean_text_with_headings(self, tmp_path: Path) -> None:
        source = (
            "---\ntitle: 'The plan'\nauthor: A. Writer\nlang: en\n---\n\n# Main *part*\n\nSome **bold** words and a "
            "[link](http://x.y)\nover lines.\n\n## Sub\n\n- one\n- two `code`\n\n> said\n\n"
            "```python\nx = 1\n\ny = 2\n```\n\n| Name | Sum |\n|---|---|\n| Ann | 3 |\n\n"
            "<div>html <script>no()</script></div>\n"
        )
        document = one(write(tmp_path, "a.md", source))
        assert (document.title, document.author, document.language) == ("The plan", "A. Writer", "en")
        assert blocks(document) == [
            ("heading", "Main part"),
            ("paragraph", "Some bold words and a link over lines."),
            ("heading", "Sub"),
            ("list-item", "one"),
            ("list-item", "two code"),
            ("quote", "said"),
            ("code", "x = 1\n\ny = 2"),
            ("table-row", "Name | Sum"),
            ("table-row", "Name: Ann | Sum: 3"),
            ("paragraph", "html"),
        ]
        assert document.blocks[-1].heading_path == ("Main part", "Sub")
        assert document.blocks[0].level == 1

    def test_title_falls_back_to_the_first_heading(self, tmp_path: Path) -> None:
        assert one(write(tmp_path, "a.md", "Text.\n\n## The heading\n")).title == "The heading"


class TestHtml:
    def test_what_a_visitor_reads(self, tmp_path: Path) -> None:
        source = """<html lang="de-AT"><head><title> The  page </title><meta name="author" content="Ann">
        <meta property="article:published_time" content="2024-05-06T10:00:00Z"><style>p {}</style></head>
        <body><nav>Home About</nav><h1>Head<br>line</h1><p>One <b>bo</b>ld
        sentence.<br>New line.<script>bad()</script></p><div hidden>secret</div><div style="display: none">gone</div>
        <ul><li>first</li><li>second<ul><li>inner</li></ul></li></ul>
        <table><tr><th>Name</th><th>Sum</th></tr><tr><td>Ann</td><td>3&nbsp;€</td></tr></table>
        <table><tr><td><h2>Laid out</h2><p>Cell text.</p></td></tr></table><pre>a
  b</pre></body></html>"""
        document = one(write(tmp_path, "a.html", source))
        assert (document.title, document.author, document.language) == ("The page", "Ann", "de")
        assert document.created == "2024-05-06T10:00:00Z"
        assert blocks(document) == [
            ("heading", "Head line"),
            ("paragraph", "One bold sentence.\nNew line."),
            ("list-item", "first"),
            ("list-item", "second"),
            ("list-item", "inner"),
            ("table-row", "Name | Sum"),
            ("table-row", "Name: Ann | Sum: 3 €"),
            ("heading", "Laid out"),
            ("paragraph", "Cell text."),
            ("code", "a\n  b"),
        ]

    def test_wrong_charset_in_the_page_is_not_believed(self, tmp_path: Path) -> None:
        text = "<html><meta charset=utf-8><body>Повторение — мать учения, говорят учителя ученикам.</body></html>"
        assert "мать учения" in one(write(tmp_path, "a.html", text.encode("cp1251"))).text

    def test_deep_nesting_is_read(self, tmp_path: Path) -> None:
        assert "deep" in one(write(tmp_path, "a.html", "<html><body>" + "<div>" * 5000 + "deep")).text


class TestDocx:
    def test_structure_properties_and_tables(self, tmp_path: Path) -> None:
        path = tmp_path / "a.docx"
        document = docx.Document()
        document.core_properties.title, document.core_properties.author = "The report", "Ann"
        document.add_heading("Main", 1)
        document.add_paragraph("A first paragraph.")
        document.add_heading("Sub", 2)
        document.add_paragraph("An item", style="List Bullet")
        table = document.add_table(rows=2, cols=2)
        for cell, text in zip([c for row in table.rows for c in row.cells], ["Name", "Sum", "Ann", "3"], strict=True):
            cell.text = text
        document.sections[0].header.paragraphs[0].text = "Page header"
        document.save(str(path))
        found = one(path)
        assert (found.title, found.author) == ("The report", "Ann")
        assert found.created[:4].isdigit()
        assert blocks(found) == [
            ("heading", "Main"),
            ("paragraph", "A first paragraph."),
            ("heading", "Sub"),
            ("list-item", "An item"),
            ("table-row", "Name | Sum"),
            ("table-row", "Name: Ann | Sum: 3"),
        ]
        assert found.blocks[-1].heading_path == ("Main", "Sub")

    def test_a_packed_bomb_is_not_unfolded(self, tmp_path: Path) -> None:
        path = tmp_path / "bomb.docx"
        _package(path, "<w:p><w:r><w:t>" + "0" * (5 << 20) + "</w:t></w:r></w:p>")
        assert path.stat().st_size < 20_000
        assert one(path, Limits(inflated_bytes=1 << 20)).state == DocumentState.TOO_LARGE

    def test_entities_are_not_resolved(self, tmp_path: Path) -> None:
        secret = write(tmp_path, "secret.txt", "the secret")
        path = tmp_path / "entity.docx"
        body = "<w:p><w:r><w:t>Seen &inside; &outside;</w:t></w:r></w:p>"
        _package(path, body, f'<!DOCTYPE x [<!ENTITY inside "word"><!ENTITY outside SYSTEM "{secret.as_uri()}">]>')
        text = one(path).text
        assert "Seen" in text
        assert "secret" not in text

    def test_damaged_package_is_broken(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.docx"
        _package(path, "<w:p><w:r><w:t>Words</w:t></w:r></w:p>")
        data = bytearray(path.read_bytes())
        position = data.find(b"word/document.xml") + 40
        data[position : position + 20] = b"\xff" * 20
        path.write_bytes(bytes(data))
        document = one(path)
        assert (document.state, bool(document.reason)) == (DocumentState.BROKEN, True)


def _package(path: Path, body: str, declaration: str = "") -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types><Override ContentType="{main}"/></Types>')
        text = f'{declaration}<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>'
        archive.writestr("word/document.xml", text)


class TestCollections:
    def test_one_document_a_line_and_bad_lines_told(self, tmp_path: Path) -> None:
        lines = [
            json.dumps({"_id": "a", "title": "First", "text": "One.\nTwo."}),
            "{broken",
            json.dumps({"_id": "b", "title": "Only a title", "text": ""}),
            json.dumps(["no", "object"]),
            json.dumps({"_id": "a", "title": "", "text": "The same id again."}),
            json.dumps({"_id": "c", "title": "", "text": "Last. \ud800"}),
            "",
        ]
        found = list(read(write(tmp_path, "corpus.jsonl", "\n".join(lines)), "", Limits()))
        assert [(d.external_id, d.title, d.text) for d in found] == [
            ("a", "First", "One.\nTwo."),
            ("b", "Only a title", "Only a title"),
            ("c", "", "Last."),
        ]
        assert [d.warnings for d in found[:2]] == [(), ()]
        assert "2, 4, 5" in found[-1].warnings[0]
        for document in found:
            assert_sound(document)

    def test_lines_without_documents_are_one_document(self, tmp_path: Path) -> None:
        lines = '{"level": "error", "at": {"file": "a.py"}}\n{broken\n{"level": "info", "tags": ["x", "y"]}\n'
        document = one(write(tmp_path, "log.jsonl", lines))
        assert (document.state, document.reader) == (DocumentState.READ, "jsonl")
        assert document.text == "level: error\nat.file: a.py\n\n{broken\n\nlevel: info\ntags: x, y"
        assert [block.place for block in document.blocks] == ["line 1", "line 2", "line 3"]

    def test_is_streamed(self, tmp_path: Path) -> None:
        path = write(tmp_path, "a.jsonl", "".join(f'{{"_id": "{i}", "text": "Text {i}"}}\n' for i in range(5000)))
        documents = read(path, "", Limits())
        first = next(documents)
        path.unlink()
        assert first.external_id == "0"
        assert sum(1 for _ in documents) == 4999


_ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")


class TestStates:
    @pytest.mark.parametrize(
        ("name", "data", "state", "word"),
        [
            ("a.mp3", b"ID3\x04" + bytes(20), DocumentState.UNSUPPORTED, "a sound file"),
            ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(20), DocumentState.BROKEN, "picture"),
            ("a.pdf", b"%PDF-1.4\nnothing that makes sense", DocumentState.BROKEN, "damaged"),
            ("a.txt", b"", DocumentState.EMPTY, "no bytes"),
            ("a.docx", _ENCRYPTED, DocumentState.LOCKED, "password"),
        ],
    )
    def test_state_with_a_reason(self, tmp_path: Path, name: str, data: bytes, state: DocumentState, word: str) -> None:
        document = one(write(tmp_path, name, data))
        assert document.state == state
        assert word in document.reason

    def test_missing(self, tmp_path: Path) -> None:
        assert one(tmp_path / "none.pdf").state == DocumentState.MISSING


@given(
    st.lists(st.tuples(st.sampled_from(list(BlockKind)), st.text(max_size=30), st.integers(1, 3)), max_size=10),
    st.integers(0, 200),
)
def test_builder_offsets_hold_for_any_text(parts: list[tuple[BlockKind, str, int]], limit: int) -> None:
    builder = TextBuilder(limit)
    for number, (kind, text, level) in enumerate(parts, 1):
        builder.open_page(number)
        if kind is BlockKind.HEADING:
            builder.heading(text, level)
        else:
            builder.add(text, kind)
    document = builder.build()
    assert len(document.text) <= limit
    for block in document.blocks:
        page = document.pages[block.page - 1] if block.page else None
        assert page is not None
        assert page.start <= block.start < block.end <= page.end
    if document.state == DocumentState.READ:
        assert_sound(document)


def test_markdown_nested_beyond_reason_keeps_its_words(tmp_path: Path) -> None:
    path = tmp_path / "deep.md"
    path.write_text("> " * 5000 + "treasure")
    found = one(path)
    assert found.state is DocumentState.READ
    assert "treasure" in found.text
