"""What this machine is, and which builds of torch and llama-cpp-python fit it. Standard library only."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass

TORCH = "torch==2.13.0"
LLAMA = "llama-cpp-python==0.3.36"


@dataclass(frozen=True)
class Hardware:
    """`system` and `machine` as the platform module names them."""

    system: str
    machine: str
    nvidia: bool = False
    nvcc: bool = False

    @property
    def accelerator(self) -> str:
        """cuda, metal or cpu: what llama.cpp is built for."""
        if self.nvidia and self.nvcc:
            return "cuda"
        return "metal" if self.system == "Darwin" and self.machine == "arm64" else "cpu"


def detect() -> Hardware:
    return Hardware(platform.system(), platform.machine(), _has_nvidia(), shutil.which("nvcc") is not None)


def _has_nvidia() -> bool:
    """Whether an NVIDIA device can be used (a driver without a device does not count)."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return False
    try:
        done = subprocess.run([tool, "-L"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and "GPU" in done.stdout


@dataclass(frozen=True)
class Attempt:
    """Arguments for `pip install`, and what to tell before."""

    arguments: tuple[str, ...]
    note: str


def torch_attempts(hardware: Hardware, index: str = "") -> list[Attempt]:
    """Ways to get torch, best first. `index` is an extra package index that may hold CPU builds."""
    plain = (TORCH,)
    if hardware.nvidia:
        return [Attempt(plain, "torch for the NVIDIA device (about 3 GB with its libraries)")]
    if hardware.system != "Linux" or hardware.machine not in ("x86_64", "AMD64"):
        return [Attempt(plain, "torch for this machine's processor")]
    attempts = [Attempt((f"{TORCH}+cpu",), "torch for the processor")]
    if index:
        note = "torch for the processor, from WHYMATCH_TORCH_INDEX"
        attempts.append(Attempt((f"{TORCH}+cpu", "--extra-index-url", index), note))
    large = (
        "torch in its standard build: about 3 GB, because it holds the NVIDIA libraries too. "
        "To save that, set WHYMATCH_TORCH_INDEX to an index with CPU builds of torch and start again"
    )
    return [*attempts, Attempt(plain, large)]


def llama_flags(hardware: Hardware) -> str:
    """CMAKE_ARGS for llama.cpp.

    GGML_NATIVE stays off: a native build on a virtual machine can name instructions that its kernel does not
    enable, and dies at the first prompt.
    """
    extra = {"cuda": " -DGGML_CUDA=on", "metal": " -DGGML_METAL=on", "cpu": ""}
    return "-DGGML_NATIVE=OFF" + extra[hardware.accelerator]


def has_display() -> bool:
    """Whether a window can be shown."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
