"""The models as the `models` child lists them, and what is said of one in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from PySide6.QtCore import QLocale

from app.i18n import tr
from app.tasks.remaining import size_text

ENCODER, LLM, RERANKER = "encoder", "llm", "reranker"
TIGHT, TOO_LARGE = "tight", "too large"
_EASY, _MOST = 0.5, 0.85  # of the machine's memory: the system and other programs want theirs
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
    quantisation: str = ""
    context: int = 0
    read_speed: float = 0.0
    write_speed: float = 0.0


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """Another program that writes the answers while it is `in_use`. Fields as of the child's list."""

    url: str
    model: str
    in_use: bool = False
    anywhere: bool = False
    context: int = 0
    host: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """The models of an endpoint that was looked at."""

    url: str
    host: str
    models: tuple[str, ...]


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
    quantisation: str = ""
    context: int = 0

    @property
    def fits(self) -> bool:
        return self.download + self.disk < self.free


def rows(data: Mapping[str, Any]) -> list[ModelRow]:
    """Raises TypeError, KeyError on a misfit."""
    return [_made(ModelRow, entry) for entry in data["models"]]


def endpoint(data: Mapping[str, Any]) -> EndpointRow | None:
    """The endpoint of a list, if the person named one. Raises TypeError on a misfit."""
    told = data.get("endpoint")
    names = {field.name for field in fields(EndpointRow)}
    return EndpointRow(**{key: value for key, value in told.items() if key in names}) if told else None


def offered(data: Mapping[str, Any]) -> Offered:
    """Raises KeyError on a misfit."""
    return Offered(str(data["url"]), str(data["host"]), tuple(map(str, data["models"])))


def room(memory: int, machine: int) -> str:
    """What a model's need of memory means on this machine: "", "tight" or "too large"; both in bytes."""
    if not memory or not machine or memory <= machine * _EASY:
        return ""
    return TIGHT if memory <= machine * _MOST else TOO_LARGE


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
    parts += [tr("context of {n} tokens", n=f"{model.context:,}")] if model.context else []
    parts += [model.quantisation] if model.quantisation else []
    parts += [model.licence] if model.licence else []
    parts += [language_words(model.languages)] if model.languages else []
    return " · ".join(parts)


def speed_text(model: ModelRow) -> str:
    """How fast it was on this computer; empty before it was measured."""
    if not model.write_speed:
        return ""
    values = {"write": _figure(model.write_speed), "read": _figure(model.read_speed)}
    return tr("On this computer: writes {write} and reads {read} tokens a second", **values)


def _figure(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


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
