"""Lenses: saved ways of looking, each with the concepts of one model that count more or less, or must be there."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping

from sqlite_utils import Database

from core.base.errors import BadSetting, NotFound
from core.base.types import Lens
from core.store.documents import now

LONGEST_NAME = 80


def lenses(db: Database, model: str) -> list[Lens]:
    """Those made for the concepts of `model`, by name."""
    rows = db.execute(
        "SELECT id, name, boosts, required FROM lens WHERE model = ? ORDER BY name COLLATE NOCASE", (model,)
    ).fetchall()
    return [Lens(r[0], r[1], _boosts(r[2]), tuple(json.loads(r[3]))) for r in rows]


def models(db: Database) -> list[str]:
    """The models that lenses are made for."""
    return [str(row[0]) for row in db.execute("SELECT DISTINCT model FROM lens ORDER BY model").fetchall()]


def save(db: Database, model: str, lens: Lens) -> int:
    """Store a lens and return its id; call inside a transaction.

    One with an id is changed; one with id 0 is new, or takes the place of the lens of its name.

    Raises:
        BadSetting: it has no name, a name that is too long or that another one has, nothing to look by, or factors that
            are no numbers.
        NotFound: there is no lens of this id.
    """
    name = _name(lens)
    values = (name, model, json.dumps(lens.boosts), json.dumps(lens.required), now())
    if not lens.id:
        sql = (
            "INSERT INTO lens (name, model, boosts, required, made) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET name = excluded.name, model = excluded.model, "
            "boosts = excluded.boosts, required = excluded.required, made = excluded.made RETURNING id"
        )
        return int(db.execute(sql, values).fetchone()[0])
    try:
        sql = "UPDATE lens SET name = ?, model = ?, boosts = ?, required = ?, made = ? WHERE id = ?"
        changed = db.execute(sql, (*values, lens.id)).rowcount
    except sqlite3.IntegrityError as error:
        raise BadSetting(f"There is another lens named “{name}”.", "Choose another name.") from error
    if not changed:
        raise NotFound("This lens is no longer in the library.", "Save it under a name.")
    return lens.id


def delete(db: Database, lens_id: int) -> None:
    db.execute("DELETE FROM lens WHERE id = ?", (lens_id,))


def carry(db: Database, old: str, new: str, latents: Mapping[int, int]) -> int:
    """Make the lenses of model `old` those of `new`, with the latents that mean the same; returns how many went over.

    A lens that would lose something that must be there, or all of its concepts, stays with `old`. Call inside a
    transaction.
    """
    carried = 0
    for lens in lenses(db, old):
        boosts = {latents[i]: factor for i, factor in lens.boosts.items() if i in latents}
        required = [latents[i] for i in lens.required if i in latents]
        if len(required) < len(lens.required) or not (boosts or required):
            continue
        values = (new, json.dumps(boosts), json.dumps(required), lens.id)
        db.execute("UPDATE lens SET model = ?, boosts = ?, required = ? WHERE id = ?", values)
        carried += 1
    return carried


def _boosts(text: str) -> dict[int, float]:
    return {int(latent): float(factor) for latent, factor in json.loads(text).items()}


def _name(lens: Lens) -> str:
    name = " ".join(lens.name.split())
    if not name:
        raise BadSetting("The lens has no name.", "Give it one.")
    if len(name) > LONGEST_NAME:
        raise BadSetting("The name is too long.", f"Use at most {LONGEST_NAME} characters.")
    if not lens.boosts and not lens.required:
        raise BadSetting("The lens changes nothing.", "Choose a concept to count more, less, or to be there.")
    if not all(map(math.isfinite, lens.boosts.values())):
        raise BadSetting("A concept cannot count without end.", "Use a number such as 2, or 0.5.")
    return name
