"""Contrastive batches of any size at constant memory: representations first, gradients of them, then chunk by chunk.

A contrastive loss needs all representations of a batch at once, but not all activations. Source: Gao et al. 2021,
"Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import Tensor

Item = TypeVar("Item")
Pass = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Side(Generic[Item]):
    """One side of a batch: its items, and the encoder that makes [n, D] of n of them.

    `length` tells how long an item is: those of like length share a chunk, so that little is padded. `extra` gives a
    further loss of a chunk, from the chunk's items and representations (a masked language model's, say): the *mean*
    over the chunk. It is weighed by the chunk's share of the batch, so that it adds up to the mean over the batch.
    """

    items: Sequence[Item]
    encode: Callable[[Sequence[Item]], Tensor]
    extra: Callable[[Sequence[Item], Tensor], Tensor | None] | None = None
    length: Callable[[Item], int] | None = None


def cached_step(
    sides: Sequence[Side[Item]], loss: Callable[..., Tensor], *, chunk: int, kept: int = 1,
    autocast: Pass = nullcontext,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Backward pass of `loss(reps_1, reps_2, ...)` over whole batches, `chunk` items at a time.

    The gradients equal those of the whole batch at once, with dropout too: the second pass of each chunk runs under the
    state of the random generators that its first pass had. The last `kept` chunks keep their graph from the first pass
    and need no second one. One costs no memory, for a second pass would need as much; with as many as there are chunks
    this is the plain backward pass, at two thirds of the time. Gradients are added to what is there. Returns the loss
    and the sum of the extra losses, both detached.

    Source: Gao et al. 2021, section 3.2.
    """
    orders = [_order(side) for side in sides]
    chunks = [
        (side, [side.items[place] for place in order[begin : begin + chunk]])
        for side, order in zip(sides, orders, strict=True)
        for begin in range(0, len(order), chunk)
    ]
    parts = [
        _first_pass(side, items, autocast, keep=place >= len(chunks) - kept)
        for place, (side, items) in enumerate(chunks)
    ]
    reps = [whole.requires_grad_() for whole in _joined(parts, sides, chunk)]
    with torch.autocast(reps[0].device.type, enabled=False):  # scores divided by a small temperature need all digits
        value = loss(*map(_put_back, reps, orders))
    value.backward()
    grads = [grad for whole in reps for grad in _grad(whole).split(chunk)]
    extras = [_second_pass(parts.pop(), grad, autocast) for grad in reversed(grads)]  # a graph is freed when it is done
    return value.detach(), torch.stack(extras).sum()


def _order(side: Side[Item]) -> Sequence[int]:
    """The places of a side's items, the longest last: its chunk is the one whose second pass is saved."""
    places, length = range(len(side.items)), side.length
    return places if length is None else sorted(places, key=lambda place: length(side.items[place]))


def _put_back(reps: Tensor, order: Sequence[int]) -> Tensor:
    """Representations in the order of the side's items."""
    return reps if list(order) == list(range(len(order))) else reps[torch.tensor(order).argsort()]


@dataclass(frozen=True, slots=True)
class _Part(Generic[Item]):
    """A chunk after its first pass: `reps` without a graph, and either the random state before it or what a second pass
    would give (representations and weighed extra loss, with a graph)."""

    side: Side[Item]
    items: Sequence[Item]
    reps: Tensor
    random: _Random | None = None
    graph: tuple[Tensor, Tensor | None] | None = None


def _first_pass(side: Side[Item], items: Sequence[Item], autocast: Pass, *, keep: bool) -> _Part[Item]:
    if keep:
        graph = _with_graph(side, items, autocast)
        return _Part(side, items, graph[0].detach(), graph=graph)
    random = _Random.now()
    with torch.no_grad(), autocast():
        return _Part(side, items, _full(side.encode(items)), random)


def _with_graph(side: Side[Item], items: Sequence[Item], autocast: Pass) -> tuple[Tensor, Tensor | None]:
    with autocast():
        reps = side.encode(items)
        extra = side.extra(items, reps) if side.extra is not None else None
    return _full(reps), None if extra is None else _full(extra) * (len(items) / len(side.items))


def _joined(parts: Sequence[_Part[Item]], sides: Sequence[Side[Item]], chunk: int) -> list[Tensor]:
    """The representations of each side [n, D]."""
    left = iter(parts)
    return [torch.cat([next(left).reps for _ in range(0, len(side.items), chunk)]) for side in sides]


def _grad(whole: Tensor) -> Tensor:
    if whole.grad is None:
        raise ValueError("the loss does not depend on a side")
    return whole.grad


def _second_pass(part: _Part[Item], grad: Tensor, autocast: Pass) -> Tensor:
    """With a graph: <representations, their gradient> has the gradient of the whole loss. Returns the extra loss."""
    if part.graph is not None:
        reps, extra = part.graph
    else:
        assert part.random is not None
        with part.random.again():
            reps, extra = _with_graph(part.side, part.items, autocast)
    surrogate = (reps * grad).sum()
    (surrogate if extra is None else surrogate + extra).backward()
    return grad.new_zeros(()) if extra is None else extra.detach()


def _full(tensor: Tensor) -> Tensor:
    """Out of half precision: sums over a batch need more digits than a layer does."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor


@dataclass(frozen=True, slots=True)
class _Random:
    """The state of torch's generators: the processor's and each graphics device's."""

    cpu: Tensor
    cuda: list[Tensor]

    @classmethod
    def now(cls) -> _Random:
        started = torch.cuda.is_available() and torch.cuda.is_initialized()
        return cls(torch.get_rng_state(), torch.cuda.get_rng_state_all() if started else [])

    @contextmanager
    def again(self) -> Iterator[None]:
        """Run under this state; afterwards the generators stand where they stood before."""
        devices = list(range(len(self.cuda)))
        with torch.random.fork_rng(devices=devices):
            torch.set_rng_state(self.cpu)
            for device, state in zip(devices, self.cuda, strict=True):
                torch.cuda.set_rng_state(state, device)
            yield
