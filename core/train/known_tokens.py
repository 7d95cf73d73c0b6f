"""The tokens that a library's texts hold: a language model of the library need not tell them from all others.

A vocabulary of many languages has 250,000 entries, of which a library uses some thousands; guessing among these alone
takes a tenth of the time, and no text of the library knows the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from core.encode.tokens import Tokens


class KnownTokens:
    """`ids_K` are the ids in use with mask and padding, in order; `counts_K` how often each stands in the texts.

    `special_K` tells which of them stand for no text.

    Raises:
        ValueError: the vocabulary has no mask.
    """

    def __init__(self, texts: Iterable[Sequence[int]], tokens: Tokens, device: torch.device) -> None:
        mask = tokens.mask()
        if mask is None:
            raise ValueError("this vocabulary has no mask token")
        used = torch.tensor([id for ids in texts for id in ids], dtype=torch.long)
        ids_K = torch.cat([used, torch.tensor([mask, tokens.pad])]).unique()
        self.mask = mask
        self.ids_K = ids_K.to(device)
        self.counts_K = torch.bincount(torch.searchsorted(ids_K, used), minlength=len(ids_K)).to(device)
        self.special_K = torch.isin(ids_K, torch.tensor(sorted(tokens.special() | {tokens.pad}))).to(device)

    def __len__(self) -> int:
        return len(self.ids_K)

    def places(self, ids: Tensor) -> Tensor:
        """Where each of `ids`, in any shape, stands in `ids_K`; all of them must be known."""
        return torch.searchsorted(self.ids_K, ids)
