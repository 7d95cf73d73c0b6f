"""Archives: each file in them a document of its own; hostile ones end in a named state within the limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from core.base.types import DocumentState, ReadDocument
from core.ingest.budget import REST
from core.ingest.limits import Limits
from core.ingest.members import extract
from core.ingest.readers import registry
from core.ingest.sandbox import Sandbox, sweep
from core.ingest.sniff import sniff

TEXT = "The lighthouse keeper counts the ships.\n"


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def read(path: Path, limits: Limits | None = None) -> dict[str, ReadDocument]:
    documents = list(registry.read(path, "", limits or Limits(spool=str(path.parent))))
    found = {document.external_id: document for document in documents}
    assert len(found) == len(documents)
    assert not [left for left in path.parent.glob("depth-*/*") if left.is_file()]  # nothing unpacked stays
    return found


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return tmp_path / "box"


FILES = {"a/notes.txt": TEXT.encode(), "page.html": b"<html><title>Dune</title><body><p>Sand drifts.</p></body></html>"}


@pytest.mark.parametrize(
    "data",
    [
        zipped(FILES),
        tarred(FILES),
        gzip.compress(tarred(FILES)),
        bz2.compress(tarred(FILES)),
        lzma.compress(tarred(FILES)),
    ],
    ids=["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"],
)
def test_files_in_archives_are_documents(box: Path, data: bytes) -> None:
    box.write_bytes(data)
    found = read(box)
    assert set(found) == {"a/notes.txt", "page.html"}
    assert found["a/notes.txt"].text == TEXT.strip()
    assert found["a/notes.txt"].title == "notes.txt"
    assert found["a/notes.txt"].media_type == "text/plain"
    assert (found["page.html"].title, found["page.html"].reader) == ("Dune", "html")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_single_packed_file_keeps_its_name(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "letter.txt.packed"
    path.write_bytes(pack(TEXT.encode()))
    assert read(path)["letter.txt"].text == TEXT.strip()


def test_archives_in_archives(box: Path) -> None:
    inner = zipped({"deep.txt": TEXT.encode(), "mail.eml": b"From: a@b.c\nTo: d@e.f\nSubject: Tide\n\nHigh at noon.\n"})
    box.write_bytes(zipped({"inner.zip": inner, "notes.tar.gz": gzip.compress(tarred({"x.txt": b"Ebb."}))}))
    found = read(box)
    assert set(found) == {"inner.zip/deep.txt", "inner.zip/mail.eml", "notes.tar.gz/x.txt"}
    assert found["inner.zip/mail.eml"].title == "Tide"


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("[Content_Types].xml", "application/vnd.openxmlformats-package"),
        ("META-INF/MANIFEST.MF", "application/x-executable"),
        ("META-INF/container.xml", "application/epub+zip"),
        ("other/[Content_Types].xml", "application/zip"),
    ],
)
def test_packages_are_no_archives(box: Path, part: str, kind: str) -> None:
    box.write_bytes(zipped({part: b"<x/>", "a.txt": b"A."}))
    assert sniff(box) == kind
    if kind != "application/zip":
        (document,) = read(box).values()
        assert document.state in (DocumentState.UNSUPPORTED, DocumentState.BROKEN)


def test_empty_and_damaged_archives_have_their_state(box: Path) -> None:
    box.write_bytes(zipped({}))
    assert read(box)[""].state == DocumentState.EMPTY
    data = zipped({"a.txt": TEXT.encode() * 100})
    box.write_bytes(data[: len(data) // 2])
    assert read(box)[""].state == DocumentState.BROKEN
    data = bytearray(gzip.compress(tarred(FILES)))
    data[20:30] = bytes(10)
    box.write_bytes(data)
    assert all(document.state == DocumentState.BROKEN for document in read(box).values())
    box.write_bytes(gzip.compress(TEXT.encode() * 1000)[:-20])
    assert read(box)["box"].state == DocumentState.BROKEN


def test_damaged_member_is_told_and_the_others_are_read(box: Path) -> None:
    data = zipped({"a.txt": b"First.", "b.txt": b"Second.", "c.txt": b"Third."}, zipfile.ZIP_STORED)
    box.write_bytes(data.replace(b"Second.", b"Sekond."))
    found = read(box)
    assert [found[n].state for n in ("a.txt", "b.txt", "c.txt")] == ["read", "broken", "read"]
    assert "damaged" in found["b.txt"].reason


def test_encrypted_member_is_locked(box: Path) -> None:
    data = bytearray(zipped({"a.txt": b"Open.", "b.txt": b"Closed."}))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1  # the flag of the last entry in the table of contents
    box.write_bytes(data)
    found = read(box)
    assert found["a.txt"].state == DocumentState.READ
    assert (found["b.txt"].state, "password" in found["b.txt"].reason) == (DocumentState.LOCKED, True)


def test_names_that_lead_out_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    box = inside / "box.zip"
    box.write_bytes(zipped({"../../evil.txt": b"Evil.", "/abs.txt": b"Abs.", "C:\\x\\con.txt": b"Con."}))
    found = read(box)
    assert set(found) == {"evil.txt", "abs.txt", "x/_con.txt"}
    assert all("points outside" in document.warnings[0] for document in found.values())
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["box.zip", "deep", "depth-4", "inside"]


def test_equal_names_are_told_apart(box: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for text in (b"One.", b"Two.", b"Three."):
            info = tarfile.TarInfo("a.txt")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    box.write_bytes(buffer.getvalue())
    assert {n: d.text for n, d in read(box).items()} == {"a.txt": "One.", "a (2).txt": "Two.", "a (3).txt": "Three."}


def test_links_and_devices_in_tar_are_passed_over(box: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("fifo", tarfile.FIFOTYPE), ("device", tarfile.CHRTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("real.txt")
        info.size = len(TEXT)
        archive.addfile(info, io.BytesIO(TEXT.encode()))
    box.write_bytes(buffer.getvalue())
    assert set(read(box)) == {"real.txt"}


def test_bomb_of_zeros_ends_with_what_was_read(box: Path) -> None:
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("first.txt", TEXT)
        with archive.open("zeros.txt", "w", force_zip64=True) as stream:
            for _ in range(1024):
                stream.write(bytes(1 << 20))
        archive.writestr("last.txt", TEXT)
    found = read(box, Limits(inflated_bytes=16 << 20, spool=str(box.parent)))
    assert found["first.txt"].state == DocumentState.READ
    assert found["zeros.txt"].state == DocumentState.TOO_LARGE
    assert found[REST].state == DocumentState.TOO_LARGE
    assert "last.txt" not in found


def test_nested_bomb_spends_one_budget(box: Path) -> None:
    data = bytes(4 << 20)
    for _ in range(4):
        data = zipped({f"{n}.zip": data for n in range(8)})
    box.write_bytes(data)
    found = read(box, Limits(inflated_bytes=8 << 20, spool=str(box.parent)))
    assert len(found) < 20
    assert any("unfolds to more than 8 MB" in document.reason for document in found.values())


def test_depth_has_an_end(box: Path) -> None:
    data = TEXT.encode()
    for _ in range(12):
        data = zipped({"next.zip": data})
    box.write_bytes(data)
    (document,) = read(box).values()
    assert document.state == DocumentState.TOO_LARGE
    assert document.external_id == "/".join(["next.zip"] * 5)


def test_files_beyond_the_number_are_told(box: Path) -> None:
    with zipfile.ZipFile(box, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}.txt", "x")
    found = read(box, Limits(members=150, spool=str(box.parent)))
    assert len(found) == 151
    assert "19,850" in found[REST].reason


def test_table_of_contents_of_millions_is_not_loaded(box: Path) -> None:
    box.write_bytes(b"PK\x03\x04" + bytes(26) + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9, 9, 1 << 30, 0, 0))
    assert read(box)[""].state == DocumentState.TOO_LARGE


def test_entries_over_one_another_are_no_way_around_the_budget(box: Path) -> None:
    data = zipped({"a.txt": b"x" * (1 << 20)})
    start = data.rfind(b"PK\x01\x02")
    end = data.rfind(b"PK\x05\x06")
    entry = data[start:end]
    many = b"".join(entry[:46] + f"{n:05}".encode() + entry[51:] for n in range(500))
    box.write_bytes(data[:start] + many + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 500, 500, len(many), start, 0))
    found = read(box, Limits(inflated_bytes=4 << 20, spool=str(box.parent)))
    assert all(document.state != DocumentState.READ or document.text for document in found.values())
    assert len(found) <= 501


def test_member_can_be_extracted_from_any_depth(box: Path, tmp_path: Path) -> None:
    inner = tarred({"b/deep.txt": TEXT.encode(), "deep.txt": b"Other."})
    box.write_bytes(zipped({"deep.txt": b"Outer.", "in.tar": inner, "../x.txt": b"X."}))
    folder = tmp_path / "shown"
    folder.mkdir()
    path = extract(box, "in.tar/b/deep.txt", folder)
    assert path is not None
    assert path.parent == folder
    assert path.read_text() == TEXT
    out = extract(box, "x.txt", folder)
    assert out is not None
    assert out.read_bytes() == b"X."
    assert extract(box, "in.tar/none.txt", folder) is None


def test_child_keeps_unpacked_files_in_a_folder_that_ends_with_it(box: Path, tmp_path: Path) -> None:
    box.write_bytes(zipped({"a.txt": b"One.", "b.zip": zipped({"c.txt": b"Two."})}))
    spool = tmp_path / "spool"
    with Sandbox(Limits(spool=str(spool))) as sandbox:
        found = [document.external_id for document in sandbox.read(str(box), "")]
        (folder,) = spool.iterdir()
        assert not [left for left in folder.rglob("*") if left.is_file()]
    assert found == ["a.txt", "b.zip/c.txt"]
    assert not list(spool.iterdir())
    (spool / folder.name / "depth-4").mkdir(parents=True)
    (spool / "other").mkdir()
    sweep(spool)
    assert [path.name for path in spool.iterdir()] == ["other"]
