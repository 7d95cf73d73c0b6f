"""Sentences out of a stream of text, each as soon as it is certain to have ended."""

from __future__ import annotations

from core.text.sentences import split


class SentenceStream:
    """Feed it pieces; it gives back whole sentences. The joined pieces are kept in `text`."""

    def __init__(self) -> None:
        self.text = ""
        self._given = 0  # characters of `text` that have been given back

    def feed(self, piece: str) -> list[str]:
        """Sentences that `piece` completes. The last one is held back: its end is certain when more text follows."""
        self.text += piece
        spans = split(self.text[self._given :])
        return self._take(spans[:-1])

    def finish(self) -> list[str]:
        """What is left at the end of the stream."""
        return self._take(split(self.text[self._given :]))

    def _take(self, spans: list[tuple[int, int]]) -> list[str]:
        begin = self._given
        sentences = [self.text[begin + start : begin + end] for start, end in spans]
        if spans:
            self._given = begin + spans[-1][1]
        return sentences
