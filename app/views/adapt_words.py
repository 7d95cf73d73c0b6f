"""What is said about adapting: recipes, stages, estimates, verdicts, and what would help, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QLocale

from app.i18n import grouped, tr
from app.models import adapt_entries as entries
from app.models.adapt_entries import Estimate, Run, Verdict
from app.tasks.remaining import size_text
from app.widgets.adapt_bars import gain

SAFE = (
    "Nothing changes while it learns. In the end it is put to the test with questions that were kept aside: only when "
    "it finds their passages better, beyond doubt, does search use what was learned. You can take that back at any "
    "time."
)
MEANWHILE = (
    "Search is as always meanwhile, and goes first. You may leave this page, pause, or close Whymatch and go on later."
)


@dataclass(frozen=True, slots=True)
class RecipeWords:
    title: str
    text: str
    steps: tuple[str, ...]  # what happens, in order


_TAUGHT = "Questions are made from your documents: their titles, headings, definitions, and results you opened."
_QUERIES = "It learns to read a question so that the passage that answers it is nearest. The index stays as it is."
_WORDS = "It reads the passages to learn the words that are special to them."
_ROUNDS = (
    "In two rounds it learns to tell what answers from what only looks like it; the second on what it still mistakes."
)
_READER = (
    "A second model learns to read question and passage together. It is slower and surer: it teaches the first one, "
    "and reads the best hits of a search where that finds more."
)
_HEADS = "It learns what weight words have in your documents, and uses it if search finds more with it."
_BETTER = "The better of both is put to the test."
RECIPES = {
    entries.QUICK: RecipeWords("Quick", "Learns how to read questions about your documents. A first try.", (
        _TAUGHT, _QUERIES,
    )),
    entries.STANDARD: RecipeWords("Standard", "Learns the words of your documents too, and in two rounds what answers "
                                  "a question.", (
        _TAUGHT, _QUERIES, _WORDS, _ROUNDS, _BETTER,
    )),
    entries.THOROUGH: RecipeWords("Thorough", "For longer and on more questions, with a second model that reads "
                                  "question and passage together. Good for a night.", (
        _TAUGHT, _QUERIES, _WORDS, _ROUNDS, _READER, _BETTER, _HEADS,
    )),
}  # fmt: skip

STAGES = {
    "questions": "Questions from your documents",
    "writing": "Questions by the language model",
    "mining": "What is easily mistaken",
    "queries": "How questions are read",
    "moment": "Against what is mistaken now",
    "pretraining": "The words of your documents",
    "first": "First round",
    "second": "Second round",
    "retriever-1": "First round",
    "retriever-2": "Second round",
    "reranker": "Reading question and passage together",
    "teaching": "Its judgement of passages",
    "distilled": "Learning from its judgement",
    "judging": "The test",
    "heads": "The weight of words",
    "reading": "The test of close reading",
    "encoding": "Taking it over, only if it is better",
}
_ORDER = tuple(STAGES)
_FOUR = ("retriever-1", "retriever-2", "reranker", "teaching", "distilled", "heads", "reading")
_OF_RECIPE = {  # without what is done only where a language model is installed
    entries.QUICK: ("questions", "mining", "queries", "judging", "encoding"),
    entries.STANDARD: tuple(stage for stage in STAGES if stage not in ("writing", "moment", *_FOUR)),
    entries.THOROUGH: tuple(stage for stage in STAGES if stage not in ("writing", "first", "second")),
}

STATES = {
    entries.RUNNING: ("Running", "accent"),
    entries.STOPPED: ("Stopped", "neutral"),
    entries.ACCEPTED: ("In use", "success"),
    entries.REFUSED: ("Not used", "neutral"),
    entries.UNDECIDED: ("Cannot tell", "warning"),
    entries.TAKEN_BACK: ("Taken back", "neutral"),
    entries.FAILED: ("Failed", "danger"),
}

KINDS = {
    "judged": "judged by you", "pinned": "pinned", "liked": "liked answers", "opened": "opened results",
    "faq": "questions and answers", "written": "by the language model", "title": "titles", "heading": "headings",
    "caption": "captions", "definition": "definitions", "link": "links", "keywords": "keywords",
    "sentence": "sentences", "crop": "parts of passages",
}  # fmt: skip

CHECKS = {
    "gain": "Finds the right passages higher, beyond doubt",
    "recall": "Loses none from the first hundred",
    "fused": "Better together with the words, or as good",
    "probe": "Still knows language in general",
    "health": "Its vectors are sound",
}

_HELP = {
    "gain": "Your documents may be close to what the model knew already: then there is little to gain, and nothing is "
    "lost. A longer recipe, more documents, or questions judged by you may show a gain.",
    "fused": "Search by words already finds much of this. A longer recipe may help, or questions judged by you.",
    "recall": "A shorter recipe changes less. Questions judged by you show it what matters.",
    "probe": "A shorter recipe forgets less.",
    "health": "Try a shorter recipe.",
    "kind": "A longer recipe, or questions judged by you, may help this kind of question.",
}
_TELL = (
    "Judge questions by hand: fifty take about a quarter of an hour, and count most. More documents give more "
    "questions, too."
)


def estimate_time(made: Estimate) -> str:
    """The range of seconds as people say it: "about 6 to 9 minutes"."""
    low, high = made.seconds
    if high < 90:
        return tr("about a minute")
    if high < 100 * 60:
        lowest, highest = max(1, round(low / 60)), max(1, round(high / 60))
        if highest > 20:
            lowest, highest = _fives(lowest), _fives(highest)
        return _range(lowest, highest, "about {n} minutes", "about {low} to {high} minutes")
    return _range(max(1, round(low / 3600)), round(high / 3600), "about {n} hours", "about {low} to {high} hours")


def _fives(minutes: int) -> int:
    return max(5, round(minutes / 5) * 5)


def _range(low: int, high: int, one: str, two: str) -> str:
    return tr(one, n=high) if low >= high else tr(two, low=low, high=high)


def estimate_needs(made: Estimate) -> str:
    return tr("{memory} of memory, {disk} on the disk", memory=size_text(made.memory), disk=size_text(made.disk))


def estimate_material(made: Estimate) -> str:
    """What it would learn from."""
    return tr("It would learn from {questions} questions over {passages} passages.",
              questions=grouped(made.questions), passages=grouped(made.passages))  # fmt: skip


def recipe_title(recipe: str) -> str:
    return tr(RECIPES[recipe].title) if recipe in RECIPES else recipe


def shown_stages(recipe: str, seen: Sequence[str]) -> list[str]:
    """The stages of a run: those that were seen, as they came, then those that the recipe still has before it."""
    begun = list(dict.fromkeys(merged(stage) for stage in seen))
    reached = max((_ORDER.index(stage) for stage in begun if stage in _ORDER), default=-1)
    expected = _OF_RECIPE.get(recipe, _ORDER)
    return begun + [stage for stage in expected if stage not in begun and _ORDER.index(stage) > reached]


def stage_title(stage: str) -> str:
    return tr(STAGES.get(stage, stage.capitalize()))


def merged(stage: str) -> str:
    """Encoding and indexing are one stage to a person."""
    return "encoding" if stage == "indexing" else stage


def outcome(run: Run) -> tuple[str, str, str]:
    """Title, text and tone of how a run ended."""
    gate = run.gate
    if gate is None:
        return tr("It did not come to a verdict"), tr(run.reason), "info"
    if run.state == entries.TAKEN_BACK:
        return tr("It was better, and was taken back"), tr("Search is as it was before."), "info"
    if gate.accepted:
        words = tr("{gain} points on {n} questions that it had not seen.", gain=gain(gate.delta), n=gate.queries)
        return tr("Search is better, and uses it now"), words, "success"
    if run.reads or run.weighs:
        title = (
            tr("Search reads its best hits closely now") if run.reads else tr("Search knows the weight of words now")
        )
        return title, tr("What it learned of questions is not used: {reason}", reason=because(gate)), "success"
    if gate.decided:
        return tr("Not used, nothing was changed"), because(gate), "info"
    return tr("It cannot be told whether it helps, so nothing was changed"), because(gate), "warning"


def gained(run: Run) -> str:
    """What the parts of a run that were let in gained in the test, each its own; empty when none was."""
    if run.gate is not None and run.gate.accepted:
        return tr("{gain} points", gain=gain(run.gate.delta))
    told = []
    if run.read is not None and run.reads:
        difference = run.read.gate.fused_after - run.read.gate.fused_before
        told.append(tr("{gain} points by close reading", gain=gain(difference)))
    if run.headed is not None and run.weighs:
        told.append(tr("{gain} points by the weight of words", gain=gain(run.headed.after - run.headed.without)))
    return ", ".join(told)


def because(gate: Verdict) -> str:
    """The gate's reason without what the title says already."""
    if gate.failed == "fused" and gate.low > 0:
        return tr("By meaning alone it finds more, but together with the words, as search ranks, it finds less.")
    words = tr(gate.reason)
    for said in (tr("Refused: "), tr("Cannot tell: ")):
        words = words.removeprefix(said)
    words = words.removesuffix(tr("Nothing was changed.")).strip()
    return words[:1].upper() + words[1:]


def advice(run: Run) -> str:
    """What would help a run that was not taken over."""
    gate = run.gate
    if gate is None or gate.accepted or run.reads or run.weighs:
        return ""
    if not gate.decided:
        return tr(_TELL)
    return tr(_HELP.get(gate.failed.partition(":")[0], _HELP["gain"]))


def check_title(name: str) -> str:
    if name.startswith("kind:"):
        kind = name.partition(":")[2]
        return tr("No loss for questions of the kind “{kind}”", kind=tr(KINDS.get(kind, kind)))
    return tr(CHECKS.get(name, name))


def kinds(gate: Verdict) -> str:
    """The gain by kind of question, the largest first."""
    found = sorted((gate.kinds or {}).items(), key=lambda pair: -pair[1])
    return " · ".join(f"{tr(KINDS.get(kind, kind))} {gain(value)}" for kind, value in found)


def when(iso: str) -> str:
    """A moment (ISO 8601) in the person's own time and words; empty when it is none."""
    try:
        moment = datetime.fromisoformat(iso).astimezone()
    except ValueError:
        return ""
    return QLocale().toString(moment.replace(tzinfo=None), QLocale.FormatType.ShortFormat)


def ranks(before: int | None, after: int | None, depth: int = 100) -> str:
    """From which place to which a passage moved."""
    beyond = tr("beyond {n}", n=depth)
    return f"{before or beyond} → {after or beyond}"
