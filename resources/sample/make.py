"""Makes the sample documents out of their sources: Markdown with a front matter in, PDF, DOCX, HTML, MD and TXT out.

    python resources/sample/make.py [FOLDER]

The dates of the documents come from the sources, so that another run gives the same bytes (the members of a DOCX are
the same; its compressed bytes may differ between versions of zlib).
"""

from __future__ import annotations

import datetime
import html
import io
import os
import re
import sys
import textwrap
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "sources"
DOCUMENTS = HERE / "documents"
ORGANISATION = "Orsavel Cooperative"
WIDE_SCRIPTS = ("ja", "zh")


@dataclass(frozen=True)
class Block:
    """A heading (level 2 or 3), a paragraph, a list or a table of the source."""

    kind: str
    text: str = ""
    level: int = 0
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    ordered: bool = False


@dataclass(frozen=True)
class Source:
    """One source file: its front matter and its blocks."""

    meta: dict[str, str]
    body: str
    blocks: tuple[Block, ...] = field(default=())

    def __getattr__(self, name: str) -> str:
        try:
            return self.meta[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def day(self) -> datetime.datetime:
        return datetime.datetime.fromisoformat(self.meta["date"]).replace(hour=9, tzinfo=datetime.UTC)


# --- reading the sources ---------------------------------------------------------------------------------------------


def load(path: Path) -> Source:
    """Front matter (`key: value` lines between two `---`) and body of a source."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    pairs = (line.split(":", 1) for line in front.strip().splitlines())
    meta = {key.strip(): value.strip().strip('"') for key, value in pairs}
    return Source(meta, body.strip() + "\n", tuple(parse(body)))


def parse(body: str) -> Iterator[Block]:
    """The blocks of a body; blocks are parted by blank lines."""
    for chunk in re.split(r"\n\s*\n", body.strip()):
        lines = chunk.splitlines()
        heading = re.fullmatch(r"(#{2,3}) (.+)", lines[0])
        if heading:
            yield Block("heading", heading[2], len(heading[1]))
        elif lines[0].startswith("|"):
            cells = (tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines)
            yield Block("table", rows=tuple(row for row in cells if not re.fullmatch("-+", row[0])))
        elif re.match(r"- |\d+\. ", lines[0]):
            items = tuple(re.sub(r"^(- |\d+\. )", "", line) for line in lines)
            yield Block("list", items=items, ordered=lines[0][0].isdigit())
        else:
            yield Block("paragraph", " ".join(lines))


def marked(text: str, bold: str, italic: str) -> str:
    """`text` with `**x**` and `*x*` turned into the elements named `bold` and `italic`; the rest escaped."""
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", rf"<{bold}>\1</{bold}>", text)
    return re.sub(r"\*(.+?)\*", rf"<{italic}>\1</{italic}>", text)


def plain(text: str) -> str:
    return re.sub(r"\*+", "", text)


# --- Markdown and text -----------------------------------------------------------------------------------------------


def to_markdown(source: Source) -> bytes:
    """The head (title, author, date, language) as front matter, then the body as it is."""
    head = "".join(f'{key}: "{source.meta[key]}"\n' for key in ("title", "author", "date", "language"))
    return f"---\n{head}---\n\n# {source.title}\n\n{source.body}".encode()


def to_text(source: Source) -> bytes:
    """Underlined headings, lines of 78 columns; Windows line ends where the charset is one of Windows."""
    parts = [_underlined(source.title, "="), f"{source.author}\n{source.date}"]
    parts += [_text_block(block) for block in source.blocks]
    text = "\n\n".join(parts) + "\n"
    charset = source.meta.get("charset", "utf-8")
    return text.replace("\n", "\r\n" if charset.startswith("windows") else "\n").encode(charset)


def _underlined(text: str, rule: str) -> str:
    return f"{text}\n{rule * len(text)}"


def _text_block(block: Block) -> str:
    if block.kind == "heading":
        return _underlined(block.text, "-")
    if block.kind == "paragraph":
        return textwrap.fill(plain(block.text), 78, break_long_words=False, break_on_hyphens=False)
    raise ValueError(f"A text document has no {block.kind}")


# --- HTML ------------------------------------------------------------------------------------------------------------

STYLE = "body{font:1.05em/1.6 serif;max-width:42em;margin:2em auto;padding:0 1em}h2,h3{line-height:1.25}"


def to_html(source: Source) -> bytes:
    body = "\n".join(_html_block(block) for block in source.blocks)
    title, author, subject = (html.escape(text) for text in (source.title, source.author, source.subject))
    return f"""<!DOCTYPE html>
<html lang="{source.language}">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="author" content="{author}">
<meta name="date" content="{source.date}">
<meta name="description" content="{subject}">
<style>{STYLE}</style>
</head>
<body>
<article>
<header>
<h1>{title}</h1>
<p class="byline">{author}, <time datetime="{source.date}">{source.date}</time></p>
</header>
{body}
</article>
</body>
</html>
""".encode()


def _html_block(block: Block) -> str:
    if block.kind == "heading":
        return f"<h{block.level}>{marked(block.text, 'strong', 'em')}</h{block.level}>"
    if block.kind == "list":
        tag = "ol" if block.ordered else "ul"
        return f"<{tag}>\n" + "\n".join(f"<li>{marked(item, 'strong', 'em')}</li>" for item in block.items) + f"\n</{tag}>"
    if block.kind == "paragraph":
        return f"<p>{marked(block.text, 'strong', 'em')}</p>"
    raise ValueError(f"An HTML document of the sample has no {block.kind}")


# --- DOCX ------------------------------------------------------------------------------------------------------------


def to_docx(source: Source) -> bytes:
    import docx

    document = docx.Document()
    _docx_properties(document.core_properties, source)
    document.add_heading(source.title, 0)
    document.add_paragraph(f"{source.author}, {source.date}", style="Subtitle")
    for block in source.blocks:
        _docx_block(document, block)
    stream = io.BytesIO()
    document.save(stream)
    return _rezipped(stream.getvalue(), source.day)


def _docx_properties(properties: Any, source: Source) -> None:
    day = source.day.replace(tzinfo=None)
    properties.title, properties.subject, properties.author = source.title, source.subject, source.author
    properties.language, properties.last_modified_by = source.language, source.author
    properties.created, properties.modified, properties.comments = day, day, ""


def _docx_block(document: Any, block: Block) -> None:
    if block.kind == "heading":
        document.add_heading(block.text, block.level - 1)
    elif block.kind == "list":
        for item in block.items:
            document.add_paragraph(plain(item), style="List Number" if block.ordered else "List Bullet")
    elif block.kind == "table":
        table = document.add_table(0, len(block.rows[0]), style="Light Grid Accent 1")
        for row in block.rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = plain(text)
    else:
        document.add_paragraph(plain(block.text))


def _rezipped(data: bytes, day: datetime.datetime) -> bytes:
    """The same ZIP file with every member dated `day`."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, day.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(member, old.read(name))
    return stream.getvalue()


# --- PDF -------------------------------------------------------------------------------------------------------------


def to_pdf(source: Source) -> bytes:
    """A4 pages with a title, headings (in the outline too), page numbers and, if asked for, two columns."""
    from reportlab.platypus import Paragraph, Spacer

    _check_font(source)
    styles = _pdf_styles(small=_columns(source) > 1)
    story: list[Any] = [Paragraph(html.escape(source.title), styles["title"])]
    story += [Paragraph(html.escape(f"{source.author}, {source.date}"), styles["byline"])]
    story += [Paragraph(html.escape(source.subject), styles["byline"]), Spacer(1, 8)]
    story += [flowable for block in source.blocks for flowable in _pdf_block(block, styles)]
    stream = io.BytesIO()
    with _dated(source.day):
        _pdf_template(source, stream).build(story)
    return stream.getvalue()


def _columns(source: Source) -> int:
    return int(source.meta.get("columns", "1"))


def _check_font(source: Source) -> None:
    """The standard PDF fonts know the characters of windows-1252 only."""
    for number, line in enumerate(source.body.splitlines(), 1):
        try:
            line.encode("cp1252")
        except UnicodeEncodeError as error:
            name = unicodedata.name(line[error.start])
            raise ValueError(f"{source.file}, line {number}: no glyph for {name}") from error


def _pdf_styles(small: bool) -> dict[str, Any]:
    from reportlab.lib.enums import TA_JUSTIFY
    from reportlab.lib.styles import ParagraphStyle as Style

    size = 10.5 if small else 12
    body = Style("body", fontName="Times-Roman", fontSize=size, leading=size * 1.42, spaceAfter=7, alignment=TA_JUSTIFY)
    return {
        "title": Style("title", fontName="Helvetica-Bold", fontSize=21, leading=26, spaceAfter=6),
        "byline": Style("byline", fontName="Times-Italic", fontSize=size, leading=size * 1.4),
        "heading2": Style("heading2", fontName="Helvetica-Bold", fontSize=15, leading=20, spaceBefore=16, spaceAfter=5, keepWithNext=1),
        "heading3": Style("heading3", fontName="Helvetica-Bold", fontSize=12.5, leading=17, spaceBefore=11, spaceAfter=3, keepWithNext=1),
        "body": body,
        "item": Style("item", parent=body, leftIndent=14),
    }


def _pdf_block(block: Block, styles: dict[str, Any]) -> list[Any]:
    from reportlab.platypus import Paragraph, Spacer, Table

    if block.kind == "heading":
        return [Paragraph(html.escape(block.text), styles[f"heading{block.level}"])]
    if block.kind == "list":
        signs = [f"{number}." if block.ordered else "\u2022" for number in range(1, len(block.items) + 1)]
        return [
            Paragraph(marked(item, "b", "i"), styles["item"], bulletText=sign)
            for sign, item in zip(signs, block.items, strict=True)
        ]
    if block.kind == "table":
        return [Spacer(1, 4), Table(block.rows, style=_PDF_GRID, hAlign="LEFT"), Spacer(1, 8)]
    return [Paragraph(marked(block.text, "b", "i"), styles["body"])]


_PDF_GRID = [
    ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 8),
    ("FONT", (0, 1), (-1, -1), "Times-Roman", 9),
    ("LINEBELOW", (0, 0), (-1, -1), 0.4, "#888888"),
    ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
]


def _pdf_template(source: Source, stream: io.BytesIO) -> Any:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate

    margin, gap, count = 27 * mm, 7 * mm, _columns(source)
    width = (A4[0] - 2 * margin - (count - 1) * gap) / count
    frames = [
        Frame(margin + i * (width + gap), margin, width, A4[1] - 2 * margin, 0, 0, 0, 0, id=f"column{i}") for i in range(count)
    ]
    template = _outlined(BaseDocTemplate)(
        stream, pagesize=A4, title=source.title, author=source.author, subject=source.subject,
        creator=ORGANISATION, lang=source.language, invariant=1, pageCompression=0,
    )  # fmt: skip
    template.addPageTemplates(PageTemplate("page", frames, onPageEnd=_footer(source)))
    return template


def _outlined(base: type) -> type:
    """A document template that puts each heading into the outline."""

    class Outlined(base):  # type: ignore[misc]
        def afterFlowable(self, flowable: Any) -> None:
            name = getattr(getattr(flowable, "style", None), "name", "")
            if name.startswith("heading"):
                key = f"heading-{self.seq.nextf('heading')}"
                self.canv.bookmarkPage(key)
                self.canv.addOutlineEntry(flowable.getPlainText(), key, level=int(name[-1]) - 2)

    return Outlined


def _footer(source: Source) -> Callable[[Any, Any], None]:
    def draw(canvas: Any, template: Any) -> None:
        canvas.saveState()
        canvas.setFont("Helvetica", 8)
        canvas.drawString(76, 34, f"{ORGANISATION}  |  {source.title}")
        canvas.drawRightString(template.pagesize[0] - 76, 34, str(canvas.getPageNumber()))
        canvas.restoreState()

    return draw


@contextmanager
def _dated(day: datetime.datetime) -> Iterator[None]:
    """reportlab takes the date of a document from `SOURCE_DATE_EPOCH`."""
    before = os.environ.get("SOURCE_DATE_EPOCH")
    os.environ["SOURCE_DATE_EPOCH"] = str(int(day.timestamp()))
    try:
        yield
    finally:
        os.environ.pop("SOURCE_DATE_EPOCH")
        if before is not None:
            os.environ["SOURCE_DATE_EPOCH"] = before


# --- all of them -----------------------------------------------------------------------------------------------------

WRITERS: dict[str, Callable[[Source], bytes]] = {
    ".md": to_markdown, ".txt": to_text, ".html": to_html, ".docx": to_docx, ".pdf": to_pdf,
}  # fmt: skip


def sources() -> list[Source]:
    return [load(path) for path in sorted(SOURCES.glob("*.md"))]


def make(folder: Path) -> list[Path]:
    """Write every document into `folder`; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for source in sources():
        path = folder / source.file
        path.write_bytes(WRITERS[path.suffix](source))
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in make(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS):
        print(written)
