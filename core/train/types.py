"""What the parts of training hand to one another: passages, questions and their candidates. No torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# kinds of questions, from the strongest evidence of what the person wants to the weakest
JUDGED: Final = "judged"  # the person said which passage answers
PINNED: Final = "pinned"
LIKED: Final = "liked"  # thumbs up
OPENED: Final = "opened"  # a result that was opened
FAQ: Final = "faq"
WRITTEN: Final = "written"  # by the local model
TITLE: Final = "title"
HEADING: Final = "heading"
CAPTION: Final = "caption"
DEFINITION: Final = "definition"
LINK: Final = "link"
KEYWORDS: Final = "keywords"
SENTENCE: Final = "sentence"
CROP: Final = "crop"

SIGNALS: Final = frozenset({JUDGED, PINNED, LIKED, OPENED})


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage as training sees it. `input` is what the encoder sees of it; `section` its heading path.

    `group` is equal for passages of one document and of documents that resemble each other: what is held out is held
    out by group, so that a copy of a training passage never judges the result.
    """

    id: int
    document: int
    group: int
    text: str
    input: str
    title: str
    section: tuple[str, ...]
    language: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passage that answers it (by weak supervision: the one it was made from).

    `kind` is one of the names above; `group` that of its passage; `weight` its share of the loss.
    """

    text: str
    positive: int
    kind: str
    group: int
    language: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Candidates:
    """Passages that a question is trained against: `negatives` by falling hardness, with the teacher's scores.

    `teacher` holds the score of the positive, then one for each negative; empty where there is no teacher.
    """

    question: int  # place in the list of questions
    positive: int
    negatives: tuple[int, ...]
    teacher: tuple[float, ...] = ()
