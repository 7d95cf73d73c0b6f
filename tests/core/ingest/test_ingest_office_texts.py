"""Texts of OpenDocument, Rich Text, old Word and Hangul files; what is locked or damaged is told."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import olefile
import pytest

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest import sniff
from core.ingest.limits import Limits, no_tick
from core.ingest.readers import hwp, libreoffice
from core.ingest.readers.registry import read
from core.ingest.sandbox import Sandbox

DATA = Path(__file__).parent / "data"
needs_office = pytest.mark.skipif(not libreoffice.program(), reason="LibreOffice is not installed")


def one(path: Path, media_type: str, limits: Limits | None = None) -> ReadDocument:
    (document,) = read(path, media_type, limits or Limits())
    return document


def lines(document: ReadDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def rtf(folder: Path, body: str) -> ReadDocument:
    path = folder / "a.rtf"
    path.write_bytes(("{\\rtf1\\ansi\\ansicpg1252" + body + "}").encode("latin-1"))
    return one(path, sniff.RTF)


class TestOpenDocument:
    def test_a_flat_text(self) -> None:
        document = one(DATA / "report.fodt", sniff.ODT)
        assert lines(document) == [
            "Tides and berths", "The pilot boards at the outer buoy.", "Pilots are licensed by the port.",
            "Ships of any size wait here for the flood.", "Depths", "North basin first", "Żuraw, naïve, 水深 𐌲",
            "Basin | Depth", "Basin: North | Depth: 9.5 m", "Basin: South | Depth: 7.2 m",
            "Closing words for the crew.", "Comment by Bo Lind: Check the depth of the south basin.",
            "Harbour authority, internal",
        ]  # fmt: skip
        assert (document.title, document.author) == ("Harbour report", "Ada Novak")
        assert document.blocks[7].heading_path == ("Tides and berths", "Depths")
        assert document.blocks[5].kind is BlockKind.LIST_ITEM

    def test_a_packed_text_reads_as_the_flat_one(self, tmp_path: Path) -> None:
        path = tmp_path / "report.odt"
        with zipfile.ZipFile(path, "w") as package:
            package.writestr("mimetype", sniff.ODT)
            package.write(DATA / "report.fodt", "content.xml")
        assert lines(one(path, sniff.ODT)) == lines(one(DATA / "report.fodt", sniff.ODT))[:-1]  # styles are apart

    def test_an_encrypted_one_is_locked(self, tmp_path: Path) -> None:
        path = tmp_path / "a.odt"
        with zipfile.ZipFile(path, "w") as package:
            package.writestr("META-INF/manifest.xml", "<m:file-entry><m:encryption-data/></m:file-entry>")
            package.writestr("content.xml", b"\x07\x91")
        assert one(path, sniff.ODT).state is DocumentState.LOCKED

    def test_what_is_no_package_is_broken(self, tmp_path: Path) -> None:
        path = tmp_path / "a.odt"
        path.write_bytes(b"this is not a zip file")
        assert one(path, sniff.ODT).state is DocumentState.BROKEN


class TestRichText:
    def test_code_pages_by_font(self, tmp_path: Path) -> None:
        fonts = r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset128 B;}{\f2\fcharset204 C;}}"
        body = fonts + r"\f0 caf\'e9 \f1\'93\'8c\'8b\'9e \f2\'cc\'e8\'f0 {\f0\'fc}\par"
        assert rtf(tmp_path, body).text == "café 東京 Мир ü"

    def test_a_second_byte_may_be_a_plain_letter(self, tmp_path: Path) -> None:
        assert rtf(tmp_path, r"{\fonttbl{\f1\fcharset128 B;}}\f1 \'83e\'83X\'83g\par").text == "テスト"

    def test_unicode_with_fallbacks_and_pairs(self, tmp_path: Path) -> None:
        assert rtf(tmp_path, r"\uc1\u8364?5 \uc2\u233\'c3\'a9 {\uc0\u-10240\u-8398}\par").text == "€5 é 𐌲"

    def test_notes_come_after_their_paragraph(self, tmp_path: Path) -> None:
        body = r"{\header Top}One{\footnote The note.} goes on.\par Two.{\*\atnauthor Bo}{\*\annotation Sure?}\par"
        assert lines(rtf(tmp_path, body)) == ["One goes on.", "The note.", "Two.", "Comment by Bo: Sure?", "Top"]

    def test_headings_and_rows(self, tmp_path: Path) -> None:
        body = (
            r"{\stylesheet{\s1 heading 1;}}\pard\s1 Depths\par\pard Text\par"
            r"\trowd\trhdr\intbl Basin\cell Depth\cell\row"
            r"\trowd\intbl North\par side\cell 9 m\cell\row\pard After\par"
        )
        document = rtf(tmp_path, body)
        assert lines(document) == ["Depths", "Text", "Basin | Depth", "Basin: North side | Depth: 9 m", "After"]
        assert document.blocks[0].kind is BlockKind.HEADING

    def test_what_is_not_seen_is_left_out(self, tmp_path: Path) -> None:
        body = (
            r"{\info{\title Report}{\author Ann}{\creatim\yr2024\mo3\dy5\hr7\min9}}{\pict 0102ffaa}{\v hidden}"
            r"{\field{\*\fldinst HYPERLINK x}{\fldrslt shown}}{\object{\*\objdata 0105}{\result seen}}{\*\unknown no}"
            "{\\*\\blob\\bin4 }}{{}{\\deleted gone} end\\par"
        )
        document = rtf(tmp_path, body)
        assert document.text == "shown end\n\nseen"
        assert (document.title, document.author, document.created) == ("Report", "Ann", "2024-03-05T07:09:00")

    def test_deep_nesting_costs_nothing(self, tmp_path: Path) -> None:
        assert rtf(tmp_path, "{" * 50_000 + "deep" + "}" * 50_000).text == "deep"

    @pytest.mark.parametrize("body", ["{{{", "}}}}text", r"\u", r"\'z", r"\bin99999999 x", r"\cell\row\cell", "\\"])
    def test_odd_files_do_not_fail(self, tmp_path: Path, body: str) -> None:
        assert rtf(tmp_path, body).state in (DocumentState.READ, DocumentState.EMPTY)


class TestOldWord:
    def test_headings_notes_tables_and_properties(self) -> None:
        document = one(DATA / "report.doc", sniff.DOC)
        assert lines(document) == [
            "Tides and berths", "The pilot boards at the outer buoy.", "Pilots are licensed by the port.",
            "Ships of any size wait here for the flood.", "Depths", "North basin first", "Żuraw, naïve, 水深 𐌲",
            "Basin | Depth", "North | 9.5 m", "South | 7.2 m", "Closing words for the crew.",
            "Comment: Check the depth of the south basin.", "Harbour authority, internal",
        ]  # fmt: skip
        assert [document.blocks[index].level for index in (0, 4)] == [1, 2]
        assert (document.title, document.author) == ("Harbour report", "Ada Novak")

    def test_an_encrypted_one_is_locked(self, tmp_path: Path) -> None:
        path = tmp_path / "report.doc"
        shutil.copy(DATA / "report.doc", path)
        with olefile.OleFileIO(str(path), write_mode=True) as ole:
            data = bytearray(ole.openstream("WordDocument").read())
            data[0x0B] |= 1
            ole.write_stream("WordDocument", bytes(data))
        assert one(path, sniff.DOC).state is DocumentState.LOCKED

    def test_damage_without_libreoffice_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(libreoffice, "program", lambda: "")
        monkeypatch.setattr("core.ingest.readers.old_office.program", lambda: "")
        path = tmp_path / "report.doc"
        path.write_bytes((DATA / "report.doc").read_bytes()[:2048])
        document = one(path, sniff.DOC)
        assert document.state is DocumentState.UNSUPPORTED
        assert "LibreOffice" in document.reason


@needs_office
class TestLibreOffice:
    def test_what_is_not_understood_goes_through_it_in_the_reading_child(self, tmp_path: Path) -> None:
        path = tmp_path / "report.doc"  # a Rich Text file that calls itself a Word document
        path.write_bytes(rb"{\rtf1\ansi Read the long way round.\par}")
        with Sandbox(Limits(spool=str(tmp_path))) as sandbox:
            (document,) = sandbox.read(str(path), sniff.DOC)
        assert document.text == "Read the long way round."
        assert any("LibreOffice" in warning for warning in document.warnings)
        assert [entry.name for entry in tmp_path.iterdir()] == ["report.doc"]

    def test_it_ends_with_the_process_that_asked(self, tmp_path: Path) -> None:
        if sys.platform != "linux":
            pytest.skip("looks into /proc")
        asking = "from core.ingest.readers.libreoffice import _run; from pathlib import Path; import sys;"
        code = asking + "_run(['/bin/sleep', '61.7'], Path(sys.argv[1]), lambda: None)"
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
        assert _waits_for(lambda: _sleeping() == 1)
        process.kill()
        process.wait()
        assert _waits_for(lambda: _sleeping() == 0)


def _sleeping() -> int:
    found = subprocess.run(["/bin/ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return sum(line.strip() == "/bin/sleep 61.7" for line in found.splitlines())


def _waits_for(what: object) -> bool:
    for _ in range(200):
        if callable(what) and what():
            return True
        time.sleep(0.05)
    return False


class _Hangul:
    """The streams of a Hangul document, without the file around them."""

    def __init__(self, flags: int, section: bytes) -> None:
        self._streams = {
            "FileHeader": b"HWP Document File".ljust(32, b"\0") + struct.pack("<II", 0x05000000, flags),
            "BodyText/Section0": section,
        }
        self.names = list(self._streams)

    def stream(self, name: str) -> bytes:
        return self._streams[name]

    def build(self, builder: object) -> ReadDocument:
        return builder.build()  # type: ignore[attr-defined, no-any-return]


class TestHangul:
    @staticmethod
    def record(text: str, tag: int = 0x43) -> bytes:
        data = text.encode("utf-16-le")
        return struct.pack("<I", tag | len(data) << 20) + data

    @staticmethod
    def packed(data: bytes) -> bytes:
        packer = zlib.compressobj(wbits=-15)
        return packer.compress(data) + packer.flush()

    def test_paragraphs_without_their_controls(self) -> None:
        control = "\x0b" + "abcdefg"  # a table stands here: eight letters of room
        data = self.record(f"테스트{control} 끝\r") + self.record("style", tag=0x42) + self.record("둘\r")
        document = hwp._document(_Hangul(1, self.packed(data)), Limits(), no_tick)  # type: ignore[arg-type]
        assert document.text == "테스트 끝\n\n둘"

    def test_passwords_and_bombs(self) -> None:
        locked = hwp._document(_Hangul(2, b""), Limits(), no_tick)  # type: ignore[arg-type]
        assert locked.state is DocumentState.LOCKED
        bomb = _Hangul(1, self.packed(bytes(10 << 20)))
        document = hwp._document(bomb, Limits(inflated_bytes=1 << 20), no_tick)  # type: ignore[arg-type]
        assert document.state is DocumentState.TOO_LARGE
