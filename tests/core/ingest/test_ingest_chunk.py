"""Passages hold all text once, keep to their budget and to the document's seams."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.types import Block, BlockKind, ReadDocument
from core.ingest.chunk import LIMIT, TARGET, CutPassage, cut
from core.ingest.readers.build import TextBuilder

_TOKEN = re.compile(r"[a-zA-Z]{1,4}|\w|[^\w\s]")


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Much like a word-piece tokenizer: four letters a token, every other character its own."""
    return [len(_TOKEN.findall(text)) for text in texts]


def texts(document: ReadDocument) -> list[str]:
    return [document.text[p.start : p.end] for p in cut(document, count_tokens)]


def build(*blocks: tuple[str, str]) -> ReadDocument:
    """Blocks as (kind or heading level, text)."""
    builder = TextBuilder(10**9)
    for kind, text in blocks:
        if kind.isdigit():
            builder.heading(text, int(kind))
        else:
            builder.add(text, BlockKind(kind))
    return builder.build()


SENTENCE = "The committee decided on the third point after a long debate."
LONG = " ".join([SENTENCE] * 3)


def test_short_document_is_one_passage() -> None:
    document = build(("paragraph", SENTENCE), ("list-item", "First."), ("list-item", "Second."))
    assert texts(document) == [document.text]


def test_never_crosses_a_heading_and_keeps_the_path() -> None:
    document = build(("1", "Report"), ("2", "Costs"), ("paragraph", LONG), ("2", "Gains"), ("paragraph", LONG))
    passages = cut(document, count_tokens)
    assert [document.text[p.start : p.end] for p in passages] == [LONG, LONG]
    assert [p.heading_path for p in passages] == [("Report", "Costs"), ("Report", "Gains")]


def test_same_heading_twice_is_two_sections() -> None:
    assert texts(build(("1", "Day"), ("paragraph", LONG), ("1", "Day"), ("paragraph", LONG))) == [LONG, LONG]


def test_what_stands_before_the_first_heading_goes_with_the_first_section() -> None:
    front = ("paragraph", "Ann Writer, 2024-05-06")
    plain = build(front, ("1", "Costs"), ("paragraph", LONG))
    assert cut(plain, count_tokens) == [CutPassage(0, len(plain.text), None, None, ("Costs",))]
    beside = build(("1", "Report"), front, ("1", "Costs"), ("paragraph", LONG))  # the title heads nothing else
    titled = replace(beside, title="Report")
    assert cut(titled, count_tokens) == [CutPassage(0, len(titled.text), None, None, ("Costs",))]
    above = build(("1", "Report"), front, ("2", "Costs"), ("paragraph", LONG), ("2", "Gains"), ("paragraph", LONG))
    first, second = cut(above, count_tokens)
    assert above.text[first.start : first.end] == f"{front[1]}\n\nCosts\n\n{LONG}"
    assert (first.heading_path, second.heading_path) == (("Report", "Costs"), ("Report", "Gains"))


def test_front_goes_with_a_long_section_within_the_budget() -> None:
    document = build(("paragraph", "Ann Writer"), ("1", "Costs"), *[("paragraph", " ".join([SENTENCE] * 5))] * 6)
    passages = cut(document, count_tokens)
    assert document.text[: passages[0].end].startswith("Ann Writer\n\nCosts\n\nThe committee")
    assert {p.heading_path for p in passages} == {("Costs",)}
    assert max(count_tokens(texts(document))) <= LIMIT


def test_larger_part_gives_the_path() -> None:
    document = build(("paragraph", SENTENCE), ("1", "Costs"), ("paragraph", "None."))
    assert cut(document, count_tokens) == [CutPassage(0, len(document.text), None, None, ())]


def test_short_sections_of_one_parent_are_joined_with_their_headings() -> None:
    parts = [part for n in range(12) for part in (("3", f"Question {n}"), ("paragraph", SENTENCE))]
    document = build(("1", "Book"), ("2", "Help"), *parts, ("2", "End"), ("paragraph", LONG))
    *joined, last = cut(document, count_tokens)
    found = [document.text[p.start : p.end] for p in joined]
    assert 1 < len(found) < 6
    assert max(count_tokens(found)) <= TARGET
    assert {p.heading_path for p in joined} == {("Book", "Help")}
    assert [text[:8] for text in found] == ["Question"] * len(found)
    assert sum(text.count("Question") for text in found) == 12
    assert last.heading_path == ("Book", "End")


def test_short_sections_of_different_parents_stay_apart() -> None:
    document = build(
        ("1", "One"), ("2", "A"), ("paragraph", "Much."), ("1", "Two"), ("2", "B"), ("paragraph", "Little.")
    )
    assert texts(document) == ["Much.", "Little."]


def test_title_in_two_lines_goes_with_what_follows() -> None:
    document = build(("1", "The book"), ("1", "of tides"), ("1", "First chapter"), ("paragraph", LONG))
    assert cut(document, count_tokens) == [CutPassage(0, len(document.text), None, None, ("First chapter",))]


def test_heading_without_text_below_is_found_by_a_passage_of_its_own() -> None:
    document = build(("1", "Plan"), ("2", "Empty part"), ("1", "End"), ("paragraph", "Done."), ("1", "Last words"))
    passages = cut(document, count_tokens)
    assert [(document.text[p.start : p.end], p.heading_path) for p in passages] == [
        ("Empty part", ("Plan",)),
        ("Done.", ("End",)),
        ("Last words", ()),
    ]


def test_long_section_is_cut_at_sentences_within_the_budget() -> None:
    document = build(*[("paragraph", " ".join([SENTENCE] * 5))] * 12)
    found = texts(document)
    sizes = count_tokens(found)
    assert len(found) > 3
    assert max(sizes) <= LIMIT
    assert min(sizes[:-1]) > 100
    assert all(text.endswith("debate.") and text.startswith("The") for text in found)


def test_paragraph_ends_are_taken_before_sentence_ends() -> None:
    paragraph = " ".join([SENTENCE] * 9)
    assert set(texts(build(*[("paragraph", paragraph)] * 6))) == {paragraph}


def test_long_headings_shorten_the_passage() -> None:
    body = ("paragraph", " ".join([SENTENCE] * 200))
    plain, headed = build(body), build(("1", "Of matters that the committee put off again and again " * 3), body)
    assert max(count_tokens(texts(headed))) <= LIMIT - 30
    assert len(texts(headed)) > len(texts(plain))


def test_endless_sentence_is_cut_at_clauses() -> None:
    clause = "und der Ausschuss nahm auch diesen Punkt an"
    found = texts(build(("paragraph", ", ".join([clause] * 60))))
    assert len(found) > 3
    assert all(text.startswith("und") for text in found)
    assert all(text.endswith("an,") for text in found[:-1])


def test_text_without_any_seam_is_cut_anywhere() -> None:
    found = texts(build(("paragraph", "x" * 5000)))
    assert "".join(found) == "x" * 5000
    assert max(count_tokens(found)) <= LIMIT


def test_pieces_begin_and_end_with_something_to_see() -> None:
    found = texts(build(("paragraph", "; \u200d " + ";;;;;;;; \u200d " * 200)))
    assert max(count_tokens(found)) <= LIMIT
    assert all(text == text.strip() for text in found)


def test_unknown_words_are_bounded_by_characters() -> None:
    document = build(("paragraph", "界" * 30_000))
    passages = cut(document, lambda texts: [1 for _ in texts])  # a tokenizer that knows none of it
    assert max(p.end - p.start for p in passages) <= 8 * LIMIT


def test_chinese_and_arabic_are_cut_at_their_sentences() -> None:
    chinese = texts(build(("paragraph", "委员会在长时间的辩论之后决定了第三点。" * 60)))
    arabic = texts(build(("paragraph", "هل قررت اللجنة النقطة الثالثة بعد نقاش طويل؟ " * 60)))
    assert len(chinese) > 3
    assert all(text.endswith("。") for text in chinese)
    assert all(text.endswith("؟") for text in arabic)


def test_pages_come_from_the_offsets() -> None:
    builder = TextBuilder(10**9)
    for number in (1, 2, 3):
        builder.open_page(number)
        builder.add(f"Text of page {number}." if number < 3 else " ".join([SENTENCE] * 30))
    passages = cut(builder.build(), count_tokens)
    assert (passages[0].first_page, passages[0].last_page) == (1, 3)
    assert (passages[-1].first_page, passages[-1].last_page) == (3, 3)
    assert cut(
        build(
            ("paragraph", "No pages."),
        ),
        count_tokens,
    ) == [CutPassage(0, 9, None, None, ())]


def test_table_row_is_not_cut_at_its_dots() -> None:
    row = "Name: Dr. A. Smith. Paid | Sum: 3.50"
    document = build(("table-row", row), ("table-row", row))
    assert texts(document) == [document.text]


def test_counts_many_sentences_in_few_calls() -> None:
    calls = []

    def counted(batch: Sequence[str]) -> list[int]:
        calls.append(len(batch))
        return count_tokens(batch)

    cut(build(*[("paragraph", " ".join([SENTENCE] * 5))] * 200), counted)
    assert sum(calls) >= 1000
    assert len(calls) <= 3


def test_text_outside_of_blocks_is_not_lost() -> None:
    document = ReadDocument("Before. Middle. After.", blocks=(Block(BlockKind.PARAGRAPH, 8, 15),))
    assert "".join(texts(document)).replace(" ", "") == "Before.Middle.After."


_KINDS = st.sampled_from(["1", "2", "3", "paragraph", "list-item", "table-row", "code", "quote"])
_ALPHABET = "abc DEF.,;!?。、，\n\u0301مرح؟ 界界語ไทย\u200d😀\u3000-"
_TEXTS = (
    st.text(alphabet=st.sampled_from(_ALPHABET), max_size=400)
    | st.text(max_size=50)
    | st.builds(
        lambda part, times: part * times,
        st.text(alphabet=st.sampled_from(_ALPHABET), min_size=1, max_size=12),
        st.integers(1, 400),
    )
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_KINDS, _TEXTS), max_size=12))
def test_all_text_stands_in_one_passage_or_is_a_heading_above_one(blocks: list[tuple[str, str]]) -> None:
    document = build(*blocks)
    passages = cut(document, count_tokens)
    position = 0
    covered = [False] * len(document.text)
    for passage in passages:
        assert position <= passage.start < passage.end <= len(document.text)
        text = document.text[passage.start : passage.end]
        assert text == text.strip()
        assert count_tokens([text])[0] <= LIMIT
        covered[passage.start : passage.end] = [True] * (passage.end - passage.start)
        position = passage.end
    for block in document.blocks:
        text = document.text[block.start : block.end]
        if block.kind is BlockKind.HEADING and any(
            (*block.heading_path, text) == p.heading_path[: block_depth(block)] for p in passages
        ):
            continue
        assert all(covered[i] or document.text[i].isspace() for i in range(block.start, block.end))


_SHORT_TEXTS = st.lists(st.just(SENTENCE), min_size=1, max_size=12).map(" ".join) | st.just("A word.")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["1", "2", "3", "paragraph"]), _SHORT_TEXTS), max_size=20))
def test_every_single_heading_is_in_a_passage_or_above_it(blocks: list[tuple[str, str]]) -> None:
    named = [(kind, f"Heading {n}" if kind.isdigit() else text) for n, (kind, text) in enumerate(blocks)]
    document = build(*named)
    passages = cut(document, count_tokens)
    for block in document.blocks:
        inside = any(p.start <= block.start and block.end <= p.end for p in passages)
        text = document.text[block.start : block.end]
        assert inside or block.kind is not BlockKind.HEADING or any(text in p.heading_path for p in passages)
        if block.kind is not BlockKind.HEADING and block.end - block.start < 100:
            assert inside
    for before, after in pairwise(passages):
        assert before.end <= after.start
        assert count_tokens([document.text[after.start : after.end]])[0] <= LIMIT


def block_depth(block: Block) -> int:
    return len(block.heading_path) + 1


@pytest.mark.parametrize("text", ["", "   \n "])
def test_no_text_gives_no_passage(text: str) -> None:
    assert cut(ReadDocument(text), count_tokens) == []
