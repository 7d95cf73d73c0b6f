"""From a read document to passages: cut where the document itself has seams.

A passage never crosses a heading. Within a section, sentences (table rows, code lines) are packed up to about
`TARGET` encoder tokens, at paragraph ends where that fits; what the encoder sees of title and headings is
taken off the budget. A sentence that is too long alone is cut at clauses, then at spaces, then anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.base.types import Block, BlockKind, Page, ReadDocument
from core.text.sentences import split

TARGET = 180  # tokens a passage should have
LIMIT = 250  # tokens a passage may have
_CONTEXT = 70  # tokens of title and headings that shorten a passage at most
_SHORT = 40  # a rest below this joins the passage before it
_CHARACTERS = 8 * LIMIT  # a sentence above this is cut whatever its tokens: some tokenizers see one unknown word
_BATCH = 4096  # texts a call of the token counter

CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class CutPassage:
    """A range of the document's text; pages are None where the format has none."""

    start: int
    end: int
    first_page: int | None
    last_page: int | None
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is never cut further: a sentence or a piece of one. `last` marks the end of its block."""

    start: int
    end: int
    tokens: int
    heading_path: tuple[str, ...]
    section: int  # changes at every heading
    last: bool


def cut(document: ReadDocument, count_tokens: CountTokens) -> list[CutPassage]:
    """Passages of `document` in order, together all its text; headings stand in the `heading_path`.

    `count_tokens` gives the encoder's tokens of each text, without special tokens. A heading with nothing
    below it becomes a passage of its own, so that it can be found.
    """
    units = _units(document, count_tokens)
    context = _context_tokens(document.title, units, count_tokens)
    passages: list[CutPassage] = []
    for _, section in groupby(units, key=lambda unit: unit.section):
        members = list(section)
        path = members[0].heading_path
        for group in _pack(members, context[path]):
            start, end = group[0].start, group[-1].end
            first, last = _page_at(document.pages, start), _page_at(document.pages, end - 1)
            passages.append(CutPassage(start, end, first, last, path))
    return passages


def _page_at(pages: Sequence[Page], position: int) -> int | None:
    if not pages:
        return None
    return pages[max(0, bisect_right(pages, position, key=lambda page: page.start) - 1)].number


def _context_tokens(title: str, units: list[_Unit], count_tokens: CountTokens) -> dict[tuple[str, ...], int]:
    """How much of the budget each heading path takes."""
    paths = list(dict.fromkeys(unit.heading_path for unit in units))
    counts = _count(["\n".join((title, *path)) for path in paths], count_tokens)
    return {path: min(count, _CONTEXT) for path, count in zip(paths, counts, strict=True)}


def _count(texts: Sequence[str], count_tokens: CountTokens) -> list[int]:
    counts: list[int] = []
    for begin in range(0, len(texts), _BATCH):
        counts.extend(count_tokens(texts[begin : begin + _BATCH]))
    return counts


# --- units


def _units(document: ReadDocument, count_tokens: CountTokens) -> list[_Unit]:
    """Sentences of all blocks that carry text, with their tokens; long ones in pieces."""
    text = document.text
    spans: list[tuple[int, int, tuple[str, ...], int, bool]] = []
    for section, block in _body(document):
        inner = _inner_spans(text, block)
        spans.extend(
            (start, end, block.heading_path, section, index == len(inner) - 1)
            for index, (start, end) in enumerate(inner)
        )
    counts = _count([text[span[0] : span[1]] for span in spans], count_tokens)
    units: list[_Unit] = []
    for (start, end, path, section, last), tokens in zip(spans, counts, strict=True):
        if tokens <= LIMIT - _CONTEXT and end - start <= _CHARACTERS:
            units.append(_Unit(start, end, tokens, path, section, last))
            continue
        pieces = _cut_long(text, start, end, count_tokens)
        units.extend(
            _Unit(begin, stop, size, path, section, last and stop == pieces[-1][1]) for begin, stop, size in pieces
        )
    return units


def _inner_spans(text: str, block: Block) -> list[tuple[int, int]]:
    piece = text[block.start : block.end]
    if block.kind is BlockKind.TABLE_ROW:
        inner = piece.strip()
        start = block.start + len(piece) - len(piece.lstrip())
        return [(start, start + len(inner))] if inner else []
    return [(block.start + start, block.start + end) for start, end in split(piece)]


def _body(document: ReadDocument) -> Iterator[tuple[int, Block]]:
    """Blocks whose text must stand in a passage, each with the number of its section.

    A section ends at every heading. A heading is body itself when no block follows that carries it in its path.
    """
    section = 0
    blocks = list(_without_gaps(document))
    for index, block in enumerate(blocks):
        if block.kind is not BlockKind.HEADING:
            yield section, block
            continue
        section += 1
        own_path = (*block.heading_path, document.text[block.start : block.end])
        following = blocks[index + 1].heading_path if index + 1 < len(blocks) else ()
        if following[: len(own_path)] != own_path:
            yield section, block


def _without_gaps(document: ReadDocument) -> Iterator[Block]:
    """The blocks, and a paragraph for any text between them, so that none is lost."""
    position, path = 0, ()  # type: tuple[int, tuple[str, ...]]
    for block in document.blocks:
        if document.text[position : block.start].strip():
            yield Block(BlockKind.PARAGRAPH, position, block.start, heading_path=path)
        yield block
        position, path = max(position, block.end), block.heading_path
    if document.text[position:].strip():
        yield Block(BlockKind.PARAGRAPH, position, len(document.text), heading_path=path)


# --- packing


def _pack(units: list[_Unit], context: int) -> list[list[_Unit]]:
    """Runs of units of one section, each within the budget that `context` leaves."""
    target, limit = TARGET - context // 2, LIMIT - context
    groups: list[list[_Unit]] = []
    size = 0
    rest_of_block = _block_sizes(units)
    for index, unit in enumerate(units):
        if not groups or _should_break(groups[-1], size, unit, rest_of_block[index], target, limit):
            groups.append([])
            size = 0
        groups[-1].append(unit)
        size += unit.tokens
    return _join_short_rest(groups, limit)


def _should_break(group: list[_Unit], size: int, unit: _Unit, block_size: int, target: int, limit: int) -> bool:
    """Does `unit` open a new passage? Ends of blocks are taken early, ends of sentences late."""
    if size + unit.tokens > limit:
        return True
    if unit.end - group[0].start > _CHARACTERS:
        return True
    if group[-1].last and size + block_size > target:
        return size >= target * 0.75
    return size + unit.tokens > target and size >= target * 0.7


def _block_sizes(units: list[_Unit]) -> list[int]:
    """For each unit, the tokens from it to the end of its block."""
    sizes = [0] * len(units)
    total = 0
    for index in range(len(units) - 1, -1, -1):
        total = units[index].tokens if units[index].last else total + units[index].tokens
        sizes[index] = total
    return sizes


def _join_short_rest(groups: list[list[_Unit]], limit: int) -> list[list[_Unit]]:
    if len(groups) > 1:
        before, rest = groups[-2], groups[-1]
        tokens = sum(unit.tokens for unit in rest)
        fits = tokens + sum(unit.tokens for unit in before) <= limit and rest[-1].end - before[0].start <= _CHARACTERS
        if tokens < _SHORT and fits:
            return [*groups[:-2], before + rest]
    return groups


# --- sentences that are too long

_WIDE_CLAUSE_ENDS = "、，；："
_ATOM = re.compile(rf"(?:[^\s{_WIDE_CLAUSE_ENDS}]{{1,24}}[{_WIDE_CLAUSE_ENDS}]?|[{_WIDE_CLAUSE_ENDS}])\s*")
_CLAUSE_ENDS = tuple(",;:،؛—–|" + _WIDE_CLAUSE_ENDS)
_JOINERS = "\u200d\ufe0f"  # what holds an emoji together
_PIECE = TARGET - _CONTEXT


def _cut_long(text: str, start: int, end: int, count_tokens: CountTokens) -> list[tuple[int, int, int]]:
    """Pieces `(start, end, tokens)` of a sentence: cut behind a clause, else behind a space, else anywhere."""
    atoms = list(_atoms(text, start, end))
    counts = _count([text[a:b] for a, b in atoms], count_tokens)
    pieces: list[tuple[int, int, int]] = []
    first = 0
    while first < len(atoms):
        stop = _piece_end(text, atoms, counts, first)
        begin, finish = atoms[first][0], atoms[stop - 1][1]
        pieces.append((begin, begin + len(text[begin:finish].rstrip()), sum(counts[first:stop])))
        first = stop
    return pieces


def _atoms(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Words with the white space behind them; endless words in parts, never inside a composed character."""
    position = start
    while position < end:
        found = _ATOM.match(text, position, end)
        stop = found.end() if found else end
        while stop < end and stop < position + 40 and (unicodedata.combining(text[stop]) or text[stop] in _JOINERS):
            stop += 1
        yield position, stop
        position = stop


def _piece_end(text: str, atoms: list[tuple[int, int]], counts: list[int], first: int) -> int:
    """Index behind the last atom of the piece that begins with atom `first`."""
    stop, size = first + 1, counts[first]
    while stop < len(atoms) and size + counts[stop] <= _PIECE and atoms[stop][1] - atoms[first][0] <= _CHARACTERS // 2:
        size += counts[stop]
        stop += 1
    if stop == len(atoms):
        return stop
    ends = {index: text[atoms[index - 1][0] : atoms[index - 1][1]] for index in range(stop, (first + stop) // 2, -1)}
    behind_clause = next((i for i, atom in ends.items() if atom.rstrip().endswith(_CLAUSE_ENDS)), 0)
    return behind_clause or next((i for i, atom in ends.items() if atom[-1].isspace()), stop)
