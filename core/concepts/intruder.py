"""The intruder test: nine texts in which a latent is active and one in which it is not; a judge picks the odd one out.

A latent that means something is found by a judge who never saw it. The number says nothing alone: raw dimensions of
the vectors and random directions must be judged the same way. Source: Chang et al. (NeurIPS 2009, "Reading tea
leaves"); Park, Kim, Ko (arXiv 2506.00041) section 5, where texts take the place of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MEMBERS = 9  # activating texts in a trial
GUESSING = 1 / (MEMBERS + 1)
LATENTS = 300  # that are asked about, of a larger set
TRIALS = 4  # for each latent, when all are to be compared

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trials:
    """Puzzles about one latent: each row of `rows` [T, n + 1] holds texts, that at place `odd` [T] is the intruder."""

    latent: int
    rows: Rows
    odd: Rows


Judge = Callable[[Trials], NDArray[np.float64]]  # credit [T] between 0 (wrong) and 1 (right)


def intruder(
    activations: Floats, space: Floats, seed: int, *, groups: Rows | None = None, latents: int = LATENTS,
    trials: int = TRIALS,
) -> float:  # fmt: skip
    """How often the judge of `space` finds the intruder; 0.1 by guessing.

    `activations` [N, M] and `space` [N, L] (unit rows, for example of `word_space`) belong to the same texts. All
    texts of a trial are of one of the `groups` [N] (languages): else the judge would tell languages apart. Latents
    with fewer than nine active texts in a group are left out; with none left the result is NaN.
    """
    luck = np.random.default_rng(seed)
    found = [
        judged.mean()
        for latent in _sample(activations, latents, luck)
        if (drawn := draw(activations[:, latent], latent, luck, trials, groups=groups, least=MEMBERS)) is not None
        for judged in [by_space(space)(drawn)]
    ]
    return float(np.mean(found)) if found else float("nan")


def draw(
    activations: Floats, latent: int, luck: np.random.Generator, trials: int, *, groups: Rows | None = None,
    least: int = 2, strongest: int = MEMBERS,
) -> Trials | None:  # fmt: skip
    """Puzzles about a latent with `activations` [N]; None where fewer than `least` texts of one group are active.

    The members are nine of the `strongest` active texts; all of them where there are no more, and trials differ in the
    intruder only. It is drawn from the texts without activation; where nearly all have some, from the half with least.
    """
    sets = [(members, others) for members, others in _sides(activations, groups) if len(members) >= least]
    if not sets:
        return None
    size = min(MEMBERS, max(len(members) for members, _ in sets))
    sets = [(members, others) for members, others in sets if len(members) >= size]
    shares = np.array([len(members) for members, _ in sets], float)
    odd = luck.integers(size + 1, size=trials)
    rows = np.empty((trials, size + 1), np.int64)
    for trial, which in enumerate(luck.choice(len(sets), trials, p=shares / shares.sum())):
        members, others = sets[which]
        puzzle = luck.choice(members[:strongest], size, replace=False)
        rows[trial] = np.insert(puzzle, odd[trial], luck.choice(others))
    return Trials(latent, rows, odd)


def by_space(space: Floats) -> Judge:
    """A judge for whom the odd one is the text least similar to the others, summed; ties share the credit."""

    def judge(trials: Trials) -> NDArray[np.float64]:
        texts_TXL = space[trials.rows]
        alike_TX = np.einsum("txl,tyl->tx", texts_TXL, texts_TXL) - np.square(texts_TXL).sum(2)
        own_T = alike_TX[np.arange(len(alike_TX)), trials.odd]
        least_T = alike_TX.min(1)
        return np.where(own_T <= least_T, 1 / (alike_TX <= least_T[:, None]).sum(1), 0.0)

    return judge


def corrected(share: float, texts: int) -> float:
    """A share of right answers among `texts` texts, on the scale of ten texts: guessing gives 0.1, never wrong 1."""
    guessed = 1 / texts
    return max(0.0, GUESSING + (1 - GUESSING) * (share - guessed) / (1 - guessed))


def raw_dimensions(vectors: Floats) -> Floats:
    """The first control, [N, D]: how far each dimension of the vectors lies above its mean."""
    return np.maximum(vectors - vectors.mean(0), 0)


def random_directions(vectors: Floats, latents: int, k: int, seed: int) -> Floats:
    """The second control, [N, M]: random directions, of which each text keeps the `k` it lies farthest along."""
    directions_DM = np.random.default_rng(seed).normal(size=(vectors.shape[1], latents)).astype(np.float32)
    along_NM = (vectors - vectors.mean(0)) @ (directions_DM / np.linalg.norm(directions_DM, axis=0))
    kept = min(k, latents)
    bar_N = np.partition(along_NM, latents - kept, axis=1)[:, latents - kept]
    return np.where((along_NM >= bar_N[:, None]) & (along_NM > 0), along_NM, np.float32(0))


def _sample(activations: Floats, most: int, luck: np.random.Generator) -> list[int]:
    alive = np.flatnonzero((activations > 0).sum(0) >= MEMBERS)
    return [int(i) for i in (luck.choice(alive, most, replace=False) if len(alive) > most else alive)]


def _sides(activations: Floats, groups: Rows | None) -> Iterator[tuple[Rows, Rows]]:
    """For each group: the active rows, strongest first, and the rows that an intruder may come from."""
    for group in (None,) if groups is None else np.unique(groups):
        rows = np.arange(len(activations)) if group is None else np.flatnonzero(groups == group)
        order = rows[np.argsort(-activations[rows], kind="stable")]
        fires = int((activations[order] > 0).sum())
        others = order[max(fires, 0) :] if len(order) - fires >= len(order) // 10 + 1 else order[len(order) // 2 :]
        if fires and len(others):
            yield order[:fires], others
