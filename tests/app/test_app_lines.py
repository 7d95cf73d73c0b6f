"""Lines out of chunks, and the words for how a process ended."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.lines import LineBuffer
from app.engine.outcome import Outcome, Restarts


def taken(buffer: LineBuffer) -> list[bytes]:
    lines = []
    while (line := buffer.take()) is not None:
        lines.append(line)
    return lines


@given(st.binary(max_size=200), st.integers(min_value=0, max_value=1000))
def test_any_cut_gives_the_same_lines(data: bytes, seed: int) -> None:
    buffer, rest = LineBuffer(), data
    cuts = random.Random(seed)
    while rest:
        size = cuts.randint(1, 20)
        buffer.feed(rest[:size])
        rest = rest[size:]
    assert taken(buffer) == data.split(b"\n")[:-1]


def test_empty_chunk_changes_nothing() -> None:
    buffer = LineBuffer()
    buffer.feed(b"a")
    buffer.feed(b"")
    assert not buffer
    buffer.feed(b"b\n")
    assert taken(buffer) == [b"ab"]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome("search", 11, True), "The search process ended unexpectedly (SIGSEGV: memory fault)."),
        (Outcome("job", 9, True), "The process that reads your documents ended unexpectedly (SIGKILL: "),
        (Outcome("answer", 2, False), "The answer process ended unexpectedly (exit code 2)."),
        (Outcome("view", 0, False, failed_to_start=True), "The page view process could not be started."),
        (Outcome("x", 250, True), "(signal 250)"),
    ],
)
def test_outcome_says_how_it_ended(outcome: Outcome, words: str) -> None:
    assert words in outcome.sentence


def test_restarts_are_counted_within_the_window() -> None:
    now = [0.0]
    restarts = Restarts(3, 300, lambda: now[0])
    for _ in range(3):
        restarts.died()
        assert restarts.allowed
    restarts.died()
    assert not restarts.allowed
    now[0] = 301
    assert restarts.allowed
