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

    `extra` gives a further loss of a chunk in the second pass, from the chunk's items and representations (a masked
    language model's, say): the *mean* over the chunk. It is weighed by the chunk's share of the batch, so that
    it adds up to the mean over the batch.
    """

    items: Sequence[Item]
    encode: Callable[[Sequence[Item]], Tensor]
    extra: Callable[[Sequence[Item], Tensor], Tensor | None] | None = None


def cached_step(
    sides: Sequence[Side[Item]], loss: Callable[..., Tensor], *, chunk: int, autocast: Pass = nullcontext,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Backward pass of `loss(reps_1, reps_2, ...)` over whole batches, `chunk` items at a time.

    The gradients equal those of the whole batch at once, with dropout too: the second pass of each chunk runs under the
    state of the random generators that its first pass had. Gradients are added to what is there. Returns the loss and
    the sum of the extra losses, both detached.

    Source: Gao et al. 2021, section 3.2.
    """
    first = [_first_pass(side, chunk, autocast) for side in sides]
    reps = [torch.cat([part.reps for part in parts]).requires_grad_() for parts in first]
    with torch.autocast(reps[0].device.type, enabled=False):  # scores divided by a small temperature need all digits
        value = loss(*reps)
    value.backward()
    extras = [
        _second_pass(side, parts, whole.grad, autocast) for side, parts, whole in zip(sides, first, reps, strict=True)
    ]
    return value.detach(), torch.stack(extras).sum()


@dataclass(frozen=True, slots=True)
class _Part(Generic[Item]):
    items: Sequence[Item]
    random: _Random
    reps: Tensor


def _first_pass(side: Side[Item], chunk: int, autocast: Pass) -> list[_Part[Item]]:
    parts = []
    for begin in range(0, len(side.items), chunk):
        items = side.items[begin : begin + chunk]
        random = _Random.now()
        with torch.no_grad(), autocast():
            parts.append(_Part(items, random, _full(side.encode(items))))
    return parts


def _second_pass(side: Side[Item], parts: list[_Part[Item]], grad: Tensor | None, autocast: Pass) -> Tensor:
    """Each chunk again, with a graph: <representations, their gradient> has the gradient of the whole loss."""
    if grad is None:
        raise ValueError("the loss does not depend on a side")
    total, begin = grad.new_zeros(()), 0
    for part in parts:
        piece = grad[begin : begin + len(part.items)]
        begin += len(part.items)
        with part.random.again(), autocast():
            reps = side.encode(part.items)
            extra = side.extra(part.items, reps) if side.extra is not None else None
        surrogate = (_full(reps) * piece).sum()
        if extra is not None:
            extra = _full(extra) * (len(part.items) / len(side.items))
            surrogate, total = surrogate + extra, total + extra.detach()
        surrogate.backward()
    return total


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
