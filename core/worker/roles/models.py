"""The `models` child: what models there are, what one takes, adding with progress, using, removing."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from core.answer.remote import offered
from core.base.errors import IndexDamaged, KnownError
from core.base.paths import models
from core.index import generation
from core.models import catalogue
from core.models import endpoint as endpoints
from core.worker import probing
from core.worker.server import Call


class ModelsRole:
    def __init__(self, library: Path | None) -> None:
        self._library = library

    def open(self) -> dict[str, Any]:
        return {"role": "models"}

    def handle(self, call: Call) -> Any:
        args = call.request.args
        match call.request.op:
            case "list":
                pass
            case "needs":
                return catalogue.needs(str(args["spec"]))
            case "add":
                return {
                    "id": probing.add(str(args["spec"]), control=call.control, listener=call.listen).id
                } | self._list()
            case "measure":
                probing.measure(str(args["id"]), control=call.control)
            case "renew":
                from core.encode.renew import renew  # heavy, too

                return {"id": renew(str(args["id"]), control=call.control, listener=call.listen).id} | self._list()
            case "endpoint_look":
                endpoint = endpoints.made(str(args["url"]), "", anywhere=bool(args.get("anywhere")))
                return {"url": endpoint.url, "host": endpoint.host, "models": offered(endpoint, call.control)}
            case "endpoint_use":
                _use_endpoint(args)
            case "endpoint_forget":
                endpoints.forget()
            case "use":
                catalogue.use(str(args["id"]))
            case "remove":
                self._remove(str(args["id"]))
            case op:
                raise ValueError(f"models has no operation {op!r}")
        return self._list()

    def _remove(self, id: str) -> None:
        """Raises KnownError for a model that the open library serves with, too."""
        name = id.rpartition("/")[2]
        current = self._generation()
        if current is not None and (models() / name).is_dir():
            if name == current.encoder:
                raise KnownError(f"The index of this library was made with {name}.", "Change to another encoder first.")
            if name == current.queries:
                advice = "Go back to the index before, or change to another encoder first."
                raise KnownError(f"Questions to this library are read by {name}.", advice)
            if name == current.reranker:
                advice = "Go back to the index before it was taken over first."
                raise KnownError(f"The best hits of this library are read by {name}.", advice)
        catalogue.remove(id)

    def _list(self) -> dict[str, Any]:
        """The models, the encoder that the library's index was made with (empty when it has none yet), the machine's
        memory in bytes, and the endpoint that the person named, if any."""
        kept = endpoints.kept()
        return {
            "models": catalogue.listing(), "library_encoder": self._encoder(),
            "memory": int(psutil.virtual_memory().total), "endpoint": kept and {**asdict(kept), "host": kept.host},
        }  # fmt: skip

    def _encoder(self) -> str:
        current = self._generation()
        return current.encoder if current else ""

    def _generation(self) -> generation.Generation | None:
        """The one in use of the open library, if any."""
        if self._library is not None:
            with contextlib.suppress(IndexDamaged):
                return generation.current(self._library)
        return None

    def close(self) -> None:
        pass


def _use_endpoint(args: dict[str, Any]) -> None:
    """Keep an endpoint, and switch it on or off: off as well when it is named for the first time without a word."""
    endpoints.keep(
        endpoints.made(
            str(args["url"]), str(args["model"]), in_use=bool(args.get("in_use")), anywhere=bool(args.get("anywhere")),
            context=int(args.get("context") or 0),
        )
    )  # fmt: skip


def make(library: Path | None) -> ModelsRole:
    return ModelsRole(library)
