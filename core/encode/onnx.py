"""Serving an encoder with ONNX Runtime on the CPU."""

from __future__ import annotations

import os

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from core.base.errors import ModelDamaged
from core.encode.batched import BatchedEncoder
from core.encode.encoder import FloatArray
from core.models.bundles import Bundle, verify


class OnnxEncoder(BatchedEncoder):
    """A bundle's ONNX graph, by default the one that its config names as `serving`.

    Raises:
        ModelDamaged: the graph or the tokenizer differs from what was installed, or cannot be loaded.
    """

    def __init__(self, bundle: Bundle, *, file: str = "", threads: int = 0) -> None:
        name = file or str(bundle.config["serving"])
        verify(bundle, (name, "tokenizer.json"))
        super().__init__(bundle)
        try:
            self._session = onnxruntime.InferenceSession(
                str(bundle.path(name)), _options(threads), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime's errors have no common public type
            raise ModelDamaged(
                f"The model {bundle.id} cannot be loaded: {error}.",
                f"Install it again: whymatch models add {bundle.id}",
            ) from error

    def _states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> FloatArray:
        states: FloatArray = self._session.run(["states"], {"input_ids": ids, "attention_mask": mask})[0]
        return states


def _options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or usable_cores()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # batches differ in shape, so planned memory would never be used again
    options.enable_mem_pattern = False
    # idle threads must sleep: the window, the parser and the search child share the cores
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def usable_cores() -> int:
    """Cores that this process may use, at most 8 (more do not help a model of this size)."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, 8)
