"""The manifests of an index: which generations there are, and which one is current.

`generations/NNNN/manifest.json` describes a generation and never changes; `generations/current.json` names the
current one. Both are written whole or not at all, the pointer last, so a crash leaves the old index valid.
"""

from __future__ import annotations

from pathlib import Path

from core.base.errors import IndexDamaged, NotFound
from core.base.files import read_json, write_json
from core.base.types import Generation
from core.base.wire import from_plain, to_plain
from core.text.analyze import ANALYSIS

FOLDER = "generations"
MANIFEST = "manifest.json"
POINTER = "current.json"
FORMAT = 1

NOTHING = Generation(0, "", 0, (), None, "")  # the index of a library into which nothing was put yet


def folder(library: Path, number: int) -> Path:
    return library / FOLDER / f"{number:04d}"


def current_number(library: Path) -> int | None:
    """The number of the current generation, None when nothing was ever committed.

    Raises:
        IndexDamaged: the pointer cannot be read.
    """
    path = library / FOLDER / POINTER
    try:
        return int(read_json(path)["number"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path) from error


def current(library: Path) -> Generation | None:
    """The current generation, None when nothing was ever committed.

    Raises:
        IndexDamaged: its manifest or the pointer is damaged or lost.
    """
    number = current_number(library)
    if number is None:
        return None
    try:
        return load(library, number)
    except NotFound as error:
        raise damaged(folder(library, number) / MANIFEST) from error


def load(library: Path, number: int) -> Generation:
    """
    Raises:
        NotFound: there is no generation of that number.
        IndexDamaged: its manifest cannot be read.
    """
    path = folder(library, number) / MANIFEST
    try:
        generation = from_plain(Generation, read_json(path))
    except FileNotFoundError:
        raise NotFound(f"There is no index generation {number}.", "Choose one of those kept.") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(path) from error
    if generation.format != FORMAT or generation.number != number:
        raise damaged(path)
    return generation


def history(library: Path) -> list[Generation]:
    """All generations that are kept, oldest first. Those with a damaged manifest are left out."""
    found = []
    for number in numbers(library):
        try:
            found.append(load(library, number))
        except IndexDamaged:
            continue
    return found


def numbers(library: Path) -> list[int]:
    """Numbers of the generation folders that hold a manifest, damaged or not, ascending."""
    root = library / FOLDER
    if not root.is_dir():
        return []
    return sorted(int(p.name) for p in root.iterdir() if p.name.isdecimal() and (p / MANIFEST).is_file())


def outdated_words(made: Generation) -> bool:
    """Whether the texts of this index were taken apart into words in another way than queries are now."""
    return bool(made.segments) and made.analysis != ANALYSIS


def write(library: Path, generation: Generation) -> None:
    """Write the manifest. The generation is complete then, but not yet current."""
    write_json(folder(library, generation.number) / MANIFEST, to_plain(generation))


def switch(library: Path, number: int) -> Generation:
    """Make generation `number` the current one, by one atomic write.

    Raises:
        NotFound, IndexDamaged
    """
    generation = load(library, number)
    write_json(library / FOLDER / POINTER, {"number": number})
    return generation


def forget(library: Path, number: int) -> None:
    """Take a generation out of the history. What only it used is swept by the next writer."""
    (folder(library, number) / MANIFEST).unlink(missing_ok=True)


def damaged(path: Path, detail: str = "") -> IndexDamaged:
    what = f" ({detail})" if detail else ""
    return IndexDamaged(
        f"The index file {path.name} in {path.parent} is damaged or lost{what}.",
        "Repair the library: the index is made again from the stored text.",
    )
