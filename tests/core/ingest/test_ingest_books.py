"""Books: chapters as pages with their titles, metadata, protection, damage."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.readers import registry
from core.ingest.readers.epub import open_tags

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0">
<metadata><dc:title>Tides</dc:title><dc:creator>Zoë Müller</dc:creator><dc:creator>A. Other</dc:creator>
<dc:language>en-GB</dc:language><dc:date>2019-05-01</dc:date></metadata>
<manifest><item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
<item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xml" media-type="application/xhtml+xml"/>
<item id="gone" href="text/gone.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/><itemref idref="b"/><itemref idref="gone"/></spine></package>"""
NAV = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li><a href="text/one.xml">Low water</a></li>'
    '<li><a href="text/two%20b.xhtml#x">Somewhere in two</a></li></ol></nav></body></html>'
)
ONE = '<?xml version="1.0"?><html><head><title/></head><body><p>The <a id="p1"/>ebb &amp; the sand.</p></body></html>'
TWO = "<html><body><h2>High water</h2><p>The flood.</p></body></html>"
LOCK = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:EncryptionMethod Algorithm="{}"/>'
    '<e:CipherData><e:CipherReference URI="{}"/></e:CipherData></e:EncryptedData></encryption>'
)


def parts(**more: str) -> dict[str, str]:
    known = {"META-INF/container.xml": CONTAINER, "OPS/book.opf": PACKAGE, "OPS/nav.xhtml": NAV}
    return known | {"OPS/text/one.xml": ONE, "OPS/text/two b.xhtml": TWO} | more


def read(path: Path, files: dict[str, str]) -> ReadDocument:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in files.items():
            archive.writestr(name, text)
    (document,) = registry.read(path, "", Limits())
    return document


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "book.epub"


def test_chapters_are_pages_in_reading_order(book: Path) -> None:
    document = read(book, parts())
    assert (document.title, document.author) == ("Tides", "Zoë Müller, A. Other")
    assert (document.created, document.language, document.reader) == ("2019-05-01", "en", "epub")
    assert [(page.number, page.label) for page in document.pages] == [(1, "Low water"), (2, "High water")]
    assert document.text == "Low water\n\nThe ebb & the sand.\n\nHigh water\n\nThe flood."
    assert document.blocks[1].heading_path == ("Low water",)
    assert document.warnings == ("Of its 3 chapters 1 are missing or damaged.",)


def test_damaged_chapter_is_told_and_the_others_are_read(book: Path) -> None:
    read(book, parts())
    book.write_bytes(book.read_bytes().replace(b"the sand.", b"the send."))
    (document,) = registry.read(book, "", Limits())
    assert document.text == "High water\n\nThe flood."
    assert document.warnings


def test_protected_book_is_locked_and_scrambled_fonts_are_not(book: Path) -> None:
    aes = LOCK.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OPS/text/one.xml")
    assert read(book, parts(**{"META-INF/encryption.xml": aes})).state == DocumentState.LOCKED
    font = LOCK.format("http://www.idpf.org/2008/embedding", "OPS/font.otf")
    assert read(book, parts(**{"META-INF/encryption.xml": font})).state == DocumentState.READ


def test_book_without_its_parts_is_broken(book: Path) -> None:
    assert read(book, {"META-INF/container.xml": "<container/>"}).state == DocumentState.BROKEN
    assert read(book, {"META-INF/container.xml": CONTAINER}).state == DocumentState.BROKEN


def test_book_that_unfolds_too_far_is_refused(book: Path) -> None:
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in parts(**{"OPS/text/one.xml": "<p>" + " " * (9 << 20)}).items():
            archive.writestr(name, text)
    (document,) = registry.read(book, "", Limits(inflated_bytes=4 << 20))
    assert document.state == DocumentState.TOO_LARGE


def test_elements_without_content_are_closed() -> None:
    assert open_tags('<br/><a id="x"/><img src="a/b"/>') == '<br/><a id="x"></a><img src="a/b"/>'


FB2 = """<?xml version="1.0" encoding="{}"?>
<!DOCTYPE FictionBook [<!ENTITY e "never shown">]>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><author><first-name>Анна</first-name>
<last-name>Ли</last-name></author><book-title>Приливы</book-title><date value="1901-02-03">1901</date><lang>ru</lang>
</title-info></description><body><epigraph><p>Море.</p></epigraph><section><title><p>Глава</p><p>первая</p></title>
<p>Вода <strong>уходит</strong>.&e;</p><section><title><p>Песок</p></title><poem><stanza>
<v>Один</v><v>Два</v></stanza></poem></section></section><section><p>Конец.</p>
</section></body><binary id="c">{}</binary></FictionBook>"""


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251"])
def test_fiction_book(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "book.fb2"
    path.write_bytes(FB2.format(encoding, "AAAA" * 1000).encode(encoding))
    (document,) = registry.read(path, "", Limits())
    assert (document.title, document.author, document.reader) == ("Приливы", "Анна Ли", "fb2")
    assert (document.created, document.language) == ("1901-02-03", "ru")
    assert [page.label for page in document.pages] == ["", "Глава первая", ""]
    assert "Вода уходит." in document.text
    assert "Один\nДва" in document.text
    assert "never shown" not in document.text
    assert "AAAA" not in document.text
    assert document.blocks[-2].heading_path == ("Глава первая", "Песок")


def test_fiction_book_in_a_zip_and_a_damaged_one(tmp_path: Path) -> None:
    data = FB2.format("utf-8", "")
    with zipfile.ZipFile(tmp_path / "book.fb2.zip", "w") as archive:
        archive.writestr("book.fb2", data)
        archive.writestr("cut.fb2", data[: data.index("Песок")])
    found = {d.external_id: d for d in registry.read(tmp_path / "book.fb2.zip", "", Limits())}
    assert found["book.fb2"].title == "Приливы"
    assert "Вода уходит." in found["cut.fb2"].text
