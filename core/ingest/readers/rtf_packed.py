"""The packing of formatted text in Outlook messages (MS-OXRTFCP)."""

from __future__ import annotations

_KNOWN = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0" + b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_RING = 4096
_HEADER = 16
_PACKED, _STORED = b"LZFu", b"MELA"


class BadPacking(Exception):
    """The data is not packed this way, damaged, or too large."""


def unpack(data: bytes, limit: int) -> bytes:
    """The RTF in `data`.

    Raises:
        BadPacking
    """
    size, kind = int.from_bytes(data[4:8], "little"), data[8:12]
    if kind == _STORED:
        return data[_HEADER : _HEADER + size]
    if kind != _PACKED or size > limit:
        raise BadPacking
    return _unpack(data, size)


def _unpack(data: bytes, size: int) -> bytes:
    """Runs of eight tokens after a byte of flags: a byte, or twelve bits of place and four of length in the ring."""
    ring = bytearray(_KNOWN.ljust(_RING, b" "))
    at, write, out = _HEADER, len(_KNOWN), bytearray()
    while at < len(data) and len(out) < size:
        flags, at = data[at], at + 1
        for bit in range(8):
            width = 1 + (flags >> bit & 1)
            token, at = int.from_bytes(data[at : at + width], "big"), at + width
            place = token >> 4
            if at > len(data) or (width == 2 and place == write):
                return bytes(out[:size])
            for step in range((token & 15) + 2 if width == 2 else 1):
                byte = ring[(place + step) % _RING] if width == 2 else token
                ring[write] = byte
                write = (write + 1) % _RING
                out.append(byte)
    return bytes(out[:size])
