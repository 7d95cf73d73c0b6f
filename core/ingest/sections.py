"""Sections of a document: what stands between two headings; very short ones joined with those that follow.

A joined section is one range of the document's text, the headings inside it included: whatever its heading path
does not carry stands in its text, so that every heading can be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.base.types import Block, BlockKind, ReadDocument

SHORT = 40  # tokens of a section that are too few to stand alone
_HEADINGS = 60  # tokens of headings that a joined section may take in at one place

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """What is never cut further: a sentence or a piece of one. `last` marks the end of its block."""

    start: int
    end: int
    tokens: int
    last: bool


@dataclass(frozen=True, slots=True)
class Heading:
    """`path` ends with the heading's own text."""

    unit: Unit
    path: Path


@dataclass(frozen=True, slots=True)
class Span:
    """A section as it stands: `head` are the headings right above it, `path` is that of its blocks.

    `is_heading`: its only block is a heading with nothing below it.
    """

    path: Path
    head: tuple[Block, ...]
    blocks: tuple[Block, ...]
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A section cut into units. `parent` is the path of the sections that it may be joined with."""

    path: Path
    parent: Path
    head: tuple[Heading, ...]
    units: tuple[Unit, ...]
    is_heading: bool = False
    is_front: bool = False

    @property
    def tokens(self) -> int:
        return sum(unit.tokens for unit in self.units)


def spans(document: ReadDocument) -> list[Span]:
    """The sections of `document`, together all its text; headings stand in `head` or are sections of their own."""
    found: list[Span] = []
    head: list[Block] = []
    body: list[Block] = []
    blocks = list(_without_gaps(document))
    for index, block in enumerate(blocks):
        if block.kind is not BlockKind.HEADING:
            body.append(block)
            continue
        if body:
            found.append(Span(body[0].heading_path, tuple(head), tuple(body)))
            head, body = [], []
        following = blocks[index + 1].heading_path if index + 1 < len(blocks) else ()
        own_path = heading_path(document, block)
        if following[: len(own_path)] == own_path:
            head.append(block)
        else:
            found.append(Span(block.heading_path, tuple(head), (block,), is_heading=True))
            head = []
    return [*found, Span(body[0].heading_path, tuple(head), tuple(body))] if body else found


def heading_path(document: ReadDocument, heading: Block) -> Path:
    return (*heading.heading_path, document.text[heading.start : heading.end])


def title_path(document: ReadDocument) -> Path:
    """The path below the heading that is the document's title; () when it has none."""
    first = document.blocks[0] if document.blocks else None
    if first is None or first.kind is not BlockKind.HEADING:
        return ()
    path = heading_path(document, first)
    is_title = path[-1].casefold() == document.title.casefold()
    is_only = sum(b.kind is BlockKind.HEADING and b.level == first.level for b in document.blocks) == 1
    return path if is_title or is_only else ()


def _without_gaps(document: ReadDocument) -> Iterator[Block]:
    """The blocks, and a paragraph for any text between them, so that none is lost."""
    position, path = 0, ()  # type: tuple[int, Path]
    for block in document.blocks:
        if document.text[position : block.start].strip():
            yield Block(BlockKind.PARAGRAPH, position, block.start, heading_path=path)
        yield block
        position, path = max(position, block.end), block.heading_path
    if document.text[position:].strip():
        yield Block(BlockKind.PARAGRAPH, position, len(document.text), heading_path=path)


# --- joining


def join(sections: Sequence[Section], target: Mapping[Path, int]) -> list[Section]:
    """Short sections joined with the next one; `target` has the tokens for a passage below each path.

    What stands before the first heading (title, names, dates) goes with the section after it, a heading with
    nothing below it with what follows on the same level, short sections of one parent with each other.
    """
    joined: list[Section] = []
    for section in sections:
        left = joined[-1] if joined else None
        if left is not None and _opens(left, section):
            joined[-1] = _join(left, section, max((section, left), key=lambda s: s.tokens).path)
        elif left is not None and _are_short_siblings(left, section, target):
            joined[-1] = _join(left, section, left.parent)
        else:
            joined.append(section)
    return joined


def _opens(left: Section, right: Section) -> bool:
    same_place = left.is_front or (left.is_heading and right.path[: len(left.path)] == left.path)
    return same_place and left.tokens < SHORT and _heading_tokens(left, right) <= _HEADINGS


def _are_short_siblings(left: Section, right: Section, target: Mapping[Path, int]) -> bool:
    if left.is_heading or right.is_heading or not right.path or left.parent != right.path[:-1]:
        return False
    is_short = right.tokens < SHORT and (left.tokens < SHORT or left.path == left.parent)
    headings = _heading_tokens(left, right)
    return is_short and headings <= _HEADINGS and left.tokens + headings + right.tokens <= target.get(left.parent, 0)


def _heading_tokens(left: Section, right: Section) -> int:
    return sum(heading.unit.tokens for heading in (*left.head, *right.head))


def _join(left: Section, right: Section, path: Path) -> Section:
    """Both as one below `path`, from the first heading on that `path` does not carry."""
    head = left.head
    carried = next((i for i, heading in enumerate(head) if path[: len(heading.path)] != heading.path), len(head))
    units = (*(h.unit for h in head[carried:]), *left.units, *(h.unit for h in right.head), *right.units)
    is_group = path == left.parent and path != right.path
    return Section(
        path,
        path if is_group else path[:-1],
        head[:carried],
        units,
        is_heading=left.is_heading and right.is_heading,
        is_front=left.is_front and path == left.path,
    )
