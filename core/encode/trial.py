"""Whether a model works: what is wrong with its files is met when it is installed, not in the middle of a job."""

from __future__ import annotations

import numpy as np

from core.base.errors import ModelDamaged
from core.base.files import sha256_file
from core.encode.cross_encoder import CrossEncoder
from core.encode.encoder import Encoded
from core.encode.export import AGAIN, MODEL_CONFIG, TOKENIZER, telling
from core.encode.heads import HEADS_FILE
from core.encode.load import serve
from core.encode.onnx import DATA
from core.models.bundles import Bundle

# the last one fills the window of most models
_TEXTS = ("honey", "The bees leave the hive when the lime trees bloom.", "ship and harbour " * 150)


def attempt(bundle: Bundle) -> None:
    """Encode some texts with all heads of an encoder whose files lie in its folder but have no hashes yet.

    Raises:
        ModelDamaged: it cannot be loaded, or what it makes is not as its config says.
    """
    serving = str(bundle.config.get("serving", ""))
    names = [name for name in (serving, serving + DATA, TOKENIZER, HEADS_FILE) if bundle.path(name).is_file()]
    files = {name: sha256_file(bundle.path(name)) for name in names}
    tried = Bundle(bundle.id, bundle.kind, bundle.folder, {**bundle.config, "files": files})
    with telling(bundle.id):
        encoder = serve(tried, threads=1)
        made = encoder.encode_heads(_TEXTS, sorted(encoder.heads))
    if not _is_finite(made):
        raise ModelDamaged(f"The model {bundle.id} does not work: its vectors are no numbers.", AGAIN)


def attempt_reranker(bundle: Bundle) -> None:
    """Score some pairs with a reranker whose files lie in its folder but have no hashes yet.

    Raises:
        ModelDamaged: it cannot be loaded, or its scores are no numbers.
    """
    serving = str(bundle.config.get("serving", ""))
    names = [n for n in (serving, serving + DATA, TOKENIZER, MODEL_CONFIG) if bundle.path(n).is_file()]
    files = {name: sha256_file(bundle.path(name)) for name in names}
    tried = Bundle(bundle.id, bundle.kind, bundle.folder, {**bundle.config, "files": files})
    with telling(bundle.id):
        scores = CrossEncoder(tried, threads=1).score(_TEXTS[0], _TEXTS)
    if not np.isfinite(scores).all():
        raise ModelDamaged(f"The model {bundle.id} does not work: its scores are no numbers.", AGAIN)


def _is_finite(made: Encoded) -> bool:
    tables = [made.dense, *(made.multi or ())]
    weights = [weight for terms in made.lexical or () for weight in terms.values()]
    return all(bool(np.isfinite(table).all()) for table in [*tables, np.array(weights)] if table is not None)
