"""`python -m core.worker ROLE [--library DIR]`: one child process of the app."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path

from core.base import crash
from core.worker import protocol
from core.worker.server import Role, Server


def main() -> None:
    parser = argparse.ArgumentParser(prog="core.worker")
    parser.add_argument("role", choices=protocol.ROLES)
    parser.add_argument("--library", type=Path)
    arguments = parser.parse_args()
    if arguments.role == protocol.PARSE:  # has limits of its own to set before anything is loaded
        from core.ingest import parse_child

        parse_child.main()
        return
    if arguments.role == protocol.SEARCH:
        # a query is too little work to share: on a busy machine waiting for a second thread took 98 ms of 99
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    requests, replies = protocol.private_streams()
    log = crash.enable(arguments.role)
    try:
        Server(_role(arguments.role, arguments.library), requests, replies).serve()
    finally:
        crash.disable(log)


def _role(name: str, library: Path | None) -> Role:
    """Only the module of this role is imported: each role has its own heavy packages."""
    role: Role = importlib.import_module(f"core.worker.roles.{name}").make(library)
    return role


if __name__ == "__main__":
    main()
