"""Files of which a cloud service keeps only a placeholder on this disk. Opening one would pull it in."""

from __future__ import annotations

import os
import re

# Windows file attributes: RECALL_ON_DATA_ACCESS, RECALL_ON_OPEN, OFFLINE
_WINDOWS = 0x400000 | 0x40000 | 0x1000
_MAC_DATALESS = 0x40000000  # SF_DATALESS in st_flags
_ICLOUD = re.compile(r"\.(.+)\.icloud", re.DOTALL)  # iCloud Drive, before macOS 14
_SUFFIXES = (".nextcloud", ".owncloud")  # virtual files


def real_name(name: str) -> str:
    """The name that the file has once it is here; `name` itself when it is not the name of a placeholder."""
    found = _ICLOUD.fullmatch(name)
    if found:
        return found[1]
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name


def is_online_only(status: os.stat_result) -> bool:
    """Whether the system says that the content of this file, or folder, is not here."""
    attributes = getattr(status, "st_file_attributes", 0)
    flags = getattr(status, "st_flags", 0)
    return bool(attributes & _WINDOWS or flags & _MAC_DATALESS)
