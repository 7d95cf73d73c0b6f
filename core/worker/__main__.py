"""`python -m core.worker ROLE [--library DIR]`: one child process of the app."""

from __future__ import annotations

import argparse
import importlib
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
