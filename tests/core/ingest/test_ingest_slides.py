"""Presentations of every kind are read slide by slide, with what is hidden, spoken and commented."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import olefile
import pytest

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.limits import Limits
from core.ingest.readers.registry import read

DATA = Path(__file__).parent / "data"
_NAMES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
)
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def paragraph(text: str) -> str:
    return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"


def shape(*paragraphs: str, kind: str = "") -> str:
    mark = f'<p:ph type="{kind}"/>' if kind else ""
    texts = "".join(paragraph(text) for text in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{mark}</p:nvPr></p:nvSpPr><p:txBody>{texts}</p:txBody></p:sp>"


def group(inside: str) -> str:
    return f"<p:grpSp>{inside}</p:grpSp>"


def slide(inside: str, root: str = "sld", extra: str = "") -> str:
    return f"<p:{root} {_NAMES} {extra}><p:cSld><p:spTree>{inside}</p:spTree></p:cSld></p:{root}>"


def relations(*entries: tuple[str, str, str]) -> str:
    inside = "".join(f'<Relationship Id="{i}" Type="{_KINDS}/{kind}" Target="{t}"/>' for i, kind, t in entries)
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inside}</Relationships>'
    )


def presentation(folder: Path, slides: list[str], parts: dict[str, str] | None = None) -> Path:
    path = folder / "talk.pptx"
    numbers = range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in numbers)
    main = relations(*[(f"s{n}", "slide", f"slides/slide{n}.xml") for n in numbers], ("c", "commentAuthors", "who.xml"))
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("_rels/.rels", relations(("r1", "officeDocument", "ppt/presentation.xml")))
        package.writestr(
            "ppt/presentation.xml", f"<p:presentation {_NAMES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
        )
        package.writestr("ppt/_rels/presentation.xml.rels", main)
        for number, content in enumerate(slides, start=1):
            package.writestr(f"ppt/slides/slide{number}.xml", content)
        for name, content in (parts or {}).items():
            package.writestr(name, content)
    return path


def one(path: Path, media_type: str = sniff.PPTX) -> ReadDocument:
    (document,) = read(path, media_type, Limits())
    return document


def lines(document: ReadDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_the_title_comes_first_and_groups_are_opened(tmp_path: Path) -> None:
    inside = group(group(shape("deep inside"))) + shape("first point", "second point", kind="body")
    document = one(presentation(tmp_path, [slide(inside + shape("The title", kind="title"))]))
    assert lines(document) == ["The title", "deep inside", "first point", "second point"]
    assert [block.kind for block in document.blocks[2:]] == [BlockKind.LIST_ITEM] * 2
    assert document.blocks[1].heading_path == ("The title",)
    assert document.title == "The title"


def test_hidden_slides_are_read_and_named_so(tmp_path: Path) -> None:
    slides = [slide(shape("seen")), slide(shape("unseen"), extra='show="0"')]
    document = one(presentation(tmp_path, slides))
    assert [page.label for page in document.pages] == ["Slide 1", "Slide 2 (hidden)"]
    assert lines(document) == ["seen", "unseen"]


def test_no_heading_reaches_into_the_next_slide(tmp_path: Path) -> None:
    document = one(presentation(tmp_path, [slide(shape("One", kind="title")), slide(shape("alone"))]))
    assert document.blocks[-1].heading_path == ()


def test_tables_charts_and_diagrams(tmp_path: Path) -> None:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    rows = "".join(f"<a:tr>{cell.format(a)}{cell.format(b)}</a:tr>" for a, b in (("Port", "Ships"), ("Oslo", "12")))
    table = f'<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/>{rows}</a:tbl></p:graphicFrame>'
    chart = '<p:graphicFrame><c:chart r:id="k"/></p:graphicFrame>'
    diagram = '<p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame>'
    series = (
        '<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>Catch</c:v></c:pt></c:strCache></c:strRef></c:tx>'
        '<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>2024</c:v></c:pt></c:strCache></c:strRef></c:cat>'
        '<c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>4.2999999999999998</c:v></c:pt></c:numCache></c:numRef>'
        "</c:val></c:ser>"
    )
    points = "".join(
        f'<dgm:pt modelId="{i}" type="{kind}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for i, kind, text in ((0, "doc", ""), (1, "node", "second"), (2, "node", "first"), (3, "pres", "never"))
    )
    links = '<dgm:cxn srcId="0" destId="1" srcOrd="1"/><dgm:cxn srcId="0" destId="2" srcOrd="0"/>'
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": relations(("k", "chart", "../c.xml"), ("d", "diagramData", "../d.xml")),
        "ppt/c.xml": f"<c:chartSpace {_NAMES}><c:title>{paragraph('Fish')}</c:title>{series}</c:chartSpace>",
        "ppt/d.xml": f"<dgm:dataModel {_NAMES}>{points}{links}</dgm:dataModel>",
    }
    document = one(presentation(tmp_path, [slide(table + chart + diagram)], parts))
    assert lines(document) == [
        "Port | Ships", "Port: Oslo | Ships: 12", "Fish", "2024 | Catch: 4.3", "first", "second",
    ]  # fmt: skip


def test_speaker_notes_and_comments_are_named(tmp_path: Path) -> None:
    modern = (
        f'<x:cmLst xmlns:x="urn:modern" {_NAMES}><x:cm authorId="A"><x:txBody>{paragraph("why?")}</x:txBody>'
        '<x:replyLst><x:reply authorId="B"><x:txBody><a:p><a:r><a:t>because</a:t></a:r></a:p></x:txBody></x:reply>'
        "</x:replyLst></x:cm></x:cmLst>"
    )
    parts = {
        "ppt/who.xml": f'<p:l {_NAMES}><p:cmAuthor id="0" name="Ann"/><p:cmAuthor id="A" name="Bo"/></p:l>',
        "ppt/slides/_rels/slide1.xml.rels": relations(
            ("n", "notesSlide", "../n.xml"), ("o", "comments", "../o.xml"), ("m", "comments", "../m.xml")
        ),
        "ppt/n.xml": slide(shape("said aloud", kind="body") + shape("7", kind="sldNum"), root="notes"),
        "ppt/o.xml": f'<p:cmLst {_NAMES}><p:cm authorId="0"><p:text>old one</p:text></p:cm></p:cmLst>',
        "ppt/m.xml": modern,
    }
    document = one(presentation(tmp_path, [slide(shape("body"))], parts))
    assert lines(document) == [
        "body", "Speaker notes", "said aloud", "Comment by Ann: old one", "Comment by Bo: why?", "Reply: because",
    ]  # fmt: skip


def test_a_damaged_slide_costs_only_itself(tmp_path: Path) -> None:
    document = one(presentation(tmp_path, ["no xml at all", slide(shape("still here")), "<p:sld"]))
    assert document.state is DocumentState.READ
    assert lines(document) == ["still here"]
    assert any("Slide 1" in warning for warning in document.warnings)


def test_old_and_open_presentations_say_the_same(tmp_path: Path) -> None:
    old = tmp_path / "talk.ppt"
    old.write_bytes(gzip.decompress((DATA / "talk.ppt.gz").read_bytes()))
    expected = [
        "Care of the lighthouse", "Oil the winch", "Spare the lamp", "A box of its own: 灯台", "Speaker notes",
        "Say this slowly.", "Costs nobody sees",
    ]  # fmt: skip
    for document in (one(old, sniff.PPT), one(DATA / "talk.fodp", sniff.ODP)):
        assert lines(document) == expected
        assert [page.label for page in document.pages] == ["Slide 1", "Slide 2 (hidden)"]
        assert document.blocks[0].kind is BlockKind.HEADING


def test_an_old_presentation_that_is_encrypted_is_locked(tmp_path: Path) -> None:
    path = tmp_path / "talk.ppt"
    path.write_bytes(gzip.decompress((DATA / "talk.ppt.gz").read_bytes()))
    with olefile.OleFileIO(str(path), write_mode=True) as ole:
        user = ole.openstream("Current User").read()
        ole.write_stream("Current User", user[:12] + (0xF3D1C4DF).to_bytes(4, "little") + user[16:])
    assert one(path, sniff.PPT).state is DocumentState.LOCKED


@pytest.mark.parametrize("length", [3000, 9000])
def test_half_an_old_presentation_is_told_and_raises_nothing(
    tmp_path: Path, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    path = tmp_path / "half.ppt"
    path.write_bytes(gzip.decompress((DATA / "talk.ppt.gz").read_bytes())[:length])
    document = one(path, sniff.PPT)
    assert document.state in (DocumentState.UNSUPPORTED, DocumentState.BROKEN)
    assert document.reason
