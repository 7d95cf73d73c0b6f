"""A folder that changes all the time, and what is known of its contents."""

from __future__ import annotations

import hashlib
import random
import shutil
import threading
from collections import Counter
from pathlib import Path

WORDS = ("honey", "harbour", "invoice", "telescope", "bread", "storm")
LEAST_FILES = 8  # below, files are only added
PAUSE = (0.05, 0.3)  # seconds between two changes
EDITABLE = (".txt", ".md", ".html")


class Changes:
    """Adds, edits, renames, moves, copies and deletes files on a thread of its own until it is told to stop.

    A content that always lay in at least one file since it was first there is *unbroken*: however its files were
    renamed, moved and copied, nobody needs to encode it twice. (Of an edited file only the new part is new; when its
    name changed too before the library saw it, it is a new file.)
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._luck = random.Random(seed)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._made = 0
        self._words: list[str] = []
        self._let_be: set[Path] = set()
        self._files = Counter(content(path) for path in self._all())
        self._broken: set[str] = set()
        self.counts = dict.fromkeys(("add", "edit", "rename", "move", "copy", "delete"), 0)
        self._kinds = (self._add, self._edit, self._rename, self._move, self._copy, self._delete, self._delete)
        self._thread = threading.Thread(target=self._run, name="changes")

    def __enter__(self) -> Changes:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopping.set()
        self._thread.join()

    def let_be(self, path: Path) -> bool:
        """Leave this file as it is from now on, whatever happens to it in a library. False when it is gone."""
        with self._lock:
            if not path.is_file():
                return False
            self._let_be.add(path)
            self._broken.add(content(path))
            return True

    def unbroken(self) -> list[Path]:
        """The files whose content was never away."""
        return [path for path in self._all() if content(path) not in self._broken]

    def gone_words(self) -> list[str]:
        """Words that stood in some file once, and do in none now."""
        left = "".join(path.read_text() for path in self._all() if path.suffix in EDITABLE)
        return [word for word in self._words if word not in left]

    def _all(self) -> list[Path]:
        return sorted(path for path in self._folder.rglob("*") if path.is_file())

    def _run(self) -> None:
        while not self._stopping.wait(self._luck.uniform(*PAUSE)):
            with self._lock:
                self._change()

    def _change(self) -> None:
        files = [path for path in self._all() if path not in self._let_be]
        change = self._luck.choice(self._kinds) if len(files) >= LEAST_FILES else self._add
        change(self._luck.choice(files))
        self.counts[change.__name__[1:]] += 1

    def _name(self, kind: str, path: Path) -> str:
        self._made += 1
        return f"{kind}-{self._made}{path.suffix}"

    def _text(self) -> str:
        self._made += 1
        words = " ".join(self._luck.choice(WORDS) for _ in range(40))
        self._words.append(f"fresh{self._made}q")
        return f"Note {self._made}\n\n{words} and the word {self._words[-1]}.\n"

    def _came(self, path: Path) -> None:
        self._files[content(path)] += 1

    def _goes(self, path: Path) -> None:
        found = content(path)
        self._files[found] -= 1
        if not self._files[found]:
            self._broken.add(found)

    def _add(self, _path: Path) -> None:
        path = self._folder / self._name("new", Path("x.txt"))
        path.write_text(self._text())
        self._came(path)

    def _edit(self, path: Path) -> None:
        if path.suffix not in EDITABLE:
            return self._add(path)
        self._goes(path)
        path.write_text(path.read_text() + "\n\n" + self._text())
        self._came(path)
        self._broken.add(content(path))  # part of it may go with what it was before

    def _rename(self, path: Path) -> None:
        path.rename(path.with_name(self._name("renamed", path)))

    def _move(self, path: Path) -> None:
        below = self._folder / f"below{self._luck.randrange(3)}"
        below.mkdir(exist_ok=True)
        path.rename(below / self._name("moved", path))

    def _copy(self, path: Path) -> None:
        target = path.with_name(self._name("copy", path))
        shutil.copy(path, target)
        self._came(target)

    def _delete(self, path: Path) -> None:
        self._goes(path)
        path.unlink()


def content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
