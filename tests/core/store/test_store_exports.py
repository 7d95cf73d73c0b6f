"""Conversations as files: read back by other programs, and by our own readers."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from core.base.errors import BadSetting
from core.base.types import (
    Answer,
    AnswerGroup,
    AnswerMode,
    AnswerRecord,
    AnswerSentence,
    Citation,
    Document,
    DocumentState,
    Support,
)  # fmt: skip
from core.base.wire import from_plain
from core.ingest.limits import Limits
from core.ingest.readers import docx as reader
from core.library import Format, StoredTurn, file_name, rich_text
from core.store.exports.formats import format_of, written

HOSTILE = (
    "![x](http://evil/x.png) <img src=http://evil/y> <script>alert(1)</script> [a](http://evil) # & *b* `c` \x00\ufffe"
)


def cite(marker: int, document: int, page: int | None, quote: str = "Twelve crowns & more.") -> Citation:
    return Citation(marker, 5, document, f"/docs/{document}.pdf", f"Dues {document}", "", page, 0, 5, quote)


def turn(
    question: str = "What are the dues?", text: str = "The dues are 12.", *, mode: str = "extractive"
) -> StoredTurn:
    sentences = (
        AnswerSentence(text, Support.SUPPORTED, (cite(1, 1, 3), cite(2, 2, None))),
        AnswerSentence("Dogs travel free.", Support.UNSUPPORTED),
        AnswerSentence("Members pay half.", Support.SUPPORTED, (cite(1, 1, 4),)),
    )
    answer = Answer(question, AnswerMode(mode), "The dues are 12.", sentences, model="Llama")
    return StoredTurn(1, question, question, answer, "2026-03-04T10:00:00+00:00")


def abstained() -> StoredTurn:
    answer = Answer("And dogs?", AnswerMode.ABSTAINED, "No.", (), (cite(1, 1, 3), cite(1, 2, None)))
    return StoredTurn(2, "And dogs?", "", answer, "2026-03-04T10:00:00+00:00")


DOCUMENTS = {
    1: Document(
        1, "/docs/1.pdf", "", "Dues 1", "Ada {Berg} & Sons", "application/pdf", "en", "2019-05-06", "2020-01-01",
        DocumentState.READ, "", "pdf", 9, 100, 3,
    ),
}  # fmt: skip


def export(kind: Format, *turns: StoredTurn) -> str:
    return written(kind, "Harbour dues", turns or (turn(), abstained()), DOCUMENTS).decode()


class Seen(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_markdown_shows_questions_answers_and_sources() -> None:
    page = export(Format.MARKDOWN)
    seen = Seen(MarkdownIt().render(page))
    assert seen.tags.count("h2") == 2
    assert seen.tags.count("blockquote") == 1
    for text in ("What are the dues?", "The dues are 12. [1][2]", "Dues 1, page 3: “Twelve crowns & more.”",
                 "Quoted from the documents.", "The nearest passages", "The documents do not say."):  # fmt: skip
        assert text in seen.text
    assert "Dogs travel free" not in page


@pytest.mark.parametrize("mode", ["extractive", "generated"])
def test_what_documents_and_models_say_stays_text(mode: str) -> None:
    hostile = turn(HOSTILE, HOSTILE, mode=mode)
    for page in (MarkdownIt("commonmark").render(export(Format.MARKDOWN, hostile)), export(Format.HTML, hostile)):
        seen = Seen(page)
        assert not {"img", "script", "code"} & set(seen.tags)
        assert seen.tags.count("em") <= 1  # how the answer was made, in Markdown
        assert all(link.startswith("#s") for link in seen.links)
        assert seen.text.count("![x](http://evil/x.png) <img src=http://evil/y>") == 2
    for line in ("1. x", "- x", "+ x", "# x", "> x", "=== x", "1) x"):
        started = Seen(MarkdownIt().render(export(Format.MARKDOWN, turn("Q", line, mode="generated"))))
        assert f"{line} [1]" in started.text, line


def test_html_fetches_nothing_and_numbers_lead_to_sources() -> None:
    page = export(Format.HTML)
    seen = Seen(page)
    assert "default-src 'none'" in page
    assert "#s1-1" in seen.links
    assert page.count('id="s1-1"') == 1
    assert set(seen.links) == {"#s1-1", "#s1-2"}


def test_docx_is_read_by_our_reader_and_by_another(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    data = written(Format.DOCX, "Harbour dues", [turn(), turn(HOSTILE, HOSTILE), abstained()], DOCUMENTS)
    assert data == written(Format.DOCX, "Harbour dues", [turn(), turn(HOSTILE, HOSTILE), abstained()], DOCUMENTS)
    (tmp_path / "a.docx").write_bytes(data)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        for name in file.namelist():
            ElementTree.fromstring(file.read(name))
    paragraphs = docx.Document(str(tmp_path / "a.docx")).paragraphs
    assert next(p.text for p in paragraphs if p.style.name == "Heading 1") == "What are the dues?"
    assert "The dues are 12. [1][2]" in [p.text for p in paragraphs if p.style.name == "Quote"]
    text = read(tmp_path / "a.docx")
    for wanted in ("Harbour dues", "The dues are 12. [1][2]", "[1] Dues 1, page 3: “Twelve crowns & more.”",
                   "![x](http://evil/x.png)"):  # fmt: skip
        assert wanted in text


def read(path: Path) -> str:
    return "\n".join(document.text for document in reader.read(path, Limits(), lambda *_: None))


def test_json_holds_everything() -> None:
    value = json.loads(export(Format.JSON))
    assert (value["format"], value["version"], value["title"]) == ("whymatch-conversation", 1, "Harbour dues")
    assert [from_plain(StoredTurn, one) for one in value["turns"]] == [turn(), abstained()]


def test_headings_of_parts_stand_above_their_sentences() -> None:
    answer = turn(mode="generated").answer
    grouped = Answer(
        "Q", answer.mode, "", answer.sentences, groups=(AnswerGroup("2019", 0, 2), AnswerGroup("2020", 2, 3)),
        read=35, matching=36,
    )  # fmt: skip
    page = export(Format.MARKDOWN, StoredTurn(1, "Q", "", grouped, ""))
    assert page.index("### 2019") < page.index("The dues are 12") < page.index("### 2020") < page.index("Members pay")
    assert "Read 35 of 36 matching passages." in page


def test_bibtex_has_an_entry_for_each_cited_document() -> None:
    page = export(Format.BIBTEX)
    assert page.count("@misc{") == 2  # nearest passages are not cited
    assert "@misc{adabergsons2019," in page
    assert r"author = {{Ada \textbraceleft{}Berg\textbraceright{} \& Sons}}" in page
    assert "pages = {3--4}" in page
    assert "date = {2019-05-06}" in page


def test_a_title_does_not_end_its_entry() -> None:
    title = "a } b}}, note = {evil} {"
    place = Citation(1, 5, 9, "/docs/9.pdf", title, "", None, 0, 5, "")
    told = Answer("Q", AnswerMode.EXTRACTIVE, "", (AnswerSentence("x", Support.SUPPORTED, (place,)),))
    page = written(Format.BIBTEX, "", [StoredTurn(1, "Q", "", told, "")], {}).decode()
    depths = list(accumulate((c == "{") - (c == "}") for c in page.strip()))
    assert depths.index(0, page.index("{")) == len(depths) - 1  # the entry ends where the file does
    assert depths[page.index("note =")] == 3  # within the title


def test_where_question_and_passages_went_is_told() -> None:
    for mode in ("generated", "extractive"):
        one = turn(mode=mode)
        sent = replace(one.answer, model="m @ nas:8080", record=AnswerRecord(sent_to="nas:8080"))
        page = export(Format.HTML, replace(one, answer=sent))
        assert "Question and passages were sent to nas:8080." in page
        assert "local model" not in page
    assert "Written by the local model Llama" in export(Format.HTML, turn(mode="generated"))


def test_csl_items_have_what_processors_ask_for() -> None:
    first, second = json.loads(export(Format.CSL))
    assert first == {
        "id": "adabergsons2019", "type": "document", "title": "Dues 1", "author": [{"literal": "Ada {Berg} & Sons"}],
        "issued": {"date-parts": [[2019, 5, 6]]}, "page": "3-4", "source": "/docs/1.pdf",
    }  # fmt: skip
    assert second == {"id": "dues", "type": "document", "title": "Dues 2", "source": "/docs/2.pdf"}


def test_keys_are_each_their_own() -> None:
    sentences = tuple(AnswerSentence("x", Support.SUPPORTED, (cite(1, n, 1),)) for n in range(1, 5))
    told = StoredTurn(1, "Q", "", Answer("Q", AnswerMode.EXTRACTIVE, "", sentences), "")
    keys = [item["id"] for item in json.loads(written(Format.CSL, "", [told], {}))]
    assert keys == ["dues", "dues-2", "dues-3", "dues-4"]


def test_documents_that_were_removed_are_no_reference() -> None:
    gone = Citation(1, 0, 0, "", "Removed document", "", None, 0, 0, "")
    told = StoredTurn(
        1, "Q", "", Answer("Q", AnswerMode.EXTRACTIVE, "", (AnswerSentence("x", Support.SUPPORTED, (gone,)),)), ""
    )
    assert json.loads(written(Format.CSL, "", [told], {})) == []


def test_names_of_files() -> None:
    assert file_name('What: "dues"?\n/x', Format.CSL) == "What dues x.csl.json"
    assert file_name(" ../.. ", Format.HTML) == "conversation.html"
    assert len(file_name("long " * 99, Format.DOCX)) <= 85
    assert len(file_name("\U0001f600" * 80, Format.CSL).encode()) <= 255
    assert file_name("con", Format.HTML) == "_con.html"
    assert format_of(Path("a.CSL.json")) is Format.CSL
    assert format_of(Path("a.json")) is Format.JSON
    with pytest.raises(BadSetting):
        format_of(Path("a.pdf"))
    assert "<h2" in rich_text("", [turn()])
