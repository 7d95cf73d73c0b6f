"""The main job in the real window: drop a folder, search, see why, ask, follow the citation to its sentence."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest

from core.base.paths import resources
from tests.corpus import make_folder

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]


def run(*arguments, home):
    """The script on a screen of its own; what it saw."""
    server = shutil.which("xvfb-run")
    if server is None:
        pytest.skip("xvfb-run is not installed")
    environment = {**os.environ, "WHYMATCH_HOME": str(home), "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "xcb"}
    line = [server, "-a", "-s", "-screen 0 1600x1000x24", sys.executable, str(ROOT / "tests/e2e/window_run.py")]
    done = subprocess.run(
        [*line, *map(str, arguments)], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=1100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def word_boxes(path, page_number, quote):
    """Boxes (points from the top left) of the quote's words, found by PDFium's own text search."""
    document = pypdfium2.PdfDocument(path)
    page = document[page_number - 1]
    text = page.get_textpage()
    height = page.get_height()
    found = []
    try:
        whole = text.search(" ".join(quote.split()), match_case=True).get_next()
        assert whole is not None
        for index in range(whole[0], whole[0] + whole[1]):
            left, bottom, right, top = text.get_charbox(index)
            if right > left:
                found.append((left, height - top, right, height - bottom))
    finally:
        text.close()
        page.close()
        document.close()
    return found


def covered(box, rects, slack=1.0):
    left, top, right, bottom = box
    middle = (top + bottom) / 2
    return any(r[0] - slack <= left and right <= r[2] + slack and r[1] <= middle <= r[3] for r in rects)


@pytest.mark.starter
def test_the_main_job(tmp_path, starter_encoder, starter_home):
    questions = json.loads((resources() / "sample" / "questions.json").read_text(encoding="utf-8"))
    wanted = questions[0]
    shots = tmp_path / "shots"
    seen = run(
        "main", tmp_path / "library", resources() / "sample" / "documents", shots, wanted["question"], home=starter_home
    )
    assert (seen["documents"], seen["failed"]) == (18, [])
    assert {"reading", "encoding", "concepts"} <= set(seen["stages"])
    found = seen["search"]
    assert found["hits"] >= 10
    assert found["parts_add_up"]
    assert found["concepts"]
    assert all(found["concepts"])
    assert found["sentence"]
    assert found["rows"]
    assert found["why_closed"]
    answer = seen["ask"]
    assert answer["mode"] in ("generated", "extractive")
    assert "62" in answer["text"]
    assert Path(answer["document"]).name == wanted["documents"][0]
    assert answer["page"] == wanted["page"]
    assert answer["conversations"] == [wanted["question"]]
    rects = [r[1:] for r in answer["rects"] if r[0] == answer["page"]]
    boxes = word_boxes(answer["document"], answer["page"], answer["quote"])
    assert len(boxes) > 30
    assert [box for box in boxes if not covered(box, rects)] == []
    area = sum((r[2] - r[0]) * (r[3] - r[1]) for r in rects)
    assert area < 6 * sum((b[2] - b[0]) * (b[3] - b[1]) for b in boxes), "only the sentence is marked"
    assert seen["left"] == 0
    assert len(list(shots.glob("*.png"))) == 12


def test_the_window_stays_awake_while_200_files_are_read(tmp_path, tiny_home):
    make_folder(tmp_path / "docs", 200)
    seen = run("ingest", tmp_path / "library", tmp_path / "docs", home=tiny_home)
    assert seen["documents"] == 200
    assert seen["beats"] > 100
    assert seen["longest_work_ms"] < 100
    assert seen["left"] == 0
