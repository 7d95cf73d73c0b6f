"""The commands `history`: conversations that the library keeps. What is heavy is imported when one runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from core.base.types import Filters
from core.cli.options import Json, LibraryOption
from core.cli.output import out, print_json, progress
from core.library import Change, Comparison, Format, Library

history = typer.Typer(no_args_is_help=True, help="Conversations: find, export, rename, pin, delete, ask again.")


@contextmanager
def opened(library: Path) -> Iterator[Library]:
    reader = Library.open(library)
    try:
        yield reader
    finally:
        reader.close()


@history.command("list")
def show_all(
    library: LibraryOption,
    find: Annotated[str, typer.Option(help="Words that stand in title, questions and answers.")] = "",
    json: Json = False,
) -> None:
    """List the conversations, the pinned ones first, then the newest."""
    with opened(library) as reader:
        found = reader.find_conversations(find)
    if json:
        print_json({"conversations": [{**_plain(one.conversation), "turn": one.turn_id, "text": one.text}
                                      for one in found]})  # fmt: skip
        return
    table = Table("Number", "Conversation", "Last asked")
    for one in found:
        pinned = "* " if one.conversation.pinned else ""
        held = f"\n{one.text}" if one.text else ""
        when = one.conversation.changed[:16].replace("T", " ")
        table.add_row(str(one.conversation.id), escape(f"{pinned}{one.conversation.title}{held}"), when)
    out.print(table)


@history.command()
def show(
    number: Annotated[int, typer.Argument(help="The conversation's number.")], library: LibraryOption,
    json: Json = False,
) -> None:  # fmt: skip
    """Show a conversation: the branch that is shown in the window."""
    with opened(library) as reader:
        title, turns = reader.conversation(number).title, reader.turns(number)
        text = reader.exported(Format.MARKDOWN, title, turns).decode()
    if json:
        print_json({"id": number, "title": title, "turns": turns})
        return
    out.print(text, markup=False)
    out.print(f"Exchanges: {', '.join(str(turn.id) for turn in turns)}")


@history.command()
def export(
    number: Annotated[int, typer.Argument(help="The conversation's number.")],
    path: Annotated[Path, typer.Argument(help="Ends with .md, .html, .docx, .json, .bib or .csl.json.")],
    library: LibraryOption,
    turn: Annotated[int | None, typer.Option(help="One exchange of it only.")] = None,
    json: Json = False,
) -> None:
    """Write a conversation, or the references it cites, to a file."""
    from core.base.errors import NotFound
    from core.base.files import write_bytes
    from core.store.exports.formats import format_of

    kind = format_of(path)
    with opened(library) as reader:
        title, turns = reader.conversation(number).title, reader.turns(number)
        if turn is not None:
            one, holder = reader.turn(turn)
            if holder != number:
                raise NotFound(f"Exchange {turn} is not in conversation {number}.", "See `whymatch history show`.")
            title, turns = one.question, [one]
        write_bytes(path, reader.exported(kind, title, turns))
    print_json({"path": str(path), "turns": len(turns)}) if json else out.print(f"Written: {path}", markup=False)


@history.command()
def rename(number: int, title: str, library: LibraryOption, json: Json = False) -> None:
    """Give a conversation another title."""
    with opened(library) as reader:
        before = reader.rename_conversation(number, title)
    print_json({"id": number, "before": before}) if json else out.print(f"Was “{before}”.", markup=False)


@history.command()
def pin(
    number: int,
    library: LibraryOption,
    off: Annotated[bool, typer.Option("--off", help="No longer keep it at the top.")] = False,
    json: Json = False,
) -> None:
    """Keep a conversation at the top of the list."""
    with opened(library) as reader:
        reader.pin_conversation(number, not off)
    print_json({"id": number, "pinned": not off}) if json else out.print("Done.")


@history.command()
def delete(number: int, library: LibraryOption, json: Json = False) -> None:
    """Delete a conversation with all its branches; documents stay."""
    with opened(library) as reader:
        title = reader.conversation(number).title
        reader.delete_conversation(number)
    print_json({"id": number, "title": title}) if json else out.print(f"Deleted “{title}”.", markup=False)


@history.command()
def again(
    turn: Annotated[int, typer.Argument(help="The exchange's number.")],
    library: LibraryOption,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Keep the new answer beside the old one.")] = True,
    json: Json = False,
) -> None:
    """Ask a question again in the same way, and tell what is different."""
    from core.base.types import Turn
    from core.worker.asking import ask
    from core.worker.finding import Finder

    with opened(library) as reader:
        stored, conversation = reader.turn(turn)
        before = reader.turns_before(turn)
        record = stored.answer.record
        earlier = [Turn(t.question, t.answer.text, t.search_text) for t in before]
        filters, mode = (record.filters, record.asked_mode) if record else (Filters(), "auto")
        finder = Finder(library)
        try:
            with progress(quiet=True) as line:
                answer, result = ask(
                    finder, library, stored.question, history=earlier, filters=filters, mode=mode,
                    everything=stored.answer.matching > 0, control=line.control,
                )  # fmt: skip
        finally:
            finder.close()
        comparison = reader.compare(stored.answer, answer)
        if keep:
            after = before[-1].id if before else None
            reader.save_turn(conversation, result.query.text, answer, after)
    print_json({"same": comparison.same, "comparison": comparison, "answer": answer}) if json else tell(comparison)


def tell(found: Comparison) -> None:
    """A comparison in lines: + came, - went, ~ changed."""
    signs = {Change.CAME: "+", Change.WENT: "-", Change.CHANGED: "~", Change.SAME: " "}
    out.print("The same answer." if found.same_answer else "The answer has changed.")
    for sentence in found.sentences:
        out.print(f"{signs[sentence.change]} {sentence.text}", markup=False)
    for passage in found.passages:
        page = f", page {passage.page}" if passage.page is not None else ""
        out.print(f"{signs[passage.change]} passage of {passage.title or 'a removed document'}{page}", markup=False)
    for one in found.circumstances:
        out.print(f"{one.what}: {one.before[:60] or 'none'} -> {one.after[:60] or 'none'}", markup=False)


def _plain(value: object) -> dict[str, object]:
    from core.base.wire import to_plain

    plain: dict[str, object] = to_plain(value)
    return plain
