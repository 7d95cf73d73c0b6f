r"""LaTeX: sections as headings, text without commands, formulas as they are written.

The preamble, comments and what only steers the layout are left out. `\input` and the like are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from core.base.types import BlockKind, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers.build import TextBuilder, collapse
from core.ingest.readers.latex_text import argument, plain
from core.ingest.readers.plain_file import load
from core.ingest.readers.rows import table_rows

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*\n?[^\S\n]*")
_LEVELS = {
    "part": 1,
    "chapter": 1,
    "section": 2,
    "subsection": 3,
    "subsubsection": 4,
    "paragraph": 5,
    "subparagraph": 6,
}
_VERBATIM = "verbatim|Verbatim|lstlisting|minted|alltt"
_MATH = "equation|align|gather|multline|eqnarray|displaymath|math|flalign|alignat"
_PIECE = re.compile(
    rf"\\begin\{{(?P<code>{_VERBATIM})\*?\}}(?:\[[^\]]*\])?(?P<listing>.*?)\\end\{{(?:{_VERBATIM})\*?\}}"
    rf"|\\begin\{{(?P<math>{_MATH})\*?\}}(?P<formula>.*?)\\end\{{(?:{_MATH})\*?\}}"
    r"|\\\[(?P<display>.*?)\\\]|\$\$(?P<dollars>.*?)\$\$"
    r"|\\begin\{(?P<table>tabular|tabularx|longtable|array)\*?\}(?P<cells>.*?)\\end\{(?:tabular|tabularx|longtable|array)\*?\}"
    r"|\\(?P<section>part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\s*(?:\[[^\]]*\])?\s*(?=\{)"
    r"|\\caption\s*(?:\[[^\]]*\])?\s*(?P<caption>(?=\{))"
    r"|(?P<item>\\item\b\s*(?:\[[^\]]*\])?)|(?P<break>\n[^\S\n]*\n)",
    re.S,
)
_MOST = 30_000_000  # characters that are taken apart


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    file = load(path, limits)
    source = _COMMENT.sub(r"\1", file.text[:_MOST])
    head, begun, body = source.partition(r"\begin{document}")
    body = body.partition(r"\end{document}")[0] if begun else source
    builder = TextBuilder(limits.output_characters)
    title, author = _given(source, "title"), _given(source, "author")
    for line in (title, author, _given(head, "date")) if begun else ():
        builder.add(line)
    _add_body(body, builder, tick)
    yield file.marked(builder.build(title=title, author=author, warnings=file.warnings))


def _given(source: str, command: str) -> str:
    found = re.search(rf"\\{command}\s*(?:\[[^\]]*\])?\s*(?=\{{)", source)
    return collapse(plain(argument(source, found.end())[0])) if found else ""


def _add_body(body: str, builder: TextBuilder, tick: Tick) -> None:
    kind, at = BlockKind.PARAGRAPH, 0
    while found := _PIECE.search(body, at):
        tick()
        _add_text(body[at : found.start()], kind, builder)
        kind = BlockKind.LIST_ITEM if found["item"] else BlockKind.PARAGRAPH
        at = _add_piece(found, body, builder)
    _add_text(body[at:], kind, builder)


def _add_piece(found: re.Match[str], body: str, builder: TextBuilder) -> int:
    """Adds a block of its own kind; returns where the text goes on."""
    end = found.end()
    formula = next((found[name] for name in ("formula", "display", "dollars") if found[name]), None)
    if found["section"]:
        title, end = argument(body, end)
        builder.heading(plain(title), _LEVELS[found["section"]])
    elif found["caption"] is not None:
        caption, end = argument(body, end)
        builder.add(collapse(plain(caption)), BlockKind.CAPTION)
    elif found["listing"] is not None:
        builder.add(found["listing"].strip("\n"), BlockKind.CODE)
    elif found["cells"] is not None:
        _add_table(found["cells"], builder)
    elif formula is not None:
        builder.add(collapse(re.sub(r"\\label\{[^}]*\}|(?<!\\)&", " ", formula)), BlockKind.CODE)
    return end


def _add_table(cells: str, builder: TextBuilder) -> None:
    cells = re.sub(r"^\s*(?:\[[^\]]*\])?(?:\{(?:[^{}]|\{[^{}]*\})*\})+", "", cells)
    cells = re.sub(
        r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|cline\{[^}]*\}|cmidrule[^\s]*)", " ", cells
    )
    rows = [
        [collapse(plain(cell)) for cell in re.split(r"(?<!\\)&", row)]
        for row in re.split(r"\\\\(?:\[[^\]]*\])?", cells)
    ]
    for line in table_rows([row for row in rows if any(row)], has_header=True):
        builder.add(line, BlockKind.TABLE_ROW, separator="\n")


def _add_text(text: str, kind: BlockKind, builder: TextBuilder) -> None:
    lines = "\n".join(filter(None, map(collapse, plain(text).split("\v"))))
    builder.add(lines, kind, separator="\n" if kind is BlockKind.LIST_ITEM else "\n\n")
