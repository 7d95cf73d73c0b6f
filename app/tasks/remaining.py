"""How long work still takes, said only as exactly as it is known."""

from __future__ import annotations

from app.i18n import plural, tr


def remaining(seconds: float | None) -> str:
    """`seconds` as words; empty while nothing is known."""
    if seconds is None or seconds < 0:
        return ""
    if seconds < 10:
        return tr("a few seconds left")
    if seconds < 90:
        return tr("about {n} seconds left", n=round(seconds / 10) * 10)
    minutes = round(seconds / 60)
    if minutes < 90:
        return tr("about {n} minutes left", n=minutes if minutes < 10 else round(minutes / 5) * 5)
    return plural(round(minutes / 60), "about {n} hour left", "about {n} hours left")


def duration(seconds: float) -> str:
    """Time that was taken."""
    if seconds < 10:
        return tr("{n} s", n=f"{seconds:.1f}")
    if seconds < 90:
        return tr("{n} s", n=round(seconds))
    return tr("{m} min {s} s", m=int(seconds // 60), s=round(seconds % 60))
