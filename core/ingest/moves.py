"""Files that were renamed or moved, recognised by their content, so that nothing is read or encoded again.

Only files whose size equals that of a file that left its place are hashed. A file left its place when nothing
lies there any more, or when something else was moved there (two files may have changed places). A file whose
content was replaced by something unknown was edited: it stays itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from core.base.events import Control
from core.ingest.hashing import content_hash, stamp
from core.ingest.scan import FoundFile, ScanResult
from core.store.documents import FileRow
from core.store.living import Move


@dataclass(slots=True)
class Moves:
    """`old` are the paths left, in the order of `moved`."""

    moved: list[Move] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    displaced: list[FileRow] = field(default_factory=list)  # another file was moved to their place: they are gone


def find_moves(found: ScanResult, control: Control, looked: Callable[[int], None]) -> Moves:
    """Take moved files out of `found.read` and `found.gone`. `looked` is told how many files were hashed so far.

    Files that must be read to their end, or in another way under their new name, stay in `found.read`, with the id
    they have.

    Raises:
        Cancelled
    """
    moves = _renamed_roots(found, control, looked)
    gone = {row.id: row for row in found.gone if row.hash}  # also those that a killed job was reading
    changed = {i: row for i, row in found.changed.items() if row.complete and row.hash}
    if not gone and len(changed) < 2:
        return moves
    found.read[:], unsure = _hashed(found.read, gone.values(), changed.values(), control, looked)
    found.gone[:] = [row for row in found.gone if row.size not in unsure]
    gone = {i: row for i, row in gone.items() if row.size not in unsure}
    targets = [f for f in found.read if f.hash]
    taken = _taken(targets, gone, changed)
    sources = _by_hash([*gone.values(), *(changed[i] for i in taken)])
    others = _assign(found, targets, taken, sources)
    return Moves(moves.moved + others.moved, moves.old + others.old, others.displaced)


def _renamed_roots(found: ScanResult, control: Control, looked: Callable[[int], None]) -> Moves:
    """Files of a folder that was added and is not there any more, found elsewhere under the same path in it."""
    waiting: dict[tuple[str, int], list[tuple[FileRow, str]]] = defaultdict(list)
    for row, base in found.missing:
        if row.hash:
            waiting[PurePath(row.path).name, row.size].append((row, row.path[len(base.rstrip("/\\")) :]))
    moves, left = Moves(), []
    for file in found.read:
        rows = waiting.get((PurePath(file.text).name, file.size), []) if file.file_id is None else []
        same = [(row, tail) for row, tail in rows if file.text.endswith(tail)]
        if not same or file.online_only:
            left.append(file)
            continue
        file = _with_hash(file, control)
        looked(len(moves.moved))
        match = next((pair for pair in same if pair[0].hash == file.hash), None)
        if match is None:
            left.append(file)
            continue
        rows.remove(match)
        row = match[0]
        moves.moved.append(Move(row.id, file.text, file.root_id, file.size, file.mtime_ns))
        moves.old.append(row.path)
        if not row.complete:
            left.append(replace(file, file_id=row.id))
    found.read[:] = left
    return moves


def _hashed(
    files: list[FoundFile], gone: Iterable[FileRow], changed: Iterable[FileRow], control: Control,
    looked: Callable[[int], None],
) -> tuple[list[FoundFile], set[int]]:  # fmt: skip
    """The files, with the hash of those that may be one of the rows by their size.

    Also the sizes of those that went on or changed meanwhile: they may be any row of this size, so that the next
    scan decides of what is gone.
    """
    sizes: dict[int, set[int]] = defaultdict(set)
    for row in (*gone, *changed):
        sizes[row.size].add(row.id)
    result, unsure, count = [], set(), 0
    for file in files:
        others = sizes.get(file.size, set()) - {file.file_id}
        if others and not file.online_only:
            file = _with_hash(file, control)
            count += 1
            looked(count)
            if not file.hash:
                unsure.add(file.size)
        result.append(file)
    return result, unsure


def _with_hash(file: FoundFile, control: Control) -> FoundFile:
    try:
        before = stamp(file.path)
        found = content_hash(file.path, control)
        steady = before == stamp(file.path) == (file.size, file.mtime_ns)
    except OSError:  # reading it will say why
        return file
    return replace(file, hash=found) if steady else file


def _taken(targets: list[FoundFile], gone: dict[int, FileRow], changed: dict[int, FileRow]) -> set[int]:
    """Ids of changed files whose place another known file took: the largest set that explains itself."""
    wanted = {f.file_id: f.hash for f in targets if f.file_id in changed and f.hash != changed[f.file_id].hash}
    taken = {i for i in wanted if i is not None}
    while True:
        sources: dict[str, int] = defaultdict(int)
        for row in (*gone.values(), *(changed[i] for i in taken)):
            sources[row.hash] += 1
        left = {i for i in taken if sources[wanted[i]] > 0}
        if left == taken:
            return taken
        taken = left


def _by_hash(rows: Iterable[FileRow]) -> dict[str, list[FileRow]]:
    found: dict[str, list[FileRow]] = defaultdict(list)
    for row in rows:
        found[row.hash].append(row)
    return found


def _assign(found: ScanResult, targets: list[FoundFile], taken: set[int], sources: dict[str, list[FileRow]]) -> Moves:
    moves = Moves()
    done: set[str] = set()
    used: set[int] = set()
    again: dict[str, FoundFile] = {}
    for target, row in _pairs([f for f in targets if f.file_id is None or f.file_id in taken], sources):
        used.add(row.id)
        done.add(target.text)
        moves.moved.append(Move(row.id, target.text, target.root_id, target.size, target.mtime_ns))
        moves.old.append(row.path)
        if not row.complete or not _same_kind(row.path, target.text):
            again[target.text] = replace(target, file_id=row.id, known_hash="", stored=row.state.has_text)
    occupied = {m.path for m in moves.moved}
    moves.displaced = [found.changed[i] for i in taken if i not in used and found.changed[i].path in occupied]
    found.gone[:] = [row for row in found.gone if row.id not in used]
    homeless = used & set(found.changed)
    found.read[:] = [
        again.get(f.text) or (replace(f, file_id=None, known_hash="") if f.file_id in homeless else f)
        for f in found.read if f.text not in done or f.text in again
    ]  # fmt: skip
    return moves


def _pairs(targets: list[FoundFile], sources: dict[str, list[FileRow]]) -> list[tuple[FoundFile, FileRow]]:
    """Each target with a row of equal content, used once: one of the same name first, then whichever is left."""
    pairs: list[tuple[FoundFile, FileRow]] = []
    left: list[FoundFile] = []
    used: set[int] = set()
    named: dict[tuple[str, str], list[FileRow]] = defaultdict(list)
    for content, rows in sources.items():
        for row in sorted(rows, key=lambda r: r.path, reverse=True):
            named[content, PurePath(row.path).name].append(row)
    for target in sorted(targets, key=lambda f: f.text):
        same = named[target.hash, PurePath(target.text).name]
        if same and same[-1].path != target.text:
            pairs.append((target, same.pop()))
            used.add(pairs[-1][1].id)
        else:
            left.append(target)
    for target in left:
        rows = [r for r in sources.get(target.hash, []) if r.id not in used and r.path != target.text]
        if rows:
            pairs.append((target, min(rows, key=lambda r: r.path)))
            used.add(pairs[-1][1].id)
    return pairs


def _same_kind(old: str, new: str) -> bool:
    """Whether the reader is the same under both names, as far as it goes by the name."""
    before, after = PurePath(old), PurePath(new)
    if before.name == after.name:
        return True
    return before.suffix.lower() == after.suffix.lower() != ""
