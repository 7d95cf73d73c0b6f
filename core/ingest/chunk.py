"""From a read document to passages: cut where the document itself has seams.

A passage crosses a heading only where a section is too short to stand alone. Within a section, sentences (table
rows, code lines) are packed up to about `TARGET` encoder tokens, at paragraph ends where that fits; what the encoder
sees of title and headings is taken off the budget. A sentence that is too long alone is cut at clauses, then at
spaces, then anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.base.types import Block, BlockKind, Page, ReadDocument
from core.ingest.positions import Positions
from core.ingest.sections import SHORT, Heading, Path, Section, Unit, heading_path, join, spans, title_path
from core.text.sentences import split

TARGET = 180  # tokens a passage should have
LIMIT = 250  # tokens a passage may have
_CONTEXT = 70  # tokens of title and headings that shorten a passage at most
_CHARACTERS = 8 * LIMIT  # a sentence above this is cut whatever its tokens: some tokenizers see one unknown word
_BATCH = 4096  # texts a call of the token counter

CountTokens = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, slots=True)
class CutPassage:
    """A range of the document's text; pages are None where the format has none, `place` is empty without names."""

    start: int
    end: int
    first_page: int | None
    last_page: int | None
    heading_path: tuple[str, ...]
    place: str = ""


def cut(document: ReadDocument, count_tokens: CountTokens) -> list[CutPassage]:
    """Passages of `document` in order, together all its text; headings stand in the `heading_path` or the text.

    `count_tokens` gives the encoder's tokens of each text, without special tokens.
    """
    sections = _sections(document, count_tokens)
    context = _context_tokens(document.title, sections, count_tokens)
    target = {path: TARGET - tokens // 2 for path, tokens in context.items()}
    positions = Positions(document)
    passages: list[CutPassage] = []
    for section in join(sections, target):
        for group in _pack(section.units, context[section.path]):
            start, end = group[0].start, group[-1].end
            first, last = _page_at(document.pages, start), _page_at(document.pages, end - 1)
            passages.append(CutPassage(start, end, first, last, section.path, positions.of(start, end)))
    return passages


def _page_at(pages: Sequence[Page], position: int) -> int | None:
    if not pages:
        return None
    return pages[max(0, bisect_right(pages, position, key=lambda page: page.start) - 1)].number


def _context_tokens(title: str, sections: Sequence[Section], count_tokens: CountTokens) -> dict[Path, int]:
    """How much of the budget each heading path takes, those of joined sections included."""
    paths = list(dict.fromkeys(path for section in sections for path in (section.path, section.parent)))
    counts = _count(["\n".join((title, *path)) for path in paths], count_tokens)
    return {path: min(count, _CONTEXT) for path, count in zip(paths, counts, strict=True)}


def _count(texts: Sequence[str], count_tokens: CountTokens) -> list[int]:
    counts: list[int] = []
    for begin in range(0, len(texts), _BATCH):
        counts.extend(count_tokens(texts[begin : begin + _BATCH]))
    return counts


# --- units


def _sections(document: ReadDocument, count_tokens: CountTokens) -> list[Section]:
    """Sections with the sentences of all their blocks as units."""
    title = title_path(document)
    found = spans(document)
    units = _units(document, [block for span in found for block in (*span.head, *span.blocks)], count_tokens)
    sections: list[Section] = []
    for span in found:
        head = tuple(
            Heading(_whole(units[block.start]), heading_path(document, block))
            for block in span.head
            if units[block.start]
        )
        body = tuple(unit for block in span.blocks for unit in units[block.start])
        parent = span.path if span.is_heading else span.path[:-1]
        is_front = not span.is_heading and span.path in ((), title)
        if body:
            sections.append(Section(span.path, parent, head, body, span.is_heading, is_front))
    return sections


def _whole(units: Sequence[Unit]) -> Unit:
    return Unit(units[0].start, units[-1].end, sum(unit.tokens for unit in units), last=True)


def _units(document: ReadDocument, blocks: Sequence[Block], count_tokens: CountTokens) -> dict[int, list[Unit]]:
    """Sentences of each block (by its start) with their tokens; long ones in pieces."""
    text = document.text
    inner = [(block.start, _inner_spans(text, block)) for block in blocks]
    counts = iter(_count([text[start:end] for _, found in inner for start, end in found], count_tokens))
    units: dict[int, list[Unit]] = {}
    for begin, found in inner:
        units[begin] = []
        for start, end in found:
            last, tokens = end == found[-1][1], next(counts)
            if tokens <= LIMIT - _CONTEXT and end - start <= _CHARACTERS:
                units[begin].append(Unit(start, end, tokens, last))
                continue
            pieces = _cut_long(text, start, end, count_tokens)
            units[begin].extend(Unit(a, b, size, last and b == pieces[-1][1]) for a, b, size in pieces)
    return units


def _inner_spans(text: str, block: Block) -> list[tuple[int, int]]:
    piece = text[block.start : block.end]
    if block.kind is BlockKind.TABLE_ROW:
        inner = piece.strip()
        start = block.start + len(piece) - len(piece.lstrip())
        return [(start, start + len(inner))] if inner else []
    return [(block.start + start, block.start + end) for start, end in split(piece)]


# --- packing


def _pack(units: Sequence[Unit], context: int) -> list[list[Unit]]:
    """Runs of units of one section, each within the budget that `context` leaves."""
    target, limit = TARGET - context // 2, LIMIT - context
    groups: list[list[Unit]] = []
    size = 0
    rest_of_block = _block_sizes(units)
    for index, unit in enumerate(units):
        if not groups or _should_break(groups[-1], size, unit, rest_of_block[index], target, limit):
            groups.append([])
            size = 0
        groups[-1].append(unit)
        size += unit.tokens
    return _join_short_rest(groups, limit)


def _should_break(group: list[Unit], size: int, unit: Unit, block_size: int, target: int, limit: int) -> bool:
    """Does `unit` open a new passage? Ends of blocks are taken early, ends of sentences late."""
    if size + unit.tokens > limit:
        return True
    if unit.end - group[0].start > _CHARACTERS:
        return True
    if group[-1].last and size + block_size > target:
        return size >= target * 0.75
    return size + unit.tokens > target and size >= target * 0.7


def _block_sizes(units: Sequence[Unit]) -> list[int]:
    """For each unit, the tokens from it to the end of its block."""
    sizes = [0] * len(units)
    total = 0
    for index in range(len(units) - 1, -1, -1):
        total = units[index].tokens if units[index].last else total + units[index].tokens
        sizes[index] = total
    return sizes


def _join_short_rest(groups: list[list[Unit]], limit: int) -> list[list[Unit]]:
    if len(groups) > 1:
        before, rest = groups[-2], groups[-1]
        tokens = sum(unit.tokens for unit in rest)
        fits = tokens + sum(unit.tokens for unit in before) <= limit and rest[-1].end - before[0].start <= _CHARACTERS
        if tokens < SHORT and fits:
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
        stop = found.end() if found else position + 1
        while stop < end and stop < position + 40 and (unicodedata.combining(text[stop]) or text[stop] in _JOINERS):
            stop += 1
        while stop < end and text[stop].isspace():
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
