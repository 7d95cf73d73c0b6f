"""The fields of recipes: each with its default, its bounds and where it comes from; and recipes with changed fields.

A field's name is its place: `query.epochs`, `full.reader.layers`. A stage that a recipe may have or not (`full`,
`heads`, `full.reader`) is a field of its own, true or false. No torch here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from core.base.errors import KnownError
from core.train.m3_recipe import HeadsStage
from core.train.plans import OBJECTIVES
from core.train.recipes import FullStage, ReaderStage, Recipe

Value = bool | int | float | str

_OWN = "measured on our own collections"
_STAGES: Mapping[str, type] = {"full": FullStage, "full.reader": ReaderStage, "heads": HeadsStage}


@dataclass(frozen=True, slots=True)
class About:
    """What a field does, where its default comes from, and the values it may take (both ends; or `choices`)."""

    text: str
    source: str = _OWN
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecipeField:
    """A field with its value, and what the recipe has by itself (`default`).

    `kind` is yes-no, whole, number or choice; `stage` is true where the field says whether a whole stage is done.
    """

    name: str
    kind: str
    value: Value
    default: Value
    text: str
    source: str
    low: float = 0.0
    high: float = 1.0
    choices: tuple[str, ...] = ()
    stage: bool = False


_GPL = "Wang et al. 2022, GPL"
_M3 = "Chen et al. 2024, M3-Embedding"
_SIMLM = "Wang et al. 2023, SimLM"
_COCONDENSER = "Gao & Callan 2022, coCondenser"

ABOUT: Mapping[str, About] = {
    "questions": About("Questions made from the documents, at most.", _GPL, 50, 250_000),
    "minutes": About("Longest time of one stage, in minutes.", "a choice", 0.1, 10_000),
    "writing": About("Minutes in which a local language model may write questions.", "a choice", 0, 600),
    "query.epochs": About("Passes over the questions, the side of the question alone.", _OWN, 1, 50),
    "query.rate": About("Learning rate of the side of the question.", _OWN, 1e-6, 1e-2),
    "query.layers": About("Last layers that change on the side of the question.", _OWN, 1, 12),
    "query.moments": About(
        "Passes against what is found with the weights of the moment.", "Zhan et al. 2021, ADORE", 0, 10
    ),
    "full": About("Train all weights: read the documents first, then learn from questions in rounds.", _COCONDENSER),
    "full.pretraining": About("Steps of reading the documents before any question.", _COCONDENSER, 0, 100_000),
    "full.warmup": About("Steps in which only its fresh layers learn.", "Gao & Callan 2021, Condenser", 0, 10_000),
    "full.pretraining_rate": About("Learning rate while reading.", _COCONDENSER, 1e-7, 1e-3),
    "full.questions": About("Questions that all weights learn from, at most.", _OWN, 10, 250_000),
    "full.epochs": About("Passes over the questions in each round.", _GPL, 1, 20),
    "full.rate": About("Learning rate of the rounds.", _GPL, 1e-7, 1e-3),
    "full.refresh": About("Find anew what is mistaken while the second round goes on.", "Xiong et al. 2021, ANCE"),
    "full.objective": About("How the documents are read.", "by the objective", choices=tuple(OBJECTIVES)),
    "full.reader": About("Train a second model that reads question and passage together, as teacher.", _SIMLM),
    "full.reader.layers": About("Layers of the second model.", _OWN, 1, 12),
    "full.reader.epochs": About("Passes over the questions.", _SIMLM, 1, 20),
    "full.reader.rate": About("Learning rate of the second model.", _OWN, 1e-7, 1e-2),
    "full.reader.mined": About("Passages that each question is compared with.", _SIMLM, 2, 200),
    "full.reader.distilling": About("Passes in which the encoder follows its judgement.", _SIMLM, 1, 20),
    "heads": About("Train weights of words and vectors of words on top of the encoder.", _M3),
    "heads.epochs": About("Passes over the questions.", _OWN, 1, 50),
    "heads.rate": About("Learning rate; with all weights about 1e-5.", _OWN, 1e-7, 1e-1),
    "heads.questions": About("Questions that the heads learn from, at most.", _OWN, 10, 250_000),
    "heads.dimension": About("Numbers in the vector of a word; 0 for as many as the encoder has.",
                             "Khattab & Zaharia 2020, ColBERT", 0, 1_024),
    "heads.expansion": About("Give passages weights for words that they do not say, too.",
                             "Formal et al. 2021, SPLADE"),
    "heads.distil": About("Let each head follow what all of them know together.", _M3),
    "heads.all_weights": About("Let the encoder learn with its heads.", _M3),
}  # fmt: skip


def of(recipe: Recipe, changes: Mapping[str, Value] | None = None) -> tuple[RecipeField, ...]:
    """The fields of a recipe with these changes; those of a stage that it does not have then are left out.

    Raises:
        KnownError: as `changed`.
    """
    made = changed(recipe, changes or {})
    own = {field.name: field.value for field in _fields(recipe, "")}
    by_itself = changed(recipe, {name: True for name in _STAGES if (changes or {}).get(name) is True})
    defaults = {field.name: field.value for field in _fields(by_itself, "")} | own
    return tuple(replace(field, default=defaults[field.name]) for field in _fields(made, ""))


def changed(recipe: Recipe, changes: Mapping[str, Value]) -> Recipe:
    """The recipe with other values, by the names of their fields.

    Raises:
        KnownError: there is no such field in it, or it cannot have such a value.
    """
    for name in sorted(changes, key=lambda name: (name not in _STAGES, name)):  # a stage before what is in it
        recipe = _set(recipe, name.split("."), name, changes[name])
    return recipe


def parsed(text: str) -> tuple[str, Value]:
    """`name=value` as one writes it. Raises KnownError."""
    name, equals, value = text.partition("=")
    if not equals or name not in ABOUT:
        raise _no_field(name)
    return name, _read(value.strip())


def _read(value: str) -> Value:
    if value.lower() in ("true", "yes", "on", "false", "no", "off"):
        return value.lower() in ("true", "yes", "on")
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _fields(part: Any, within: str) -> list[RecipeField]:
    found = []
    for one in fields(part):
        name, value = f"{within}{one.name}", getattr(part, one.name)
        if name in _STAGES:
            found.append(_field(name, value is not None))
        if is_dataclass(value) and not isinstance(value, type):
            found += _fields(value, f"{name}.")
        elif name in ABOUT and name not in _STAGES:
            found.append(_field(name, value))
    return found


def _field(name: str, value: Value) -> RecipeField:
    about = ABOUT[name]
    kind = "choice" if about.choices else "yes-no" if isinstance(value, bool) else "number"
    kind = "whole" if kind == "number" and isinstance(value, int) else kind
    source = OBJECTIVES[str(value)].source if name == "full.objective" else about.source
    return RecipeField(
        name, kind, value, value, about.text, source, about.low, about.high, about.choices, name in _STAGES
    )


def _set(part: Any, path: list[str], name: str, value: Value) -> Any:
    """`part` with the field at `path` set to `value`, all else as it was."""
    first, rest = path[0], path[1:]
    if not hasattr(part, first):
        raise _no_field(name)
    old = getattr(part, first)
    if rest:
        if not is_dataclass(old) or isinstance(old, type):
            raise KnownError(f"“{name}” belongs to a stage that this recipe does not have.",
                             f"Say {'.'.join(name.split('.')[:-1])}=yes as well.")  # fmt: skip
        return replace(part, **{first: _set(old, rest, name, value)})
    if name not in ABOUT:
        raise _no_field(name)
    if name in _STAGES:
        return replace(part, **{first: (old or _STAGES[name]()) if _checked(name, True, value) else None})
    return replace(part, **{first: _checked(name, old, value)})


def _checked(name: str, old: Value, value: Value) -> Value:
    """`value` as one of the kind of `old`, within its bounds."""
    about = ABOUT[name]
    if about.choices:
        good: bool = value in about.choices
        allowed = f"one of {', '.join(about.choices)}"
    elif isinstance(old, bool):
        good, allowed = isinstance(value, bool), "yes or no"
    else:
        whole = isinstance(old, int)
        if whole and isinstance(value, float) and value.is_integer():
            value = int(value)
        good = not isinstance(value, bool) and isinstance(value, int if whole else (int, float))
        good = good and isinstance(value, (int, float)) and about.low <= value <= about.high
        allowed = f"a {'whole number' if whole else 'number'} from {about.low:g} to {about.high:g}"
    if not good:
        raise KnownError(f"“{name}” cannot be {value!r}.", f"It must be {allowed}.")
    return float(value) if isinstance(old, float) else value


def _no_field(name: str) -> KnownError:
    return KnownError(f"There is no setting “{name}”.", "whymatch adapt --settings lists all of them.")
