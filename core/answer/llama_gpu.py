"""How many layers of a model go to the graphics card: as many as its free memory holds, beside some room for others."""

from __future__ import annotations

import ctypes
from typing import Any

from core.models.gguf_model import SERVED_CONTEXT, ModelFile

ALL = -1  # llama.cpp's word for all layers
RESERVE = 700_000_000  # bytes: buffers of a batch, and what the desktop itself draws with
SHARE = 0.9  # of the free memory: other programs want some, too
_GPU, _INTEGRATED = 1, 2  # kinds of devices (ggml-backend.h)


def free_memory() -> int:
    """Bytes free on the graphics cards that llama.cpp can use; 0 where it was built without, or there is none."""
    import llama_cpp
    from llama_cpp import _ggml

    if not llama_cpp.llama_supports_gpu_offload():
        return 0
    found = _devices(_ggml.libggml)
    own = [free for kind, free in found if kind == _GPU]
    return sum(own or [free for kind, free in found if kind == _INTEGRATED])


def _devices(lib: Any) -> list[tuple[int, int]]:
    """Kind and free bytes of each device."""
    lib.ggml_backend_dev_count.restype = ctypes.c_size_t
    lib.ggml_backend_dev_get.restype = ctypes.c_void_p
    lib.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
    lib.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
    size = ctypes.POINTER(ctypes.c_size_t)
    lib.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, size, size]
    lib.ggml_backend_dev_memory.restype = None
    found = []
    for n in range(lib.ggml_backend_dev_count()):
        device, free, total = lib.ggml_backend_dev_get(n), ctypes.c_size_t(), ctypes.c_size_t()
        lib.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        found.append((int(lib.ggml_backend_dev_type(device)), int(free.value)))
    return found


def layers_on_card(model: ModelFile, free: int, context: int = SERVED_CONTEXT) -> int:
    """Layers that fit `free` bytes with their part of the cache; ALL when the whole model does.

    The layers are taken for equally large, and the output for one more: it goes last, as llama.cpp counts.
    """
    room = int(free * SHARE) - RESERVE
    whole = model.size + model.cache * min(context, model.context)
    if room <= 0 or not model.layers:
        return 0
    return ALL if whole <= room else room * (model.layers + 1) // whole
