"""Numbers for people: parts that are rounded so that what is shown adds up to the total that is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence


def additive(values: Sequence[float], total: float, decimals: int = 3) -> tuple[list[float], float]:
    """Round `values` so that they add up to the rounded `total` exactly (largest remainder method).

    `values` are taken to add up to `total` before rounding; where they do not (a part that was left out), the
    plain roundings are returned, so that nothing is bent to fit.
    """
    unit = 10**-decimals
    rounded_total = round(total, decimals)
    if not values or abs(math.fsum(values) - total) > unit:
        return [round(v, decimals) for v in values], rounded_total
    floors = [math.floor(v / unit) for v in values]
    missing = round(rounded_total / unit) - sum(floors)
    by_remainder = sorted(range(len(values)), key=lambda i: values[i] / unit - floors[i], reverse=True)
    for i in by_remainder[: max(0, missing)]:
        floors[i] += 1
    return [round(f * unit, decimals) for f in floors], rounded_total


def signed(value: float, decimals: int = 3) -> str:
    """`value` with a real minus sign and no negative zero: "0.412", "−0.031"."""
    text = f"{abs(value):.{decimals}f}"
    negative = value < 0 and float(text) != 0.0
    return f"\N{MINUS SIGN}{text}" if negative else text


def percent(share: float) -> str:
    """A share as a whole percentage; small ones as "under 1 %", so that a bar never says 0 % of something."""
    if 0 < abs(share) < 0.005:
        return "under 1 %"
    return f"{round(share * 100)} %".replace("-", "\N{MINUS SIGN}")
