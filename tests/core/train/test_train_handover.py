"""Files of negatives: what is cut, changed or foreign is not there."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from core.base.files import TEMPORARY_SUFFIX
from core.models.bundles import Bundle
from core.train import handover
from core.train.handover import Contract, Negatives
from core.train.negatives import Mining
from core.train.types import WRITTEN, Candidates, Piece, Question

CONTRACT = Contract("corpus", "questions", "tokenizer", "mining")


def made(number: int, step: int = 0) -> Negatives:
    kept = (
        Candidates(3, 30, (1, 2, number + 10), (0.9, 0.1, 0.1 + 1e-16, 1 / 3)),
        Candidates(5, 50, (7,)),
        Candidates(9, 2**40, (), (-1.0,)),
    )
    return Negatives(number, step or 10 * number, "weights", kept, (True, False, True))


def put(folder: Path, *numbers: int) -> list[Negatives]:
    return [handover.write(folder, made(number), CONTRACT) for number in numbers]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    (written,) = put(tmp_path, 1)
    assert replace(written, hash="") == made(1)
    assert handover.read(tmp_path, 1, CONTRACT) == written
    assert handover.newest(tmp_path, CONTRACT) == written
    assert handover.named(tmp_path, written.name, CONTRACT) == written
    assert handover.named(tmp_path, "1:" + "0" * 64, CONTRACT) is None
    assert handover.named(tmp_path, "2:" + written.hash, CONTRACT) is None
    assert [path.name for path in tmp_path.iterdir()] == ["neg-00000001"]
    assert put(tmp_path, 1)[0].hash == written.hash  # the same is the same to the byte


def test_cut_anywhere_or_with_any_byte_changed_it_is_not_seen(tmp_path: Path) -> None:
    first, _ = put(tmp_path, 1, 2)
    file = tmp_path / "neg-00000002"
    whole = file.read_bytes()
    for size in [*range(0, 200, 7), *range(200, len(whole), 29), len(whole) - 1]:
        file.write_bytes(whole[:size])
        assert handover.newest(tmp_path, CONTRACT) == first
    for place in [*range(64), *range(65, len(whole), 13)]:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert handover.newest(tmp_path, CONTRACT) == first
    file.write_bytes(whole + b"\0")
    assert handover.newest(tmp_path, CONTRACT) == first
    file.write_bytes(whole)
    found = handover.newest(tmp_path, CONTRACT)
    assert found is not None
    assert found.number == 2


def test_foreign_files_are_not_seen(tmp_path: Path) -> None:
    first, second = put(tmp_path, 1, 2)
    for field in fields(Contract):
        other = replace(CONTRACT, **{field.name: "other"})
        assert handover.newest(tmp_path, other) is None
        handover.write(tmp_path, made(3), other)
        assert handover.newest(tmp_path, CONTRACT) == second
    (tmp_path / "neg-00000003").write_bytes((tmp_path / "neg-00000001").read_bytes())  # a copy under another number
    (tmp_path / f".neg-00000004.ab{TEMPORARY_SUFFIX}").write_bytes((tmp_path / "neg-00000002").read_bytes())
    (tmp_path / "neg-4").write_text("")
    (tmp_path / "neg-00000005").mkdir()
    assert handover.newest(tmp_path, CONTRACT) == second
    assert handover.newest(tmp_path, CONTRACT, until=19) == first
    assert handover.newest(tmp_path, CONTRACT, above=2) is None
    assert handover.newest(tmp_path / "nowhere", CONTRACT) is None


def test_old_ones_and_what_a_killed_writer_left_are_deleted(tmp_path: Path) -> None:
    put(tmp_path, 1, 2, 3, 4)
    left = tmp_path / f".neg-00000005.ab{TEMPORARY_SUFFIX}"
    left.write_bytes(b"half")
    handover.sweep(tmp_path)
    assert not left.exists()
    handover.prune(tmp_path, set())
    handover.prune(tmp_path, {0})
    assert handover.numbers(tmp_path) == [1, 2, 3, 4]
    handover.prune(tmp_path, {1, 3})
    assert handover.numbers(tmp_path) == [1, 3, 4]


@pytest.mark.parametrize("what", ["text", "order", "question", "prefix", "mining"])
def test_a_contract_tells_all_that_matters(tiny_bundle: Bundle, what: str) -> None:
    pieces = [Piece(i, i, i, f"text {i}", f"text {i}", "", (), "en") for i in (1, 2)]
    asked = [Question("what", 1, WRITTEN, 1)]
    contract = Contract.of(asked, pieces, tiny_bundle, Mining())
    assert contract == Contract.of(list(asked), list(pieces), tiny_bundle, Mining())
    bundle, mining = tiny_bundle, Mining()
    if what == "text":
        pieces[1] = replace(pieces[1], text="another")
    if what == "order":
        pieces.reverse()
    if what == "question":
        asked[0] = replace(asked[0], positive=2)
    if what == "prefix":
        bundle = replace(bundle, config={**bundle.config, "prefixes": {"query": "query: ", "passage": ""}})
    if what == "mining":
        mining = Mining(depth=100)
    assert Contract.of(asked, pieces, bundle, mining) != contract
