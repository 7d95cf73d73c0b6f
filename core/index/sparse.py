"""The sparse channels of a snapshot: words kept in memory while they are hot, the best passages found by early cut.

A word's bound is the largest impact it has anywhere. Words are taken by falling bound, and once the k-th best
passage is sure to score more than all words to come can add up to, no new passage is looked at: the words left are
only looked up for the candidates there are (MaxScore: Turtle & Flood 1995). What a passage scores is summed word by
word in the order of the query, the same number whichever way it was found.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from core.index import rows
from core.index.members import Members
from core.index.postings import LENGTHS, SCHEMES, Ordinals, Postings, Weights, union
from core.text.analyze import QueryTerm

Mask = npt.NDArray[np.bool_]

MOST_HELD = 96 << 20  # bytes of words in memory; the longest unused goes first
_MOST_COUNTS = 100_000  # terms whose number of passages is remembered
_FEW = 100_000  # postings that are added up faster than they are cut
_SLACK = 1e-9  # relative: bounds are summed in another order than scores
_PRUNED_EVERY = 100_000  # postings
_LOOKED_UP = 8  # times as many postings as candidates make looking up cheaper than adding up
_NOTHING = (np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True, slots=True)
class Word:
    """A query word over all segments: the living passages that hold it, ordinals ascending, with their impacts.

    It adds `weight` times the impact, at most `bound`.
    """

    ordinals: Ordinals
    impacts: Weights
    bound: float
    weight: float = 1.0

    def __len__(self) -> int:
        return len(self.ordinals)

    def of(self, ordinals: Ordinals) -> Weights:
        """What it adds to these passages, 0 where they lack it."""
        if len(self.ordinals) == 0:
            return np.zeros(len(ordinals))
        place = self.ordinals.searchsorted(ordinals)
        place[place == len(self.ordinals)] = 0
        return np.where(self.ordinals[place] == ordinals, self.weight * self.impacts[place], 0.0)

    def scores(self) -> Weights:
        """What it adds to the passages that hold it."""
        return self.impacts if self.weight == 1.0 else self.weight * self.impacts

    def times(self, weight: float) -> Word:
        return Word(self.ordinals, self.impacts, weight * self.bound, weight)


class Sparse:
    """Not for two threads at a time. All methods raise IndexDamaged when a row cannot be read."""

    def __init__(
        self, db: Database, segments: Sequence[int], members: Members, lengths: npt.NDArray[np.float32],
        stored: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`segments` are their ids, `lengths` the terms per passage, by ordinal; `stored` names the channels that have
        another name in the database."""
        self._db, self._segments, self._members, self._lengths = db, segments, members, lengths
        self._stored = stored or {}
        total = float(lengths[members.alive].sum(dtype=np.float64))
        self._average_length = total / members.living if members.living else 0.0
        self._norms: dict[str, Weights] = {}
        self._own_lengths: dict[str, Weights] = {}
        self._held: OrderedDict[tuple[str, tuple[str, ...]], Word] = OrderedDict()
        self._bytes = 0
        self._counts: dict[tuple[str, str], int] = {}

    def words(self, channel: str, terms: Sequence[QueryTerm]) -> list[Word]:
        """The words of a query in its order, their impacts times the query's weights."""
        missing = dict.fromkeys(t.alternatives for t in terms if (channel, t.alternatives) not in self._held)
        read = self._read(channel, list(missing)) if missing else {}
        found = []
        for term in terms:
            word = read.get(term.alternatives)
            if word is None:
                word = self._held[channel, term.alternatives]
                self._held.move_to_end((channel, term.alternatives))
            found.append(word.times(term.weight))
        self._hold(channel, read)
        return found

    def frequencies(self, channel: str, texts: Sequence[str]) -> dict[str, int]:
        """In how many living passages each of these index terms stands."""
        missing = [text for text in texts if (channel, text) not in self._counts]
        if missing:
            if len(self._counts) > _MOST_COUNTS:
                self._counts.clear()
                missing = list(texts)
            self._counts.update({(channel, text): count for text, count in self._counted(channel, missing).items()})
        return {text: self._counts[channel, text] for text in texts}

    def _counted(self, channel: str, texts: Sequence[str]) -> dict[str, int]:
        found = dict.fromkeys(texts, 0)
        for number, first, end in self._members.segments():
            alive = self._members.alive[first:end]
            counted = rows.count_postings(self._db, self._segments[number], self._name(channel), texts, alive)
            for text, count in counted.items():
                found[text] += count
        return found

    def top(self, words: Sequence[Word], k: int, mask: Mask | None) -> tuple[Ordinals, Weights]:
        """At least the `k` passages with the largest positive scores: none of equal score is missing.

        `mask` says by ordinal which may be found (None: all that are alive).
        """
        if k < 1:
            return _NOTHING
        if sum(len(word) for word in words) <= max(_FEW, len(self._lengths) // 8):
            return _added_up(words, k, mask, len(self._lengths))
        candidates = _Cut(words, k, mask, len(self._lengths)).candidates()
        return _at_least_kth(candidates, scores_at(words, candidates), k)

    def _read(self, channel: str, wanted: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], Word]:
        texts = sorted({text for alternatives in wanted for text in alternatives})
        segments = [
            (first, rows.read_postings(self._db, self._segments[number], self._name(channel), texts))
            for number, first, _ in self._members.segments()
        ]
        return {alternatives: self._word(channel, _gathered(segments, alternatives)) for alternatives in wanted}

    def _word(self, channel: str, parts: Sequence[tuple[Ordinals, Weights]]) -> Word:
        scheme = SCHEMES[channel]
        ordinals, weights = union(parts)
        if self._members.living < len(self._members.ids):
            keep = self._members.alive[ordinals]
            ordinals, weights = ordinals[keep], weights[keep]
        if channel not in self._norms:
            self._norms[channel] = scheme.norms(self._lengths, self._average_length)
        impacts = scheme.idf(self._members.living, len(ordinals)) * scheme.impacts(
            weights, self._norms[channel][ordinals] if scheme.k1 is not None else weights
        )
        if scheme.unit:
            impacts /= self._lengths_in(channel)[ordinals]
        return Word(ordinals, impacts, float(impacts.max(initial=0.0)))

    def _lengths_in(self, channel: str) -> Weights:
        """The passages' lengths as the channel holds them, by ordinal; 1 where it holds none."""
        if channel not in self._own_lengths:
            lengths = np.ones(len(self._lengths))
            for number, first, _ in self._members.segments():
                found = rows.read_postings(self._db, self._segments[number], self._name(channel), [LENGTHS])
                for held in found.values():
                    lengths[first + held.ordinals.astype(np.int64)] = held.weights
            self._own_lengths[channel] = np.where(lengths > 0, lengths, 1.0)
        return self._own_lengths[channel]

    def _name(self, channel: str) -> str:
        return self._stored.get(channel, channel)

    def _hold(self, channel: str, read: dict[tuple[str, ...], Word]) -> None:
        for alternatives, word in read.items():
            self._held[channel, alternatives] = word
            self._bytes += _size(word)
        while self._bytes > MOST_HELD and self._held:
            self._bytes -= _size(self._held.popitem(last=False)[1])


def scores_at(words: Sequence[Word], ordinals: Ordinals) -> Weights:
    """The scores of these passages, summed in the order of `words`."""
    scores = np.zeros(len(ordinals))
    for word in words:
        scores += word.of(ordinals)
    return scores


def _added_up(words: Sequence[Word], k: int, mask: Mask | None, passages: int) -> tuple[Ordinals, Weights]:
    scores = np.zeros(passages)
    for word in words:
        scores[word.ordinals] += word.scores()
    if mask is not None:
        scores[~mask] = 0.0
    if passages > k:
        floor = np.partition(scores, passages - k)[passages - k]
        found = np.flatnonzero(scores >= floor) if floor > 0 else np.flatnonzero(scores > 0)
    else:
        found = np.flatnonzero(scores > 0)
    return found, scores[found]


def _at_least_kth(ordinals: Ordinals, scores: Weights, k: int) -> tuple[Ordinals, Weights]:
    if len(ordinals) <= k:
        return ordinals, scores
    keep = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
    return ordinals[keep], scores[keep]


class _Cut:
    """One run over the words by falling bound.

    Between two words: `floor` is a score that k passages are known to reach, `rest` what the words to come can add
    at most, and every passage that may reach the floor is among `seen`, its score so far in `sums` (less for one
    that was passed over before: it cannot reach the floor).
    """

    def __init__(self, words: Sequence[Word], k: int, mask: Mask | None, passages: int) -> None:
        self._words = sorted((w for w in words if len(w) and w.weight > 0), key=lambda w: -w.bound)
        bounds = np.array([*(w.bound for w in self._words), 0.0])
        self._rest = np.cumsum(bounds[::-1])[::-1][1:] * (1 + _SLACK)  # after each word
        self._k, self._mask = k, mask
        self._sums = np.zeros(passages)
        self._seen = np.empty(0, np.int64)
        self._floor = 0.0

    def candidates(self) -> Ordinals:
        """Ordinals, ascending, of all passages that may be among the k best."""
        since = 0
        for number, word in enumerate(self._words):
            self._take(word, self._floor - self._rest[number])
            since += len(word)
            following = len(self._words[number + 1]) if number + 1 < len(self._words) else _PRUNED_EVERY
            if since + following >= _PRUNED_EVERY:
                self._prune(number)
                since = 0
        return np.sort(self._seen)

    def _take(self, word: Word, needed: float) -> None:
        """Passages not yet seen are of interest only where this word alone has an impact of `needed`."""
        least = needed * (1 - _SLACK) / word.weight
        if needed <= 0 or len(word) < _LOOKED_UP * len(self._seen):
            before = self._sums[word.ordinals]
            self._sums[word.ordinals] = before + word.scores()
            fresh = word.ordinals[(before == 0) & (word.impacts >= least)]
        else:
            more = word.of(self._seen)
            strong = np.flatnonzero(word.impacts >= least) if word.bound >= needed else _NOTHING[0]
            strong = strong[self._sums[word.ordinals[strong]] == 0]
            self._sums[self._seen] += more
            fresh = word.ordinals[strong]
            self._sums[fresh] = word.weight * word.impacts[strong]
        if self._mask is not None:
            fresh = fresh[self._mask[fresh]]
        self._seen = np.concatenate([self._seen, fresh])

    def _prune(self, number: int) -> None:
        """Raise the floor and drop whom the words after `number` cannot lift to it."""
        if len(self._seen) < self._k:
            return
        sums = self._sums[self._seen]
        best = np.argpartition(sums, len(sums) - self._k)[len(sums) - self._k :]
        sure = sums[best]
        for word in self._words[number + 1 :]:
            sure = sure + word.of(self._seen[best])
        self._floor = max(self._floor, float(sure.min()) * (1 - _SLACK))
        self._seen = self._seen[sums + self._rest[number] >= self._floor]


def _gathered(
    segments: Sequence[tuple[int, dict[str, Postings]]], alternatives: Sequence[str]
) -> list[tuple[Ordinals, Weights]]:
    """The parts of one word, alternative by alternative and segment by segment."""
    return [
        (first + found[text].ordinals.astype(np.int64), found[text].weights.astype(np.float64))
        for first, found in segments
        for text in alternatives
        if text in found
    ]


def _size(word: Word) -> int:
    return word.ordinals.nbytes + word.impacts.nbytes
