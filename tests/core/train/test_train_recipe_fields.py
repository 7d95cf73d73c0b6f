"""The fields of recipes: each told, each settable within its bounds, nothing else."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from core.base.errors import KnownError
from core.train.recipe_fields import ABOUT, changed, of, parsed
from core.train.recipes import RECIPES, THOROUGH, Recipe


def places(part: Any, within: str = "") -> set[str]:
    """The name of each field, found another way: by walking the recipe itself."""
    found = set()
    for one in fields(part):
        value = getattr(part, one.name)
        if is_dataclass(value):
            found |= places(value, f"{within}{one.name}.")
        if within or one.name not in ("name", "query"):
            found.add(f"{within}{one.name}")
    return found


def value_at(part: Any, name: str) -> Any:
    for step in name.split("."):
        part = getattr(part, step)
    return part


def test_the_longest_recipe_tells_every_field_it_has() -> None:
    assert {field.name for field in of(RECIPES[THOROUGH])} == places(RECIPES[THOROUGH]) == set(ABOUT)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_each_default_is_within_its_own_bounds(recipe: Recipe) -> None:
    for field in of(recipe):
        assert field.text.endswith(".")
        assert field.source
        assert changed(recipe, {field.name: field.value}) == recipe


@pytest.mark.parametrize("name", sorted(ABOUT))
def test_each_field_can_be_changed_alone(name: str) -> None:
    recipe = RECIPES[THOROUGH]
    field = next(f for f in of(recipe) if f.name == name)
    other = {
        "yes-no": not field.value,
        "choice": next((c for c in field.choices if c != field.value), ""),
        "whole": field.low if field.value != field.low else field.high,
        "number": field.high,
    }[field.kind]
    made = changed(recipe, {name: other})
    assert value_at(made, name) == (None if field.stage else other)
    for one in set(ABOUT) - {name}:
        if not one.startswith(f"{name}.") and not name.startswith(f"{one}."):
            assert value_at(made, one) == value_at(recipe, one)


def test_a_stage_can_be_added_and_filled_at_once() -> None:
    made = changed(RECIPES["quick"], {"full.reader.layers": 2, "full.reader": True, "full": True, "heads": True})
    assert made.full is not None
    assert made.full.reader is not None
    assert made.full.reader.layers == 2
    assert made.heads is not None
    assert changed(made, {"full": False}).full is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"full.epochs": 3}, "full=yes"),
        ({"query.epochs": 0}, "from 1 to 50"),
        ({"query.epochs": 1.5}, "whole number"),
        ({"query.epochs": True}, "whole number"),
        ({"query.epochs": 10**400}, "whole number"),
        ({"query.rate": "fast"}, "number from"),
        ({"query.rate": float("nan")}, "number from"),
        ({"full": 1}, "yes or no"),
        ({"full": True, "full.objective": "guess"}, "simlm"),
        ({"query.colour": 1}, "--settings"),
        ({"name": "mine"}, "--settings"),
        ({"query": 1}, "--settings"),
    ],
)
def test_what_cannot_be_is_said_with_what_can(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(KnownError) as caught:
        changed(RECIPES["quick"], changes)
    assert told in caught.value.advice


@pytest.mark.parametrize(
    ("text", "value"),
    [("query.epochs=7", 7), ("query.rate=1e-4", 1e-4), ("full=yes", True), ("heads=off", False),
     ("full.objective=simlm", "simlm")],
)  # fmt: skip
def test_changes_are_read_as_one_writes_them(text: str, value: Any) -> None:
    name, read = parsed(text)
    assert (name, read, type(read)) == (text.split("=")[0], value, type(value))


@pytest.mark.parametrize("text", ["query.epochs", "=3", "nothing=3", ""])
def test_what_is_no_change_is_refused(text: str) -> None:
    with pytest.raises(KnownError):
        parsed(text)
