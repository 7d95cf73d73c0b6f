"""Between two sets of weights: often the best encoder lies on the way from the present one to the trained one.

Source: WiSE-FT (Wortsman et al. 2022): weights of a model before and after fine-tuning, mixed linearly, keep what both
know. A share of 0 is the present encoder, so there is always a safe end.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor


def between(present: Mapping[str, Tensor], trained: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Weights at `share` of the way, by name; whatever is no floating-point number is the present one's.

    Raises:
        ValueError: the two are not of one architecture.
    """
    if present.keys() != trained.keys() or any(present[n].shape != trained[n].shape for n in present):
        raise ValueError("weights of two different architectures")
    return {
        name: old.lerp(trained[name].to(old.dtype), share) if old.is_floating_point() else old.clone()
        for name, old in present.items()
    }
