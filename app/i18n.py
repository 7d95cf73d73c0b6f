"""The one door for words that people read. English is the source; a catalogue can replace each text.

A catalogue is a JSON object {English text: translated text}. Texts may hold `{name}` fields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QTranslator

from core.base.files import read_json

_CONTEXT = "whymatch"


def tr(text: str, **values: Any) -> str:
    """`text` in the person's language, its `{name}` fields filled from `values`."""
    translated = QCoreApplication.translate(_CONTEXT, text)
    return translated.format(**values) if values else translated


def plural(number: int, one: str, many: str, **values: Any) -> str:
    """`one` for exactly 1, else `many`; both may hold `{n}`, written with thin thousands gaps."""
    return tr(one if number == 1 else many, n=grouped(number), **values)


def grouped(number: int) -> str:
    """12345 -> `12 345` with narrow no-break spaces, read alike in every language."""
    return f"{number:,}".replace(",", "\u202f")


class Catalogue(QTranslator):
    """The texts of one language, installed with `QApplication.installTranslator`."""

    def __init__(self, texts: dict[str, str], parent: Any = None) -> None:
        super().__init__(parent)
        self._texts = texts

    @classmethod
    def load(cls, path: Path, parent: Any = None) -> Catalogue:
        return cls({str(k): str(v) for k, v in read_json(path).items()}, parent)

    def isEmpty(self) -> bool:
        return not self._texts

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str | None:  # type: ignore[override]
        return self._texts.get(text) if context == _CONTEXT else None
