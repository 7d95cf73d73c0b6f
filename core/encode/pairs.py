"""A question and a passage as one input of a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.encode.tokens import Tokens

_DOUBLED = frozenset({"roberta", "xlm-roberta", "camembert"})  # two separators stand between the texts


@dataclass(frozen=True, slots=True)
class Pair:
    """Token ids with special tokens; the first `question` of them are of the first segment."""

    ids: list[int]
    question: int

    @property
    def types(self) -> list[int]:
        """Segment of each token: 0 for the question with its separator, 1 for the passage with its own."""
        return [0] * self.question + [1] * (len(self.ids) - self.question)


class Pairs:
    """The tokenizer of a cross-encoder of the BERT family, with which special tokens pairs are joined.

    BERT reads `[CLS] question [SEP] passage [SEP]`, RoBERTa `<s> question </s></s> passage </s>`. A question has at
    most `question_tokens`, a pair `longest`, all special tokens counted: what is too long is cut off the passage's end.
    """

    def __init__(self, file: Path, family: str, *, longest: int, question_tokens: int) -> None:
        """
        Raises:
            ValueError: nothing would be left of a passage.
        """
        if longest - question_tokens < 2:
            raise ValueError(f"pairs of {longest} tokens leave no room beside questions of {question_tokens}")
        self._tokens = Tokens(file, longest)
        self._longest, self._most, self._doubled = longest, question_tokens, family in _DOUBLED

    @property
    def pad(self) -> int:
        return self._tokens.pad

    def questions(self, texts: Sequence[str]) -> list[list[int]]:
        """The first part of a pair, for each question."""
        rows = self._tokens.ids(texts)
        cut = [row if len(row) <= self._most else [*row[: self._most - 1], row[-1]] for row in rows]
        return [[*row, row[-1]] for row in cut] if self._doubled else cut

    def passages(self, texts: Sequence[str]) -> list[list[int]]:
        """The second part of a pair, for each passage, closed by its separator and not yet cut."""
        return [row[1:] for row in self._tokens.ids(texts)]

    def joined(self, question: Sequence[int], passage: Sequence[int]) -> Pair:
        room = self._longest - len(question)
        own = [*passage[: room - 1], passage[-1]] if len(passage) > room else [*passage]
        return Pair([*question, *own], len(question))
