"""DrawingML, which slides, sheets and charts share: paragraphs of shapes, tables, charts and diagrams as text."""

from __future__ import annotations

from collections.abc import Iterator

from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.ooxml import Element, Package, Relation, attribute, child, name_of
from core.ingest.readers.rows import table_rows

_UNSEEN = frozenset(["pPr", "rPr", "endParaRPr", "Fallback"])
_LONGEST_SERIES = 10_000  # points of a chart that become rows
_DEEPEST_DIAGRAM = 50


def paragraph_text(paragraph: Element) -> str:
    """The text of an `a:p`; line breaks become \\n."""
    parts: list[str] = []
    for node in paragraph:
        name = name_of(node)
        if name == "t":
            parts.append(node.text or "")
        elif name == "br":
            parts.append("\n")
        elif name not in _UNSEEN and not (name == "fld" and attribute(node, "type") == "slidenum"):
            parts.append(paragraph_text(node))
    return "".join(parts)


def lines(body: Element | None) -> list[str]:
    """The paragraphs of a text body, without the empty ones."""
    texts = (paragraph_text(node) for node in (body if body is not None else ()) if name_of(node) == "p")
    return [text for text in texts if text.strip()]


def chosen(node: Element) -> Element:
    """Of an `mc:AlternateContent` the newer form, or the older one when only that holds text."""
    choice, fallback = child(node, "Choice"), child(node, "Fallback")
    if choice is None or (fallback is not None and not _has_text(choice) and _has_text(fallback)):
        return fallback if fallback is not None else node
    return choice


def _has_text(node: Element) -> bool:
    return any(name_of(below) in ("t", "chart", "relIds") for below in node.iter())


def table_lines(table: Element) -> list[str]:
    """The rows of an `a:tbl`; a row is "header: value | ..." when the table has a header row."""
    rows = [
        [collapse(" ".join(lines(child(cell, "txBody")))) for cell in row if name_of(cell) == "tc"]
        for row in table
        if name_of(row) == "tr"
    ]
    return table_rows(rows, attribute(child(table, "tblPr"), "firstRow") in ("1", "true"))


def part_text(package: Package, relations: list[Relation], graphic: Element, builder: TextBuilder) -> Iterator[str]:
    """Lines of the chart or diagram that a graphic frame points to. `builder` is asked whether there is room."""
    for node in graphic.iter():
        if builder.full or name_of(node) not in ("chart", "relIds"):
            continue
        wanted = attribute(node, "id" if name_of(node) == "chart" else "dm")
        target = next((r.target for r in relations if r.id == wanted and not r.external), "")
        root = package.xml(target) if target else None
        if root is not None:
            yield from chart_lines(root) if name_of(node) == "chart" else diagram_lines(root)


def chart_lines(root: Element) -> list[str]:
    """Titles of a chart and its axes, then a line for each category with the value of each series."""
    titles = [
        collapse(" ".join(paragraph_text(p) for p in title.iter() if name_of(p) == "p")) for title in _titles(root)
    ]
    series = [node for node in root.iter() if name_of(node) == "ser"]
    names = [collapse(" ".join(_points(child(node, "tx")).values())) for node in series]
    labels: dict[int, str] = {}
    for node in series:
        labels = labels or _points(child(node, "cat")) or _points(child(node, "xVal"))
    values = [_points(child(node, "val")) or _points(child(node, "yVal")) for node in series]
    indexes = sorted({index for points in (labels, *values) for index in points})[:_LONGEST_SERIES]
    found = [title for title in titles if title]
    for index in indexes:
        shown = ((name, points.get(index, "")) for name, points in zip(names, values, strict=True))
        cells = [labels.get(index, ""), *(f"{name}: {value}" if name else value for name, value in shown if value)]
        found.append(" | ".join(cell for cell in cells if cell))
    return found


def _titles(root: Element) -> list[Element]:
    return [node for node in root.iter() if name_of(node) == "title"]


def _points(source: Element | None) -> dict[int, str]:
    """Index → cached value of a chart's reference or literal."""
    found: dict[int, str] = {}
    for point in source.iter() if source is not None else ():
        if name_of(point) == "pt" and attribute(point, "idx").isdigit():
            value = child(point, "v")
            found[int(attribute(point, "idx"))] = collapse(_shorter(value.text or "" if value is not None else ""))
        elif name_of(point) == "v" and name_of(point.getparent()) == "tx":
            found[0] = collapse(point.text or "")
    return found


def _shorter(number: str) -> str:
    """A cached number without the noise of its binary form: 4.2999999999999998 is 4.3."""
    try:
        return f"{float(number):.12g}" if "." in number and len(number) > 12 else number
    except ValueError:
        return number


def diagram_lines(root: Element) -> list[str]:
    """The texts of a diagram (SmartArt) in the order of its tree."""
    points = {attribute(node, "modelId"): node for node in root.iter() if name_of(node) == "pt"}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter():
        if name_of(link) == "cxn" and attribute(link, "type") in ("", "parOf"):
            order = attribute(link, "srcOrd")
            below.setdefault(attribute(link, "srcId"), []).append(
                (int(order) if order.isdigit() else 0, attribute(link, "destId"))
            )
    shown: dict[str, None] = {}  # an ordered set

    def visit(key: str, depth: int) -> None:
        if key in shown or depth > _DEEPEST_DIAGRAM:
            return
        shown[key] = None
        for _, target in sorted(below.get(key, [])):
            visit(target, depth + 1)

    for key, node in points.items():
        if attribute(node, "type") == "doc":
            visit(key, 0)
    for key, node in points.items():
        if attribute(node, "type") in ("", "node", "asst"):
            shown.setdefault(key)
    return [text for key in shown if key in points for text in lines(child(points[key], "t"))]
