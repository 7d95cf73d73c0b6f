"""Spans of documents for corpus-aware pre-training: what belongs together, and what must not be told apart.

Two spans of one document are each other's positive, spans of all other documents are negatives. Where documents hold
the same text (copies, versions, notices at the foot of every page) a negative would be a lie: such pairs are named
here, so that the loss leaves them out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from core.base.events import Control
from core.text.sentences import split
from core.train.alike import ALIKE, shingles
from core.train.types import Piece

LENGTH = 400  # characters, about 80 tokens, as the authors of Condenser advise
LEAST = 60
MOST = 20_000  # passages: a batch draws few documents, and what says the same is looked for among all of them
_CHECKED = 1000  # shingles, after which it is heard whether to go on
_COMMON = 40  # spans that hold a shingle, beyond which it is boilerplate


@dataclass(frozen=True, slots=True)
class Spans:
    """`texts` of all spans; `documents` lists the spans of each document, at least two; `doubles` names for a span
    those of other documents that say nearly the same."""

    texts: tuple[str, ...]
    documents: tuple[tuple[int, ...], ...]
    doubles: dict[int, frozenset[int]]

    def mask(self, spans: Sequence[int]) -> npt.NDArray[np.bool_]:
        """[S, S]: which of these spans are no negatives of one another."""
        place = defaultdict(list)
        for at, span in enumerate(spans):
            place[span].append(at)
        mask = np.zeros((len(spans), len(spans)), bool)
        for at, span in enumerate(spans):
            for other in self.doubles.get(span, ()):
                mask[at, place.get(other, [])] = True
        return mask


def make(pieces: Sequence[Piece], *, most: int = MOST, seed: int = 0, control: Control | None = None) -> Spans:
    """The spans of a library. Documents of fewer than two are left out, and so are spans that are boilerplate.

    Above `most` passages they are those of documents drawn by chance.

    Raises:
        Cancelled: by `control`.
    """
    control = control or Control()
    of_group: dict[int, list[str]] = defaultdict(list)
    for piece in drawn(pieces, most, seed):
        control.check()
        of_group[piece.group].extend(cut(piece.text))
    shingled: dict[int, list[tuple[str, frozenset[int]]]] = {}
    for group, found_texts in of_group.items():
        control.check()
        shingled[group] = [(text, shingles(text)) for text in dict.fromkeys(found_texts)]
    counts = Counter(shingle for spans in shingled.values() for _, found in spans for shingle in found)
    texts: list[str] = []
    documents: list[tuple[int, ...]] = []
    kept: list[frozenset[int]] = []
    for spans in shingled.values():
        own = [(text, found) for text, found in spans if not _boilerplate(found, counts)]
        if len(own) >= 2:
            documents.append(tuple(range(len(texts), len(texts) + len(own))))
            texts += [text for text, _ in own]
            kept += [found for _, found in own]
    return Spans(tuple(texts), tuple(documents), _doubles(kept, documents, control))


def drawn(pieces: Sequence[Piece], most: int, seed: int) -> Sequence[Piece]:
    """All passages of documents drawn by chance, as many as go into `most` passages; in their order.

    A document that is longer than what is left gives its first ones.
    """
    if len(pieces) <= most:
        return pieces
    of_group: dict[int, list[int]] = defaultdict(list)
    for place, piece in enumerate(pieces):
        of_group[piece.group].append(place)
    groups = list(of_group.values())
    order = np.random.default_rng(seed).permutation(len(groups))
    places = [place for number in order.tolist() for place in groups[number]][:most]
    return [pieces[place] for place in sorted(places)]


def cut(text: str) -> list[str]:
    """A passage in spans of whole sentences, each about `LENGTH` characters; a short end goes with the one before."""
    made: list[str] = []
    begin = None
    for start, end in split(text):
        begin = start if begin is None else begin
        if end - begin >= LENGTH:
            made.append(text[begin:end])
            begin = None
    if begin is not None and len(text) - begin >= LEAST:
        made.append(text[begin:].strip())
    return made if len(made) > 1 or len(text) < 2 * LEAST else _halves(text)


def _halves(text: str) -> list[str]:
    """A short document in two, where one sentence ends: an abstract has spans, too."""
    ends = [end for _, end in split(text) if LEAST <= end <= len(text) - LEAST]
    if not ends:
        return [text]
    middle = min(ends, key=lambda end: abs(end - len(text) / 2))
    return [text[:middle].strip(), text[middle:].strip()]


def _boilerplate(found: frozenset[int], counts: Counter[int]) -> bool:
    common = sum(counts[shingle] > _COMMON for shingle in found)
    return common > len(found) / 2


def _doubles(
    found: Sequence[frozenset[int]], documents: Iterable[tuple[int, ...]], control: Control
) -> dict[int, frozenset[int]]:
    """Spans of different documents that share at least half of the shorter one's shingles."""
    owner = {span: number for number, spans in enumerate(documents) for span in spans}
    holding: dict[int, list[int]] = defaultdict(list)
    for span, own in enumerate(found):
        for shingle in own:
            holding[shingle].append(span)
    shared: Counter[tuple[int, int]] = Counter()
    for number, spans in enumerate(holding.values()):
        if number % _CHECKED == 0:
            control.check()
        if 1 < len(spans) <= _COMMON:
            shared.update(pair for pair in combinations(spans, 2) if owner[pair[0]] != owner[pair[1]])
    alike: dict[int, set[int]] = defaultdict(set)
    for (left, right), count in shared.items():
        if count >= ALIKE * min(len(found[left]), len(found[right])):
            alike[left].add(right)
            alike[right].add(left)
    return {span: frozenset(others) for span, others in alike.items()}
