"""Files are whole or not there; the lock has one holder."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.base.errors import DiskFull, LibraryLocked, NoPermission, PathMissing, from_os_error
from core.base.files import FileLock, atomic_file, path_text, text_path, write_bytes

ROOT = Path(__file__).resolve().parents[3]


def test_a_failed_write_leaves_the_old_file_and_no_trace(tmp_path):
    path = tmp_path / "a.json"
    write_bytes(path, b"old")

    def half():
        with atomic_file(path) as file:
            file.write(b"half of the new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_what_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        write_bytes(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_write_killed_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "a.bin"
    write_bytes(path, b"0" * 200_000)
    code = (
        "import sys; from pathlib import Path; from core.base.files import write_bytes\n"
        "n = 0\nprint('go', flush=True)\n"
        "while True:\n  n = (n + 1) % 10\n  write_bytes(Path(sys.argv[1]), str(n).encode() * 200_000)"
    )
    for wait in (0.01, 0.05, 0.1):
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(wait)
        child.kill()
        child.wait()
        child.stdout.close()
        data = path.read_bytes()
        assert len(data) == 200_000
        assert len(set(data)) == 1


def test_the_lock_has_one_holder_and_says_who(tmp_path):
    path = tmp_path / "lock"
    code = (
        "import sys; from pathlib import Path; from core.base.files import FileLock\n"
        "lock = FileLock(Path(sys.argv[1]), 'ingest'); lock.acquire(); print('held', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    with pytest.raises(LibraryLocked, match=rf"ingest {child.pid}"):
        FileLock(path, "other").acquire()
    child.kill()  # however the holder ends, the lock is free
    child.communicate()
    with FileLock(path, "other"):
        pass
    with FileLock(path, "again"):
        pass


def test_names_that_are_no_utf8_survive(tmp_path):
    name = os.fsdecode(b"caf\xe9 \xff.txt")
    (tmp_path / name).write_text("x")
    text = path_text(tmp_path / name)
    text.encode()
    assert text_path(text).read_text() == "x"
    assert text_path(path_text("/tmp/schön/文.pdf")) == Path("/tmp/schön/文.pdf")


@pytest.mark.parametrize(("number", "kind"), [("ENOSPC", DiskFull), ("EACCES", NoPermission), ("ENOENT", PathMissing)])
def test_errors_of_the_system_become_sentences(number, kind):
    import errno

    error = from_os_error(OSError(getattr(errno, number), "?"), "/x/y")
    assert isinstance(error, kind)
    assert "/x/y" in error.message
    assert error.advice


def test_a_full_disk_is_a_known_error():
    with open("/dev/full", "wb", buffering=0) as file, pytest.raises(OSError) as caught:
        file.write(b"x")
    assert isinstance(from_os_error(caught.value, "/dev/full"), DiskFull)
