"""What there is to see of a library's concepts: those of a query, of its best hits, one in detail, all as a map, those
of some documents, and how two sets of documents differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.base.errors import NotFound
from core.base.recent import Recent
from core.base.types import (
    Concept,
    ConceptDetail,
    ConceptExample,
    ConceptPoint,
    ConceptWeight,
    Difference,
    Filters,
    Passage,
    Query,
    Span,
)
from core.concepts import landscape
from core.concepts.shares import Counts, Shown, apart, differences
from core.encode.encoder import Encoder
from core.explain.sentences import places, read
from core.index.concept_codes import ConceptCodes
from core.index.dense import Floats
from core.index.snapshot import Ids, Snapshot
from core.search import filters as filtering
from core.search.searcher import Searcher
from core.store import passages as stored
from core.store.concepts import weak

BEST_HITS = 50  # whose concepts are the facets
MOST_LISTED = 24
_LEAST_HITS = 2  # that share a facet
_EXAMPLES, _BESIDE = 6, 8
_LOOKED_AT = 2_000  # passages, the strongest, in which concepts that stand together are counted


# sentences by model, passage and latents, kept for as long as they may be looked at again: a passage never changes
Marked = Recent[tuple[str, int, tuple[int, ...]], tuple[Span, ...]]


@dataclass(frozen=True)
class Concepts:
    """A snapshot's concepts: `reasons` are those that may be shown as reasons, `known` all that are not hidden."""

    snapshot: Snapshot
    codes: ConceptCodes
    reasons: Shown
    known: Shown
    every: Mapping[int, Concept]
    marked: Marked

    @classmethod
    def of(cls, snapshot: Snapshot, named: Sequence[Concept], marked: Marked) -> Concepts | None:
        """None where the index has no concepts (yet)."""
        codes = snapshot.codes
        if codes is None:
            return None
        seen = [c for c in named if not c.hidden]
        reasons, known = (
            Shown.of(some, codes.model.latents) for some in ([c for c in seen if not weak(c)], seen)
        )  # fmt: skip
        return cls(snapshot, codes, reasons, known, {c.id: c for c in named}, marked)

    def of_query(self, searcher: Searcher, query: Query) -> list[ConceptWeight]:
        """Those that are active in the query's vector, strongest first; `passages` are those of the library.

        Raises:
            BadQuery: the query is empty.
        """
        vector = searcher.query_vector(query)
        if vector is None:
            return []
        activations_M = self.codes.model.encode(vector[None, :])[0]
        strength: dict[int, float] = {}
        for latent in np.flatnonzero(activations_M).tolist():
            if (concept := int(self.reasons.as_M[latent])) >= 0:
                strength[concept] = strength.get(concept, 0.0) + float(activations_M[latent])
        shown = self.reasons
        found = [ConceptWeight(c, shown.label(c), a, shown.concepts[c].passages) for c, a in strength.items()]
        return sorted(found, key=lambda one: (-one.weight, one.id))

    def facets(self, hits: Ids) -> list[ConceptWeight]:
        """Those that set the best of the `hits` apart, the most telling first; what all share would filter nothing."""
        best = hits[:BEST_HITS]
        found = self.apart(best)
        return [one for one in found if _LEAST_HITS <= one.passages < len(best) and one.lift > 1][:MOST_LISTED]

    def profile(self, filters: Filters) -> list[ConceptWeight]:
        """Those of the documents that the filters let through, the most telling first. Raises BadQuery."""
        return self.apart(self._let_through(filters))[:MOST_LISTED]

    def difference(self, first: Filters, second: Filters) -> list[Difference]:
        """How two sets of documents differ. Raises BadQuery."""
        sets = [self._let_through(one) for one in (first, second)]
        counts = [self._counts(ids) for ids in sets]
        return differences(self.reasons, counts[0], len(sets[0]), counts[1], len(sets[1]))[: 2 * MOST_LISTED]

    def apart(self, ids: Ids) -> list[ConceptWeight]:
        """All concepts of these passages beside the library, the most telling first."""
        if len(ids) == 0:
            return []
        return apart(self.reasons, self._counts(ids), len(ids), self._everywhere, self.snapshot.passage_count)

    @cached_property
    def _everywhere(self) -> Counts:
        return self._counts(self.snapshot.ids())

    def _counts(self, ids: Ids) -> Counts:
        return self.reasons.counts(self.codes.active(ids))

    def _let_through(self, filters: Filters) -> Ids:
        ids = filtering.allowed(self.snapshot.db, filters)
        return self.snapshot.ids() if ids is None else np.intersect1d(ids, self.snapshot.ids())

    def map(self) -> list[ConceptPoint]:
        """Where each concept lies, those that are alike near each other."""
        concepts = sorted(self.known.concepts)
        rows = landscape.unit_rows(self.codes.model.decoder[concepts])
        points, groups = landscape.places(rows), landscape.groups(rows)
        return [
            ConceptPoint(c, self.known.label(c), float(x), float(y), self.known.concepts[c].passages, int(group))
            for c, (x, y), group in zip(concepts, points, groups, strict=True)
        ]

    def detail(self, concept_id: int, encoder: Encoder) -> ConceptDetail:
        """One concept, hidden or not; of one that was merged that as which it counts. Raises NotFound."""
        concept = next((c for c in self.every.values() if concept_id in (c.id, *c.merged)), None)
        if concept is None:
            raise NotFound(f"There is no concept {concept_id} here.", "Concepts may have been fitted anew: look again.")
        ids, activations = self._passages(concept)
        concept = replace(concept, passages=len(ids))  # now: documents go, and merged ones share passages
        order = np.argsort(-activations, kind="stable")
        dated = stored.dated(self.snapshot.db, ids.tolist())
        months = Counter(month for _, month in dated if month)
        return ConceptDetail(
            concept, self._examples(concept, ids[order], activations[order], encoder),
            self._together(concept, ids[order[:_LOOKED_AT]]), self._near(concept), len({d for d, _ in dated}),
            tuple(sorted(months.items())),
        )  # fmt: skip

    def _passages(self, concept: Concept) -> tuple[Ids, Floats]:
        """Its passages, ids ascending, each with its strongest activation."""
        found = [self.codes.postings(latent) for latent in (concept.id, *concept.merged)]
        ids, place = np.unique(np.concatenate([i for i, _ in found]), return_inverse=True)
        activations = np.zeros(len(ids), np.float32)
        np.maximum.at(activations, place, np.concatenate([a for _, a in found]))
        return ids, activations

    def _examples(
        self, concept: Concept, ids: Ids, activations: Floats, encoder: Encoder
    ) -> tuple[ConceptExample, ...]:  # fmt: skip
        """The strongest passages, equal texts once, with the sentences in which the concept is strongest."""
        first = ids[: 4 * _EXAMPLES].tolist()
        hashes = self.snapshot.hashes_of(first)
        distinct = list({hashes[i]: i for i in reversed(first) if i in hashes}.values())[::-1][:_EXAMPLES]
        found, strength = self.snapshot.passages(distinct), dict(zip(first, activations.tolist(), strict=False))
        latents = (concept.id, *concept.merged)
        there = [found[i] for i in distinct if i in found]
        return tuple(ConceptExample(p, strength[p.id], self._places(p, latents, encoder)) for p in there)

    def _places(self, passage: Passage, latents: tuple[int, ...], encoder: Encoder) -> tuple[Span, ...]:
        key = self.snapshot.generation.concepts, passage.id, latents
        spans = self.marked.get(key)
        if spans is None:
            sentences = read(encoder, passage.text, passage.language)
            found = places(self.codes.model, self.snapshot.means, passage.language, sentences, latents)
            spans = tuple(sorted({s for one in found.values() for s in one.spans}, key=lambda span: span.start))
            self.marked.put(key, spans)
        return spans

    def _together(self, concept: Concept, ids: Ids) -> tuple[ConceptWeight, ...]:
        """Concepts that stand in its passages more often than elsewhere."""
        beside = [one for one in self.apart(ids) if one.id != concept.id and one.lift > 1 and one.passages > 1]
        return tuple(beside[:_BESIDE])

    def _near(self, concept: Concept) -> tuple[ConceptWeight, ...]:
        """Concepts with the most similar directions; `weight` is the cosine."""
        others = sorted(set(self.known.concepts) - {concept.id})
        rows = landscape.unit_rows(self.codes.model.decoder[[concept.id, *others]])
        cosines = rows[1:] @ rows[0]
        best = np.argsort(-cosines, kind="stable")[:_BESIDE]
        known = self.known
        return tuple(
            ConceptWeight(others[i], known.label(others[i]), float(cosines[i]), known.concepts[others[i]].passages)
            for i in best.tolist() if cosines[i] > 0
        )  # fmt: skip
