"""The recognition engine: rapidocr with the models of its own wheel. Owns rapidocr, OpenCV and their settings.

Nothing is ever fetched: each model is named by its file. Needs about 700 MB of address space for a full page.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from core.ingest.limits import Tick

_THREADS = 2
_LONGEST_SIDE = 1600  # pixels of the picture that lines are looked for in; they are read at full size
_NARROWEST = 0.46
_INK = 48  # levels of 255 that ink differs from the paper
_MARGIN = 40  # pixels of paper left around the ink
_TOGETHER = 12  # lines read between two signs of life
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}


@cache
def available() -> bool:
    """Is the engine installed with all its models?"""
    return importlib.util.find_spec("rapidocr") is not None and all(path.is_file() for path in _paths().values())


@cache
def version() -> str:
    return f"rapidocr {importlib.metadata.version('rapidocr')} {_MODELS['Rec']} {_LONGEST_SIDE}"


def _paths() -> dict[str, Path]:
    spec = importlib.util.find_spec("rapidocr")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "models"
    return {part: folder / name for part, name in _MODELS.items()}


class EngineFailed(Exception):
    """A picture could not be read: most likely there was too little memory."""


@cache
def engine() -> Engine:
    """The one engine of this process. Raises ImportError when it is not installed."""
    return Engine()


class Engine:
    """Finds lines in a picture ([H, W, 3] uint8, RGB) and reads them. One picture at a time."""

    def __init__(self) -> None:
        import cv2
        from rapidocr import RapidOCR

        cv2.setNumThreads(1)
        threads = min(_THREADS, os.cpu_count() or 1)
        settings: dict[str, Any] = {
            "Global.log_level": "critical",
            "Global.max_side_len": _LONGEST_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        settings |= {f"{part}.model_path": str(path) for part, path in _paths().items()}
        self._engine = RapidOCR(params=settings)
        self._crop: Callable[[np.ndarray, np.ndarray], np.ndarray] = _crop_function()

    def find(self, pixels: np.ndarray) -> np.ndarray:
        """Corners of each line, [n, 4, 2] float32: top left, top right, bottom right, bottom left as they lie."""
        nothing = np.zeros((0, 4, 2), np.float32)
        inked, left, top = _inked(pixels)
        if not inked.size:
            return nothing
        with _failures():
            found = self._engine(_bgr(inked), use_det=True, use_cls=False, use_rec=False)
        boxes = getattr(found, "boxes", None)
        if boxes is None:
            return nothing
        most = np.array([pixels.shape[1], pixels.shape[0]], np.float32)
        return np.clip(np.asarray(boxes, np.float32) + np.array([left, top], np.float32), 0, most)

    def cut(self, pixels: np.ndarray, quads: Iterable[np.ndarray]) -> list[np.ndarray]:
        """Each line straightened, as BGR; one that is higher than wide is laid to its left side."""
        return [self._crop(_around(pixels, quad), quad - quad.min(axis=0).astype(int)) for quad in quads]

    def upside_down(self, crops: Sequence[np.ndarray]) -> list[bool]:
        """For each line: does it seem to stand on its head?"""
        if not crops:
            return []
        with _failures():
            found = self._engine.cls_and_rotate([crop.copy() for crop in crops])[1]
        return [str(label) == "180" and float(score) > 0.8 for label, score in found.cls_res or ()]

    def read(self, crops: Sequence[np.ndarray], tick: Tick) -> list[tuple[str, float]]:
        """Text and certainty (0..1) of each line."""
        order = sorted(range(len(crops)), key=lambda i: crops[i].shape[1] / crops[i].shape[0])  # alike widths together
        texts: dict[int, tuple[str, float]] = {}
        for begin in range(0, len(order), _TOGETHER):
            tick()
            part = order[begin : begin + _TOGETHER]
            with _failures():
                found = self._engine.recognize_txt([crops[index] for index in part])
            read = zip(found.txts or (), map(float, found.scores), strict=True)
            texts.update(zip(part, read, strict=True))
        return [texts[index] for index in range(len(crops))]

    @property
    def characters(self) -> frozenset[str]:
        """All characters it can read."""
        return frozenset(self._engine._load_rec_model().postprocess_op.character)


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """What the engine raises as `EngineFailed`."""
    from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError

    try:
        yield
    except ONNXRuntimeError as error:
        raise EngineFailed(str(error)[-300:]) from None


def _crop_function() -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    from rapidocr.utils.process_img import get_rotate_crop_image

    def crop(picture: np.ndarray, quad: np.ndarray) -> np.ndarray:
        return np.asarray(get_rotate_crop_image(picture, quad.astype(np.float32)))

    return crop


def _inked(pixels: np.ndarray) -> tuple[np.ndarray, int, int]:
    """The picture without its empty margins, so that less of it is lost when it is made smaller; where it begins.

    It is never narrower than `_NARROWEST` of its length: the engine would blow it up to many times its size.
    """
    seen = pixels[::2, ::2]
    paper = np.median(seen[::4, ::4].reshape(-1, 3), axis=0).astype(np.int16)
    marks = (np.abs(seen.astype(np.int16) - paper) > _INK).any(axis=2)
    rows, columns = np.flatnonzero(marks.any(axis=1)), np.flatnonzero(marks.any(axis=0))
    if not len(rows):
        return pixels[:0], 0, 0
    top, bottom = max(0, 2 * int(rows[0]) - _MARGIN), 2 * int(rows[-1]) + _MARGIN
    left, right = max(0, 2 * int(columns[0]) - _MARGIN), 2 * int(columns[-1]) + _MARGIN
    part = pixels[top:bottom, left:right]
    height, width = part.shape[:2]
    more = max(0, int(_NARROWEST * width) - height), max(0, int(_NARROWEST * height) - width)
    if any(more):
        part = np.concatenate([part, np.full((more[0], width, 3), paper, np.uint8)])
        part = np.concatenate([part, np.full((len(part), more[1], 3), paper, np.uint8)], axis=1)
    return part, left, top


def _bgr(pixels: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(pixels[..., ::-1])


def _around(pixels: np.ndarray, quad: np.ndarray) -> np.ndarray:
    """The part of the picture that holds a line: turning the whole of it for each line would be slow."""
    left, top = quad.min(axis=0).astype(int)
    right, bottom = np.ceil(quad.max(axis=0)).astype(int) + 1
    return _bgr(pixels[max(0, top) : bottom, max(0, left) : right])
