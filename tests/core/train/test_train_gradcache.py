"""Gradients of a batch in chunks equal those of the whole batch at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from core.train.gradcache import Side, cached_step
from core.train.losses import info_nce

Encode = Callable[[Sequence[Tensor]], Tensor]


def _tower(seed: int, dtype: torch.dtype) -> nn.Module:
    torch.manual_seed(seed)
    tower = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Dropout(0.3), nn.Linear(16, 8), nn.Dropout(0.2)).to(dtype)
    return tower.train()


def _encoder(tower: nn.Module) -> Encode:
    return lambda items: nn.functional.normalize(tower(torch.stack(list(items))), dim=-1)


def _loss(q_BD: Tensor, p_ND: Tensor) -> Tensor:
    return info_nce(q_BD, p_ND, torch.arange(len(q_BD)), 0.1)


def _items(count: int, seed: int, dtype: torch.dtype) -> list[Tensor]:
    return list(torch.randn(count, 6, generator=torch.Generator().manual_seed(seed)).to(dtype))


def _grads(*towers: nn.Module) -> list[Tensor]:
    return [p.grad.clone() for tower in towers for p in tower.parameters() if p.grad is not None]


def _clear(*towers: nn.Module) -> None:
    for tower in towers:
        tower.zero_grad(set_to_none=True)


def _whole(sides: Sequence[Side[Tensor]], chunk: int) -> tuple[Tensor, Tensor]:
    """The slow reference: one graph over all chunks, the same random numbers in the same order."""
    reps, extra = [], torch.zeros(())
    for side in sides:
        parts = []
        order = sorted(range(len(side.items)), key=lambda place: side.length(side.items[place]) if side.length else 0)
        for begin in range(0, len(order), chunk):
            items = [side.items[place] for place in order[begin : begin + chunk]]
            parts.append(side.encode(items))
            if side.extra is not None:
                found = side.extra(items, parts[-1])
                assert found is not None
                extra = extra + found * (len(items) / len(side.items))
        reps.append(torch.stack([torch.cat(parts)[order.index(place)] for place in range(len(order))]))
    loss = _loss(*reps)
    (loss + extra).backward()
    return loss.detach(), extra.detach()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("chunk", [1, 3, 4, 100])  # 11 items: neither 3 nor 4 divides them
@pytest.mark.parametrize("kept", [0, 1, 3, 100])
@pytest.mark.parametrize("length", [None, lambda item: int(10 * item[0])])
def test_gradients_are_those_of_the_whole_batch(
    dtype: torch.dtype, shared: bool, chunk: int, kept: int, length: Callable[[Tensor], int] | None
) -> None:
    left = _tower(0, dtype)
    right = left if shared else _tower(1, dtype)
    sides = [
        Side(_items(11, 0, dtype), _encoder(left), length=length),
        Side(_items(14, 1, dtype), _encoder(right), length=length),
    ]
    towers = (left,) if shared else (left, right)
    torch.manual_seed(5)
    expected_loss, _ = _whole(sides, chunk)
    expected = _grads(*towers)
    _clear(*towers)
    torch.manual_seed(5)
    loss, _ = cached_step(sides, _loss, chunk=chunk, kept=kept)
    tolerance = 1e-5 if dtype is torch.float32 else 1e-11
    assert float(loss) == pytest.approx(float(expected_loss), rel=tolerance)
    for found, wanted in zip(_grads(*towers), expected, strict=True):
        assert float((found - wanted).norm() / wanted.norm()) < tolerance


def test_the_random_numbers_of_the_first_pass_matter() -> None:
    """What the equality rests on: with other dropout in the second pass the gradients are others."""
    tower = _tower(0, torch.float64)
    items = _items(8, 0, torch.float64), _items(8, 1, torch.float64)
    grads = []
    for careless in (False, True):
        calls = 0

        def encode(chunk: Sequence[Tensor], careless: bool = careless) -> Tensor:
            nonlocal calls
            calls += 1
            if careless and calls > 4:  # two chunks on either side, then the second pass
                torch.manual_seed(calls)
            return _encoder(tower)(chunk)

        torch.manual_seed(3)
        _clear(tower)
        cached_step([Side(part, encode) for part in items], _loss, chunk=4)
        grads.append(_grads(tower))
    assert any(float((a - b).norm() / a.norm()) > 1e-2 for a, b in zip(*grads, strict=True))


@pytest.mark.parametrize(("kept", "calls"), [(0, 10), (1, 9), (2, 8), (5, 5)])
def test_a_chunk_whose_graph_was_kept_is_encoded_once(kept: int, calls: int) -> None:
    tower, seen = _tower(0, torch.float32), 0

    def encode(items: Sequence[Tensor]) -> Tensor:
        nonlocal seen
        seen += 1
        return _encoder(tower)(items)

    sides = [Side(_items(7, 0, torch.float32), encode), Side(_items(9, 1, torch.float32), encode)]  # 2 and 3 chunks
    cached_step(sides, _loss, chunk=4, kept=kept)
    assert seen == calls


def test_items_of_like_length_share_a_chunk_the_longest_last() -> None:
    tower, chunks = _tower(0, torch.float32), []

    def encode(items: Sequence[Tensor]) -> Tensor:
        chunks.append([float(item[0]) for item in items])
        return _encoder(tower)(items)

    items = _items(10, 0, torch.float32)
    side = Side(items, encode, length=lambda item: int(1000 * item[0]))
    cached_step([side], lambda reps: reps.sum(), chunk=4)
    wanted = sorted((float(item[0]) for item in items), key=lambda first: int(1000 * first))
    assert chunks[:3] == [wanted[:4], wanted[4:8], wanted[8:]]


@pytest.mark.parametrize("kept", [0, 4, 6])  # of six chunks; those of the first side have the further loss
def test_further_losses_of_a_chunk_add_up_to_their_mean_over_the_batch(kept: int) -> None:
    tower = _tower(0, torch.float64).eval()

    def extra(items: Sequence[Tensor], reps: Tensor) -> Tensor:
        return reps.pow(3).sum(-1).mean() + torch.stack(list(items)).mean()

    items = _items(7, 0, torch.float64), _items(7, 1, torch.float64)
    sides = [Side(items[0], _encoder(tower), extra), Side(items[1], _encoder(tower))]
    expected_loss, expected_extra = _whole(sides, 100)  # in one chunk: the plain mean
    expected = _grads(tower)
    _clear(tower)
    loss, found = cached_step(sides, _loss, chunk=3, kept=kept)
    assert float(loss) == pytest.approx(float(expected_loss), rel=1e-12)
    assert float(found) == pytest.approx(float(expected_extra), rel=1e-12)
    for one, other in zip(_grads(tower), expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-10)


def test_generators_go_on_as_if_each_chunk_had_run_once() -> None:
    tower = _tower(0, torch.float32)
    items = _items(6, 0, torch.float32), _items(6, 1, torch.float32)
    torch.manual_seed(1)
    with torch.no_grad():
        for part in items:
            for begin in (0, 4):
                _encoder(tower)(part[begin : begin + 4])
    expected = torch.rand(3)
    torch.manual_seed(1)
    cached_step([Side(part, _encoder(tower)) for part in items], _loss, chunk=4)
    assert torch.equal(torch.rand(3), expected)


def test_memory_holds_one_chunk_of_activations() -> None:
    """Of the tensors that a graph keeps no more are alive at once when the batch grows eightfold."""
    tower = _tower(0, torch.float32)
    peaks = []
    for count in (16, 128):
        alive, peak = 0, 0

        def pack(tensor: Tensor) -> Tensor:
            nonlocal alive, peak
            alive += tensor.numel()
            peak = max(peak, alive)
            return tensor

        def unpack(tensor: Tensor) -> Tensor:
            nonlocal alive
            alive -= tensor.numel()
            return tensor

        sides = [Side(_items(count, seed, torch.float32), _encoder(tower)) for seed in (0, 1)]
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            encoded = [Side(side.items, side.encode) for side in sides]
            cached_step(encoded, lambda *reps: sum((r.sum() for r in reps), torch.zeros(())), chunk=4)
        peaks.append(peak)
    assert peaks[1] <= peaks[0] * 1.01
