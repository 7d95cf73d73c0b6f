"""Which tokens of an input are the text's own, and which term of the vocabulary each of them stands for.

It says of token ids what `core.encode` says of texts, so that heads are trained on the tokens that they will serve:
neither special tokens nor those of the prefix, nor mere spaces; and two spellings of one term are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.encode.tokens import Tokens
from core.train.m3_losses import NO_TERM

_SPACES = " \u2581\u0120"  # of SentencePiece and of byte-level vocabularies


class TokenMarks:
    """Marks for the inputs that a tokenizer makes of texts with these prefixes, by kind."""

    def __init__(self, tokens: Tokens, prefixes: Mapping[str, str]) -> None:
        self._tokens = tokens
        special = set(tokens.ids([""])[0])  # what stands around every text
        self._none = special | {id for id, name in enumerate(tokens.names()) if not name.strip(_SPACES)}
        self._first: dict[str, int] = {}  # by the term's name, the first id that was met
        self._terms: dict[int, int] = {}
        self._skipped = {
            kind: sum(id not in self._none for id in tokens.ids([prefix.rstrip()])[0])
            for kind, prefix in prefixes.items()
        }

    def own(self, ids: Sequence[int], kind: str) -> list[bool]:
        """Of each token, whether it is the text's own."""
        left = self._skipped.get(kind, 0)
        marks = []
        for id in ids:
            mine = id not in self._none
            marks.append(mine and left <= 0)
            left -= mine
        return marks

    def term(self, id: int) -> int:
        """A number for the term that a token stands for, the same for all its spellings; `NO_TERM` for none."""
        if id not in self._terms:
            name = self._tokens.term(id)
            self._terms[id] = self._first.setdefault(name, id) if name else NO_TERM
        return self._terms[id]

    def terms(self, ids: Sequence[int], own: Sequence[bool]) -> list[int]:
        """The terms of a text's own tokens, `NO_TERM` for the others."""
        return [self.term(id) if mine else NO_TERM for id, mine in zip(ids, own, strict=True)]
