"""Serving an encoder with ONNX Runtime on the CPU."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from core.base.errors import ModelDamaged
from core.encode.batched import BatchedEncoder
from core.encode.encoder import FloatArray
from core.models.bundles import Bundle, verify

FP32, INT8 = "model.onnx", "model-int8.onnx"
DATA = ".data"  # ends the name of the file with the weights of a graph that is too large for one file
_BATCH_TOKENS = 2048  # work enough for each thread between two looks at a wish to cancel


class OnnxEncoder(BatchedEncoder):
    """A bundle's ONNX graph, by default the one that its config names as `serving`.

    Each text runs alone and without padding, on one thread: two threads on one text cost up to a quarter more
    processor time. So its vector depends on it alone, to the last bit, and a library that was read in many pieces
    equals one that was read at once. Graphs of older bundles take a mask and padded batches.

    Raises:
        ModelDamaged: the graph or the tokenizer differs from what was installed, or cannot be loaded.
    """

    def __init__(self, bundle: Bundle, *, file: str = "", threads: int = 0) -> None:
        name = file or str(bundle.config["serving"])
        verify(bundle, (*(n for n in (name, name + DATA) if n in bundle.config["files"]), "tokenizer.json"))
        super().__init__(bundle)
        self._threads = threads or usable_cores()
        self._session = open_session(bundle, name)
        self._masked = len(self._session.get_inputs()) > 1
        self._width = int(self._session.get_outputs()[0].shape[-1])
        self.batch_tokens = _BATCH_TOKENS

    def _states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        lengths = mask.sum(axis=1)
        states = np.zeros((*ids.shape, self._width), np.float32)

        def fill(rows: slice) -> None:
            if self._masked:
                states[rows] = self._run({"input_ids": ids[rows], "attention_mask": mask[rows]})
            else:
                width = int(lengths[rows.start])
                states[rows, :width] = self._run({"input_ids": ids[rows, :width]})

        parts = _even(len(ids), self._threads if self._masked else len(ids))
        if self._threads == 1 or len(parts) == 1:
            for rows in parts:
                fill(rows)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(fill, parts))
        return states

    def _run(self, inputs: dict[str, NDArray[np.int64]]) -> FloatArray:
        states: FloatArray = self._session.run(["states"], inputs)[0]
        return states


def _even(count: int, parts: int) -> list[slice]:
    bounds = [count * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(bounds) if b > a]


def session_options() -> onnxruntime.SessionOptions:
    """One thread a run, for runs of ever other shapes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised: they need not be printed, too
    # inputs differ in shape, so planned memory would never be used again
    options.enable_mem_pattern = False
    return options


def open_session(bundle: Bundle, name: str) -> onnxruntime.InferenceSession:
    """The graph `name` of a bundle on the CPU. Raises ModelDamaged."""
    try:
        return onnxruntime.InferenceSession(
            str(bundle.path(name)), session_options(), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime's errors have no common public type
        raise ModelDamaged(
            f"The model {bundle.id} cannot be loaded: {error}.",
            f"Install it again: whymatch models add {bundle.id}",
        ) from error


def usable_cores() -> int:
    """Cores that this process may use, at most 8 (more do not help a model of this size)."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, 8)
