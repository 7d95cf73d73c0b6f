"""Token states of a frozen encoder, kept in a file: each text goes through the encoder once, not once an epoch.

They are 16-bit floats, one text after another, and an index of what lies where. The index is written after the data is
durable, and what lies behind it is cut off when the file is opened, so that a killed run reads none of what was half
written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from core.base.errors import from_os_error
from core.base.files import read_json, write_json
from core.encode.padding import batches
from core.train.backbone import Backbone
from core.train.m3_recipe import MOST_BYTES

_DATA, _INDEX = "states.bin", "states.json"
_BATCH_TOKENS = 4096
_HALF = np.dtype("<f2")

Half = npt.NDArray[np.float16]


class KeptStates:
    """A context. States of the last layer by `backbone`, in evaluation mode; `key` names its weights.

    Above `most_bytes` a text's states are made again whenever they are asked for.

    Raises:
        DiskFull: from each method.
    """

    def __init__(self, backbone: Backbone, folder: Path, key: str, most_bytes: int = MOST_BYTES) -> None:
        self._backbone, self._key, self._most = backbone, key, most_bytes
        config: Any = backbone.model.config
        self._width = int(config.hidden_size)
        self._path, self._data = folder / _INDEX, folder / _DATA
        self._end, self._places = self._known()  # the bytes where each text's states begin
        with _told(self._data):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._data.open("r+b" if self._end else "w+b")
            self._file.truncate(self._end)
        self.encoded = 0  # texts that went through the encoder

    def __enter__(self) -> KeptStates:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _told(self._data):  # what is still in memory is written
            self._file.close()

    def padded(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """States [B, T, D] of texts given as token ids, float32, zero where texts are shorter; without a graph."""
        found: list[Half | None] = [self._read(row) for row in ids]
        missing = [place for place, states in enumerate(found) if states is None]
        for part in batches([len(ids[place]) for place in missing], _BATCH_TOKENS):
            places = [missing[number] for number in part.tolist()]
            for place, states in zip(places, self._encode([ids[p] for p in places]), strict=True):
                found[place] = states
                self._write(ids[place], states)
        whole = np.zeros((len(ids), max(map(len, ids)), self._width), np.float32)
        for row, own in zip(whole, found, strict=True):
            assert own is not None
            row[: len(own)] = own
        return torch.from_numpy(whole).to(self._backbone.device)

    def flush(self) -> None:
        """Make durable what was kept so far. Raises DiskFull."""
        with _told(self._data):
            self._file.flush()
            os.fsync(self._file.fileno())
        write_json(self._path, {"key": self._key, "width": self._width, "end": self._end, "places": self._places})

    def _known(self) -> tuple[int, dict[str, int]]:
        """How much of the data counts, and what lies where."""
        try:
            told = read_json(self._path)
            end, places = int(told["end"]), {str(name): int(place) for name, place in told["places"].items()}
            same = (told["key"], told["width"]) == (self._key, self._width)
            if same and self._data.stat().st_size >= end:
                return end, places
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        return 0, {}

    def _read(self, ids: Sequence[int]) -> Half | None:
        place = self._places.get(_name(ids))
        if place is None:
            return None
        with _told(self._data):  # what is still in memory is written before
            self._file.seek(place)
            data = self._file.read(len(ids) * self._width * _HALF.itemsize)
        return np.frombuffer(data, _HALF).reshape(len(ids), self._width)

    def _write(self, ids: Sequence[int], states: Half) -> None:
        name = _name(ids)
        if name in self._places or self._end + states.nbytes > self._most:
            return
        with _told(self._data):
            self._file.seek(self._end)
            self._file.write(states.tobytes())
        self._places[name] = self._end
        self._end += states.nbytes

    def _encode(self, ids: Sequence[Sequence[int]]) -> list[Half]:
        self.encoded += len(ids)
        backbone = self._backbone
        mode = backbone.training
        backbone.eval()
        try:
            with torch.no_grad():
                ids_BT, mask_BT = backbone.padded(ids)
                states_BTD = backbone.model(input_ids=ids_BT, attention_mask=mask_BT).last_hidden_state
        finally:
            backbone.train(mode)
        whole = states_BTD.float().cpu().numpy().astype(_HALF)
        return [np.ascontiguousarray(row[: len(own)]) for row, own in zip(whole, ids, strict=True)]


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system says of the file, for people."""
    try:
        yield
    except OSError as error:
        raise from_os_error(error, path) from error


def _name(ids: Sequence[int]) -> str:
    return hashlib.sha256(np.asarray(ids, np.int64).tobytes()).hexdigest()[:24]
