"""The kept activations of a batch as a list of entries, and sums over that list with their gradients (torch).

A kept matrix is nearly all zeros: B rows of M latents hold k entries each. Sums run over the entries, ordered by row
for the output and by latent for the weights' gradients, so that each sum reads its vectors once and adds in one order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812


class Kept(NamedTuple):
    """The activations that stay, row by row: E entries over B rows."""

    latents: Tensor  # int64 [E]
    values: Tensor  # float [E], above 0
    offsets: Tensor  # int64 [B], where each row starts in the list


def batch_top(pre_BM: Tensor, count: int, guess: float | None = None) -> tuple[Tensor, Tensor]:
    """Rows and latents of the `count` largest entries of the whole batch, positive ones only, in row order.

    `guess` is a value that they are likely to exceed (a little below the last batch's smallest): only what exceeds it
    is looked at then, unless that is too few. The result does not depend on it.
    """
    flat = pre_BM.flatten()
    likely = (flat > max(guess, 0.0)).nonzero().squeeze(1) if guess is not None else None
    if likely is not None and len(likely) >= count:
        top = likely[torch.topk(flat[likely], count, sorted=False).indices]
    else:
        top = torch.topk(flat, min(count, flat.numel()), sorted=False).indices
        top = top[flat[top] > 0]
    top = top.sort().values
    return top // pre_BM.shape[1], top % pre_BM.shape[1]


def starts(groups_E: Tensor, count: int) -> Tensor:
    """Where each of `count` groups starts in a list that is ordered by group."""
    sizes = torch.bincount(groups_E, minlength=count)
    return sizes.cumsum(0) - sizes


def chosen(
    pre_BM: Tensor, centred_BD: Tensor, encoder_MD: Tensor, bias_M: Tensor, rows_E: Tensor, latents_E: Tensor
) -> Tensor:
    """The listed entries of `pre_BM = centred_BD @ encoder_MD.T + bias_M`, [E], with their gradient."""
    values: Tensor = _Chosen.apply(pre_BM, centred_BD, encoder_MD, bias_M, rows_E, latents_E)
    return values


class _Chosen(torch.autograd.Function):
    """Reads entries of a product that is there already; its gradient touches the listed latents only."""

    @staticmethod
    def forward(
        ctx: Any, pre_BM: Tensor, centred_BD: Tensor, encoder_MD: Tensor, bias_M: Tensor, rows_E: Tensor,
        latents_E: Tensor,
    ) -> Tensor:  # fmt: skip
        ctx.save_for_backward(centred_BD, encoder_MD, rows_E, latents_E)
        return pre_BM[rows_E, latents_E]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        centred_BD, encoder_MD, rows_E, latents_E = ctx.saved_tensors
        (grad_E,) = grads
        order_E = torch.argsort(latents_E, stable=True)
        by_latent_M = starts(latents_E, len(encoder_MD))
        weighted_E = grad_E[order_E]
        grad_encoder_MD = F.embedding_bag(
            rows_E[order_E], centred_BD, by_latent_M, mode="sum", per_sample_weights=weighted_E
        )
        grad_bias_M = torch.zeros(len(encoder_MD), dtype=grad_E.dtype).index_add_(0, latents_E, grad_E)
        grad_centred_BD = None
        if ctx.needs_input_grad[1]:
            by_row_B = starts(rows_E, len(centred_BD))
            grad_centred_BD = F.embedding_bag(latents_E, encoder_MD, by_row_B, mode="sum", per_sample_weights=grad_E)
        return None, grad_centred_BD, grad_encoder_MD, grad_bias_M, None, None
