"""What a PDF holds beside the text of its pages: form fields, comments, forms made of XML, attached files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    StreamObject,
    TextStringObject,
)
from reportlab.pdfgen.canvas import Canvas

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.members import extract
from core.ingest.readers import pdf_annotations, pdf_chars
from core.ingest.readers.pdf_page import page_rects
from core.ingest.readers.registry import read

FIRST, SECOND = "The application of the first page", "The second page has other words"
TEMPLATE = """<template xmlns="http://www.xfa.org/schema/xfa-template/2.8/"><subform name="form1">
<pageSet><pageArea><draw><value><text>Form 7 of the harbour office</text></value></draw></pageArea></pageSet>
<field name="ship"><caption><value><text>Name of the ship:</text></value></caption><ui><textEdit/></ui></field>
<field name="secret"><caption><value><text>Code</text></value></caption><ui><passwordEdit/></ui></field>
<field name="kind"><caption><value><text>Kind</text></value></caption><ui><choiceList/></ui>
<items><text>Sailing ship</text><text>Steamer</text></items><items save="1"><text>S</text><text>D</text></items></field>
<exclGroup name="crew"><field><caption><value><text>No crew</text></value></caption><ui><checkButton/></ui>
<items><text>0</text></items></field><field><caption><value><text>With crew</text></value></caption>
<ui><checkButton/></ui><items><text>1</text></items></field></exclGroup>
<subform name="port"><field name="place"><caption><value><text>Port of call</text></value></caption></field></subform>
</subform></template>"""
DATA = """<!DOCTYPE x [<!ENTITY boom SYSTEM "file:///etc/hostname">]>
<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1><ship>Cutty &boom;Sark</ship>
<secret>hunter2</secret><kind>S</kind><crew>1</crew><port><place>Lisbon</place></port><port><place>Porto</place></port>
<remark>Leaves at dawn</remark></form1></xfa:data></xfa:datasets>"""


def two_pages() -> PdfWriter:
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    for text in (FIRST, SECOND):
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return PdfWriter(clone_from=PdfReader(file))


def annotate(writer: PdfWriter, page: int, subtype: str, **values: object) -> DictionaryObject:
    rect = ArrayObject(map(FloatObject, (72, 500, 300, 520)))
    entries = DictionaryObject({NameObject("/Subtype"): NameObject(subtype), NameObject("/Rect"): rect})
    for key, value in values.items():
        entries[NameObject(f"/{key}")] = TextStringObject(value) if type(value) is str else value
    annotations = writer.pages[page].setdefault(NameObject("/Annots"), ArrayObject())
    annotations.append(writer._add_object(entries))
    return entries


def field(writer: PdfWriter, page: int, kind: str, **values: object) -> None:
    entries = annotate(writer, page, "/Widget", FT=NameObject(kind), **values)
    form = writer.root_object.setdefault(
        NameObject("/AcroForm"), DictionaryObject({NameObject("/Fields"): ArrayObject()})
    )
    form["/Fields"].append(entries.indirect_reference)


def save(writer: PdfWriter, path: Path) -> Path:
    with path.open("wb") as file:
        writer.write(file)
    return path


def one(path: Path, limits: Limits | None = None) -> ReadDocument:
    (document,) = read(path, "", limits or Limits())
    return document


def page_text(document: ReadDocument, number: int) -> str:
    page = document.pages[number - 1]
    return document.text[page.start : page.end]


def test_fields_stand_at_the_end_of_their_page(tmp_path: Path) -> None:
    writer = two_pages()
    field(writer, 0, "/Tx", T="name", TU="Family name", V="Euler")
    field(writer, 0, "/Tx", T="pin", V="hunter2", Ff=NumberObject(1 << 13))
    options = ArrayObject([ArrayObject([TextStringObject("d"), TextStringObject("Denmark")])])
    field(writer, 1, "/Ch", T="top.country[0]", V="d", Opt=options)
    empty = writer._add_object(DecodedStreamObject())
    states = DictionaryObject({NameObject("/N"): DictionaryObject({NameObject("/Yes"): empty})})
    ticked = {"V": NameObject("/Yes"), "AS": NameObject("/Yes"), "AP": states}
    field(writer, 1, "/Btn", T="insured", **ticked)
    field(writer, 1, "/Btn", T="sunk", V=NameObject("/Off"), AS=NameObject("/Off"), AP=states)
    document = one(save(writer, tmp_path / "form.pdf"))
    assert page_text(document, 1).startswith(FIRST)
    assert document.text.count("Euler") == 1
    assert "insured: checked" in page_text(document, 2)
    assert page_text(document, 2).count("Denmark") == 1
    assert "hunter2" not in document.text
    assert "sunk" not in document.text


def test_a_value_that_the_page_shows_is_told_once(tmp_path: Path) -> None:
    writer = two_pages()
    field(writer, 0, "/Tx", T="subject", V="tonnage of the ship")
    field(writer, 0, "/Tx", T="count", V="2")
    document = one(save(writer, tmp_path / "form.pdf"))
    assert document.text.count("tonnage of the ship") == 1  # its appearance is part of the page
    assert "count: 2" in page_text(document, 1)  # so short a value may stand there for another reason


def test_comments_with_their_authors(tmp_path: Path) -> None:
    writer = two_pages()
    annotate(writer, 1, "/Text", T="Ada", Contents="Check the tonnage")
    annotate(writer, 1, "/Highlight", Contents="other words")  # the page says so itself
    annotate(writer, 0, "/FreeText", RC="<body><p>Written <b>over</b></p></body>")
    annotate(writer, 0, "/Popup", Contents="Not twice")
    annotate(writer, 0, "/Text", Contents="Accepted by all", StateModel="Review")
    path = save(writer, tmp_path / "notes.pdf")
    document = one(path)
    assert page_text(document, 2) == f"{SECOND}\n\nAda: Check the tonnage".replace("\n\nAda", "\nAda")
    assert page_text(document, 1).split() == [*FIRST.split(), "Written", "over"]
    (rect,) = page_rects(path, 2, 1.0, [(0, len(page_text(document, 2)))])  # the comment has no place in the text
    assert rect[2] - rect[0] > 50


def test_annotations_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_annotations, "ANNOTATIONS", 3)
    writer = two_pages()
    for number in range(5):
        annotate(writer, 1, "/Text", Contents=f"comment {number}")
    document = one(save(writer, tmp_path / "many.pdf"))
    assert "comment 2" in document.text
    assert "comment 3" not in document.text
    assert document.warnings == ("Not all notes and form fields were read, there are too many: page 2.",)


def test_more_fields_than_a_form_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pdf_annotations, pdf_chars):
        monkeypatch.setattr(module, "ANNOTATIONS", 2)
    writer = two_pages()
    field(writer, 0, "/Tx", T="name", TU="Family name", V="Euler")
    field(writer, 0, "/Tx", T="pin", V="hunter2", Ff=NumberObject(1 << 13))
    field(writer, 0, "/Tx", T="town", V="Basel")
    document = one(save(writer, tmp_path / "form.pdf"))
    assert page_text(document, 1).split("\n")[-1] == "Family name: Euler"
    assert "hunter2" not in document.text
    assert len(document.warnings) == 1


def test_form_made_of_xml(tmp_path: Path) -> None:
    writer = two_pages()
    packets = ArrayObject()
    for name, xml in (("template", TEMPLATE), ("datasets", DATA)):
        stream = DecodedStreamObject()
        stream.set_data(xml.encode())
        packets += [TextStringObject(name), writer._add_object(stream)]
    form = DictionaryObject({NameObject("/Fields"): ArrayObject(), NameObject("/XFA"): packets})
    writer.root_object[NameObject("/AcroForm")] = form
    writer.root_object[NameObject("/NeedsRendering")] = BooleanObject(True)
    first = page_text(one(save(writer, tmp_path / "xfa.pdf")), 1).split("\n")
    assert first[0] == FIRST
    assert [line for line in first[1:] if line] == [
        "Form 7 of the harbour office", "Name of the ship: Cutty &boom;Sark", "Kind: Sailing ship", "No crew",
        "crew: With crew", "Port of call: Lisbon", "Port of call: Porto", "remark: Leaves at dawn",
    ]  # fmt: skip


def test_attached_files_are_documents(tmp_path: Path) -> None:
    writer, inner = two_pages(), io.BytesIO()
    two_pages().write(inner)
    writer.add_attachment("notes.txt", b"Rum and biscuits for the crew")
    writer.add_attachment("inner.pdf", inner.getvalue())
    path = save(writer, tmp_path / "portfolio.pdf")
    documents = list(read(path, "", Limits()))
    assert [d.external_id for d in documents] == ["", "inner.pdf", "notes.txt"]
    assert [d.text.split()[0] for d in documents] == ["The", "The", "Rum"]
    target = tmp_path / "out"
    target.mkdir()
    found = extract(path, "notes.txt", target)
    assert found is not None
    assert found.read_text() == "Rum and biscuits for the crew"


def pin(writer: PdfWriter, page: int, name: str, stream: StreamObject) -> None:
    embedded = DictionaryObject({NameObject("/F"): writer._add_object(stream)})
    names = {NameObject("/Type"): NameObject("/Filespec"), NameObject("/F"): TextStringObject(name)}
    specification = DictionaryObject({**names, NameObject("/EF"): embedded})
    annotate(writer, page, "/FileAttachment", FS=writer._add_object(specification))


def test_file_pinned_to_a_page(tmp_path: Path) -> None:
    writer = two_pages()
    stream = DecodedStreamObject()
    stream.set_data(b"pinned words of a file")
    pin(writer, 1, "pin.txt", stream)
    own, pinned = read(save(writer, tmp_path / "pinned.pdf"), "", Limits())
    assert (own.external_id, pinned.external_id) == ("", "pin.txt")
    assert pinned.text == "pinned words of a file"


def test_an_attachment_that_unfolds_too_far(tmp_path: Path) -> None:
    writer = two_pages()
    stream = DecodedStreamObject()
    stream.set_data(b"0" * (8 << 20))
    pin(writer, 0, "bomb.txt", stream.flate_encode())
    path = save(writer, tmp_path / "bomb.pdf")
    assert path.stat().st_size < 100_000
    own, bomb = read(path, "", Limits(inflated_bytes=1 << 20))
    assert own.state is DocumentState.READ
    assert bomb.state is DocumentState.TOO_LARGE


def test_names_of_attachments_that_lead_in_circles(tmp_path: Path) -> None:
    writer = two_pages()
    writer.add_attachment("notes.txt", b"Rum and biscuits")
    names: Any = writer.root_object["/Names"]
    tree: Any = writer._add_object(names["/EmbeddedFiles"])
    tree.get_object()[NameObject("/Kids")] = ArrayObject([tree])
    names[NameObject("/EmbeddedFiles")] = tree
    assert [d.text for d in read(save(writer, tmp_path / "loop.pdf"), "", Limits())][1:] == ["Rum and biscuits"]
