"""The models as the `models` child lists them, and what is said of one in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from PySide6.QtCore import QLocale

from app.i18n import tr
from app.tasks.remaining import size_text

ENCODER, LLM, RERANKER = "encoder", "llm", "reranker"
_NAMED = 3  # languages told by name


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model; sizes in bytes. Fields as of the child's list."""

    id: str
    kind: str
    source: str
    size: int
    licence: str
    installed: bool
    active: bool
    spec: str = ""
    languages: tuple[str, ...] = ()
    download: int = 0
    memory: int = 0
    about: str = ""
    damaged: bool = False
    partial: bool = False
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """What adding a model takes; `free` is what the disk has."""

    id: str
    spec: str
    kind: str
    source: str
    licence: str
    languages: tuple[str, ...]
    download: int
    disk: int
    memory: int
    free: int
    about: str = ""

    @property
    def fits(self) -> bool:
        return self.download + self.disk < self.free


def rows(data: Mapping[str, Any]) -> list[ModelRow]:
    """Raises TypeError, KeyError on a misfit."""
    return [_made(ModelRow, entry) for entry in data["models"]]


def needs(data: Mapping[str, Any]) -> Needs:
    """Raises TypeError on a misfit."""
    return _made(Needs, data)


def _made(kind: type[Any], data: Mapping[str, Any]) -> Any:
    """Fields that a newer child adds are passed over."""
    known = {field.name for field in fields(kind)}
    told = {key: value for key, value in data.items() if key in known}
    return kind(**told | {"languages": tuple(told.get("languages", ()))})


def facts(model: ModelRow) -> str:
    """Size, licence, languages and memory on one line."""
    parts = [tr("{size} to fetch", size=size_text(model.download))] if model.download and not model.installed else []
    parts.append(tr("{size} on the disk", size=size_text(model.size)))
    if model.memory:
        parts.append(tr("{size} of memory", size=size_text(model.memory)))
    parts += [model.licence] if model.licence else []
    parts += [language_words(model.languages)] if model.languages else []
    return " · ".join(parts)


def language_words(codes: Sequence[str]) -> str:
    """The languages by name, or how many they are."""
    if "many" in codes:
        return tr("many languages")
    if len(codes) > _NAMED:
        return tr("{n} languages", n=len(codes))
    return ", ".join(_language(code) for code in codes)


def _language(code: str) -> str:
    language = QLocale.codeToLanguage(code)
    return code if language is QLocale.Language.AnyLanguage else QLocale.languageToString(language)
