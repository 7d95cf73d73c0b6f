"""`search` that is steered by concepts, `concepts` that are looked at and named, and `lens`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from core.base.errors import BadQuery, BadSetting, NotFound
from core.cli.commands import app
from core.encode.encoder import Encoder
from tests.core.concepts.library import fit_shelf, made_items, make_shelf, topic_of

QUESTION = "ship cargo and oven bread"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Encoder) -> Path:
    folder = tmp_path_factory.mktemp("steered") / "library"
    items = [
        replace(item, name=f"/shelf/{topic_of(n)}/{n:03d}.txt") for n, item in enumerate(made_items(tiny_encoder, 96))
    ]
    shelf = make_shelf(folder, tiny_encoder, items)
    shelf.writer().commit(concepts=fit_shelf(shelf, tiny_encoder))
    shelf.close()
    return folder


@pytest.fixture
def library(kept: Path, tiny_home: Path) -> Path:
    return kept


def ran(library: Path, *words: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*map(str, words), "--library", str(library), "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout) if code == 0 else done


def failure(library: Path, *words: object) -> BaseException | None:
    return CliRunner().invoke(app, [*map(str, words), "--library", str(library)]).exception


def shown(library: Path, *words: object) -> str:
    done = CliRunner().invoke(app, [*map(str, words), "--library", str(library)])
    assert done.exit_code == 0, done.output
    return done.stdout


def scores(found: Any) -> dict[int, float]:
    return {hit["passage_id"]: hit["score"] for hit in found["hits"]}


def test_a_search_is_steered_and_a_lens_does_the_same(library: Path) -> None:
    concepts = {c["id"]: c for c in ran(library, "concepts")["concepts"]}
    hit = ran(library, "search", QUESTION)["hits"][0]["passage_id"]
    first, second = [c for c in concepts.values() if hit in c["examples"]][:2]
    steering = ("--boost", f"{first['id']}=2.5", "--mute", second["id"], "--require", first["id"])
    steered = ran(library, "search", QUESTION, "-k", 20, *steering)
    assert scores(steered) != scores(ran(library, "search", QUESTION, "-k", 20))
    assert len(steered["hits"]) == min(20, first["passages"])
    for one in steered["hits"]:
        assert one["score"] == pytest.approx(sum(part["contribution"] for part in one["parts"]))
        assert "steer" in {part["channel"] for part in one["parts"]}
    ran(library, "lens", "save", "My lens", *steering)
    assert scores(ran(library, "search", QUESTION, "-k", 20, "--lens", "my lens")) == scores(steered)
    lens = ran(library, "lens", "list")["lenses"][0]
    assert lens["boosts"] == {str(first["id"]): 2.5, str(second["id"]): 0.0}
    assert first["label"].split(",")[0] in shown(library, "lens", "list")
    ran(library, "lens", "delete", "MY LENS")
    assert ran(library, "lens", "list") == {"lenses": []}
    assert isinstance(failure(library, "search", QUESTION, "--lens", "My lens"), NotFound)


def test_more_like_a_passage_because_of_a_concept(library: Path) -> None:
    hit = ran(library, "search", QUESTION)["hits"][0]["passage_id"]
    concept = next(c for c in ran(library, "concepts")["concepts"] if hit in c["examples"])
    found = ran(library, "search", "--like", hit, "--because", concept["id"])
    assert hit not in scores(found)
    holding = ran(library, "search", QUESTION, "-k", 96, "--require", concept["id"])
    assert found["hits"][0]["passage_id"] in scores(holding)
    assert "dense" in shown(library, "search", "--like", hit)


def test_concepts_are_looked_at(library: Path) -> None:
    concept = ran(library, "concepts")["concepts"][0]
    detail = ran(library, "concepts", "--detail", concept["id"])
    assert detail["concept"]["label"] == concept["label"]
    assert detail["examples"][0]["passage"]["text"]
    assert concept["label"] in shown(library, "concepts", "--detail", concept["id"])
    profile = ran(library, "concepts", "--profile", "/shelf/bees")["concepts"]
    assert profile[0]["lift"] > 2
    assert profile[0]["label"] in shown(library, "concepts", "--profile", "/shelf/bees")
    differing = ran(library, "concepts", "--difference", "/shelf/bees", "/shelf/ships")["concepts"]
    assert differing[0]["label"] in shown(library, "concepts", "--difference", "/shelf/bees", "/shelf/ships")
    assert "Nothing stands out" in shown(library, "concepts", "--profile", "/no/such/folder")
    assert "by chance" not in shown(library, "concepts", "--difference", "/shelf/bees", "/shelf/ships")
    same = shown(library, "concepts", "--difference", "/shelf/bees", "/shelf/bees")
    assert "do not differ by more than chance" in same
    points = ran(library, "concepts", "--map")["points"]
    assert all(0 <= point["x"] <= 1 and 0 <= point["y"] <= 1 for point in points)
    assert points[0]["label"] in shown(library, "concepts", "--map")


def test_concepts_are_named_hidden_and_merged(library: Path) -> None:
    first, second = ran(library, "concepts")["concepts"][:2]
    assert ran(library, "concepts", "--rename", first["id"], "My name")["label"] == "My name"
    assert ran(library, "concepts", "--hide", first["id"])["hidden"]
    assert ran(library, "concepts", "--merge", second["id"], first["id"])["merged"] == [second["id"]]
    assert "My name (hidden)" in shown(library, "concepts")
    assert isinstance(failure(library, "concepts", "--merge", first["id"], second["id"]), BadSetting)
    assert ran(library, "concepts", "--detail", second["id"])["concept"]["label"] == "My name"
    ran(library, "concepts", "--unmark", second["id"])
    plain = ran(library, "concepts", "--unmark", first["id"])
    assert (plain["label"], plain["hidden"], plain["merged"]) == (first["label"], False, [])


def test_what_makes_no_sense_is_said_so(library: Path) -> None:
    assert "ID=FACTOR" in ran(library, "search", QUESTION, "--boost", "12", code=2).output
    assert "number" in ran(library, "search", QUESTION, "--boost", "1=nan", code=2).output
    assert "number" in ran(library, "lens", "save", "no-end", "--boost", "1=inf", code=2).output
    assert "--judge" in ran(library, "concepts", "--by-model", code=2).output
    ran(library, "concepts", "--judge", 0, code=2)
    assert "--like" in ran(library, "search", QUESTION, "--because", "1", code=2).output
    assert "one of the options" in ran(library, "concepts", "--map", "--hide", "1", code=2).output
    assert isinstance(failure(library, "search", QUESTION, "--mute", 10**6), BadQuery)
    assert isinstance(failure(library, "search", ""), BadQuery)
    assert isinstance(failure(library, "concepts", "--detail", 10**6), NotFound)
    assert isinstance(failure(library, "concepts", "--hide", 10**6), NotFound)
    assert isinstance(failure(library, "concepts", "--unmark", 10**6), NotFound)
    assert isinstance(failure(library, "lens", "save", "empty"), BadSetting)
    assert isinstance(failure(library, "lens", "save", "strange", "--mute", 10**6), NotFound)


def test_a_person_judges_beside_the_answer_for_programs(library: Path) -> None:
    words = ["concepts", "--judge", "2", "--library", str(library), "--json"]
    done = CliRunner().invoke(app, words, input="1\n0\n")
    assert done.exit_code == 0, done.output
    *echoed, told = done.stdout.splitlines()
    assert json.loads(told)["asked"] == 2
    assert "".join(echoed).split() == ["1", "0"]  # the runner's echo of what was typed
    assert "does not belong" in done.stderr
