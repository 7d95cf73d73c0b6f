"""Mail: subject, people and dates, the best body, attachments as documents, mailboxes, saved pages."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from pathlib import Path

import pytest

from core.base.types import BlockKind, DocumentState, ReadDocument
from core.ingest.limits import Limits
from core.ingest.members import extract
from core.ingest.readers import registry
from core.ingest.sniff import sniff

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def read(path: Path, data: bytes | EmailMessage) -> dict[str, ReadDocument]:
    path.write_bytes(data if isinstance(data, bytes) else data.as_bytes())
    documents = list(registry.read(path, "", Limits(ocr=False)))
    found = {document.external_id: document for document in documents}
    assert len(found) == len(documents)
    return found


def message(subject: str = "Harbour dues", body: str = "Please pay by Friday.\n") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "Zoë Müller <zoe@example.org>", "a@example.org, b@example.org"
    mail["Cc"], mail["Subject"] = "c@example.org", subject
    mail["Date"], mail["Message-ID"] = "Tue, 02 Jan 2024 10:30:00 +0100", "<1@example.org>"
    mail.set_content(body)
    return mail


@pytest.fixture
def eml(tmp_path: Path) -> Path:
    return tmp_path / "m.eml"


def test_head_and_body(eml: Path) -> None:
    (document,) = read(eml, message("Gebühren für März")).values()
    assert (document.title, document.author) == ("Gebühren für März", "Zoë Müller")
    assert (document.created, document.media_type, document.reader) == (
        "2024-01-02T10:30:00+01:00",
        "message/rfc822",
        "eml",
    )
    assert "To: a@example.org, b@example.org\nCc: c@example.org" in document.text
    assert document.text.endswith("Please pay by Friday.")


def test_attachments_are_documents_of_their_own(eml: Path, tmp_path: Path) -> None:
    mail = message()
    mail.add_attachment(b"Depth 12 m.", maintype="text", subtype="plain", filename="Tiefe – Übersicht.txt")
    mail.add_attachment(b"Depth 13 m.", maintype="application", subtype="octet-stream", filename="../../x.txt")
    inner = message("Inner", "From the inside.\n")
    inner.add_attachment(b"Innermost.", maintype="text", subtype="plain", filename="deep.txt")
    mail.add_attachment(inner)
    found = read(eml, mail)
    assert list(found) == ["", "Tiefe – Übersicht.txt", "x.txt", "Inner.eml", "Inner.eml/deep.txt"]
    assert found["Tiefe – Übersicht.txt"].text == "Depth 12 m."
    assert found["x.txt"].warnings
    assert found["Inner.eml"].title == "Inner"
    assert found["Inner.eml"].media_type == "message/rfc822"
    path = extract(eml, "Inner.eml/deep.txt", tmp_path)
    assert path is not None
    assert path.read_bytes() == b"Innermost."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rfc2231", "attachment; filename*=UTF-8''M%C3%A4rz.txt"),
        ("continued", "attachment; filename*0*=UTF-8''M%C3%A4; filename*1*=rz.txt"),
        ("rfc2047", 'attachment; filename="=?utf-8?B?TcOkcnoudHh0?="'),
        ("equals", 'attachment; filename="odd=name.txt"'),
    ],
)
def test_attachment_names(eml: Path, name: str, value: str) -> None:
    raw = (
        "From: a@b.c\r\nTo: d@e.f\r\nSubject: s\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="X"\r\n\r\n--X\r\nContent-Type: text/plain\r\n\r\nBody.\r\n'
        f"--X\r\nContent-Type: text/plain\r\nContent-Disposition: {value}\r\n\r\nAttached.\r\n--X--\r\n"
    )
    found = read(eml, raw.encode())
    assert list(found) == ["", "odd=name.txt" if name == "equals" else "März.txt"]


def test_page_is_taken_when_the_plain_text_says_little(eml: Path) -> None:
    page = (
        "<html><head><style>p{}</style></head><body><h2>Tides</h2>"
        + "<p>High water at noon.</p>" * 9
        + "</body></html>"
    )
    mail = message(body="Your program cannot show this.\n")
    mail.add_alternative(page, subtype="html")
    (document,) = read(eml, mail).values()
    assert "High water" in document.text
    assert "cannot show" not in document.text
    mail = message(body="High water at noon. " * 9)
    mail.add_alternative(page, subtype="html")
    (document,) = read(eml, mail).values()
    assert document.text.count("High water") == 9
    assert not [block for block in document.blocks if block.heading_path == ("Harbour dues", "Tides")]


def test_small_pictures_within_the_text_are_no_documents(eml: Path) -> None:
    mail = message()
    mail.add_alternative('<p>Regards <img src="cid:logo@x"></p>', subtype="html")
    mail.get_payload()[1].add_related(PIXEL, "image", "png", cid="<logo@x>")
    mail.add_attachment(PIXEL, maintype="image", subtype="png", filename="photo.png")
    assert list(read(eml, mail)) == ["", "photo.png"]


@pytest.mark.parametrize("charset", ["iso-2022-jp", "shift_jis", "gb18030", "koi8-r", "utf-7", "windows-1252"])
def test_charsets_of_bodies(eml: Path, charset: str) -> None:
    text = {"koi8-r": "Прилив в полдень", "windows-1252": "Été à Brüssel", "gb18030": "海关在港口"}.get(
        charset, "港の潮位"
    )
    head = f"From: a@b.c\nTo: d@e.f\nSubject: s\nContent-Type: text/plain; charset={charset}\n\n"
    (document,) = read(eml, head.encode() + text.encode(charset)).values()
    assert document.text.endswith(text)


def test_whole_message_in_utf16_and_raw_head_bytes(eml: Path) -> None:
    text = "From: a@b.c\nTo: d@e.f\nSubject: Größe\nContent-Type: text/plain; charset=utf-8\n\nMaß und Ziel.\n"
    for data in (text.encode("utf-16"), text.encode("utf-16-le"), text.encode()):
        (document,) = read(eml, data).values()
        assert (document.title, document.text[-13:]) == ("Größe", "Maß und Ziel.")


def test_flowed_lines_and_quotes(eml: Path) -> None:
    head = "From: a@b.c\nTo: d@e.f\nSubject: s\nContent-Type: text/plain; format=flowed\n\n"
    (document,) = read(
        eml, (head + "> What is \n> the depth?\nTwelve metres \nat low water.\n-- \nZoë\n").encode()
    ).values()
    assert "> What is the depth?" in document.text
    assert "Twelve metres at low water." in document.text
    assert [block.kind for block in document.blocks if block.kind == BlockKind.QUOTE]


@pytest.mark.parametrize(
    "tail",
    [
        'Content-Type: multipart/encrypted; boundary=X; protocol="application/pgp-encrypted"\n\n--X\n'
        "Content-Type: application/pgp-encrypted\n\nVersion: 1\n--X\n"
        "Content-Type: application/octet-stream\n\nabc\n--X--\n",
        'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"\n\nMIAG\n',
        "\n-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n",
    ],
    ids=["pgp", "smime", "inline"],
)
def test_encrypted_mail_is_locked_and_keeps_its_subject(eml: Path, tail: str) -> None:
    (document,) = read(eml, f"From: a@b.c\nTo: d@e.f\nSubject: Secret\n{tail}".encode()).values()
    assert (document.state, document.title, document.text) == (DocumentState.LOCKED, "Secret", "")


def test_mail_nested_without_end_is_no_harm(eml: Path) -> None:
    data = b"From: a@b.c\nTo: d@e.f\nSubject: s\n"
    for number in range(300):
        data += f'Content-Type: multipart/mixed; boundary="b{number}"\n\n--b{number}\n'.encode()
    documents = read(eml, data + b"\nText.\n")
    assert documents[""].state in (DocumentState.READ, DocumentState.BROKEN)


def test_mailbox_is_a_document_a_message(tmp_path: Path) -> None:
    parts = []
    for number in range(500):
        mail = message(f"Mail {number}", f"Text {number}.\n\nFrom here it is quoted.\n")
        mail.replace_header("Message-ID", f"<{number % 499}@example.org>")
        if number == 7:
            mail.add_attachment(b"Seven.", maintype="text", subtype="plain", filename="seven.txt")
        raw = mail.as_bytes().replace(b"\nFrom here", b"\n>From here")
        parts.append(b"From zoe@example.org Tue Jan  2 10:30:00 2024\n" + raw + b"\n")
    found = read(tmp_path / "box", b"".join(parts))
    assert len(found) == 501
    assert found["7@example.org/seven.txt"].text == "Seven."
    assert found["0@example (2).org"].title == "Mail 499"
    assert found["3@example.org"].text.endswith("Text 3.\n\nFrom here it is quoted.")
    assert "" not in found


def test_saved_page_is_one_document(tmp_path: Path) -> None:
    raw = (
        "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/\r\nSubject: Tides\r\n"
        "MIME-Version: 1.0\r\n"
        'Content-Type: multipart/related; type="text/html"; boundary="X"\r\n\r\n--X\r\nContent-Type: text/html\r\n'
        "Content-Transfer-Encoding: quoted-printable\r\nContent-Location: https://example.org/\r\n\r\n"
        '<html><head><title>Tides</title><meta charset=3D"utf-8"></head><body><p>H=C3=B6he 12 m</p></body></html>\r\n'
        "--X\r\nContent-Type: text/css\r\nContent-Location: https://example.org/a.css\r\n\r\np{}\r\n--X--\r\n"
    )
    (document,) = read(tmp_path / "page.mhtml", raw.encode()).values()
    assert (document.title, document.text, document.media_type) == ("Tides", "Höhe 12 m", "multipart/related")


def test_kinds_of_mail_are_told_by_their_content(tmp_path: Path) -> None:
    head = "From: a@b.c\nTo: d@e.f\nSubject: s\n\nText.\n"
    for name, text, kind in (
        ("a", head, "message/rfc822"),
        ("b", f"From x Mon Jun 01 10:00:00 2009\n{head}", "application/mbox"),
        ("c", "From x Mon Jun  1 10:00:00 2009\n\nText without a head.\n", "application/mbox"),
        ("d", "From Monday on we meet at 10:00.\nSo be there.\n", "text/plain"),
        ("e.emlx", f"{len(head)}\n{head}<plist/>", "message/rfc822"),
    ):
        (tmp_path / name).write_text(text)
        assert sniff(tmp_path / name) == kind
    (document,) = registry.read(tmp_path / "e.emlx", "", Limits())
    assert (document.title, document.text[-5:]) == ("s", "Text.")
