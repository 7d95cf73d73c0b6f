"""What the files within one outer file may cost together, and the names they have taken.

The outermost reading makes one `SharedLimits`; everything nested in it spends from the same budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from core.base.types import DocumentState
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


@dataclass(slots=True)
class Resume:
    """A file is read again because one within it ended the reading process: go on behind the document `after`.

    The file that comes next did the harm; it gets `state` and `reason` and is not opened. `met` tells that it was
    passed: from there on documents count.
    """

    after: str
    state: DocumentState
    reason: str
    reached: bool = False
    met: bool = False

    def leads_to(self, name: str) -> bool:
        """Whether `after` is the file `name` or in it. All before that was read already."""
        return self.after == name or self.after.startswith(f"{name}/")


@dataclass(frozen=True, slots=True)
class SharedLimits(Limits):
    """Limits inside a file with files in it. `names` are the ones taken at this depth; `prefix` leads to it."""

    budget: Budget = field(default_factory=lambda: Budget(0, 0))
    names: dict[str, int] = field(default_factory=dict)
    search: Search | None = None
    resume: Resume | None = None
    prefix: str = ""

    def unique(self, name: str) -> str:
        """`name`, with a number when this depth has that name already."""
        wanted, key = name, name.casefold()
        while key in self.names:
            self.names[wanted.casefold()] += 1
            name = _numbered(wanted, self.names[wanted.casefold()])
            key = name.casefold()
        self.names[key] = 1
        return name

    def deeper(self, name: str, search: Search | None = None) -> SharedLimits:
        """The limits for what is inside the file `name`."""
        return replace(self, nesting=self.nesting - 1, names={}, search=search, prefix=f"{self.prefix}{name}/")


def shared(limits: Limits, search: Search | None = None, resume: Resume | None = None) -> SharedLimits:
    """`limits` with a budget; the very same when they have one."""
    if isinstance(limits, SharedLimits):
        return limits
    plain = {known.name: getattr(limits, known.name) for known in fields(Limits)}
    if resume is not None:
        resume.reached = not resume.after
    budget = Budget(limits.inflated_bytes, limits.members)
    return SharedLimits(**plain, budget=budget, search=search, resume=resume)


def _numbered(name: str, number: int) -> str:
    folder, slash, base = name.rpartition("/")
    stem, dot, suffix = base.rpartition(".")
    if not stem:
        stem, dot, suffix = base, "", ""
    return f"{folder}{slash}{stem} ({number}){dot}{suffix}"
