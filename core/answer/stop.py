"""Ends a stream of text at a stop string, also where the string comes in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def until(pieces: Iterable[str], stop: Sequence[str]) -> Iterator[str]:
    """The text of `pieces` up to the first of the `stop` strings, which is left out.

    Text that may be the beginning of a stop string is held back until it is clear.
    """
    held = ""
    for piece in pieces:
        held += piece
        ends = [held.find(word) for word in stop if word in held]
        if ends:
            if held[: min(ends)]:
                yield held[: min(ends)]
            return
        keep = max((_beginning(held, word) for word in stop), default=0)
        ready = held[: len(held) - keep]
        held = held[len(held) - keep :]
        if ready:
            yield ready
    if held:
        yield held


def _beginning(text: str, word: str) -> int:
    """Length of the longest end of `text` that begins `word`."""
    return next((n for n in range(min(len(text), len(word) - 1), 0, -1) if text.endswith(word[:n])), 0)
