"""Errors: what happened and what to do, apart from bugs and from cancelling.

Everything a person can cause or meet is a `KnownError`: a sentence that says what happened (`message`) and
one that says what to do (`advice`). Anything else that escapes is a bug and keeps its traceback.
"""

from __future__ import annotations


class WhymatchError(Exception):
    """Root of all errors raised on purpose."""


class Cancelled(WhymatchError):
    """The person stopped the work. Not an error: never shown as one."""


class KnownError(WhymatchError):
    """An error with a message for the person and advice on what to do.

    `code` is a short stable word that travels over the worker protocol, so that the window can react to the
    kind of error without parsing the sentence.
    """

    code = "error"

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message if not advice else f"{message} {advice}")
        self.message = message
        self.advice = advice


class PathMissing(KnownError):
    code = "path-missing"


class NoPermission(KnownError):
    code = "no-permission"


class NotALibrary(KnownError):
    code = "not-a-library"


class LibraryTooNew(KnownError):
    code = "library-too-new"


class LibraryLocked(KnownError):
    code = "library-locked"


class LibraryDamaged(KnownError):
    code = "library-damaged"


class DiskFull(KnownError):
    code = "disk-full"


class BadQuery(KnownError):
    code = "bad-query"


class BadSetting(KnownError):
    code = "bad-setting"


class BadDataset(KnownError):
    code = "bad-dataset"


class IndexDamaged(KnownError):
    """An index file is missing or its checksum differs. It can be rebuilt from the stored text."""

    code = "index-damaged"


class ModelMissing(KnownError):
    code = "model-missing"


class ModelDamaged(KnownError):
    code = "model-damaged"


class EndpointFailed(KnownError):
    """Another program that should write an answer was not reached, refused, or broke off."""

    code = "endpoint-failed"


class NotFound(KnownError):
    """A passage, document, concept or generation that is not (or no longer) in the library."""

    code = "not-found"


class ChildDied(KnownError):
    code = "child-died"


BY_CODE: dict[str, type[KnownError]] = {
    cls.code: cls
    for cls in (
        KnownError, PathMissing, NoPermission, NotALibrary, LibraryTooNew, LibraryLocked, LibraryDamaged,
        DiskFull, BadQuery, BadSetting, BadDataset, IndexDamaged, ModelMissing, ModelDamaged, EndpointFailed,
        NotFound, ChildDied,
    )
}  # fmt: skip


def known_error(code: str, message: str, advice: str = "") -> KnownError:
    """The `KnownError` that a child reported, made again on this side of the pipe."""
    return BY_CODE.get(code, KnownError)(message, advice)


def from_os_error(error: OSError, path: object) -> KnownError:
    """Turn an operating-system error about `path` into one a person can act on."""
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"The disk is full: {path} could not be written.", "Free some space, then try again.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return NoPermission(f"No permission for {path}.", "Check the rights of this file or folder.")
    if error.errno == errno.EEXIST:
        return KnownError(f"{path} is in the way: it is no folder.", "Choose another place.")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return PathMissing(f"{path} does not exist.", "Check the path, or connect the drive it is on.")
    return KnownError(f"{path} could not be used: {error.strerror or error}.", "Try again.")
