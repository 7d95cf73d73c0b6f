"""One scale for the cosines of any encoder: 0 is "about something else", 1 is "says just that".

Encoders differ in how close they put unrelated texts (about 0.05 for some, 0.75 for others), so a fixed threshold on a
raw cosine would mean something else with each. Six questions with their answers, of six subjects,
show both ends: the mean of the mismatched pairs is 0, the mean of the matched ones is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.encode.encoder import Encoder

PAIRS = (
    ("When does the night bus leave from the harbour?", "The night bus leaves from the harbour at half past eleven."),
    ("Who repaired the church organ?", "The church organ was repaired by a carpenter from the next village."),
    ("How many eggs does a hen lay in a week?", "A hen lays about five eggs in a week."),
    ("Where is the warranty card kept?", "The warranty card is kept in the drawer under the printer."),
    ("Why did the bridge have to close?", "The bridge had to close because its bearings had rusted through."),
    ("What does the membership cost for students?", "Students pay nine euros a month for the membership."),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Turns raw cosines into shares of the way from `low` (unrelated) to `high` (the same said)."""

    low: float
    high: float

    def __call__(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.clip((cosines - self.low) / (self.high - self.low), 0.0, 1.2).astype(np.float32)


def measure(encoder: Encoder) -> Scale:
    """The scale of this encoder, from the pairs above (twelve short texts: some milliseconds)."""
    questions = encoder.encode([question for question, _ in PAIRS], kind="query")
    answers = encoder.encode([answer for _, answer in PAIRS])
    cosines = questions @ answers.T
    matched = np.eye(len(PAIRS), dtype=bool)
    low, high = float(cosines[~matched].mean()), float(cosines[matched].mean())
    return Scale(low, max(high, low + 0.05))
