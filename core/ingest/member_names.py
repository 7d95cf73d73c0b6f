"""Names of files within files: decoded from old code pages, made harmless, in NFC.

A name is only ever shown and compared. The one thing written to a disk under it is its last part, cleaned.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

from core.ingest.readers.build import clean

_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.I)
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_LONGEST = 900  # characters of a whole name
_LONGEST_FILE = 120  # bytes of a file name on the disk
_CODE_PAGES = ("cp932", "gbk", "cp866", "cp437")


@dataclass(frozen=True, slots=True)
class MemberName:
    """`warning` tells what was wrong with the name as the file had it; empty when nothing was."""

    text: str
    warning: str = ""


def safe_name(name: str) -> MemberName:
    """The name as a relative path with "/" that leads nowhere else: without "..", roots, drives and device names."""
    shown = clean(name.replace("\0", "")).replace("\n", " ").strip()
    parts, harmful = [], "\0" in name or shown.startswith(("/", "\\"))
    for part in re.split(r"[/\\]", shown):
        kept = _DRIVE.sub("", part, count=1) if _DRIVE.match(part) else part
        device = bool(_DEVICE.match(kept))
        harmful = harmful or kept != part or part == ".." or device
        kept = f"_{kept}" if device else kept
        if kept.strip() not in ("", ".", ".."):
            parts.append(kept.strip())
    text = "/".join(parts)
    if len(text) > _LONGEST:
        text = text[: _LONGEST // 2] + "…" + text[-_LONGEST // 2 :]
    warning = (
        f"Its name inside the file, {shown[:200]!r}, points outside of it and was not followed." if harmful else ""
    )
    return MemberName(text or "unnamed", warning)


def file_name(name: str) -> str:
    """The last part of a member's name as a file name that every system takes."""
    base = PurePosixPath(name).name
    base = _FORBIDDEN.sub("_", base).strip(" .") or "file"
    base = f"_{base}" if _DEVICE.match(base) else base
    stem, suffix = PurePosixPath(base).stem, PurePosixPath(base).suffix[:20]
    while len((stem + suffix).encode("utf-8", "replace")) > _LONGEST_FILE:
        stem = stem[:-1]
    return (stem + suffix).encode("utf-8", "replace").decode()


def decode_name(raw: bytes) -> str:
    """The name that bytes of an unknown code page most likely stand for."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    readings = []
    for page in _CODE_PAGES:
        try:
            readings.append(raw.decode(page))
        except UnicodeDecodeError:
            continue
    return max(readings, key=_plausible)  # cp437 reads any bytes


def _plausible(text: str) -> float:
    """The share of characters beyond ASCII that names are made of."""
    beyond = [index for index, c in enumerate(text) if c > "\x7f"]
    good = sum(1 for index in beyond if _is_usual(text, index))
    return good / len(beyond) if beyond else 1.0


def _is_usual(text: str, index: int) -> bool:
    c = text[index]
    if "\u3041" <= c <= "\u30fc":  # kana
        return True
    if "\u4e00" <= c <= "\u9fff":  # the common halves of both standards
        return _lead(c, "gb2312") in range(0xB0, 0xD8) or _lead(c, "euc_jp") in range(0xB0, 0xD0)
    if not unicodedata.category(c).startswith("L"):
        return False
    beside_ascii = any(n.isascii() and n.isalpha() for n in text[max(0, index - 1) : index + 2])
    if "\u0400" <= c <= "\u04ff":
        return not beside_ascii
    return c < "\u0180" and (beside_ascii or len(text) < 3)


def _lead(c: str, encoding: str) -> int:
    try:
        return c.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0
