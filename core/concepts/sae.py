"""The BatchTopK sparse autoencoder: its layers, its losses, and how it is trained (torch).

Source: Park, Kim, Ko (EMNLP 2025, arXiv 2506.00041) section 3; BatchTopK of Bussmann et al. (arXiv 2412.06410);
auxiliary loss of Gao et al. (arXiv 2406.04093) appendix A.2.

Only the kept activations take part in decoding and in the gradient, so both run on the list of kept
(row, latent, value) entries instead of on a matrix that is nearly all zeros: same numbers, a sixth of the work.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from core.base.events import Control
from core.concepts.settings import DATA, SaeConfig
from core.concepts.sparse_ops import Kept, batch_top, chosen, starts
from core.index.concept_model import ConceptModel

_GUESS = 0.8  # of the running threshold: what the next batch's smallest kept activation is likely to exceed


class SparseAutoencoder(nn.Module):
    """`z = BatchTopK(W_enc (x - b_pre) + b_enc)`, `x̂ = W_dec z + b_pre`; weights are [latents, dimension]."""

    def __init__(self, dimension: int, config: SaeConfig) -> None:
        super().__init__()
        self.config = config
        generator = torch.Generator().manual_seed(config.seed)
        directions_MD = torch.randn(config.latents, dimension, generator=generator)
        self.decoder = nn.Parameter(config.norm * F.normalize(directions_MD, dim=1))
        self.encoder = nn.Parameter(self.decoder.detach().clone())  # the encoder starts as the decoder's transpose
        self.encoder_bias = nn.Parameter(torch.zeros(config.latents))
        self.bias = nn.Parameter(torch.zeros(dimension))  # b_pre
        self.threshold: float | None = None  # running mean of the smallest kept activation
        self.idle_M = torch.zeros(config.latents, dtype=torch.long)  # steps since a latent last fired

    @torch.no_grad()
    def begin(self, x_ND: Tensor) -> None:
        """Start from the vectors: the bias at their geometric median, and the rows at some of them if so configured."""
        self.bias.copy_(geometric_median(x_ND))
        if self.config.start == DATA:
            generator = torch.Generator().manual_seed(self.config.seed)
            some = torch.randperm(len(x_ND), generator=generator)[: len(self.decoder)]
            rows = F.normalize(x_ND[some] - self.bias, dim=1)
            self.decoder[: len(some)] = self.config.norm * rows
            self.encoder.copy_(self.decoder)

    def preactivations(self, x_BD: Tensor) -> Tensor:
        return (x_BD - self.bias) @ self.encoder.T + self.encoder_bias

    def decode(self, kept: Kept) -> Tensor:
        """The kept latents' sum without the bias, [B, D]."""
        return F.embedding_bag(kept.latents, self.decoder, kept.offsets, mode="sum", per_sample_weights=kept.values)

    @property
    def dead_M(self) -> Tensor:
        return self.idle_M >= self.config.dead_after


def encode(sae: SparseAutoencoder, x_BD: Tensor) -> Kept:
    """The batch's n·k largest positive pre-activations."""
    centred_BD = x_BD - sae.bias
    with torch.no_grad():
        pre_BM = centred_BD @ sae.encoder.T + sae.encoder_bias
        guess = None if sae.threshold is None else _GUESS * sae.threshold
        rows, latents = batch_top(pre_BM, len(x_BD) * sae.config.k, guess)
    values = chosen(pre_BM, centred_BD, sae.encoder, sae.encoder_bias, rows, latents)
    return Kept(latents, values, starts(rows, len(x_BD)))


def auxiliary_loss(sae: SparseAutoencoder, x_BD: Tensor, residual_BD: Tensor) -> Tensor:
    """How well the dead latents alone rebuild what is left, so that they find work.

    The residual is a fixed target (detached) and holds no bias; `b_pre` is detached too. So the gradient
    reaches dead latents and nothing else.
    """
    centred_BD = x_BD - sae.bias.detach()
    with torch.no_grad():
        pre_BM = sae.preactivations(x_BD).masked_fill(~sae.dead_M, -torch.inf)
        rows, latents = batch_top(pre_BM, 2 * sae.config.k * len(x_BD))
    if not len(rows):
        return x_BD.new_zeros(())
    values = chosen(pre_BM, centred_BD, sae.encoder, sae.encoder_bias, rows, latents)
    rebuilt_BD = sae.decode(Kept(latents, values, starts(rows, len(x_BD))))
    return (residual_BD.detach() - rebuilt_BD).square().sum(1).mean()


def train_step(sae: SparseAutoencoder, optimizer: torch.optim.Optimizer, x_BD: Tensor) -> float:
    """One step of Adam on `||x - x̂||² + aux_weight · L_aux`; returns the reconstruction error per row."""
    config = sae.config
    kept = encode(sae, x_BD)
    residual_BD = x_BD - sae.bias - sae.decode(kept)
    error = residual_BD.square().sum(1).mean()
    loss = error
    if config.aux_weight and bool(sae.dead_M.any()):
        loss = loss + config.aux_weight * auxiliary_loss(sae, x_BD, residual_BD)
    optimizer.zero_grad()
    loss.backward()
    remove_parallel_gradient(sae)
    nn.utils.clip_grad_norm_(sae.parameters(), config.clip)
    optimizer.step()
    fix_norms(sae)
    _watch(sae, kept, full=len(x_BD) == config.batch)
    return float(error.detach())


@torch.no_grad()
def remove_parallel_gradient(sae: SparseAutoencoder) -> None:
    """Drop the part of the decoder's gradient that would only change row lengths."""
    assert sae.decoder.grad is not None
    along_M = torch.linalg.vecdot(sae.decoder.grad, sae.decoder) / sae.config.norm**2
    sae.decoder.grad.addcmul_(sae.decoder, along_M[:, None], value=-1)


@torch.no_grad()
def fix_norms(sae: SparseAutoencoder) -> None:
    sae.decoder.mul_(sae.config.norm / sae.decoder.norm(dim=1, keepdim=True).clamp_min(1e-12))


@torch.no_grad()
def _watch(sae: SparseAutoencoder, kept: Kept, *, full: bool) -> None:
    """Note which latents fired, and the smallest kept activation of a full batch."""
    sae.idle_M += 1
    sae.idle_M[kept.latents] = 0
    if full and len(kept.values):
        smallest, decay = float(kept.values.min()), sae.config.decay
        sae.threshold = smallest if sae.threshold is None else decay * sae.threshold + (1 - decay) * smallest


def geometric_median(x_ND: Tensor, rounds: int = 20) -> Tensor:
    """The point with the least summed distance to the rows (Weiszfeld)."""
    median_D = x_ND.mean(0)
    for _ in range(rounds):
        weight_N = 1 / (x_ND - median_D).norm(dim=1).clamp_min(1e-6)
        median_D = (weight_N[:, None] * x_ND).sum(0) / weight_N.sum()
    return median_D


def train(
    vectors: np.ndarray,
    config: SaeConfig,
    control: Control | None = None,
    on_step: Callable[[int, float], None] | None = None,
) -> SparseAutoencoder:
    """Train on `vectors` [N, D]; the same vectors in the same order give the same weights.

    `on_step` is told the number of steps done and the last reconstruction error.

    Raises:
        Cancelled: through `control`, between two steps.
    """
    with _one_thread():
        x_ND = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))
        sae = SparseAutoencoder(x_ND.shape[1], config)
        sae.begin(x_ND)
        optimizer = torch.optim.Adam(sae.parameters(), lr=config.rate, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, config.steps))
        for step, rows in enumerate(_batches(len(x_ND), config)):
            if control is not None:
                control.check()
            error = train_step(sae, optimizer, x_ND[rows])
            schedule.step()
            if on_step is not None:
                on_step(step + 1, error)
    return sae


def export(sae: SparseAutoencoder) -> ConceptModel:
    """The trained weights as numpy arrays, with the threshold that makes BatchTopK a JumpReLU."""
    arrays = {name: value.detach().numpy().copy() for name, value in sae.named_parameters()}
    return ConceptModel(**arrays, threshold=sae.threshold or 0.0, config={"settings": asdict(sae.config)})


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one order on every machine; and many small steps gain nothing from waiting for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _rate(step: int, steps: int) -> float:
    """Level, then down to nothing over the last fifth, so that the threshold settles."""
    return min(1.0, max(0.0, (steps - step) / (0.2 * steps)))


def _batches(rows: int, config: SaeConfig) -> list[Tensor]:
    """Row numbers of each step: epochs of shuffled full batches (a rest is filled up from the next epoch)."""
    generator = torch.Generator().manual_seed(config.seed + 1)
    needed = config.steps * config.batch
    epochs = -(-needed // rows)
    order = torch.cat([torch.randperm(rows, generator=generator) for _ in range(epochs)])[:needed]
    return list(order.split(config.batch))
