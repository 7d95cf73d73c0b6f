"""Tables, trees, notebooks, light markup, subtitles and source code give blocks that a person understands alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers.registry import read


def one(folder: Path, name: str, text: str | bytes, limits: Limits | None = None) -> ReadDocument:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    (document,) = read(path, "", limits or Limits())
    assert all(block.start < block.end for block in document.blocks)
    return document


def texts(document: ReadDocument, kind: BlockKind | None = None) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if kind in (None, b.kind)]


class TestTables:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_rows_name_their_columns(self, tmp_path: Path, delimiter: str) -> None:
        rows = [["Name", "Town", "Sum"], ["Ann", "Bern, old town; east", "3"], ["Ben", "", "4"]]
        source = "".join(delimiter.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)
        document = one(tmp_path, "a.csv", b"\xef\xbb\xbf" + source.encode())
        assert texts(document)[1:] == ["Name: Ann | Town: Bern, old town; east | Sum: 3", "Name: Ben | Sum: 4"]
        assert [block.place for block in document.blocks] == ["row 1", "row 2", "row 3"]
        assert {block.kind for block in document.blocks} == {BlockKind.TABLE_ROW}

    def test_rows_without_a_header_stand_as_they_are(self, tmp_path: Path) -> None:
        assert texts(one(tmp_path, "a.csv", "1,2\na,b\na,b,c\n")) == ["1, 2", "a, b", "a, b, c"]

    def test_old_encodings_and_the_line_that_names_the_delimiter(self, tmp_path: Path) -> None:
        source = "sep=;\nName;Straße\nAnn;Große Gasse über dem Fluss\n"
        assert (
            texts(one(tmp_path, "a.csv", source.encode("cp1252")))[-1]
            == "Name: Ann | Straße: Große Gasse über dem Fluss"
        )

    def test_the_encoding_shows_late(self, tmp_path: Path) -> None:
        source = "Name,Town\n" + "Ann,Bern\n" * 200_000 + "Ben,Größe der Stadt am schönen Fluss\n"
        document = one(tmp_path, "a.csv", source.encode("cp1252"))
        assert document.text.endswith("Name: Ben | Town: Größe der Stadt am schönen Fluss")

    def test_a_giant_cell_and_an_open_quote_end(self, tmp_path: Path) -> None:
        document = one(tmp_path, "a.csv", "name,text\nAnn," + "word " * 60_000 + '\nBen,"never closed\n')
        assert document.state == DocumentState.READ
        assert "never closed" in document.text

    def test_the_limit_is_told(self, tmp_path: Path) -> None:
        document = one(tmp_path, "a.csv", "a,b\n" + "x,y\n" * 5000, Limits(output_characters=1000))
        assert (document.state, len(document.text)) == (DocumentState.TRUNCATED, 1000)


class TestJson:
    def test_small_objects_are_one_block(self, tmp_path: Path) -> None:
        value = {"title": "Plan", "items": [{"a": 1, "b": {"c": "deep"}}], "tags": ["x", "y"], "none": None}
        document = one(tmp_path, "a.json", json.dumps(value))
        assert document.title == "Plan"
        assert document.text == "title: Plan\nitems[0].a: 1\nitems[0].b.c: deep\ntags: x, y"

    def test_large_ones_are_taken_apart(self, tmp_path: Path) -> None:
        value = {"people": [{"name": f"Person {i}", "age": i} for i in range(40)], "note": "kept"}
        document = one(tmp_path, "a.json", json.dumps(value))
        last = document.blocks[-1]
        assert (last.place, last.heading_path) == ("people[39]", ("people",))
        assert texts(document)[0] == "note: kept"

    def test_packed_bytes_are_left_out(self, tmp_path: Path) -> None:
        document = one(tmp_path, "a.json", json.dumps({"picture": "iVBORw0KGgo" + "A" * 2000, "name": "Ann"}))
        assert document.text == "name: Ann"

    def test_comments_and_damage(self, tmp_path: Path) -> None:
        assert one(tmp_path, "a.json", '{"a": "http://x", // why\n "b": [1,],}').text == "a: http://x\nb: 1"
        broken = one(tmp_path, "b.json", '{"a": "words", ')
        assert "words" in broken.text
        assert broken.warnings

    def test_deep_nesting_keeps_its_words(self, tmp_path: Path) -> None:
        assert "deep" in one(tmp_path, "a.json", "[" * 100_000 + '"deep"' + "]" * 100_000).text
        assert "deep" in one(tmp_path, "b.json", '{"a":' * 300 + '"deep"' + "}" * 300).text


class TestXml:
    def test_documents_have_headings_and_paragraphs(self, tmp_path: Path) -> None:
        source = """<?xml version="1.0"?><!DOCTYPE article><article xml:lang="fr"><info><title>The book</title>
        <author><personname>Ann</personname></author></info><section><title>One</title>
        <para>Some <emphasis>bold</emphasis> text.</para><itemizedlist><listitem>item</listitem></itemizedlist>
        </section></article>"""
        document = one(tmp_path, "a.xml", source)
        assert (document.title, document.author, document.language) == ("The book", "Ann", "fr")
        assert texts(document) == ["The book", "Ann", "One", "Some bold text.", "item"]
        assert document.blocks[-1].heading_path == ("The book", "One")

    def test_data_names_its_values(self, tmp_path: Path) -> None:
        source = '<?xml version="1.0"?><people><person id="3"><name>Ann</name><age>5</age></person></people>'
        assert one(tmp_path, "a.xml", source).text == "id: 3\nname: Ann\nage: 5"

    def test_entities_are_never_resolved(self, tmp_path: Path) -> None:
        (tmp_path / "secret.txt").write_text("the secret")
        laughs = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(12))
        source = f"""<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "haha">{laughs}
        <!ENTITY out SYSTEM "{(tmp_path / "secret.txt").as_uri()}">]><x><p>Seen &l12; &out;</p></x>"""
        document = one(tmp_path, "a.xml", source)
        assert "Seen" in document.text
        assert "secret" not in document.text
        assert len(document.text) < 100

    def test_damage_loses_no_words(self, tmp_path: Path) -> None:
        document = one(tmp_path, "a.xml", "<?xml version='1.0'?><a><b>first</b><c>second</a> third <d>fourth")
        assert all(word in document.text for word in ("first", "second", "third", "fourth"))
        assert document.warnings

    def test_drawings_have_words(self, tmp_path: Path) -> None:
        source = "<svg xmlns='http://www.w3.org/2000/svg'><style>x{}</style><text>One <tspan>two</tspan></text></svg>"
        assert one(tmp_path, "a.svg", source).text == "One two"


class TestNotebook:
    def test_cells_and_what_they_printed(self, tmp_path: Path) -> None:
        picture, widget = (
            "iVBORw0KGgo" + "A" * 900,
            {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "Slider()"},
        )
        outputs = [
            {"output_type": "stream", "text": ["\x1b[31mprinted\x1b[0m\n"]},
            {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "<Figure>"}},
            {"output_type": "display_data", "data": widget},
            {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\x1b[0m"]},
        ]
        cells = [
            {"cell_type": "markdown", "source": ["# The study\n", "\n", "Some *words*."]},
            {"cell_type": "markdown", "source": "Second."},
            {"cell_type": "code", "source": "x = 1", "outputs": outputs},
        ]
        source = json.dumps({"cells": cells, "metadata": {"authors": [{"name": "Ann"}]}, "nbformat": 4})
        document = one(tmp_path, "a.ipynb", source)
        assert (document.title, document.author) == ("The study", "Ann")
        assert texts(document) == [
            "The study",
            "Some words.",
            "Second.",
            "x = 1",
            "printed",
            "<Figure>",
            "ValueError: no",
        ]
        assert [b.place for b in document.blocks[:4]] == ["cell 1", "cell 1", "cell 2", "cell 3"]


class TestMarkup:
    def test_restructured_text(self, tmp_path: Path) -> None:
        source = (
            "======\nManual\n======\n\n:Author: Ann\n\n.. a comment\n   hidden\n\n"
            "Use ``code`` and `a link <http://x.y>`_.\n\n"
            "Part\n----\n\n.. note::\n   Take care.\n\nExample::\n\n   x = 1\n\n     y = 2\n\n- one\n- two\n"
            "  more\n\n"
            "==== ===\nName Sum\n==== ===\nAnn  3\n==== ===\n"
        )
        document = one(tmp_path, "a.rst", source)
        assert (document.title, document.author) == ("Manual", "Ann")
        assert texts(document) == [
            "Manual", "Author: Ann", "Use code and a link.", "Part", "Take care.", "Example:", "x = 1\n\n  y = 2",
            "one", "two more", "Name | Sum", "Name: Ann | Sum: 3",
        ]  # fmt: skip
        assert document.blocks[-1].heading_path == ("Manual", "Part")

    def test_latex(self, tmp_path: Path) -> None:
        source = r"""\documentclass{article}\title{On \emph{Rivers}}\author{Ann}\newcommand{\x}{hidden}
        \begin{document}\section{Flow}\label{s} It is $v = \frac{a}{b}$, 50\% more \cite{smith}. % a comment
        Na\"ive caf\'e. \begin{equation} E = mc^2 \end{equation}
        \begin{itemize}\item One \item Two \textbf{bold}\end{itemize}\input{/etc/passwd}\end{document} after"""
        document = one(tmp_path, "a.tex", source)
        assert (document.title, document.author) == ("On Rivers", "Ann")
        assert texts(document)[2:] == [
            "Flow", r"It is $v = \frac{a}{b}$, 50% more [smith]. Naïve café.", "E = mc^2", "One", "Two bold",
        ]  # fmt: skip

    def test_org(self, tmp_path: Path) -> None:
        source = (
            "#+TITLE: Notes\n* TODO First :tag:\n:PROPERTIES:\n:ID: 1\n:END:\nA [[http://x.y][link]] and *bold*.\n"
            "** Sub\n#+begin_src python\nx = 1\n#+end_src\n| Name | Sum |\n|------+-----|\n| Ann | 3 |\n# comment\n"
        )
        document = one(tmp_path, "a.org", source)
        assert document.title == "Notes"
        assert texts(document) == [
            "Notes",
            "First",
            "A link and bold.",
            "Sub",
            "x = 1",
            "Name | Sum",
            "Name: Ann | Sum: 3",
        ]

    def test_asciidoc(self, tmp_path: Path) -> None:
        source = (
            "= Book\n:author: Ann\n\nSome *bold* and https://x.y[link].\n\n== Part\n\n* one\n* two\n\n"
            "----\nx = 1\n----\n\n"
            "////\nhidden\n////\n\n|===\n|Name |Sum\n|Ann |3\n|===\n\ninclude::/etc/passwd[]\n"
        )
        document = one(tmp_path, "a.adoc", source)
        assert (document.title, document.author) == ("Book", "Ann")
        assert texts(document) == [
            "Book", "Some bold and link.", "Part", "one", "two", "x = 1", "Name | Sum", "Name: Ann | Sum: 3",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("name", "source"),
        [
            ("a.vtt", "WEBVTT\n\nNOTE hidden\n\n1\n00:00:01.000 --> 00:00:02.000 align:left\n<v Ann>We <i>begin</i>\n\n"
                      "00:00:03.000 --> 00:00:04.000\nhere.\n\n01:00:05.000 --> 01:00:06.000\nThen more.\n"),
            ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nAnn: We <i>begin</i>\n\n"
                      "2\n00:00:03,000 --> 00:00:04,000\nhere.\n\n"
                      "3\n01:00:05,000 --> 01:00:06,000\nThen more.\n"),
        ],
    )  # fmt: skip
    def test_subtitles(self, tmp_path: Path, name: str, source: str) -> None:
        document = one(tmp_path, name, source)
        assert texts(document) == ["Ann: We begin here.", "Then more."]
        assert [block.place for block in document.blocks] == ["00:00:01", "01:00:05"]


class TestSource:
    def test_python_by_class_and_function(self, tmp_path: Path) -> None:
        source = (
            '"""About it."""\nimport os\n\n\n# adds\n@cache\ndef add(a, b):\n    """Sum."""\n    return a + b\n\n\n'
            "class Shop:\n    name = 'x'\n\n    async def sell(self):\n        pass\n"
        )
        document = one(tmp_path, "shop.py", source)
        headings = [(b.level, document.text[b.start : b.end]) for b in document.blocks if b.kind is BlockKind.HEADING]
        assert headings == [(1, "def add"), (1, "class Shop"), (2, "def sell")]
        code = [block for block in document.blocks if block.kind is BlockKind.CODE]
        assert [block.place for block in code] == ["line 1", "line 5", "line 12", "line 15"]
        assert document.text[code[1].start : code[1].end].startswith("# adds\n@cache\ndef add")
        assert code[-1].heading_path == ("class Shop", "def sell")

    @pytest.mark.parametrize(
        ("name", "source", "expected"),
        [
            ("a.py", "print 'old'\ndef f(x):\n    return x\n", ["def f"]),
            ("a.js", "class A {\n  load(x) {\n    if (x) {\n    }\n  }\n}\nconst add = (a, b) => a\n",
             ["class A", "load", "add"]),
            ("a.java", "public class A {\n  public void add(T x) throws E {\n    foo(x);\n  }\n}\n",
             ["class A", "add"]),
            ("a.c", "int main(int argc, char **argv)\n{\n  return f(1);\n}\n", ["main"]),
            ("a.go", "func (s *Server) Serve(x int) error {\n}\ntype T struct {\n}\n", ["func Serve", "type T"]),
            ("a.rs", "pub struct P;\nimpl P {\n    pub fn area(&self) -> f64 {\n    }\n}\n",
             ["struct P", "impl P", "fn area"]),
            ("a.sql", "CREATE TABLE people (\n id int\n);\n", ["CREATE TABLE people"]),
            ("a.ini", "[server]\nport = 1\n", ["server"]),
            ("a.rb", "class A\n  def b?\n  end\nend\n", ["class A", "def b?"]),
            ("run", "#!/bin/sh\nbuild() {\n  make\n}\n", ["build"]),
        ],
    )  # fmt: skip
    def test_other_languages_by_their_lines(self, tmp_path: Path, name: str, source: str, expected: list[str]) -> None:
        document = one(tmp_path, name, source)
        assert document.reader == "code"
        assert texts(document, BlockKind.HEADING) == expected
        assert all(line.strip() in document.text for line in source.split("\n"))


def test_a_large_text_is_read_in_part_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    path.write_text("".join(f"line {i} of a log\n" for i in range(2000)))
    (document,) = read(path, "", Limits(output_characters=5000, file_bytes=10_000))
    assert document.state == DocumentState.TRUNCATED
    assert "5,000" in document.reason
    assert len(document.blocks) > 2
