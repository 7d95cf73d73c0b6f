"""Opening an installed encoder."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from core.base.errors import KnownError, ModelDamaged, ModelMissing, from_os_error
from core.encode.encoder import Encoder
from core.encode.heads import read_heads
from core.encode.towers import TwoTowers
from core.models.bundles import CONFIG, ENCODER, RERANKER, Bundle, active, find
from core.models.known import spoken

if TYPE_CHECKING:
    from core.encode.cross_encoder import CrossEncoder


def open_encoder(
    bundle_id: str | None = None, *, also: Path | None = None, threads: int = 0, queries: str = ""
) -> Encoder:
    """The encoder of a bundle, by default the active one. `threads` 0 uses all cores.

    `also` is a folder of bundles beside the installed ones: that of a library, for encoders adapted to it. `queries`
    names the one that queries go through; where it is lost they go through the passages' own, which fits as well.

    Raises:
        ModelMissing, ModelDamaged
        KnownError: the bundle is no encoder.
    """
    encoder = serve(find(bundle_id, also) if bundle_id else _active(), threads=threads)
    if queries:
        with contextlib.suppress(ModelMissing, ModelDamaged):
            return TwoTowers(encoder, serve(find(queries, also), threads=threads))
    return encoder


def serve(bundle: Bundle, *, threads: int = 0) -> Encoder:
    """Load a bundle for serving.

    Raises:
        ModelDamaged
        KnownError: the bundle is no encoder.
    """
    if bundle.kind != ENCODER:
        raise KnownError(f"{bundle.id} is not an encoder.", "Choose an encoder: whymatch models list")
    from core.encode.onnx import OnnxEncoder  # heavy: only when an encoder is opened

    try:
        return OnnxEncoder(bundle, threads=threads)
    except (KeyError, TypeError, ValueError) as error:  # bundle.json was changed by hand
        raise ModelDamaged(
            f"The model {bundle.id} is damaged: {CONFIG} does not fit ({error}).",
            f"Install it again: whymatch models add {bundle.id}",
        ) from error


def open_reranker(bundle_id: str, *, also: Path | None = None, threads: int = 0) -> CrossEncoder:
    """A reranker: one of the folder `also`, such as a library's own, or an installed one.

    Raises:
        ModelMissing, ModelDamaged
        KnownError: the bundle is no reranker, or may not be read.
    """
    bundle = find(bundle_id, also)
    if bundle.kind != RERANKER:
        raise KnownError(f"{bundle.id} is not a reranker.", "Choose a reranker: whymatch models list")
    from core.encode.cross_encoder import CrossEncoder  # heavy: only when one is opened

    try:
        return CrossEncoder(bundle, threads=threads)
    except OSError as error:
        raise from_os_error(error, bundle.folder) from error
    except (KeyError, TypeError, ValueError) as error:  # bundle.json was changed by hand
        raise ModelDamaged(
            f"The model {bundle.id} is damaged: {CONFIG} does not fit ({error}).",
            f"Install it again: whymatch models add {bundle.id}",
        ) from error


def suggests_tokens(bundle_id: str, also: Path | None = None) -> bool:
    """Whether an encoder has a trained multi-vector head: then its token vectors are worth their room."""
    try:
        return read_heads(find(bundle_id, also)).multi is not None
    except (ModelMissing, ModelDamaged):
        return False


def languages(bundle_id: str, also: Path | None = None) -> frozenset[str]:
    """ISO 639-1 codes of the languages that an installed encoder was made for; none where that is not told, or many."""
    try:
        return spoken(find(bundle_id, also).config)
    except (ModelMissing, ModelDamaged):
        return frozenset()


def _active() -> Bundle:
    bundle = active(ENCODER)
    if bundle is None:
        raise ModelMissing("No encoder is installed.", "Install the starter models: python3 packaging/bootstrap.py run")
    return bundle
