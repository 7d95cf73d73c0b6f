"""Locked files open with the password given or remembered, and the password shows up nowhere else."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from docx import Document
from keyring.backend import KeyringBackend
from msoffcrypto.format.ooxml import OOXMLFile
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from core.base.errors import KnownError, NotFound
from core.base.events import Control, ignore
from core.base.types import DocumentState, ReadDocument
from core.ingest import passwords
from core.ingest.limits import Limits
from core.ingest.readers.registry import read
from core.library import Library
from core.worker import ingesting
from core.worker.protocol import Request
from core.worker.roles.view import ViewRole
from core.worker.server import Call

WORDS = "The treasure lies under the third palm tree"
PASSWORD = "sésame-ouvre-toi"
CIPHERS = ("RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256")


class Memory(KeyringBackend):
    """A keyring that lasts as long as the test."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class Closed(Memory):
    """One that fails in a way of its own."""

    def get_password(self, service: str, username: str) -> str | None:
        raise OSError("no bus")


class Asleep(Memory):
    """One that never answers."""

    def get_password(self, service: str, username: str) -> str | None:
        time.sleep(1)
        return "too late"


@pytest.fixture
def memory() -> Iterator[Memory]:
    yield from use(Memory())


def use(backend: Memory) -> Iterator[Memory]:
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


def locked_pdf(path: Path, cipher: str = "AES-256", password: str = PASSWORD) -> Path:
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    canvas.drawString(72, 700, WORDS)
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(file))
    writer.encrypt(password, owner_password="owner", algorithm=cipher)
    with path.open("wb") as target:
        writer.write(target)
    return path


def locked_docx(path: Path) -> Path:
    plain = io.BytesIO()
    document = Document()
    document.add_paragraph(WORDS)
    document.save(plain)
    with path.open("wb") as target:
        OOXMLFile(plain).encrypt(PASSWORD, target)
    return path


def one(path: Path, password: str = "") -> ReadDocument:
    (document,) = read(path, "", Limits(password=password))
    return document


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("cipher", CIPHERS)
def test_pdf(tmp_path: Path, cipher: str) -> None:
    path = locked_pdf(tmp_path / "locked.pdf", cipher)
    without, wrong, right = one(path), one(path, "guess"), one(path, PASSWORD)
    assert (without.state, without.reason) == (DocumentState.LOCKED, "The PDF needs a password.")
    assert (wrong.state, wrong.reason) == (DocumentState.LOCKED, "The password given does not open the PDF.")
    assert (right.state, right.text) == (DocumentState.READ, WORDS)


def test_a_pdf_that_needs_no_password_opens_with_any(tmp_path: Path) -> None:
    path = locked_pdf(tmp_path / "open.pdf", password="")
    assert one(path).text == one(path, "not its password").text == WORDS


def test_office_file(tmp_path: Path) -> None:
    path = locked_docx(tmp_path / "locked.docx")
    without, wrong, right = one(path), one(path, "guess"), one(path, PASSWORD)
    assert (without.state, without.reason) == (DocumentState.LOCKED, "The document needs a password.")
    assert (wrong.state, wrong.reason) == (DocumentState.LOCKED, "The password given does not open the document.")
    assert (right.state, right.text, right.reader) == (DocumentState.READ, WORDS, "docx")


def test_damaged_office_file(tmp_path: Path) -> None:
    path = locked_docx(tmp_path / "locked.docx")
    data = path.read_bytes().replace(b'spinCount="', b'spinCounx="')
    path.write_bytes(data)
    document = one(path, PASSWORD)
    assert document.state is DocumentState.BROKEN
    assert PASSWORD not in document.reason


def test_keyring(memory: Memory) -> None:
    assert passwords.known("ab") == ""
    assert passwords.remember("ab", PASSWORD)
    assert memory.kept == {("whymatch", "ab"): PASSWORD}
    assert passwords.known("ab") == PASSWORD
    passwords.forget("ab")
    passwords.forget("ab")
    assert passwords.known("ab") == ""
    assert not passwords.remember("", PASSWORD)


@pytest.mark.parametrize("kind", [Closed, Asleep])
def test_no_keyring(kind: type[Memory], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_SECONDS", 0.1)
    for _ in use(kind()):
        assert passwords.known("ab") == ""
        assert not passwords.remember("ab", PASSWORD)
        passwords.forget("ab")


def test_a_keyring_that_sleeps_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_SECONDS", 0.1)
    locked = ReadDocument("", state=DocumentState.LOCKED)
    job = passwords.Passwords()
    for backend in use(Asleep()):
        assert list(job.read("a", "1", Limits(), lambda _: iter([locked]))) == [locked]
        monkeypatch.setattr(backend, "get_password", lambda *_: pytest.fail("asked again"))
        assert list(job.read("b", "2", Limits(), lambda _: iter([locked]))) == [locked]


def test_limits_do_not_show_it() -> None:
    assert PASSWORD not in repr(Limits(password=PASSWORD))


def states(library: Path) -> set[DocumentState]:
    reader = Library.open(library)
    found = {d.state for d in reader.documents()}
    reader.close()
    return found


def test_unlock_in_a_library(tmp_path: Path, tiny_home: Path, memory: Memory) -> None:
    library, folder = tmp_path / "library", tmp_path / "docs"
    folder.mkdir()
    path = locked_pdf(folder / "locked.pdf")
    control = {"control": Control(), "listener": ignore}
    ingesting.ingest(library, [folder], **control)  # type: ignore[arg-type]
    assert states(library) == {DocumentState.LOCKED}
    with pytest.raises(KnownError, match="does not open"):
        ingesting.unlock(library, path, "a wrong guess", remember=True, **control)  # type: ignore[arg-type]
    assert memory.kept == {}
    with pytest.raises(NotFound):
        ingesting.unlock(library, tmp_path / "other.pdf", PASSWORD, **control)  # type: ignore[arg-type]
    ingesting.unlock(library, path, PASSWORD, remember=True, **control)  # type: ignore[arg-type]
    assert states(library) == {DocumentState.READ}
    assert memory.kept == {("whymatch", hash_of(path)): PASSWORD}
    role = ViewRole(library)
    page = role.handle(call("page", {"document_id": 1, "number": 1, "spans": [[0, 12]]}))
    assert page["image"]
    assert len(page["rects"]) == 1
    role.close()
    raw = b"".join(file.read_bytes() for file in library.rglob("*") if file.is_file())
    assert PASSWORD.encode() not in raw
    assert b"a wrong guess" not in raw


def test_a_remembered_password_opens_the_file_in_any_library(tmp_path: Path, tiny_home: Path, memory: Memory) -> None:
    path = locked_docx(tmp_path / "locked.docx")
    passwords.remember(hash_of(path), PASSWORD)
    report = ingesting.ingest(tmp_path / "library", [path], control=Control(), listener=ignore)
    assert not report.failed
    assert states(tmp_path / "library") == {DocumentState.READ}


def call(op: str, args: dict[str, object]) -> Call:
    return Call(Request(1, op, args), lambda reply: None)
