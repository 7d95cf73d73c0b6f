"""Encrypted Office files (DOCX, XLSX, PPTX): decrypted into the spool folder, then read as what they are.

The format is [MS-OFFCRYPTO], sections 2.3.4 (ECMA-376).
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.base.types import DocumentState, ReadDocument
from core.ingest.limits import Limits, Tick
from core.ingest.readers import registry
from core.ingest.readers.build import failure

_MOST_SPINS = 10_000_000  # the most rounds of hashing the format allows (section 2.3.4.10)


def read(path: Path, limits: Limits, tick: Tick) -> Iterator[ReadDocument]:
    if not limits.password:
        yield failure(DocumentState.LOCKED, "The document needs a password.")
        return
    with tempfile.TemporaryDirectory(prefix="unlocked-", dir=limits.spool or None) as folder:
        inner = Path(folder) / path.name
        tick()
        problem = _decrypt(path, inner, limits.password)
        if problem is not None:
            yield problem
        else:
            yield from registry.read(inner, "", limits, tick)


def _decrypt(path: Path, inner: Path, password: str) -> ReadDocument | None:
    """Write the document without its encryption; otherwise say why not."""
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError
    from msoffcrypto.format.ooxml import OOXMLFile

    try:
        with path.open("rb") as source, inner.open("xb") as target:
            office = OOXMLFile(source)
            if office.type == "agile" and office.info["spinValue"] > _MOST_SPINS:
                return failure(DocumentState.BROKEN, "The document is damaged: its encryption is not as it can be.")
            office.load_key(password=password, verify_password=True)
            office.decrypt(target)
    except InvalidKeyError:
        return failure(DocumentState.LOCKED, "The password given does not open the document.")
    except DecryptionError:
        return failure(DocumentState.LOCKED, "The document is encrypted in a way that is not read.")
    except (FileFormatError, ParseError, KeyError, ValueError, struct.error) as error:
        reason = f"The document is damaged: what says how it is encrypted cannot be read ({type(error).__name__})."
        return failure(DocumentState.BROKEN, reason)
    return None
