"""Times and sizes in words: how long work still takes, said only as exactly as it is known."""

from __future__ import annotations

from app.i18n import grouped, plural, tr


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


def size_text(size: int) -> str:
    """Bytes in the unit that a person would use."""
    if size >= 1_000_000_000:
        return tr("{n} GB", n=f"{size / 1e9:.1f}")
    if size >= 10_000_000:
        return tr("{n} MB", n=f"{size / 1e6:.0f}")
    if size >= 1_000_000:
        return tr("{n} MB", n=f"{size / 1e6:.1f}")
    return tr("{n} kB", n=grouped(max(1, round(size / 1e3))) if size else "0")


def ago(seconds: float) -> str:
    """How long something is past."""
    minutes = int(max(0.0, seconds) // 60)
    if minutes < 1:
        return tr("just now")
    if minutes < 60:
        return plural(minutes, "{n} minute ago", "{n} minutes ago")
    if minutes < 48 * 60:
        return plural(minutes // 60, "{n} hour ago", "{n} hours ago")
    return plural(minutes // 1440, "{n} day ago", "{n} days ago")
