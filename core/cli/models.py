"""`whymatch models`: what is installed, what is in use."""

from __future__ import annotations

import typer

models = typer.Typer(no_args_is_help=True, help="Encoders and language models.")
