"""Cross entropy of many tokens over a large vocabulary, without their scores ever lying in memory together.

64 texts of 144 tokens over 30,000 entries have 280 million scores, and as many gradients of them. Here scores are made
a block of tokens at a time, and their gradients are taken while they are there. Source: fused linear cross entropy as
in Liger Kernel (Hsu et al. 2024); Wijmans et al. 2024, "Cut Your Losses in Large-Vocabulary Language Models".

Shapes: M tokens, D dimensions, K entries of the vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

ENTRIES = 2**23  # scores at a time


def summed_cross_entropy(
    states_MD: Tensor, weight_KD: Tensor, bias_K: Tensor, targets_M: Tensor, *, entries: int = ENTRIES
) -> Tensor:
    """Sum over tokens of -log softmax(states @ weight + bias)[target]; the same as torch's, with the same gradients.

    No more than about `entries` scores are held at once. It can be differentiated once. 0 for no token.
    """
    if not torch.is_grad_enabled():
        states_MD, weight_KD, bias_K = states_MD.detach(), weight_KD.detach(), bias_K.detach()
    block = max(1, entries // len(bias_K))
    total: Tensor = _Blocked.apply(states_MD, weight_KD, bias_K, targets_M, block)
    return total


class _Blocked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        states_MD, weight_KD, bias_K, targets_M, block = given
        grads = [
            torch.zeros_like(tensor) if wanted else None
            for tensor, wanted in zip(given[:3], ctx.needs_input_grad[:3], strict=True)
        ]
        total = bias_K.new_zeros(())
        for start in range(0, len(states_MD), block):
            states_BD, targets_B1 = states_MD[start : start + block], targets_M[start : start + block, None]
            scores_BK = _full(functional.linear(states_BD, weight_KD, bias_K))
            log_shares_BK = scores_BK.log_softmax(-1)
            total -= log_shares_BK.gather(1, targets_B1).sum()
            if any(ctx.needs_input_grad[:3]):
                apart_BK = log_shares_BK.exp_().scatter_add_(1, targets_B1, -torch.ones_like(scores_BK[:, :1]))
                _add(grads, apart_BK, states_BD, weight_KD, start)
        ctx.save_for_backward(*grads)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Any) -> tuple[Tensor | None, ...]:
        (scale,) = upstream
        return (*(None if grad is None else grad * scale for grad in ctx.saved_tensors), None, None)


def _add(grads: list[Tensor | None], apart_BK: Tensor, states_BD: Tensor, weight_KD: Tensor, start: int) -> None:
    """Add a block's gradients; `apart_BK` are those of its scores."""
    of_states, of_weight, of_bias = grads
    if of_states is not None:
        of_states[start : start + len(apart_BK)] = apart_BK @ weight_KD
    if of_weight is not None:
        of_weight += apart_BK.T @ states_BD
    if of_bias is not None:
        of_bias += apart_BK.sum(0)


def _full(tensor: Tensor) -> Tensor:
    """Out of half precision: a sum over a vocabulary needs more digits than a layer does."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor
