"""How well each latent holds together: the intruder test, latent by latent, on the texts that name it.

A latent whose strongest texts a judge cannot tell from any other text is weak, whatever its name says. Most directions
drawn at random are: on two libraries of 5,000 and 11,000 passages they reached a mean of 0.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.base.events import Control
from core.concepts.intruder import by_space, corrected, draw

TRIALS = 20  # for each latent: its number is right to about 0.1
_SEED = 0

Floats = NDArray[np.float32]


def qualities(
    activations: Floats, space: Floats, latents: Iterable[int], languages: Sequence[str],
    control: Control | None = None,
) -> dict[int, float]:  # fmt: skip
    """How often the judge of `space` [N, L] tells the strongest texts of each latent from another of their language.

    1 is always, 0.1 what guessing gives (corrected where a latent has fewer than nine texts). `activations` [N, M] and
    `languages` [N] belong to the same texts. A latent without two texts in one language is left out.

    Raises:
        Cancelled: through `control`.
    """
    judge = by_space(space)
    groups = np.unique(np.array(languages), return_inverse=True)[1]
    found = {}
    for latent in latents:
        if control is not None:
            control.check()
        luck = np.random.default_rng((_SEED, latent))
        trials = draw(activations[:, latent], latent, luck, TRIALS, groups=groups)
        if trials is not None:
            found[latent] = round(corrected(float(judge(trials).mean()), trials.rows.shape[1]), 3)
    return found
