"""Named concepts of a library, one set a sparse autoencoder, and the person's marks: names, hidden, merged."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sqlite_utils import Database

from core.base.errors import BadSetting, NotFound
from core.base.types import Concept
from core.store.documents import now

# A judge who guesses is right one time in ten, and finds the odd passage among those of a random direction about four
# times in ten. A concept that does no better than one in three says nothing a person could follow: a fifth of them, on
# two libraries. From their names alone 0.55 to 0.59 of all pairs of passages are put in the right order (chance: 0.5),
# from the others' 0.89, as many as from all.
LEAST_QUALITY = 1 / 3
_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
LONGEST_NAME = 80  # characters of a name that a person gives
BY_MODEL, PERSON = "model", "person"  # `Concept.named_by`


@dataclass(frozen=True, slots=True)
class Mark:
    """What the person says of a concept: a `name` of their own ("" for none), `hidden`, put together with another."""

    name: str = ""
    hidden: bool = False
    merged_into: int | None = None


def put_concepts(db: Database, model: str, rows: Iterable[Concept]) -> None:
    """Store the concepts of `model`, in place of any it had; call inside a transaction.

    Marks stay, and so do names that a language model wrote: `model` names the passages that it was fitted on, too.
    """
    names = {c.id: c.label for c in _stored(db, model) if c.named_by == BY_MODEL}
    db.execute("DELETE FROM concept WHERE model = ?", (model,))
    db.conn.executemany(
        "INSERT INTO concept (model, latent, label, terms, passages, examples, idf, quality, named_by) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (model, c.id, c.label, json.dumps(c.terms), c.passages, json.dumps(c.examples), c.idf, c.quality,
             c.named_by) for c in rows
        ],
    )  # fmt: skip
    for latent, name in names.items():
        put_name(db, model, latent, name)


def put_name(db: Database, model: str, latent: int, name: str) -> None:
    """Give a concept the name that a language model wrote; a name of the person's stands before it all the same."""
    db.execute(
        "UPDATE concept SET label = ?, named_by = ? WHERE model = ? AND latent = ?", (name, BY_MODEL, model, latent)
    )


def concepts(db: Database, model: str) -> list[Concept]:
    """The concepts of `model` as the person wants them, the most frequent first.

    The person's names stand in place of the default ones. One that was merged is part of its target: `merged` holds
    its id, its terms and examples follow those of the target, and `passages` (with `idf`) are those of the most
    frequent of them, so at least as many. Hidden ones are there, with `hidden` set.
    """
    said = marks(db, model)
    plain = {c.id: _marked(c, said.get(c.id, Mark())) for c in _stored(db, model)}
    members: dict[int, list[Concept]] = {}
    for latent, concept in plain.items():
        members.setdefault(_target(latent, said, plain), []).append(concept)
    folded = [_folded(plain[target], [c for c in group if c.id != target]) for target, group in members.items()]
    return sorted(folded, key=lambda c: (-c.passages, c.id))


def default_labels(db: Database, model: str) -> dict[int, str]:
    """The label of each latent of `model` that has one, without what the person says."""
    return {int(r[0]): str(r[1]) for r in db.execute("SELECT latent, label FROM concept WHERE model = ?", (model,))}


def written(db: Database, model: str) -> frozenset[int]:
    """The latents of `model` whose label a language model wrote."""
    rows = db.execute("SELECT latent FROM concept WHERE model = ? AND named_by = ?", (model, BY_MODEL)).fetchall()
    return frozenset(int(row[0]) for row in rows)


def reasons(found: Iterable[Concept]) -> dict[int, str]:
    """Labels of the latents that may be shown as reasons: neither hidden nor weak (`LEAST_QUALITY`).

    A merged latent has the label of its target. What the person named is shown however weak it is.
    """
    shown = [c for c in found if not c.hidden and not weak(c)]
    return {latent: c.label for c in shown for latent in (c.id, *c.merged)}


def weak(concept: Concept) -> bool:
    """Whether its passages have too little in common for a judge to tell another from them."""
    return 0 <= concept.quality < LEAST_QUALITY and concept.named_by != PERSON


def marks(db: Database, model: str) -> dict[int, Mark]:
    rows = db.execute("SELECT latent, name, hidden, merged_into FROM concept_mark WHERE model = ?", (model,)).fetchall()
    return {int(r[0]): Mark(r[1], bool(r[2]), r[3]) for r in rows}


def mark(
    db: Database, model: str, latent: int, *, name: str | None = None, hidden: bool | None = None,
    merged_into: int | None = None,
) -> Mark:  # fmt: skip
    """Change what the person says of a concept, and return what was said before; call inside a transaction.

    What is None stays. An empty `name` brings the default name back; a concept merged into itself is its own again.

    Raises:
        NotFound: there is no such concept. BadSetting: the name is too long, or the merge would go round in a circle.
    """
    said = marks(db, model)
    for one in (latent, merged_into):
        _require(db, model, one)
    before = said.get(latent, Mark())
    after = before
    if name is not None:
        after = replace(after, name=_named(name))
    if hidden is not None:
        after = replace(after, hidden=hidden)
    if merged_into is not None:
        after = replace(after, merged_into=_merge(said, latent, merged_into))
    restore(db, model, latent, after)
    return before


def restore(db: Database, model: str, latent: int, said: Mark) -> None:
    """Say exactly this of a concept: undoes a change with what `mark` returned; `Mark()` takes everything back."""
    if said == Mark():
        db.execute("DELETE FROM concept_mark WHERE model = ? AND latent = ?", (model, latent))
        return
    db.execute(
        "INSERT OR REPLACE INTO concept_mark (model, latent, name, hidden, merged_into, made) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (model, latent, said.name, said.hidden, said.merged_into, now()),
    )


def carry_marks(db: Database, old: str, new: str, latents: Mapping[int, int]) -> int:
    """Copy the marks of model `old` to the latents of `new` that mean the same; returns how many went over.

    Those of `new` stay where it has some. One merged into a latent without a match keeps its name alone, and so does
    one whose merge would go round in a circle. Call inside a transaction.
    """
    said = marks(db, new)
    there = frozenset(said)
    for latent, one in marks(db, old).items():
        if latent not in latents or latents[latent] in there:
            continue
        own, into = latents[latent], None if one.merged_into is None else latents.get(one.merged_into)
        said[own] = replace(one, merged_into=None if _leads_to(said, into, own) else into)
        restore(db, new, own, said[own])
    return len(said) - len(there)


def standing_in(latents: Mapping[int, int], said: Mapping[int, Mark]) -> dict[int, int]:
    """Matches old to new in which a concept that has none takes over that of a latent the person merged into it, since
    the two were one for them; that latent then has none."""
    found, targets = dict(latents), {one.merged_into for one in said.values()}
    for latent in sorted(said):
        target = _target(latent, said, targets)
        if latent in found and target not in found:
            found[target] = found.pop(latent)
    return found


def drop_others(db: Database, keep: Iterable[str]) -> None:
    """Delete the concepts of models that are not in `keep`, and the marks and lenses made for them."""
    kept = tuple(keep)
    for table in ("concept", "concept_mark", "lens"):
        db.execute(f"DELETE FROM {table} WHERE model NOT IN ({', '.join('?' * len(kept))})", kept)


def forget_examples(db: Database, gone: Collection[int]) -> None:
    """Take deleted passages out of the concepts' examples."""
    for model, latent, kept in _exemplified(db, gone):
        values = (json.dumps([i for i in kept if i not in gone]), model, latent)
        db.execute("UPDATE concept SET examples = ? WHERE model = ? AND latent = ?", values)


def exemplifying(db: Database, gone: Collection[int]) -> int:
    """How many concepts still have one of these passages for an example."""
    return len(_exemplified(db, gone))


def _exemplified(db: Database, gone: Collection[int]) -> list[tuple[str, int, list[int]]]:
    rows = db.execute("SELECT model, latent, examples FROM concept").fetchall() if gone else []
    found = [(str(model), int(latent), json.loads(examples)) for model, latent, examples in rows]
    return [row for row in found if not set(row[2]).isdisjoint(gone)]


def _stored(db: Database, model: str) -> list[Concept]:
    rows = db.execute(
        "SELECT latent, label, terms, passages, examples, idf, quality, named_by FROM concept WHERE model = ? "
        "ORDER BY latent",
        (model,),
    ).fetchall()
    return [Concept(r[0], r[1], tuple(json.loads(r[2])), r[3], tuple(json.loads(r[4])), *r[5:]) for r in rows]


def _marked(concept: Concept, said: Mark) -> Concept:
    if said.name:
        concept = replace(concept, label=said.name, named_by=PERSON)
    return replace(concept, hidden=said.hidden)


def _target(latent: int, said: Mapping[int, Mark], there: Collection[int | None]) -> int:
    """The concept that a latent counts as: where its merges lead to, as far as there are such concepts."""
    seen = {latent}
    while (into := said.get(latent, Mark()).merged_into) is not None and into in there and into not in seen:
        latent = into
        seen.add(latent)
    return latent


def _folded(target: Concept, others: list[Concept]) -> Concept:
    together = [target, *others]
    most = max(together, key=lambda c: c.passages)
    return replace(
        target, passages=most.passages, idf=most.idf, merged=tuple(c.id for c in others),
        terms=tuple(dict.fromkeys(term for c in together for term in c.terms)),
        examples=tuple(dict.fromkeys(example for c in together for example in c.examples)),
        quality=max(c.quality for c in together),
    )  # fmt: skip


def _require(db: Database, model: str, latent: int | None) -> None:
    row = db.execute("SELECT 1 FROM concept WHERE model = ? AND latent = ?", (model, latent)).fetchone()
    if latent is not None and row is None:
        raise NotFound(
            f"Concept {latent} is not in this library.", "Its concepts may have been fitted anew: look again."
        )


def _named(name: str) -> str:
    """In one line. Marks that turn the direction of writing would turn what stands beside the name as well."""
    plain = " ".join("".join(" " if _turns(c) else c for c in name).split())
    if len(plain) > LONGEST_NAME:
        raise BadSetting("The name is too long.", f"Use at most {LONGEST_NAME} characters.")
    return plain


def _turns(character: str) -> bool:
    return unicodedata.bidirectional(character) in _TURNING or unicodedata.category(character) == "Cc"


def _merge(said: Mapping[int, Mark], latent: int, into: int) -> int | None:
    if into == latent:
        return None
    if _leads_to(said, into, latent):
        raise BadSetting("These concepts are put together already, the other way round.", "Take that merge back first.")
    return into


def _leads_to(said: Mapping[int, Mark], latent: int | None, end: int) -> bool:
    """Whether merges lead from `latent` to `end`, if only because they are one."""
    seen = set()
    while latent is not None and latent != end and latent not in seen:
        seen.add(latent)
        latent = said.get(latent, Mark()).merged_into
    return latent == end
