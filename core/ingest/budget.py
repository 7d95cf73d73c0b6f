"""What the files within one outer file may cost together, and the names they have taken.

The outermost reading makes one `SharedLimits`; everything nested in it spends from the same budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from core.ingest.limits import Limits

REST = "(files that were not read)"  # external id of the document that tells of them


@dataclass(slots=True)
class Budget:
    """What is left, over all depths. `left_out` counts files that were not read for want of it."""

    bytes: int
    members: int
    left_out: int = 0

    @property
    def spent(self) -> bool:
        return self.bytes < 0 or self.members <= 0

    def admit(self) -> bool:
        """Count one more file; False when it is one too many."""
        if self.spent:
            self.left_out += 1
            return False
        self.members -= 1
        return True

    def take(self, size: int) -> bool:
        """Count bytes that unfolded; False when they are too many."""
        self.bytes -= size
        return self.bytes >= 0


@dataclass(frozen=True, slots=True)
class Search:
    """Instead of reading: the one file within that is wanted, and the folder it is to be written to.

    An empty `external_id` is the file at hand. `found` is shared by all depths and gets the path of what was written.
    """

    external_id: str
    folder: Path
    found: list[Path] = field(default_factory=list)

    def within(self, name: str) -> Search | None:
        """The search inside the file `name`; None when what is wanted is not in there."""
        if self.external_id == name or self.external_id.startswith(f"{name}/"):
            return replace(self, external_id=self.external_id[len(name) + 1 :])
        return None


@dataclass(frozen=True, slots=True)
class SharedLimits(Limits):
    """Limits inside a file with files in it. `names` are the ones taken at this depth."""

    budget: Budget = field(default_factory=lambda: Budget(0, 0))
    names: dict[str, int] = field(default_factory=dict)
    search: Search | None = None

    def unique(self, name: str) -> str:
        """`name`, with a number when this depth has that name already."""
        wanted, key = name, name.casefold()
        while key in self.names:
            self.names[wanted.casefold()] += 1
            name = _numbered(wanted, self.names[wanted.casefold()])
            key = name.casefold()
        self.names[key] = 1
        return name

    def deeper(self, search: Search | None = None) -> SharedLimits:
        """The limits for what is inside the next file."""
        return replace(self, nesting=self.nesting - 1, names={}, search=search)


def shared(limits: Limits, search: Search | None = None) -> SharedLimits:
    """`limits` with a budget; the very same when they have one."""
    if isinstance(limits, SharedLimits):
        return limits
    plain = {known.name: getattr(limits, known.name) for known in fields(Limits)}
    return SharedLimits(**plain, budget=Budget(limits.inflated_bytes, limits.members), search=search)


def _numbered(name: str, number: int) -> str:
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".")
    if not stem:
        stem, dot, suffix = base, "", ""
    return f"{folder}{slash}{stem} ({number}){dot}{suffix}"
