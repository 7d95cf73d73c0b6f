"""An encoder that an older version installed: told in the list, and exported again from its own weights."""

from pathlib import Path

import numpy as np
import pytest

from core.base.errors import ModelDamaged
from core.base.files import read_json, write_json
from core.encode.load import serve
from core.encode.renew import renew
from core.models import catalogue
from core.models.bundles import CONFIG, find
from core.models.graphs import GRAPH
from core.worker.client import ChildClient
from core.worker.protocol import MODELS

TEXTS = ["The ship in the harbour.", "Bread and butter", "a"]


@pytest.fixture
def old(tiny_home: Path) -> Path:
    """The folder of the tiny encoder as a version before the graph's format was told would have left it."""
    folder = tiny_home / "models" / "tiny"
    config = read_json(folder / CONFIG)
    config.pop("graph", None)
    write_json(folder / CONFIG, config)
    return folder


def outdated() -> list[str]:
    return [entry.id for entry in catalogue.listing() if entry.outdated]


def test_an_older_graph_is_told_and_made_anew(old: Path) -> None:
    config, vectors = read_json(old / CONFIG), serve(find("tiny")).encode(TEXTS)
    assert outdated() == ["tiny"]
    made = renew("tiny")
    assert outdated() == []
    assert made.config["graph"] == GRAPH
    for field in ("id", "kind", "dimension", "max_tokens", "pooling", "prefixes"):
        assert made.config[field] == config[field]
    np.testing.assert_allclose((serve(made).encode(TEXTS) * vectors).sum(axis=1), 1, atol=0.02)
    written = (old / CONFIG).read_bytes()
    assert renew("tiny").config == made.config  # one of today stays as it is
    assert (old / CONFIG).read_bytes() == written


def test_a_damaged_one_is_not_renewed_and_stays(old: Path) -> None:
    tokenizer = old / "tokenizer.json"
    content = tokenizer.read_bytes()
    tokenizer.write_bytes(b" " * len(content))
    with pytest.raises(ModelDamaged):
        renew("tiny")
    assert tokenizer.read_bytes() == b" " * len(content)
    assert "graph" not in read_json(old / CONFIG)


def test_the_models_child_renews(old: Path) -> None:
    with ChildClient(MODELS) as child:
        listed = child.call("renew", {"id": "tiny"})
    assert listed["id"] == "tiny"
    assert [row["outdated"] for row in listed["models"] if row["id"] == "tiny"] == [False]
    assert read_json(old / CONFIG)["graph"] == GRAPH
