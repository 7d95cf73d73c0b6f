"""The format of the graphs that encoders are served from, and which bundles were installed with an older one."""

from __future__ import annotations

from core.models.bundles import ENCODER, Bundle
from core.models.layout import WEIGHTS

GRAPH = 2  # 1: with a mask, padded batches; 2: without, each text alone


def outdated(bundle: Bundle) -> bool:
    """Whether an encoder is served from an older graph though a newer one can be made of its own weights."""
    config = bundle.config
    return bundle.kind == ENCODER and WEIGHTS in config["files"] and int(config.get("graph", 1)) < GRAPH
