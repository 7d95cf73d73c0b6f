"""What every page is given, and nothing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.base.types import Span

if TYPE_CHECKING:
    from app.engine.engine import Engine
    from app.errors import Notifications
    from app.settings import Settings
    from app.tasks.jobs import Jobs
    from app.theme import Theme
    from core.library import Library


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document: where the viewer opens. `spans` count in the document's text."""

    document_id: int
    page: int | None = None
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """`engine` runs everything slow; `library` is the open read side, for short paged reads on the UI thread.

    `navigate(page, target)` shows a page:

    - `navigate("library", None)`, `navigate("search", "text" or None)`, `navigate("ask", "question" or None)`
      switch the page; the target goes to that page's `Page.show_target`. `navigate("adapt", None)` has none.
    - `navigate("search", ByConcept(...))` searches among the passages of a concept (`app.widgets.steer_state`).
    - `navigate("concepts", id or Scope or None)` shows a concept, or the concepts of some documents
      (`app.views.concept_scope.Scope`).
    - `navigate("document", Place(...))` opens the viewer in the pane beside the current page. The window makes one
      `app.views.viewer.Viewer(context)` on first use, calls its `open(place)`, and closes the pane on its signal
      `closed` or on Esc.

    `notifications` shows a message at the window's bottom: `error(e)` for a `KnownError` or `Bug`, `tell(text)`.
    `jobs` is the one queue of work that writes (ingest, remove); pages watch it to say what is going on.
    """

    engine: Engine
    library: Library
    settings: Settings
    theme: Theme
    navigate: Callable[[str, Any], None]
    notifications: Notifications
    jobs: Jobs
