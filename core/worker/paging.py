"""The exact page of each citation: a passage may begin on one page and hold the cited sentence on the next."""

from __future__ import annotations

from dataclasses import replace

from core.base.errors import NotFound
from core.base.types import Answer, Citation, Page
from core.library import Library


def with_pages(answer: Answer, library: Library) -> Answer:
    """`answer` with the page on which each citation starts, from its document's page table."""
    tables: dict[int, tuple[Page, ...]] = {}

    def paged(citation: Citation) -> Citation:
        if citation.page is None:
            return citation
        if citation.document_id not in tables:
            tables[citation.document_id] = _pages(library, citation.document_id)
        for page in tables[citation.document_id]:
            if page.start <= citation.start < page.end:
                return replace(citation, page=page.number)
        return citation

    sentences = tuple(replace(s, citations=tuple(map(paged, s.citations))) for s in answer.sentences)
    return replace(answer, sentences=sentences, near_misses=tuple(map(paged, answer.near_misses)))


def _pages(library: Library, document_id: int) -> tuple[Page, ...]:
    try:
        return library.document_pages(document_id)
    except NotFound:  # removed while the answer was written
        return ()
