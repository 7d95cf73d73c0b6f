"""Opening the library without holding up the window: the slow part (imports, a first creation) is in a thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QThread, Signal

from core.base.errors import KnownError, NotALibrary


class Opening(QThread):
    """`ready()`: `Library.open(folder)` is now quick and will do. `failed(error)`: it will not, and why.

    A folder that is missing or empty becomes a new library; one that holds other things does not.
    """

    ready = Signal()
    failed = Signal(object)

    def __init__(self, folder: Path, parent: object = None) -> None:
        super().__init__(parent)  # type: ignore[arg-type]
        self._folder = folder

    def run(self) -> None:
        try:
            self._open()
        except KnownError as error:
            self.failed.emit(error)
        except Exception as error:  # shown as a bug, with details
            self.failed.emit(error)
        else:
            self.ready.emit()

    def _open(self) -> None:
        from core.library import Library

        if not Library.exists(self._folder) and _has_other_things(self._folder):
            raise NotALibrary(
                f"{self._folder} is not a Whymatch library.",
                "Choose a library folder or an empty one. To read the files in it, add the folder to your library.",
            )
        library = Library.open(self._folder) if Library.exists(self._folder) else Library.create(self._folder)
        library.counts()  # a database that opens may still be damaged
        library.close()


def _has_other_things(folder: Path) -> bool:
    return folder.is_file() or (folder.is_dir() and any(folder.iterdir()))
