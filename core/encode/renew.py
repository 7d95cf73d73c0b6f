"""The graph of an installed encoder made anew: bundles of an older version keep theirs until then."""

from __future__ import annotations

from core.base.events import Control, Listener, Progress, ignore
from core.encode.export import export
from core.encode.install import INSTALLING
from core.encode.onnx import DATA, FP32, INT8
from core.models.bundles import Bundle, find, installing, verify
from core.models.graphs import outdated
from core.models.local import link

_GRAPHS = (FP32, INT8)
_OF_FILES = ("format", "files", "sizes", "serving", "graph", "int8")


def renew(id: str, *, control: Control | None = None, listener: Listener = ignore) -> Bundle:
    """Export an installed encoder again from its own weights; nothing is fetched. One with a graph of today stays.

    Vectors stay comparable: the model is the same. The bundle is replaced as a whole, or stays as it was.

    Raises:
        ModelMissing, ModelDamaged, Cancelled
        KnownError: the disk is full, there is no permission, or another process installs a model.
    """
    control = control or Control()
    old = find(id)
    if not outdated(old):
        return old
    listener(Progress(INSTALLING, 0, 0, id))
    verify(old)
    control.check()
    graphs = {*_GRAPHS, *(name + DATA for name in _GRAPHS)}
    files = {name: old.path(name) for name in old.config["files"] if name not in graphs}
    config = {key: value for key, value in old.config.items() if key not in _OF_FILES}
    with installing(config) as folder:
        link(files, folder)
        config.update(export(folder))
        control.check()
    return find(id)
