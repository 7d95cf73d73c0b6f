"""Makes resources/words/pieces.txt.xz, the table that `core.text.pieces` takes words apart with.

    python packaging/word_pieces.py TOKENIZER.json

TOKENIZER.json is the tokenizer of XLM-RoBERTa (or of a model that has it, as multilingual-e5-small): a unigram model
over sub-words. Those in the letters of German and Finnish are kept, in lower case, with their log probabilities; where
two spellings become one, the likelier counts. A line of the table is a probability (tenths of the natural logarithm)
and the pieces that have it; an underscore is the beginning of a word.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "resources" / "words" / "pieces.txt.xz"
_LETTERS = re.compile("_?[a-zäöüå]+")


def main() -> None:
    vocabulary = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["model"]["vocab"]
    best: dict[str, float] = {}
    for piece, score in vocabulary:
        folded = piece.replace("\u2581", "_").casefold()
        if _LETTERS.fullmatch(folded):
            best[folded] = max(score, best.get(folded, score))
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for piece, score in best.items():
        lines[round(10 * score)].append(piece)
    text = "\n".join(" ".join([str(score), *sorted(lines[score])]) for score in sorted(lines, reverse=True))
    TABLE.write_bytes(lzma.compress(text.encode(), preset=9))
    print(f"{len(best):,} pieces, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
