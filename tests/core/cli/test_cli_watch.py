"""`whymatch watch` follows its folders until Ctrl+C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.library import Library
from tests.corpus import make_folder

ROOT = Path(__file__).parents[3]


def documents(library):
    reader = Library.open(library)
    try:
        return {Path(d.path).name for d in reader.documents()}
    finally:
        reader.close()


@pytest.mark.e2e
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl+C as a signal is POSIX")
def test_watch_reads_what_changes_and_ends_well(tmp_path, tmp_library, tiny_home):
    make_folder(tmp_path / "docs", 2, suffixes=("txt",))
    library = ["--library", str(tmp_library)]
    command = [sys.executable, "-m", "core.cli"]
    options = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": str(ROOT)}, "stderr": subprocess.PIPE, "text": True}
    assert (
        subprocess.run([*command, "ingest", str(tmp_path / "docs"), *library], check=False, **options).returncode == 0
    )
    process = subprocess.Popen([*command, "watch", *library], **options)
    try:
        assert "2 documents" in next(line for line in process.stderr if "documents" in line)
        (tmp_path / "docs" / "zebras.txt").write_text("Zebras and their stripes.")
        (tmp_path / "docs" / "bees-0000.txt").unlink()
        end = time.monotonic() + 60
        while documents(tmp_library) != {"zebras.txt", "ships-0001.txt"} and time.monotonic() < end:
            time.sleep(0.2)
        assert documents(tmp_library) == {"zebras.txt", "ships-0001.txt"}
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
