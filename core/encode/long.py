"""Inputs longer than a model's window, cut into inputs that the model takes.

Models pooled at CLS read as much as their position table holds, with a CLS every 256 tokens, whose last states are
averaged (MCLS: M3-Embedding, Chen et al. 2024, section 3.5). Mean-pooled models have no use for a second CLS: they read
windows of their own length, and the token-weighted mean of the windows' means is the mean over all tokens.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.encode.padding import FloatArray, batches
from core.encode.tokens import TokenisedText

CLS_EVERY = 256
LONGEST = 2048  # tokens read at once: the memory of attention grows with the square


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the body of every input: special tokens `left` and `right`, and the `prefix` after `left`."""

    left: list[int]
    prefix: list[int]
    right: list[int]


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the model.

    `at` are the positions of its CLS tokens; empty for a mean over all tokens. `weight` is its part in the average of
    the windows: tokens of the text, or CLS tokens.
    """

    ids: list[int]
    at: list[int]
    weight: int


def framed(whole: TokenisedText, skip: int) -> tuple[Frame, list[int]]:
    """What stands around a text (special tokens, its prefix of `skip` characters), and its body of own tokens."""
    content = [i for i, special in enumerate(whole.special) if not special]
    own = np.flatnonzero(whole.own(skip))
    start, end = content[0], content[-1] + 1
    first = int(own[0]) if len(own) else start
    return Frame(whole.ids[:start], whole.ids[start:first], whole.ids[end:]), whole.ids[first:end]


def mean_windows(body: Sequence[int], frame: Frame, size: int) -> list[Window]:
    """Windows of at most `size` tokens for mean pooling, without overlap, each with the prefix."""
    room = size - len(frame.left) - len(frame.prefix) - len(frame.right)
    return [
        Window([*frame.left, *frame.prefix, *part, *frame.right], [], len(part))
        for part in even_parts(body, max(1, room))
    ]


def mcls_windows(body: Sequence[int], frame: Frame, size: int, every: int = CLS_EVERY) -> list[Window]:
    """Windows of at most `size` tokens with a CLS before every `every` tokens (the prefix is counted among them)."""
    blocks = -(-(size - len(frame.right)) // (every + len(frame.left)))
    room = size - len(frame.right) - blocks * len(frame.left) - len(frame.prefix)
    return [_mcls(part, frame, every) for part in even_parts(body, max(1, room))]


def _mcls(part: Sequence[int], frame: Frame, every: int) -> Window:
    content = [*frame.prefix, *part]
    ids: list[int] = []
    at: list[int] = []
    for first in range(0, len(content), every):
        at.append(len(ids))
        ids += [*frame.left, *content[first : first + every]]
    return Window([*ids, *frame.right], at, len(at))


def even_parts(body: Sequence[int], longest: int) -> list[Sequence[int]]:
    """`body` in as few parts as `longest` allows, all of nearly the same length: no part is a mere rest."""
    count = max(1, -(-len(body) // longest))
    bounds = [len(body) * i // count for i in range(count + 1)]
    return [body[start:end] for start, end in itertools.pairwise(bounds)]


def average(
    windows: Sequence[Sequence[Window]],
    pool: Callable[[Sequence[Window]], FloatArray],
    batch_tokens: int,
    check: Callable[[], None],
) -> FloatArray:
    """Weighted averages [N, D] of what `pool` makes of the windows of N texts; `check` is called between batches."""
    rows = [(i, window) for i, cut in enumerate(windows) for window in cut]
    sums: dict[int, FloatArray] = {}
    for chosen in batches([len(window.ids) for _, window in rows], batch_tokens):
        check()
        pooled = pool([rows[j][1] for j in chosen])
        for j, vector in zip(chosen, pooled, strict=True):
            i, window = rows[j]
            sums[i] = sums.get(i, np.float32(0)) + np.float32(window.weight) * vector
    totals = [sum(window.weight for window in cut) for cut in windows]
    return np.stack([sums[i] / np.float32(total) for i, total in enumerate(totals)])
