"""The `job` child: one long change of a library, then it may be closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.base.events import Changed
from core.base.files import text_path
from core.base.paths import resources
from core.worker.server import Call

SAMPLE = resources() / "sample" / "documents"


class JobRole:
    def __init__(self, library: Path) -> None:
        self._library = library

    def open(self) -> dict[str, Any]:
        return {"role": "job"}

    def handle(self, call: Call) -> Any:
        from core.ingest.guards import lower_priority
        from core.ingest.limits import Limits
        from core.worker import ingesting

        args = call.request.args
        if call.request.op != "remove":  # a moment's work that the person waits for
            lower_priority()
        match call.request.op:
            case "ingest":
                paths = [text_path(p) for p in args.get("paths", ())]
            case "demo":
                paths = [SAMPLE]
            case "remove":
                paths = [text_path(p) for p in args.get("paths") or (args["path"],)]
                return ingesting.delete(self._library, *paths)
            case "purge":
                from core.worker.purge import purge

                return purge(self._library, control=call.control, listener=call.listen)
            case "reencode":
                from core.worker.reencoding import reencode

                return reencode(self._library, args.get("model") or None, control=call.control, listener=call.listen)
            case "adapt" | "adapt_estimate" | "adapt_history" | "adapt_settings":
                return self._adapt(call)
            case "fit_concepts":
                return self._fit_concepts(call)
            case "name_concepts":
                return self._name_concepts(call)
            case "rollback":
                return self._roll_back(int(args["to"]), call)
            case op:
                raise ValueError(f"job has no operation {op!r}")
        return ingesting.ingest(
            self._library, paths, retry=bool(args.get("retry", False)), passwords=args.get("passwords") or {},
            remember=bool(args.get("remember", False)), battery=bool(args.get("battery", False)),
            again=[text_path(p) for p in args.get("again", ())], limits=Limits(ocr=bool(args.get("ocr", True))),
            control=call.control, listener=call.listen,
        )  # fmt: skip

    def _adapt(self, call: Call) -> Any:
        args = call.request.args
        if call.request.op == "adapt_history":
            from core.worker.adapting import history

            return {"runs": history(self._library)}
        if call.request.op == "adapt_estimate":
            from core.worker.adapt_estimate import estimate

            return estimate(self._library, str(args["recipe"]), args.get("changes"))
        if call.request.op == "adapt_settings":
            from core.train.recipe_fields import of
            from core.train.recipes import named

            return {"settings": of(named(str(args["recipe"])), args.get("changes"))}
        from core.worker.adapting import adapt

        minutes = args.get("minutes")
        return adapt(
            self._library, str(args["recipe"]), float(minutes) if minutes else None, args.get("changes"),
            control=call.control, listener=call.listen,
        )  # fmt: skip

    def _fit_concepts(self, call: Call) -> dict[str, int]:
        from core.worker.concept_list import concept_list
        from core.worker.ingesting import refit

        number = refit(self._library, call.control, call.listen).number
        return {"generation": number, "concepts": len(concept_list(self._library).concepts)}

    def _name_concepts(self, call: Call) -> Any:
        from core.worker.concept_naming import name_concepts

        minutes = float(call.request.args.get("minutes", 10))
        return name_concepts(self._library, minutes, control=call.control, listener=call.listen)

    def _roll_back(self, to: int, call: Call) -> dict[str, int]:
        from core.library import Library
        from core.worker.generations import roll_back

        number = roll_back(self._library, to)
        reader = Library.open(self._library)
        try:
            call.listen(Changed(number, reader.count(), reader.passage_count()))
        finally:
            reader.close()
        return {"generation": number}

    def close(self) -> None:
        pass


def make(library: Path | None) -> JobRole:
    assert library is not None
    return JobRole(library)
