"""Close reading in the search child: a cancelled call lets the next one begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.base.errors import Cancelled
from core.base.events import Control, ignore
from core.base.paths import models
from core.base.types import RERANK, Query
from core.base.wire import to_plain
from core.encode.cross_encoder import CrossEncoder
from core.encode.load import open_encoder
from core.encode.onnx import FP32
from core.index.writer import IndexWriter
from core.models.bundles import Bundle
from core.store import database
from core.train.cross_bundle import save_reranker
from core.train.cross_model import CrossModel
from core.worker.ingesting import ingest
from core.worker.protocol import Request
from core.worker.roles.search import SearchRole
from core.worker.server import Call

TEXTS = ("The honey of the hive is new.", "A ship left the harbour in a storm.", "The bread of the baker is good.")


@pytest.fixture
def library(tiny_home: Path, tiny_bundle: Bundle, tmp_path: Path) -> Path:
    """One whose generation names a reranker."""
    made, documents = tmp_path / "library", tmp_path / "documents"
    documents.mkdir()
    for n, text in enumerate(TEXTS):
        (documents / f"{n}.txt").write_text(text)
    ingest(made, [documents], control=Control(), listener=ignore)
    reranker = save_reranker(CrossModel.from_encoder(tiny_bundle, layers=1, device="cpu"), models(), {}, FP32)
    db, encoder = database.open_writer(made), open_encoder()
    IndexWriter(made, db, encoder.id, encoder.dimension).commit(reranker=reranker.id)
    db.conn.close()
    return made


@pytest.mark.parametrize(
    ("op", "args"), [("search", {"query": to_plain(Query("the honey"))}), ("retrieve", {"question": "the honey"})]
)
def test_a_call_that_is_cancelled_while_it_reads_ends(
    library: Path, monkeypatch: pytest.MonkeyPatch, op: str, args: dict[str, Any]
) -> None:
    role, read = SearchRole(library), CrossEncoder._run
    role.open()
    call, next_one = (Call(Request(number, op, args), lambda reply: None) for number in (1, 2))

    def overtaken(self: CrossEncoder, pair: Any) -> float:
        call.control.cancel()
        return read(self, pair)

    monkeypatch.setattr(CrossEncoder, "_run", overtaken)
    with pytest.raises(Cancelled):
        role.handle(call)
    hits = role.handle(next_one).hits
    role.close()
    assert RERANK in {part.channel for part in hits[0].parts}
