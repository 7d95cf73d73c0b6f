"""The map with a language model: for each group it is given its passages alone, and what it writes is kept only where
every sentence shown is supported by them; else the quotes stay."""

from __future__ import annotations

from dataclasses import dataclass

from core.answer import extractive
from core.answer.backend import Backend
from core.answer.evidence import Evidence, gather
from core.answer.scale import Scale
from core.answer.whole.grouping import Group
from core.answer.whole.telling import Told
from core.answer.write import write
from core.base.events import Control
from core.base.types import Hit, Support
from core.encode.encoder import Encoder

MOST_GROUPS = 30  # that the model is asked about: seconds each


@dataclass(frozen=True, slots=True)
class Mapper:
    question: str
    backend: Backend
    encoder: Encoder
    scale: Scale
    control: Control

    def write(self, group: Group) -> tuple[Told | None, str]:
        """What the model makes of the group, None when it is of no use; and the hash of its prompt.

        Its citations are numbered for themselves. Raises Cancelled.
        """
        passages = list({said.passage.id: said.passage for said in group.said}.values())
        hits = tuple(Hit(n + 1, passage, 0.0, ()) for n, passage in enumerate(passages))
        evidence = gather(self.question, hits, self.encoder, self.control)
        if not evidence.sentences:
            return None, ""
        ranking = extractive.scores(evidence, self.scale)
        chosen = _quoted(evidence, group) or extractive.choose(evidence, ranking)
        draft = write(
            evidence, ranking, chosen, self.backend, self.encoder, self.scale, lambda partial: None, self.control
        )
        if not draft.useful:
            return None, draft.prompt
        sentences = tuple(s for s in draft.sentences if s.support is Support.SUPPORTED)
        return Told(group.heading, sentences), draft.prompt


def _quoted(evidence: Evidence, group: Group) -> list[int]:
    """The sentences of the evidence that are quoted of the group."""
    places = {(said.passage.id, said.start) for said in group.said}
    return [n for n, s in enumerate(evidence.sentences) if (s.passage.id, s.start) in places]
