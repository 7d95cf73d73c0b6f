"""The list that the Concepts page shows: before a fit, after one made by the job, with what the person said."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.events import Progress
from core.encode.encoder import Encoder
from core.library import Library
from core.worker.concept_list import concept_list
from core.worker.protocol import Reply, Request
from core.worker.roles.job import JobRole
from core.worker.server import Call
from tests.core.concepts.library import made_items, make_shelf


@pytest.fixture
def folder(tmp_path: Path, tiny_home: Path, tiny_encoder: Encoder) -> Path:
    made = tmp_path / "library"
    make_shelf(made, tiny_encoder, made_items(tiny_encoder, 60)).close()
    return made


def test_concepts_are_fitted_by_a_job_and_listed(folder: Path) -> None:
    before = concept_list(folder)
    assert (before.model, before.concepts, before.passages) == ("", (), 60)
    assert before.least <= before.passages
    told: list[Reply] = []
    result = JobRole(folder).handle(Call(Request(1, "fit_concepts"), told.append))
    found = concept_list(folder)
    assert result["concepts"] == len(found.concepts) > 0
    assert found.fitted == found.passages == 60
    assert 0 <= found.figures["nmse_held_out"] < 1
    assert found.created
    assert {reply.data["stage"] for reply in told if reply.event == "progress"} >= {Progress("concepts", 0, 0).stage}
    assert any(reply.event == "changed" for reply in told)


def test_what_the_person_said_is_in_it_and_lost_figures_are_no_error(folder: Path) -> None:
    JobRole(folder).handle(Call(Request(1, "fit_concepts"), lambda reply: None))
    found = concept_list(folder)
    library = Library.open(folder)
    library.rename_concept(found.model, found.concepts[0].id, "Mine")
    library.hide_concept(found.model, found.concepts[1].id)
    library.close()
    (folder / "models" / found.model / "config.json").write_text("{", encoding="utf-8")
    again = {c.id: c for c in concept_list(folder).concepts}
    assert again[found.concepts[0].id].label == "Mine"
    assert again[found.concepts[1].id].hidden
    assert concept_list(folder).figures == {}
