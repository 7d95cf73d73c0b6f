"""Outlook messages, written here property by property into an OLE file."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.members import extract
from core.ingest.readers import registry
from core.ingest.readers.rtf_packed import BadPacking, unpack

SECTOR, SMALL, CUTOFF = 512, 64, 4096
FREE, END, NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF
Tree = dict[str, "bytes | Tree"]


def ole_file(tree: Tree) -> bytes:
    """A compound file (MS-CFB) of storages (dicts) and streams (bytes)."""
    entries: list[list[object]] = []  # name, kind, child, right sibling, first sector, size
    large, small, large_chain, small_chain = bytearray(), bytearray(), [], []

    def store(data: bytes) -> int:
        target, chain, size = (small, small_chain, SMALL) if len(data) < CUTOFF else (large, large_chain, SECTOR)
        first, count = len(chain), -(-len(data) // size)
        target.extend(data.ljust(count * size, b"\0"))
        chain.extend([*range(first + 1, first + count), END])
        return first

    def add(name: str, node: bytes | Tree) -> int:
        index = len(entries)
        entry: list[object] = [name, 2, NONE, NONE, END, 0]
        entries.append(entry)
        if isinstance(node, bytes):
            entry[4:] = [store(node) if node else END, len(node)]
            return index
        entry[1] = 1
        children = [add(inner, value) for inner, value in node.items()]
        entry[2] = children[0] if children else NONE
        for left, right in itertools.pairwise(children):
            entries[left][3] = right
        return index

    add("Root Entry", tree)
    entries[0][1] = 5
    if small:
        first, count = len(large_chain), -(-len(small) // SECTOR)
        large.extend(small.ljust(count * SECTOR, b"\0"))
        large_chain.extend([*range(first + 1, first + count), END])
        entries[0][4:] = [first, len(small)]
    directory = b"".join(
        str(name).encode("utf-16-le").ljust(64, b"\0")
        + struct.pack("<HBBIII36xIQ", len(str(name)) * 2 + 2, kind, 1, NONE, right, child, start, size)
        for name, kind, child, right, start, size in entries
    )
    firsts = []
    for table in (directory, struct.pack(f"<{len(small_chain)}I", *small_chain)):
        filled = table.ljust(-(-len(table) // SECTOR) * SECTOR, b"\xff" if table is not directory else b"\0")
        firsts.append(len(large_chain) if filled else END)
        count = len(filled) // SECTOR
        if count:
            large_chain.extend([*range(len(large_chain) + 1, len(large_chain) + count), END])
        large.extend(filled)
    data_sectors = len(large_chain)
    tables = 1
    while (data_sectors + tables) * 4 > tables * SECTOR:
        tables += 1
    chain = [*large_chain, *[0xFFFFFFFD] * tables]
    chain += [FREE] * (tables * SECTOR // 4 - len(chain))
    small_tables = -(-len(small_chain) * 4 // SECTOR)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIIIIIIII", 0, tables, firsts[0], 0, CUTOFF, firsts[1], small_tables, END, 0, data_sectors)
    header += struct.pack("<108I", *range(data_sectors + 1, data_sectors + tables), *[FREE] * (109 - tables))
    return header + bytes(large) + struct.pack(f"<{len(chain)}I", *chain)


def properties(head: int, fixed: dict[int, int]) -> bytes:
    return bytes(head) + b"".join(struct.pack("<HHIQ", 0x40, tag, 0, value) for tag, value in fixed.items())


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def letter(subject: str, body: Tree, head: int = 32) -> Tree:
    return {
        "__properties_version1.0": properties(head, {0x0039: 133_486_650_000_000_000, 0x3FFD: 1252}),
        "__substg1.0_0037001F": wide(subject),
        "__substg1.0_0C1A001F": wide("Zoë Müller"),
        "__substg1.0_5D01001F": wide("zoe@example.org"),
        "__substg1.0_0E04001F": wide("a@example.org; b@example.org"),
        **body,
    }


def attachment(name: str, data: bytes) -> Tree:
    return {
        "__properties_version1.0": bytes(8),
        "__substg1.0_3707001F": wide(name),
        "__substg1.0_37010102": data,
    }


def read(path: Path, tree: Tree) -> dict[str, ReadDocument]:
    path.write_bytes(ole_file(tree))
    return {document.external_id: document for document in registry.read(path, "", Limits(ocr=False))}


@pytest.fixture
def msg(tmp_path: Path) -> Path:
    return tmp_path / "m.msg"


def test_message_with_attachments_and_a_message_within(msg: Path, tmp_path: Path) -> None:
    inner = letter("Inner", {"__substg1.0_1000001F": wide("From within.")}, head=24)
    inner["__attach_version1.0_#00000000"] = attachment("deep.txt", b"Deep water.")
    tree = letter("Harbour – dues", {"__substg1.0_1000001F": wide("Please pay.\r\n\r\nBy Friday.")})
    tree["__attach_version1.0_#00000000"] = attachment("../März.txt", b"Depth 12 m. " * 500)
    tree["__attach_version1.0_#00000001"] = {
        "__properties_version1.0": bytes(8), "__substg1.0_3701000D": inner, "__substg1.0_3001001F": wide("Inner"),
    }  # fmt: skip
    found = read(msg, tree)
    assert list(found) == ["", "März.txt", "Inner.msg", "Inner.msg/deep.txt"]
    own = found[""]
    assert (own.title, own.author, own.media_type) == ("Harbour – dues", "Zoë Müller", "application/vnd.ms-outlook")
    assert own.created.startswith("2024-01-0")
    assert "From: Zoë Müller <zoe@example.org>\nTo: a@example.org; b@example.org" in own.text
    assert own.text.endswith("Please pay.\n\nBy Friday.")
    assert found["März.txt"].text.startswith("Depth 12 m.")
    assert (found["Inner.msg"].title, found["Inner.msg"].reader) == ("Inner", "msg")
    assert "From within." in found["Inner.msg"].text
    path = extract(msg, "Inner.msg/deep.txt", tmp_path)
    assert path is not None
    assert path.read_bytes() == b"Deep water."


def test_body_as_a_page_and_old_strings(msg: Path) -> None:
    tree = letter("s", {"__substg1.0_10130102": "<p>Höhe <b>12 m</b></p>".encode("cp1252")})
    tree["__substg1.0_0037001E"] = "Größe".encode("cp1252")
    del tree["__substg1.0_0037001F"]
    (document,) = read(msg, tree).values()
    assert document.title == "Größe"
    assert document.text.endswith("Höhe 12 m")


def test_encrypted_message_is_locked(msg: Path) -> None:
    tree = letter("Secret", {"__substg1.0_001A001F": wide("IPM.Note.SMIME")})
    (document,) = read(msg, tree).values()
    assert (document.state, document.title) == (DocumentState.LOCKED, "Secret")


def test_damaged_file_has_its_state(msg: Path) -> None:
    data = ole_file(letter("Harbour", {"__substg1.0_1000001F": wide("Text.")}))
    for cut in (600, len(data) // 2, len(data) - 300):
        msg.write_bytes(data[:cut])
        for document in registry.read(msg, "application/vnd.ms-outlook", Limits()):
            assert document.state in (DocumentState.READ, DocumentState.BROKEN, DocumentState.EMPTY)


def test_packed_rich_text() -> None:
    text = b"{\\rtf1\\ansi Tide tables, tide tables}"
    assert unpack(_packed(text), 100) == text
    with pytest.raises(BadPacking):
        unpack(_packed(text), 10)
    with pytest.raises(BadPacking):
        unpack(b"\0" * 40, 1 << 20)
    assert unpack(struct.pack("<II4sI", 20, 7, b"MELA", 0) + b"{\\rtf1}", 100) == b"{\\rtf1}"
    assert len(unpack(_packed(text)[:-9], 100)) < len(text)


def _packed(data: bytes) -> bytes:
    """All but the beginning, which every ring holds already, as plain bytes."""
    body = bytearray()
    tokens: list[bytes] = [struct.pack(">H", (0 << 4) | (11 - 2)), *[data[i : i + 1] for i in range(11, len(data))]]
    for at in range(0, len(tokens), 8):
        run = tokens[at : at + 8]
        body.append(sum(1 << bit for bit, token in enumerate(run) if len(token) == 2))
        body += b"".join(run)
    return struct.pack("<II4sI", len(body) + 12, len(data), b"LZFu", 0) + bytes(body)
