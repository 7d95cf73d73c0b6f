"""A trained cross-encoder as a bundle that is served, in a library's `models/` beside its adapted encoders."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.base.files import write_json
from core.encode.cross_export import export_cross
from core.encode.export import MODEL_CONFIG, TOKENIZER, WEIGHTS
from core.models import adapted
from core.models.bundles import RERANKER, Bundle, find, installing, verify
from core.train.bundle import MADE, weights_hash, whole
from core.train.checkpoint import save_tensors
from core.train.cross_model import CrossModel

_KEPT = ("licence", "languages", "source")
_NAME = "-reranker"  # behind the id of the encoder that one began with


def save_reranker(model: CrossModel, folder: Path, told: Mapping[str, Any], serving: str = "") -> Bundle:
    """Make the bundle of a trained one in `folder`; one that is there already and whole is given back.

    Its id is that of the installed model it came from, with `-reranker` behind an encoder's, "+" and 8 hex digits of
    its weights' hash. Its config says what is `told` (recipe, figures). `serving` names the graph to serve: by default
    it is chosen on this machine.

    Raises:
        ModelDamaged: the model that it came from is damaged.
        DiskFull, KnownError: nothing is left behind.
    """
    weights, base = model.weights(), model.bundle
    id = adapted.name(_origin(base), weights_hash(weights))
    if (there := whole(folder, id)) is not None:
        return there
    config = {
        **{key: base.config[key] for key in _KEPT if key in base.config}, **told, "id": id, "kind": RERANKER,
        "base": base.id, MADE: True, "pair_tokens": model.pair_tokens, "question_tokens": model.question_tokens,
    }  # fmt: skip
    verify(base, (TOKENIZER,))
    with installing(config, folder) as fresh:
        shutil.copyfile(base.path(TOKENIZER), fresh / TOKENIZER)
        write_json(fresh / MODEL_CONFIG, model.config)
        save_tensors(weights, fresh / WEIGHTS)
        config.update(export_cross(fresh, serving))
    return find(id, folder)


def _origin(base: Bundle) -> str:
    own = adapted.origin(base.id)
    return own if base.kind == RERANKER else f"{own}{_NAME}"
