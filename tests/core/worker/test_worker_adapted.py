"""An encoder of a library's own: it serves there, goes back, is checked, and goes when no generation names it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from core.base.errors import ModelMissing
from core.base.events import Control, ignore
from core.base.files import FileLock
from core.base.types import DENSE, Query
from core.encode.load import languages, open_encoder, suggests_tokens
from core.encode.onnx import FP32
from core.index import generation
from core.models import adapted
from core.models.bundles import Bundle
from core.store import database
from core.train import bundle as bundles
from core.train.backbone import Backbone
from core.worker import doctor
from core.worker.finding import Finder, encoder_for
from core.worker.generations import roll_back
from core.worker.ingesting import ingest
from core.worker.purge import purge
from core.worker.reencoding import reencode

TEXTS = ("The honey of the hive is new.", "A ship left the harbour in a storm.", "The bread of the baker is good.")


@pytest.fixture
def library(tiny_home: Path, tmp_path: Path) -> Path:
    made, documents = tmp_path / "library", tmp_path / "documents"
    documents.mkdir()
    for n, text in enumerate(TEXTS):
        (documents / f"{n}.txt").write_text(text)
    ingest(made, [documents], control=Control(), listener=ignore)
    return made


def adapt(library: Path, base: Bundle, seed: int) -> Bundle:
    """A real bundle from weights that were changed a little, in the library's own folder."""
    backbone = Backbone.open(base, "cpu")
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in backbone.parameters():
            weight.add_(torch.randn_like(weight) * 0.01)
    return bundles.save(backbone, base, adapted.folder(library), {"recipe": "quick"}, FP32)


def switch(library: Path, id: str) -> int:
    return reencode(library, id, control=Control(), listener=ignore).generation


def own(library: Path) -> set[str]:
    return {path.name for path in adapted.folder(library).glob("*+*")}


def severities(library: Path) -> dict[str, str]:
    return {finding.check: finding.severity for finding in doctor.examine(library)}


def test_it_serves_in_its_library_and_the_way_back_is_open(library: Path, tiny_bundle: Bundle, tmp_path: Path) -> None:
    made = adapt(library, tiny_bundle, 1)
    finder = Finder(library)
    before = finder.search(Query("the hive of bees", channels=(DENSE,)))
    number = generation.current_number(library)
    switch(library, made.id)
    after = finder.search(Query("the hive of bees", channels=(DENSE,)))
    assert finder.encoder.id == made.id
    assert (after.notice, before.hits[0].passage.path) == ("", after.hits[0].passage.path)
    assert after.hits[0].parts[0].score != before.hits[0].parts[0].score
    (tmp_path / "documents" / "new.txt").write_text("Rain and wind came over the sea.")
    ingest(library, [], control=Control(), listener=ignore)  # by the encoder in use
    assert encoder_for(library).id == made.id
    assert severities(library)["encoder"] == "ok"
    assert roll_back(library, number) == number
    assert finder.search(Query("the hive of bees")).notice == ""
    assert finder.encoder.id == tiny_bundle.id
    finder.close()
    assert own(library) == {made.id}  # the generation after it still names it
    with pytest.raises(ModelMissing):
        open_encoder(made.id)


def test_it_goes_with_a_library_that_is_copied(library: Path, tiny_bundle: Bundle, tmp_path: Path) -> None:
    made = adapt(library, tiny_bundle, 1)
    switch(library, made.id)
    shutil.copytree(library, tmp_path / "copy")
    shutil.rmtree(library)
    assert encoder_for(tmp_path / "copy").id == made.id


def test_what_is_known_of_its_origin_is_known_of_it(library: Path, tiny_bundle: Bundle) -> None:
    made = adapt(library, tiny_bundle, 1)
    folder = adapted.folder(library)
    assert languages(made.id, folder) == languages(tiny_bundle.id) == {"en"}
    assert suggests_tokens(made.id, folder) == suggests_tokens(tiny_bundle.id)
    assert languages(made.id) == frozenset()


def test_those_that_no_generation_names_are_swept(library: Path, tiny_bundle: Bundle) -> None:
    first, second = adapt(library, tiny_bundle, 1), adapt(library, tiny_bundle, 2)
    switch(library, first.id)
    assert own(library) == {first.id}  # the second was in no generation
    second = adapt(library, tiny_bundle, 2)
    switch(library, second.id)
    assert own(library) == {first.id, second.id}  # the way back
    purge(library, control=Control())
    assert {one.encoder for one in generation.history(library)} == {second.id}
    assert own(library) == {second.id}
    assert encoder_for(library).id == second.id


def test_one_that_is_being_made_stays(library: Path, tiny_bundle: Bundle) -> None:
    with FileLock(library / adapted.LOCK, "adapt"):
        made = adapt(library, tiny_bundle, 1)
        db = database.open_writer(library)
        adapted.sweep(library, set())
        db.conn.close()
        assert own(library) == {made.id}
        switch(library, made.id)
    assert own(library) == {made.id}
    adapted.sweep(library, {made.id})
    assert own(library) == {made.id}
    adapted.sweep(library, set())
    assert own(library) == set()


def test_a_damaged_or_lost_one_is_told(library: Path, tiny_bundle: Bundle) -> None:
    made = adapt(library, tiny_bundle, 1)
    assert severities(library)["encoder"] == "ok"
    switch(library, made.id)
    whole = (made.folder / FP32).read_bytes()
    (made.folder / FP32).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert severities(library)["encoder"] == "error"
    (made.folder / FP32).write_bytes(whole)
    assert severities(library)["encoder"] == "ok"
    shutil.rmtree(made.folder)
    assert severities(library)["encoder"] == "error"
    with pytest.raises(ModelMissing):
        encoder_for(library)
    roll_back(library)
    assert encoder_for(library).id == tiny_bundle.id
