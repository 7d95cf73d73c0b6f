"""Every setting as one declared record, and the file that keeps their values.

The dialog, the checks and the documentation come from `SETTINGS`; nothing else names a setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from core.base.errors import BadSetting, KnownError
from core.base.files import read_json, write_json
from core.base.paths import home


@dataclass(frozen=True, slots=True)
class Setting:
    """`choices` limits a text, `low` and `high` a number. Without a `title` it is kept but not shown in the dialog."""

    key: str
    kind: type
    default: Any
    title: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None

    def check(self, value: Any) -> Any:
        """`value` if it fits. Raises BadSetting."""
        if type(value) is not self.kind:
            raise BadSetting(f"{self.key}: {value!r} is not a {self.kind.__name__}.", "Choose another value.")
        if self.choices and value not in self.choices:
            raise BadSetting(f"{self.key}: {value!r} is none of {', '.join(self.choices)}.", "Choose one of them.")
        if self.low is not None and not self.low <= value <= (self.high if self.high is not None else value):
            raise BadSetting(
                f"{self.key}: {value} is not between {self.low} and {self.high}.", "Choose a value between."
            )
        return value


SETTINGS = (
    Setting("theme", str, "system", "Appearance", "Light, dark, or as the system has it.", ("system", "light", "dark")),
    Setting("text_percent", int, 100, "Text size (percent)", "Makes all text smaller or larger.", low=80, high=180),
    Setting(
        "confirm_remove", bool, True, "Ask before removing documents",
        "Removing takes documents out of the library. The files on disk stay as they are.",
    ),
    Setting("ocr", bool, True, "Read text in pictures",
            "Scanned pages, photos of text and pictures in documents are read by text recognition, on this computer. "
            "That takes a second or two a page."),
    Setting("watch", bool, True, "Watch folders for changes",
            "What is new, changed or deleted in your folders is taken over by itself."),
    Setting("rescan_minutes", int, 10, "Minutes between looks at all folders",
            "Finds what the system does not tell of, for example on network drives.", low=1, high=1440),
    Setting("battery", bool, False, "Wait for the charger",
            "Reads no documents while the computer runs on its battery."),
    Setting("start_search_early", bool, True, "Make search ready when the window opens",
            "Loads the search model in the background, so that the first search is quick. Needs memory."),
    Setting("answer_idle_minutes", int, 5, "Minutes until the language model rests",
            "A model that was not asked for so long gives its memory back. The next answer loads it again, which takes "
            "some seconds.", low=1, high=720),
    Setting("geometry", str, ""),
    Setting("last_page", str, "library", choices=("library", "search", "ask", "concepts", "adapt")),
    Setting("last_folder", str, ""),
    Setting("search_level", str, "passage", choices=("passage", "document", "section", "sentence")),
    Setting("viewer_sizes", list, []),
    Setting("columns", list, []),
)  # fmt: skip

_BY_KEY = {setting.key: setting for setting in SETTINGS}


class Settings(QObject):
    """The values. A file that cannot be read, or a value that does not fit, counts as unset. `changed(key)`."""

    changed = Signal(str)

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path or home() / "settings.json"
        self._values = _load(self._path)

    def get(self, key: str) -> Any:
        return self._values.get(key, _BY_KEY[key].default)

    def set(self, key: str, value: Any) -> None:
        """Keep a value, at once and for good. Raises BadSetting; KnownError when it cannot be written."""
        checked = _BY_KEY[key].check(value)
        if checked == self.get(key):
            return
        self._values[key] = checked
        write_json(self._path, self._values)
        self.changed.emit(key)

    def remember(self, key: str, value: Any) -> None:
        """Keep a small convenience (window size, last page); not worth a message when the disk is full."""
        try:
            self.set(key, value)
        except KnownError:
            self._values[key] = value


def _load(path: Path) -> dict[str, Any]:
    try:
        raw = read_json(path)
    except (OSError, ValueError):
        return {}
    values = {}
    for key, value in raw.items() if isinstance(raw, dict) else ():
        try:
            values[key] = _BY_KEY[key].check(value)
        except (KeyError, BadSetting):
            continue  # of another version, or edited by hand
    return values
