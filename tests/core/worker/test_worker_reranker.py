"""The reranker that a generation names: told of when it is lost, guarded while it serves, found when it is back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.base.errors import KnownError
from core.base.events import Control, ignore
from core.base.files import FileLock
from core.base.paths import models
from core.base.types import RERANK, Finding, Query
from core.encode.cross_encoder import CrossEncoder
from core.encode.load import open_encoder
from core.encode.onnx import FP32
from core.index.writer import IndexWriter
from core.models import adapted
from core.models.bundles import Bundle
from core.store import database
from core.train.cross_bundle import save_reranker
from core.train.cross_model import CrossModel
from core.worker import finding
from core.worker.doctor import examine
from core.worker.finding import Finder, LibraryRerankers
from core.worker.ingesting import ingest
from core.worker.protocol import Request
from core.worker.roles.models import ModelsRole
from core.worker.server import Call

TEXTS = ("The honey of the hive is new.", "A ship left the harbour in a storm.", "The bread of the baker is good.")


@pytest.fixture
def library(tiny_home: Path, tmp_path: Path) -> Path:
    made, documents = tmp_path / "library", tmp_path / "documents"
    documents.mkdir()
    for n, text in enumerate(TEXTS):
        (documents / f"{n}.txt").write_text(text)
    ingest(made, [documents], control=Control(), listener=ignore)
    return made


@pytest.fixture
def reranker(library: Path, tiny_bundle: Bundle) -> Bundle:
    """Installed, and named by the library."""
    made = save_reranker(CrossModel.from_encoder(tiny_bundle, layers=1, device="cpu"), models(), {}, FP32)
    named(library, reranker=made.id)
    return made


def named(library: Path, **names: str) -> None:
    db, encoder = database.open_writer(library), open_encoder()
    IndexWriter(library, db, encoder.id, encoder.dimension).commit(**names)  # type: ignore[arg-type]
    db.conn.close()


def told(library: Path) -> Finding:
    return next(one for one in examine(library) if one.check == "reranker")


def cut_short(bundle: Bundle) -> None:
    (bundle.folder / FP32).write_bytes(b"nothing")


def changed(bundle: Bundle) -> None:
    data = bytearray((bundle.folder / FP32).read_bytes())
    data[-1] ^= 1
    (bundle.folder / FP32).write_bytes(bytes(data))


def lost(bundle: Bundle) -> None:
    bundle.folder.rename(bundle.folder.with_name("elsewhere"))


@pytest.mark.parametrize("damage", [cut_short, changed, lost])
def test_the_doctor_tells_of_one_that_does_not_serve(
    library: Path, reranker: Bundle, damage: Callable[[Bundle], None]
) -> None:
    assert told(library).severity == "ok"
    damage(reranker)
    found = told(library)
    assert found.severity == "warning"
    assert reranker.id in found.detail
    assert "whymatch" in found.detail
    repaired = next(one for one in examine(library, repair=True) if one.check == "reranker")
    assert (repaired.severity, repaired.repaired) == ("warning", False)


def test_the_doctor_looks_at_the_librarys_own_and_at_its_kind(
    library: Path, tiny_bundle: Bundle, tiny_home: Path
) -> None:
    assert told(library).detail == "There is none."
    model = CrossModel.from_encoder(tiny_bundle, layers=1, device="cpu")
    with FileLock(library / adapted.LOCK, "adapt"):  # as a run holds it: what no generation names yet is not swept
        own = save_reranker(model, adapted.folder(library), {}, FP32)
        named(library, reranker=own.id)
    assert told(library) == Finding("reranker", "ok", f"{own.id} is whole.")
    changed(own)
    assert "whymatch adapt" in told(library).detail
    named(library, reranker=tiny_bundle.id)
    assert "no reranker" in told(library).detail


def test_what_the_library_serves_with_is_not_removed(library: Path, reranker: Bundle, tiny_bundle: Bundle) -> None:
    role = ModelsRole(library)

    def remove(id: str) -> None:
        role.handle(Call(Request(1, "remove", {"id": id}), lambda reply: None))

    for name in (reranker.id, f"somebody/{reranker.id}"):
        with pytest.raises(KnownError, match="best hits of this library") as refused:
            remove(name)
        assert refused.value.advice
    named(library, reranker="", queries=reranker.id)
    with pytest.raises(KnownError, match="Questions to this library"):
        remove(reranker.id)
    named(library, queries="")
    remove(reranker.id)
    assert not reranker.folder.exists()


def test_one_that_cannot_be_opened_stops_no_search(library: Path, tiny_bundle: Bundle) -> None:
    named(library, reranker=tiny_bundle.id)  # of another kind
    finder = Finder(library)
    hits = finder.search(Query("the honey of the hive")).hits
    finder.close()
    assert hits
    assert RERANK not in {part.channel for part in hits[0].parts}


def test_one_that_may_not_be_read_stops_no_search(
    library: Path, reranker: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed file is met only where its hash is taken: not every account is kept out by its rights."""

    def closed(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("core.models.bundles.sha256_file", closed)
    rerankers = LibraryRerankers(library)
    assert rerankers.promises(reranker.id)  # nobody tried
    assert rerankers(reranker.id) is None
    assert not rerankers.promises(reranker.id)
    assert told(library).severity == "warning"


def test_one_that_is_installed_again_is_noticed(library: Path, reranker: Bundle) -> None:
    rerankers, elsewhere = LibraryRerankers(library), reranker.folder.with_name("elsewhere")
    reranker.folder.rename(elsewhere)
    assert rerankers(reranker.id) is None
    elsewhere.rename(reranker.folder)
    found = rerankers(reranker.id)
    assert found is not None
    assert rerankers(reranker.id) is found


def test_a_damaged_one_is_not_opened_each_time(
    library: Path, reranker: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries, opened = list[str](), finding.open_reranker

    def counted(name: str, *, also: Path | None = None) -> CrossEncoder:
        tries.append(name)
        return opened(name, also=also)

    monkeypatch.setattr(finding, "open_reranker", counted)
    whole = reranker.folder.with_name("whole")
    shutil.copytree(reranker.folder, whole)
    cut_short(reranker)
    rerankers = LibraryRerankers(library)
    assert [rerankers(reranker.id) for _ in range(3)] == [None, None, None]
    assert len(tries) == 1
    shutil.rmtree(reranker.folder)
    whole.rename(reranker.folder)
    os.utime(reranker.folder)  # as an installation leaves it
    assert rerankers(reranker.id) is not None
    assert len(tries) == 2
