"""A file of any kind, deleted from a library that has everything: after a purge not one byte tells of it."""

import io
import json
import shutil
import zipfile
from email.message import EmailMessage

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from core.base.events import Control
from core.library import Library
from core.worker.doctor import examine
from core.worker.ingesting import delete, ingest
from core.worker.purge import purge
from tests.corpus import make_folder, write_document
from tests.kept import Kept
from tests.traces import answers, ask, cite, found_in


def words(kind):
    """Words that only the file of this kind has, each for another place of it."""
    return tuple(f"{kind}quokka{place}" for place in ("text", "head", "name"))


def told(kind):
    """A text of some length in which the words stand apart."""
    text, head, _ = words(kind)
    return head.capitalize(), [f"The {text} of the bees lives in the hive with honey and wax. " * 8]


def a_text(folder, kind):
    path = folder / f"{words(kind)[2]}.txt"
    heading, texts = told(kind)
    path.write_text(f"{heading}\n\n" + "\n\n".join(texts))
    return path


def a_document(kind, suffix):
    def make(folder):
        path = folder / f"{words(kind)[2]}.{suffix}"
        heading, texts = told(kind)
        write_document(path, heading, [(heading, texts)])
        return path

    return make


def a_mail(folder):
    text, head, name = words("eml")
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = head, "a@example.org", "b@example.org"
    mail.set_content("A letter with an attachment. " * 6)
    mail.add_attachment(f"The {text} is a doctor with a cure. " * 12, filename="inner.txt")
    path = folder / f"{name}.eml"
    path.write_bytes(bytes(mail))
    return path


def a_package(folder):
    text, head, name = words("zip")
    path = folder / f"{name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"inner/{head}.txt", f"The {text} of the hospital has a cure. " * 12)
    return path


def lines(folder):
    text, head, name = words("jsonl")
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps({"title": f"{head} {n}", "text": f"Ship {n}: {text}."}) for n in range(9)))
    return path


def drawn(kind):
    """The recogniser reads this; what it read is kept in the cache."""
    picture = Image.new("RGB", (1200, 400), "white")
    for number, word in enumerate(words(kind)[:2]):
        place = (60, 60 + 110 * number)
        ImageDraw.Draw(picture).text(place, f"the {word} here", "black", ImageFont.load_default(48))
    return picture


def a_picture(folder):
    path = folder / f"{words('png')[2]}.png"
    drawn("png").save(path)
    return path


def a_scan(folder):
    """A PDF without a text layer."""
    path, held = folder / f"{words('scan')[2]}.pdf", io.BytesIO()
    drawn("scan").save(held, "png")
    canvas = Canvas(str(path), pagesize=(600, 800))
    canvas.drawImage(ImageReader(held), 0, 500, 600, 200)
    canvas.showPage()
    canvas.save()
    return path


KINDS = {
    "pdf": a_document("pdf", "pdf"), "docx": a_document("docx", "docx"), "html": a_document("html", "html"),
    "eml": a_mail, "zip": a_package, "jsonl": lines, "png": a_picture, "scan": a_scan,
    "txt": lambda folder: a_text(folder, "txt"),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory, tiny_encoder):
    """A folder with a file of each kind among others, two copies and a version of one, and the library of it."""
    place = tmp_path_factory.mktemp("kinds")
    docs = place / "docs"
    make_folder(docs, 14, suffixes=("txt", "md"))
    paths = {kind: make(docs) for kind, make in KINDS.items()}
    copied = a_text(docs, "copied")
    shutil.copy(copied, docs / "zz copy.txt")
    version = copied.read_text().replace(words("copied")[1].capitalize(), "Bees")
    (docs / "zz version.txt").write_text(version)
    ingest(place / "library", [docs], control=Control(), listener=lambda event: None, encoder=tiny_encoder)
    for path in paths.values():
        ask(place / "library", cite(place / "library", path), cite(place / "library", docs / "bees-0000.txt", 2))
    return place, paths


@pytest.fixture
def library(made, tmp_library, tiny_home):
    shutil.copytree(made[0] / "library", tmp_library)
    return tmp_library


def test_the_library_has_everything(library):
    """Else nothing would be shown by what follows."""
    places = found_in(library, [word for kind in KINDS for word in words(kind)])
    for kind in KINDS:
        text, head, name = words(kind)
        assert (text, "packed in library.db") in places, kind
        assert {text, head, name} <= {word for word, _ in places}, kind
    for kind in ("png", "scan"):
        assert any(word == words(kind)[0] and place.endswith(".json") for word, place in places), kind
    reader = Library.open(library)
    documents = {d.path.rsplit("/", 1)[-1]: d for d in reader.documents() if not d.external_id}
    reader.close()
    original, copy = documents[f"{words('copied')[2]}.txt"], documents["zz copy.txt"]
    assert copy.copy_of == original.id
    assert original.family == documents["zz version.txt"].family is not None
    assert Kept(library, None).rows("SELECT count(*) FROM concept")[0][0] > 0
    assert len(answers(library)) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_not_a_byte_of_a_deleted_file_is_left(library, made, tiny_encoder, kind):
    path = made[1][kind]
    receipt = delete(library, path)
    assert receipt.documents >= 1
    assert set(receipt.channels.values()) == {0}
    path.rename(made[0] / path.name)  # else its exclusion would be known for as long as it lies there
    try:
        purge(library, encoder=tiny_encoder)
    finally:
        (made[0] / path.name).rename(path)
    assert found_in(library, words(kind)) == set()
    others = [words(other)[0] for other in KINDS if other != kind]
    assert {word for word, _ in found_in(library, others)} == set(others)  # and nothing else is lost
    assert [f for f in examine(library) if f.severity != "ok"] == []


def test_the_words_of_copies_go_with_the_last_of_them(library, made, tiny_encoder):
    docs = made[0] / "docs"
    text, head, name = words("copied")
    for number, path in enumerate((docs / f"{name}.txt", docs / "zz copy.txt", docs / "zz version.txt")):
        delete(library, path)
        path.rename(made[0] / path.name)
        purge(library, encoder=tiny_encoder)
        left = {word for word, _ in found_in(library, (text, head, name))}
        assert left == [{text, head}, {text}, set()][number]


def test_what_lies_there_still_keeps_no_more_than_its_name(library, made, tiny_encoder):
    delete(library, made[1]["txt"])
    purge(library, encoder=tiny_encoder)
    text, head, name = words("txt")
    assert {word for word, _ in found_in(library, (text, head, name))} == {name}  # so that no scan reads it again
