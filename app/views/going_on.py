"""Work that was cut off: what is offered at the next start, and how it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors import Message
from app.i18n import tr
from app.tasks.jobs import Jobs, Task

if TYPE_CHECKING:
    from core.store.jobs import JobRow


def offer(job: JobRow | None) -> Message | None:
    """The words for a job that was cut off; None when there is nothing to go on with."""
    if job is not None and job.kind == "ingest":
        return Message(tr("Reading was cut off last time."), tr("What was read is kept. Go on where it stopped?"))
    if job is not None and job.kind == "reencode":
        words = tr("What was done is kept, and search still uses the old index. Go on where it stopped?")
        return Message(tr("Changing the encoder was cut off last time."), words)
    return None


def go_on(jobs: Jobs, job: JobRow | None) -> None:
    if job is not None and job.kind == "reencode":
        jobs.add(Task("reencode", dict(job.arguments)))
    else:
        jobs.ingest([])
