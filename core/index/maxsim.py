"""Late interaction: how alike two texts are, token by token (Khattab & Zaharia 2020, ColBERT, section 3.2).

A passage's score is the mean over the query's tokens of the largest inner product with any token of the passage
(M3-Embedding, section 3.1: the sum divided by the number of query tokens).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Counts = npt.NDArray[np.int64]


def maxsim(similarities_TK: Floats, counts: Counts) -> npt.NDArray[np.float64]:
    """Scores [N] of N passages whose tokens stand one after another in the columns of `similarities_TK`.

    Row t holds the inner products of query token t with all K tokens; passage n has `counts[n]` of them. A passage
    without tokens has the score 0. Nothing is padded, so no padding can win a maximum.
    """
    scores = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    if len(similarities_TK) and len(filled):
        starts = np.cumsum(counts[filled]) - counts[filled]
        best_TN = np.maximum.reduceat(similarities_TK, starts, axis=1)
        scores[filled] = best_TN.mean(axis=0, dtype=np.float64)
    return scores
