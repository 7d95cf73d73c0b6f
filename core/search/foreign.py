"""How far an encoder is to be trusted for a query, by the languages that it was made for.

Texts of other languages get vectors, too, but which of them are near is mostly chance: names and borrowed words are all
that such an encoder knows of them. Added to the words at full weight they make the ranking worse than the words alone
(measured with an English encoder on eight languages). A query is too short to tell its language from; the passages that
its words lead to are not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

LEAST = 0.3  # of the weight of meaning that is left where all passages are in languages that the encoder does not know
_MOST = 0.5  # share of such passages up to which it counts fully: one or two may be detected wrongly


def strange(spoken: Collection[str], languages: Sequence[str]) -> frozenset[str]:
    """The library's `languages` that an encoder of the languages `spoken` does not know: none where none are told."""
    return frozenset(filter(None, languages)) - frozenset(spoken) if spoken else frozenset()


def trust(languages: Sequence[str], unknown: Collection[str]) -> float:
    """From `LEAST` to 1, by the share of `languages` (of the passages that the words found) that are `unknown`."""
    if not languages or not unknown:
        return 1.0
    share = sum(language in unknown for language in languages) / len(languages)
    return LEAST + (1.0 - LEAST) * min(1.0, (1.0 - share) / (1.0 - _MOST))


def notice(found: Sequence[str], unknown: Collection[str], encoder: str) -> str:
    """What a person should know of passages found in these languages; nothing where the encoder knows most of them."""
    named = sorted({language for language in found if language in unknown})
    if sum(language in unknown for language in found) <= _MOST * len(found):
        return ""
    return (
        f"The encoder {encoder} was not made for the language of these passages ({', '.join(named)}): words count more "
        "than meaning. An encoder of many languages would find more."
    )
