from pathlib import Path

import pytest

from core.base.errors import BadDataset
from core.evaluate import trec

RUN = {"q1": [("d3", 2.5), ("d1", 1 / 3), ("d2", 1 / 3)], "7": [("d:9/a", -1e-7)]}


def test_a_run_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    trec.write(path, RUN, "fused")
    assert trec.read(path) == RUN
    assert path.read_text().splitlines()[0] == "q1 Q0 d3 1 2.5 fused"


def test_other_programs_read_it(tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    path = tmp_path / "run.trec"
    trec.write(path, RUN, "fused")
    read = [(row.query_id, row.doc_id, row.score) for row in ir_measures.read_trec_run(str(path))]
    assert read == [(q, d, score) for q, rows in RUN.items() for d, score in rows]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    for text in (
        "q1 Q0 d1 1 0.5",
        "q1 Q0 d1 one 0.5 tag",
        "q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 1.0 t",
        "q1 Q0 d1 1 nan t",
        "\n",
    ):
        path.write_text(text)
        with pytest.raises(BadDataset):
            trec.read(path)
    with pytest.raises(BadDataset, match="missing"):
        trec.read(tmp_path / "nowhere")
    with pytest.raises(BadDataset, match="white space"):
        trec.write(path, {"q": [("a b", 1.0)]}, "t")
