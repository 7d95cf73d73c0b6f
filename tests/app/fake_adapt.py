"""What the fake role knows of adapting. The variable FAKE_ADAPT chooses how the run ends and what was before:
accepted (the default), refused, undecided, failed, stopped (a run that can go on), elsewhere (another window has one
at work), used (one is in use), few, broken (no estimate can be made)."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from typing import Any

FAILED = {"code": "disk-full", "message": "The disk is full: a checkpoint could not be written.",
          "advice": "Free some space, then go on."}  # fmt: skip
_MB = 1_000_000
_SECONDS = {"quick": (320.0, 520.0), "standard": (1500.0, 2400.0), "thorough": (9000.0, 15000.0)}
_STAGES = {
    "quick": ("questions", "mining", "queries", "judging"),
    "standard": ("questions", "mining", "queries", "pretraining", "first", "second", "judging"),
}
QUESTIONS = (
    "who decides on the fees of the northern harbour",
    "when must a member pay the contribution",
    "notice period of a berth contract, and what happens to a boat that is not taken away within the time that the "
    "statutes give for it",
)


def kind() -> str:
    return os.environ.get("FAKE_ADAPT", "accepted")


def rest() -> float:
    return float(os.environ.get("FAKE_ADAPT_REST", "0.004"))


def estimate(recipe: str) -> dict[str, Any]:
    few = "Too few documents: 40 questions could be made, and 200 are needed." if kind() == "few" else ""
    return {"recipe": recipe, "seconds": _SECONDS[recipe], "memory": 1_200 * _MB, "disk": 310 * _MB,
            "questions": 4_210, "passages": 5_183, "reason": few}  # fmt: skip


def events(recipe: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Progress and curves of a run, in short."""
    noise, left = random.Random(7), 320
    stages = _STAGES.get(recipe, _STAGES["standard"])
    for stage in (*stages, *(("encoding", "indexing") if kind() in ("accepted", "used") else ())):
        for step in range(30):
            left -= 1
            yield "progress", {"stage": stage, "done": step * 40, "total": 1200, "seconds_left": float(left)}
            if stage in ("queries", "pretraining", "first", "second"):
                loss = 2.4 * math.exp(-step / 11) + 0.7 + noise.uniform(-0.18, 0.18)
                figures = {"recall": 0.61 + step / 120} if stage != "pretraining" else {}
                yield "curve", {"stage": stage, "step": step * 40, "loss": loss, "figures": figures}


def gate(outcome: str) -> dict[str, Any]:
    reasons = {
        "accepted": "Better on questions that it was not trained on.",
        "refused": "Refused: it does not find more of the held-out questions' passages beyond doubt. "
        "Nothing was changed.",
        "undecided": "Cannot tell: only 31 held-out questions, and 50 are needed. Nothing was changed.",
    }
    good = outcome == "accepted"
    delta, low, high = (0.034, 0.012, 0.057) if good else (0.006, -0.009, 0.021)
    checks = [
        {"name": "health", "passed": True, "figure": 212.0, "limit": 110.0, "reason": ""},
        {"name": "gain", "passed": good, "figure": low, "limit": 0.0, "reason": "it does not find more"},
        {"name": "recall", "passed": True, "figure": 0.004, "limit": -0.005, "reason": ""},
        {"name": "fused", "passed": True, "figure": 0.015, "limit": -0.005, "reason": ""},
        {"name": "probe", "passed": True, "figure": -0.002, "limit": -0.02, "reason": ""},
        {"name": "kind:heading", "passed": True, "figure": 0.021, "limit": -0.03, "reason": ""},
    ]
    return {"accepted": good, "decided": outcome != "undecided", "reason": reasons[outcome], "before": 0.612,
            "after": 0.612 + delta, "delta": delta, "low": low, "high": high, "fused_before": 0.702,
            "fused_after": 0.717 if good else 0.703, "queries": 31 if outcome == "undecided" else 412,
            "kinds": {"title": 0.041, "heading": 0.021, "definition": -0.004}, "checks": checks,
            "up": [_moved(QUESTIONS[0], 14, 1, 1), _moved(QUESTIONS[1], None, 3, 2), _moved(QUESTIONS[2], 9, 4, 3)],
            "down": [_moved("what the annual report says of the ferry", 2, 6, 1)]}  # fmt: skip


def _moved(question: str, before: int | None, after: int | None, document: int) -> dict[str, Any]:
    return {"question": question, "before": before, "after": after, "document": document}


def result(recipe: str) -> dict[str, Any]:
    outcome = "accepted" if kind() == "used" else kind()
    stages = [{"name": name, "steps": 1200, "seconds": 61.0, "metrics": {}} for name in _STAGES["quick"]]
    return {"recipe": recipe, "stages": stages, "gate": gate(outcome), "generation": 5, "previous": 4}


def history() -> list[dict[str, Any]]:
    """The newest last."""
    rows = [_row(1, "quick", "undecided", "2026-10-02T08:10:00+00:00", 402.0),
            _row(2, "standard", "refused", "2026-10-19T19:45:00+00:00", 2210.0)]  # fmt: skip
    if kind() in ("stopped", "elsewhere"):
        state = "stopped" if kind() == "stopped" else "running"
        rows.append({"number": 3, "recipe": "standard", "started": "2026-11-01T20:00:00+00:00", "seconds": 300.0,
                     "state": state, "gate": None, "generation": None})  # fmt: skip
    if kind() == "used":
        rows.append(_row(3, "standard", "accepted", "2026-11-01T20:00:00+00:00", 2480.0))
    return rows


def _row(number: int, recipe: str, state: str, started: str, seconds: float) -> dict[str, Any]:
    accepted = state == "accepted"
    return {"number": number, "recipe": recipe, "started": started, "seconds": seconds, "state": state,
            "gate": gate(state), "generation": 5 if accepted else None,
            "previous": 4 if accepted else None}  # fmt: skip


def question(asked: int) -> dict[str, Any]:
    """One to be judged, as long as there are some."""
    if asked >= 4:
        return {"question": "", "passages": [], "done": 12, "wanted": 50}
    passages = [
        {"id": 10 * asked + at, "document": f"Statutes of the harbour, part {at + 1}.pdf",
         "text": f"Article {at + 4}. The general assembly decides on the fees of berths, and gives notice of them to "
         "all members before the first of March. " * (1 + at * 4)}
        for at in range(3)
    ]  # fmt: skip
    return {"question": f"{asked + 1}: {QUESTIONS[asked % 3]}?", "passages": passages, "done": 12, "wanted": 50}
