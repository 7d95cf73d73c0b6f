"""Serving a cross-encoder with ONNX Runtime on the CPU: how well passages answer a question, within a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from core.base.events import Control
from core.base.files import read_json
from core.encode.encoder import FloatArray
from core.encode.onnx import DATA, open_session, usable_cores
from core.encode.pairs import Pair, Pairs
from core.models.bundles import Bundle, verify

TOKEN_IDS, PASSAGE_TYPES, SCORES = "input_ids", "segments", "scores"
_AT_ONCE = 256  # pairs made ready together where many are scored
_TOKENIZER, _MODEL_CONFIG = "tokenizer.json", "config.json"


class CrossEncoder:
    """A reranker's ONNX graph, by default the one that its config names as `serving`.

    Each pair runs alone, without padding and on one thread, so its score depends on it alone, to the last bit.

    Raises:
        ModelDamaged: the graph or the tokenizer differs from what was installed, or cannot be loaded.
    """

    def __init__(self, bundle: Bundle, *, file: str = "", threads: int = 0) -> None:
        name = file or str(bundle.config["serving"])
        files = bundle.config["files"]
        verify(bundle, (*(n for n in (name, name + DATA) if n in files), _TOKENIZER, _MODEL_CONFIG))
        self.id = bundle.id
        self.threads = threads or usable_cores()
        family = str(read_json(bundle.path(_MODEL_CONFIG))["model_type"])
        self._pairs = Pairs(
            bundle.path(_TOKENIZER), family, longest=int(bundle.config["pair_tokens"]),
            question_tokens=int(bundle.config["question_tokens"]),
        )  # fmt: skip
        self._session = open_session(bundle, name)
        self._segments = len(self._session.get_inputs()) > 1

    def score(
        self, question: str, passages: Sequence[str], *, until: float = float("inf"), control: Control | None = None
    ) -> FloatArray:
        """Scores [N] of passages for one question: logits, larger is better.

        They are worked off in their order until the clock (`time.perf_counter`) will have passed `until`; those that
        the time was too short for are not a number. `passages` are what an encoder sees of each.

        Raises:
            Cancelled: through `control`, as soon as the pairs at work are done.
        """
        first = self._pairs.questions([question])[0]
        pairs = [self._pairs.joined(first, own) for own in self._pairs.passages(passages)]
        scores = self._worked(pairs, _Deadline(until, control).allows)
        if control is not None:
            control.check()
        return scores

    def __call__(self, pairs: Sequence[tuple[str, str]], control: Control | None = None) -> FloatArray:
        """Scores [N] of many pairs (question, passage).

        Raises:
            Cancelled: through `control`.
        """
        found = np.empty(len(pairs), np.float32)
        for at in range(0, len(pairs), _AT_ONCE):
            if control is not None:
                control.check()
            some = pairs[at : at + _AT_ONCE]
            questions = self._pairs.questions([question for question, _ in some])
            passages = self._pairs.passages([passage for _, passage in some])
            made = [self._pairs.joined(*both) for both in zip(questions, passages, strict=True)]
            found[at : at + len(some)] = self._worked(made, lambda spent: True)
        return found

    def _worked(self, pairs: Sequence[Pair], allows: Callable[[float], bool]) -> FloatArray:
        """Each thread takes the next pair until none is left, or there is no time for another one."""
        scores = np.full(len(pairs), np.nan, np.float32)
        waiting = _Shared(range(len(pairs)))

        def work(_: int) -> None:
            spent = 0.0
            while allows(spent) and (place := next(waiting, None)) is not None:
                begun = time.perf_counter()
                scores[place] = self._run(pairs[place])
                spent = time.perf_counter() - begun

        if self.threads == 1 or len(pairs) < 2:
            work(0)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(work, range(self.threads)))
        return scores

    def _run(self, pair: Pair) -> float:
        inputs = {TOKEN_IDS: np.array([pair.ids], np.int64)}
        if self._segments:
            inputs[PASSAGE_TYPES] = np.array([pair.types], np.int64)
        return float(self._session.run([SCORES], inputs)[0][0])


class _Shared:
    """An iterator that several threads take from."""

    def __init__(self, places: Iterable[int]) -> None:
        self._places, self._lock = iter(places), threading.Lock()

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        with self._lock:
            return next(self._places)


class _Deadline:
    def __init__(self, until: float, control: Control | None = None) -> None:
        self._until, self._control = until, control

    def allows(self, spent: float) -> bool:
        """Whether another pair that takes as long as the last one will be done in time."""
        cancelled = self._control is not None and self._control.cancelled
        return not cancelled and time.perf_counter() + spent <= self._until
