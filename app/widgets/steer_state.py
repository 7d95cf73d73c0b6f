"""How a search is steered: what counts more or less, what must be there, what to find more of. Pure: no widgets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from app.i18n import tr
from core.base.types import Lens, Query

OFF, LESS, USUAL, MORE, MUCH = STEPS = (0.0, 0.5, 1.0, 2.0, 4.0)
STEP_WORDS = {
    MUCH: "Count it much more", MORE: "Count it more", USUAL: "Count it as usual", LESS: "Count it less",
    OFF: "Leave it out of account",
}  # fmt: skip
_SAID = {MUCH: "counts much more", MORE: "counts more", LESS: "counts less", OFF: "left out of account"}
_SIGNS = {MUCH: "↑↑", MORE: "↑", LESS: "↓"}  # what is left out is struck out


@dataclass(frozen=True, slots=True)
class ByConcept:
    """A concept to search for: `text` is searched for among the passages that hold it."""

    text: str
    concept: int
    label: str


@dataclass(frozen=True, slots=True)
class Steering:
    """What is asked beside words and filters. `labels` name the concepts in it.

    With `like` the search finds more of that passage (called `like_name`), for the concepts in `because` alone, or for
    all of its meaning. `channels` are the only ways of searching to use; empty for all.
    """

    boosts: dict[int, float] = field(default_factory=dict)
    required: tuple[int, ...] = ()
    like: int | None = None
    like_name: str = ""
    because: tuple[int, ...] = ()
    channels: tuple[str, ...] = ()
    labels: dict[int, str] = field(default_factory=dict, compare=False)

    def __bool__(self) -> bool:
        return bool(self.boosts or self.required or self.like is not None or self.channels)

    @property
    def concepts(self) -> tuple[int, ...]:
        """All concepts that are steered by, in the order in which they came."""
        return tuple(dict.fromkeys((*self.boosts, *self.required)))

    def on(self, query: Query) -> Query:
        """The query, steered."""
        return replace(
            query, boosts=self.boosts, required=self.required, like=self.like, because=self.because,
            channels=self.channels,
        )  # fmt: skip

    def factor(self, concept: int) -> float:
        return self.boosts.get(concept, USUAL)

    def counting(self, concept: int, label: str, factor: float) -> Steering:
        """The same with a concept counting `factor` times."""
        boosts = {i: f for i, f in self.boosts.items() if i != concept or factor != USUAL}
        if factor != USUAL:
            boosts[concept] = factor
        return replace(self, boosts=boosts, labels=self.labels | {concept: label})

    def stepped(self, concept: int, label: str, by: int) -> Steering:
        """One step more (1) or less (-1) of a concept; at the last step nothing changes."""
        at = min(range(len(STEPS)), key=lambda i: abs(STEPS[i] - self.factor(concept)))
        return self.counting(concept, label, STEPS[max(0, min(len(STEPS) - 1, at + by))])

    def requiring(self, concept: int, label: str, on: bool) -> Steering:
        """The same with a concept that every hit must have, or need not have any more."""
        kept = tuple(i for i in self.required if i != concept)
        return replace(
            self, required=(*kept, concept) if on else kept, labels=self.labels | {concept: label}
        )  # fmt: skip

    def without(self, concept: int) -> Steering:
        """The same without anything said of a concept."""
        return self.counting(concept, self.labels.get(concept, ""), USUAL).requiring(
            concept, self.labels.get(concept, ""), False
        )

    def more_like(self, passage: int, name: str, because: dict[int, str]) -> Steering:
        """Find more of a passage because of these concepts; of its whole meaning when there are none."""
        return replace(
            self, like=passage, like_name=name, because=tuple(because), labels=self.labels | because
        )  # fmt: skip

    def freely(self) -> Steering:
        """The same without a passage to find more of."""
        return replace(self, like=None, like_name="", because=())

    def only_by(self, channels: tuple[str, ...]) -> Steering:
        """The same, searching in these ways alone."""
        return replace(self, channels=channels)

    def by_all_ways(self) -> Steering:
        """The same without a limit to some ways of searching."""
        return replace(self, channels=())

    def through(self, lens: Lens, labels: dict[int, str]) -> Steering:
        """Concepts counting as a lens says, in place of what was said of them."""
        named = {i: labels.get(i, "") for i in (*lens.boosts, *lens.required)}
        return replace(self, boosts=dict(lens.boosts), required=lens.required, labels=self.labels | named)

    def fits(self, lens: Lens) -> bool:
        return self.boosts == lens.boosts and set(self.required) == set(lens.required)

    def sign(self, concept: int) -> str:
        """How a concept is steered, as signs before its name."""
        return ("✓" if concept in self.required else "") + _SIGNS.get(self.factor(concept), "")

    def said(self, concept: int) -> str:
        """How a concept is steered, in words; empty for as usual."""
        counts = _SAID.get(self.factor(concept), "")
        parts = [tr(counts)] if counts else []
        if concept in self.required:
            parts.append(tr("must be in every hit"))
        return ", ".join(parts)
