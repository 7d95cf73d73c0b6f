"""Workbooks of every kind: rows with the names of their columns and their place, values as they are seen, no bombs."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.base.types import DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.limits import Limits
from core.ingest.readers.build import TextBuilder
from core.ingest.readers.number_format import show
from core.ingest.readers.registry import read
from core.ingest.readers.sheet_rows import Cell, SheetRows, column_name, column_number

DATA = Path(__file__).parent / "data"
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def relations(*entries: tuple[str, str, str]) -> str:
    inside = "".join(f'<Relationship Id="{i}" Type="{_KINDS}/{kind}" Target="{t}"/>' for i, kind, t in entries)
    return f"<Relationships {_PACKAGE}>{inside}</Relationships>"


def workbook(
    folder: Path, sheets: dict[str, str | Iterable[str]], parts: dict[str, str] | None = None, *, view: str = "visible"
) -> Path:
    """A workbook; each sheet is what stands in its `sheetData`, the last one with the state `view`."""
    path = folder / "book.xlsx"
    names = list(sheets)
    states = ["visible"] * (len(names) - 1) + [view]
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" state="{state}" r:id="s{n}"/>'
        for n, (name, state) in enumerate(zip(names, states, strict=True), 1)
    )
    targets = [(f"s{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(names) + 1)]
    more = (("t", "sharedStrings", "strings.xml"), ("y", "styles", "styles.xml"), ("p", "person", "people.xml"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("_rels/.rels", relations(("r1", "officeDocument", "xl/workbook.xml")))
        package.writestr(
            "xl/workbook.xml", f'<workbook {_MAIN} xmlns:r="{_KINDS}"><sheets>{listed}</sheets></workbook>'
        )
        package.writestr("xl/_rels/workbook.xml.rels", relations(*targets, *more))
        for number, content in enumerate(sheets.values(), start=1):
            with package.open(f"xl/worksheets/sheet{number}.xml", "w") as part:
                part.write(f'<worksheet {_MAIN}><dimension ref="A1:XFD1048576"/><sheetData>'.encode())
                for chunk in [content] if isinstance(content, str) else content:
                    part.write(chunk.encode())
                part.write(b"</sheetData><headerFooter><oddFooter>&amp;L&amp;8Draft &amp;P</oddFooter></headerFooter>")
                part.write(b"</worksheet>")
        for name, content in (parts or {}).items():
            package.writestr(name, content)
    return path


def row(number: int, *cells: str) -> str:
    """A row of inline texts, and of numbers where a cell reads like one."""
    made = []
    for column, cell in enumerate(cells, start=1):
        place = f"{column_name(column)}{number}"
        number_like = cell.replace(".", "", 1).isdigit()
        made.append(
            f'<c r="{place}"><v>{cell}</v></c>'
            if number_like
            else f'<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>'
        )
    return f'<row r="{number}">{"".join(made)}</row>'


def one(path: Path, media_type: str = sniff.XLSX, limits: Limits | None = None) -> ReadDocument:
    (document,) = read(path, media_type, limits or Limits())
    return document


def placed(document: ReadDocument) -> list[tuple[str, str]]:
    return [(block.place, document.text[block.start : block.end]) for block in document.blocks]


def test_rows_name_their_columns_and_their_place(tmp_path: Path) -> None:
    rows = row(2, "Port", "Ships") + row(3, "Oslo", "12") + row(7, "Alone")
    assert placed(one(workbook(tmp_path, {"Ports": rows}))) == [
        ("", "Ports"), ("A2:B2", "Port | Ships"), ("A3:B3", "Port: Oslo | Ships: 12"), ("A7", "Alone"), ("", "Draft"),
    ]  # fmt: skip


def test_shared_strings_leave_out_how_they_are_spoken(tmp_path: Path) -> None:
    strings = f"<sst {_MAIN}><si><r><t>東</t></r><r><t>京</t></r><rPh><t>トウキョウ</t></rPh></si></sst>"
    cells = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>99</v></c></row>'
    document = one(workbook(tmp_path, {"Sheet1": cells}, {"xl/strings.xml": strings}))
    assert placed(document)[0] == ("A1", "東京")


def test_values_are_shown_by_their_formats(tmp_path: Path) -> None:
    styles = (
        f'<styleSheet {_MAIN}><numFmts><numFmt numFmtId="170" formatCode="#,##0.00&quot; kg&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="170"/></cellXfs></styleSheet>'
    )
    cells = (
        '<row r="1"><c s="1"><v>43363</v></c><c s="2"><v>0.125</v></c><c s="3"><v>1234.5</v></c>'
        '<c t="b"><v>1</v></c><c t="str"><f>A1</f><v>made</v></c><c t="e"><v>#REF!</v></c></row>'
    )
    document = one(workbook(tmp_path, {"Sheet1": cells}, {"xl/styles.xml": styles}))
    assert placed(document)[0] == ("A1:E1", "2018-09-20 | 12.50% | 1,234.50 kg | TRUE | made")


@pytest.mark.parametrize(
    ("value", "code", "seen"),
    [
        (43363.75, "yyyy-mm-dd hh:mm", "2018-09-20 18:00"), (0.5, "h:mm", "12:00"), (1.5, "[h]:mm", "36:00"),
        (1.0, "d/m/yyyy", "1900-01-01"), (-3.5, "0.0;(0.0)", "-(3.5)"), (0.333, "0%", "33%"),
        (1e20, "General", "1e+20"),
        (5, '"No. "0', "No. 5"), (1234567, "#,##0,", "1,235"), (-1, "yyyy-mm-dd", "-1"), (2.5, "0.0##", "2.5"),
        (12, "[$€-407]0.00", "€12.00"), (0.1 + 0.2, "General", "0.3"), (7, "@", "7"), (3, ";;;", "3"),
    ],
)  # fmt: skip
def test_number_formats(value: float, code: str, seen: str) -> None:
    assert show(value, code) == seen


def test_days_of_1904() -> None:
    assert show(0, "yyyy-mm-dd", epoch_1904=True) == "1904-01-01"
    assert show(41901, "yyyy-mm-dd", epoch_1904=True) == "2018-09-20"


def test_columns() -> None:
    assert [column_name(number) for number in (1, 26, 27, 16384)] == ["A", "Z", "AA", "XFD"]
    assert all(column_number(f"{column_name(number)}9") == number for number in range(1, 16385))


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([["Name", "John"], ["City", "Rome"]], ["Name | John", "City | Rome"]),  # a form has no header
        ([["", "2022", "2023"], ["Tea", "4", "5"]], ["2022 | 2023", "Tea | 2022: 4 | 2023: 5"]),
        ([["1", "2"], ["3", "4"]], ["1 | 2", "3 | 4"]),
        ([["A", "B"], ["x", "1"], [], ["y", "2"]], ["A | B", "A: x | B: 1", "A: y | B: 2"]),  # a gap in a table
        ([["A", "B"], ["x", "1"], [], ["C", "D"], ["y", "2"]], ["A | B", "A: x | B: 1", "C | D", "C: y | D: 2"]),
        ([["A", "B", "C"], ["x", "y", "z"], ["Part two"]], ["A | B | C", "A: x | B: y | C: z", "Part two"]),
    ],
)
def test_which_rows_name_columns(rows: list[list[str]], lines: list[str]) -> None:
    builder = TextBuilder(10_000)
    sheet = SheetRows(builder, "Sheet1")
    for number, cells in enumerate(rows, start=1):
        sheet.row(number, {c: Cell(text, number=text.isdigit()) for c, text in enumerate(cells, start=1)})
    sheet.finish()
    document = builder.build()
    assert [text for _, text in placed(document)] == lines


def test_hidden_sheets_and_comments(tmp_path: Path) -> None:
    parts = {
        "xl/people.xml": '<personList><person id="{1}" displayName="Bo"/></personList>',
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            ("a", "comments", "../c.xml"), ("b", "threadedComment", "../t.xml")
        ),
        "xl/c.xml": (
            f"<comments {_MAIN}><authors><author>Ann</author><author>tc=1</author></authors><commentList>"
            '<comment ref="B2" authorId="0"><text><r><t>Really?</t></r></text></comment>'
            '<comment ref="C3" authorId="1"><text><t>Your version of Excel</t></text></comment>'
            "</commentList></comments>"
        ),
        "xl/t.xml": (
            '<ThreadedComments><threadedComment ref="C3" personId="{1}"><text>Newer</text></threadedComment>'
            "</ThreadedComments>"
        ),
    }
    document = one(workbook(tmp_path, {"Sheet1": row(1, "seen"), "Plans": row(1, "unseen")}, parts, view="veryHidden"))
    assert [page.label for page in document.pages] == ["Sheet1", "Plans (hidden)"]
    assert ("B2", "Comment on B2 by Ann: Really?") in placed(document)
    assert ("C3", "Comment on C3 by Bo: Newer") in placed(document)
    assert "unseen" in document.text
    assert "Your version" not in document.text


def test_a_damaged_sheet_keeps_what_came_before_and_the_others(tmp_path: Path) -> None:
    document = one(workbook(tmp_path, {"Sheet1": row(1, "first") + "<row></oops>", "Sheet2": row(1, "second")}))
    assert document.state is DocumentState.READ
    assert {"first", "second"} <= {text for _, text in placed(document)}
    assert any("Sheet1" in warning for warning in document.warnings)


def test_entities_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, {"Sheet1": row(1, "kept")})
    bomb = f'<!DOCTYPE x [<!ENTITY a "boom">]><worksheet {_MAIN}><sheetData>{row(1, "x")}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "a") as package, pytest.warns(UserWarning, match="Duplicate"):
        package.writestr("xl/worksheets/sheet1.xml", bomb)
    document = one(path)
    assert document.state is DocumentState.BROKEN
    assert not document.text


def test_a_giant_sheet_ends_truncated(tmp_path: Path) -> None:
    cells = (row(number, "x" * 2000) for number in range(1, 2000))
    document = one(workbook(tmp_path, {"Sheet1": cells}), limits=Limits(output_characters=100_000))
    assert document.state is DocumentState.TRUNCATED
    assert len(document.text) == 100_000


def test_what_unfolds_too_far_ends_truncated(tmp_path: Path) -> None:
    sheets = {"Sheet1": row(1, "the start"), "Sheet2": ("<row/>" * 100_000 for _ in range(4))}
    document = one(workbook(tmp_path, sheets), limits=Limits(inflated_bytes=1 << 20))
    assert document.state is DocumentState.TRUNCATED
    assert "the start" in document.text


def test_one_cell_is_capped(tmp_path: Path) -> None:
    document = one(workbook(tmp_path, {"Sheet1": row(1, "x" * 100_000)}))
    assert document.blocks[0].place == "A1"
    assert document.blocks[0].end == 32_767


@pytest.mark.parametrize(("name", "media_type"), [("stock.fods", sniff.ODS), ("stock.xls", sniff.XLS)])
def test_open_and_old_workbooks_say_the_same(name: str, media_type: str) -> None:
    document = one(DATA / name, media_type)
    last = "A1000004" if name.endswith("fods") else "A7"  # a million empty rows are passed over
    assert placed(document) == [
        ("", "Stock"), ("A1:C1", "Item | Counted | Share"),
        ("A2:C2", "Item: Rope | Counted: 2024-03-05 | Share: 12.5%"),
        ("A3:C3", "Item: Chain | Counted: 2024-03-06 | Share: 50.0%"),
        (last, "The very end"), ("A3", "Comment on A3 by Bo Lind: Order more chain."), ("", "Secret"),
        ("A1", "Hidden reserve"),
    ]  # fmt: skip
    assert [page.label for page in document.pages] == ["Stock", "Secret (hidden)"]


def test_an_encrypted_old_workbook_is_locked(tmp_path: Path) -> None:
    data = (DATA / "stock.xls").read_bytes()
    start = data.index(b"\x09\x08\x10\x00\x00\x06\x05\x00")  # the workbook's first record, then another
    record = start + 4 + 16
    path = tmp_path / "stock.xls"
    path.write_bytes(data[:record] + b"\x2f\x00" + data[record + 2 :])
    assert one(path, sniff.XLS).state is DocumentState.LOCKED
