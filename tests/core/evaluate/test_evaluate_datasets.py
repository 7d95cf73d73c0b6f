from pathlib import Path

import pytest

from core.base.errors import BadDataset
from core.evaluate.datasets import load

CORPUS = '{"_id": "d1", "title": "One", "text": "first"}\n{"_id": 2, "text": "second"}\n\n'
QUERIES = '{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t2\t0\n"


def make(folder: Path, corpus: str = CORPUS, queries: str = QUERIES, qrels: str = QRELS) -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(corpus, encoding="utf-8-sig")
    (folder / "queries.jsonl").write_text(queries)
    (folder / "qrels" / "test.tsv").write_text(qrels)
    return folder


def test_a_data_set(tmp_path: Path) -> None:
    found = load(make(tmp_path / "small"))
    assert found.name == "small"
    assert [(d.id, d.title, d.text) for d in found.corpus] == [("d1", "One", "first"), ("2", "", "second")]
    assert found.queries == {"q1": "a"}  # the judged ones
    assert found.qrels == {"q1": {"d1": 2, "2": 0}}


def test_the_only_split_is_taken(tmp_path: Path) -> None:
    folder = make(tmp_path / "small")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert load(folder).qrels


@pytest.mark.parametrize(
    ("part", "text", "told"),
    [
        ("corpus", '{"_id": "a"}\nnot json\n', "line 2: not JSON"),
        ("corpus", "[" * 100_000, "line 1: not JSON"),
        ("corpus", '["list"]\n', "line 1: not a JSON object"),
        ("corpus", '{"text": "a"}\n', "line 1: no _id"),
        ("corpus", '{"_id": "a", "text": 3}\n', "line 1: text is not text"),
        ("corpus", '{"_id": "a"}\n{"_id": "a"}\n', "occurs twice"),
        ("corpus", "", "no documents"),
        ("queries", '{"_id": "q9", "text": "x"}\n', "no query with judgements"),
        ("qrels", "query-id\tcorpus-id\tscore\nq1 d1 2\n", "line 2"),
        ("qrels", "query-id\tcorpus-id\tscore\nq1\td1\tgood\n", "line 2"),
        ("qrels", "query-id\tcorpus-id\tscore\nq1\td1\tinf\n", "line 2"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, part: str, text: str, told: str) -> None:
    with pytest.raises(BadDataset, match=told):
        load(make(tmp_path / "bad", **{part: text}))


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_missing_files(tmp_path: Path, name: str) -> None:
    folder = make(tmp_path / "bad")
    (folder / name).unlink()
    with pytest.raises(BadDataset, match="missing"):
        load(folder)


def test_no_folder_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="not a folder"):
        load(tmp_path / "none")
    folder = make(tmp_path / "bad")
    (folder / "queries.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadDataset, match="UTF-8"):
        load(folder)


def test_halves_of_characters_are_replaced(tmp_path: Path) -> None:
    found = load(make(tmp_path / "small", corpus='{"_id": "d1", "text": "bees \\ud800 hive"}\n'))
    assert found.corpus[0].text == "bees ? hive"
