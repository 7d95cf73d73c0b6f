"""How soon does Stop take effect? `python tests/benchmarks/bench_stop.py [--tries 50] [--threads N]`.

Cancels answers of the active language model at random moments, one half while the prompt is evaluated and one half
between tokens, and prints the milliseconds from the cancel to the end of the work: median, 95th percentile, largest.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from typing import cast

import numpy as np

from core.answer.backend import Message
from core.answer.llama import LlamaBackend
from core.base.errors import Cancelled
from core.base.events import Control
from core.models.bundles import LLM, active

WORDS = ("ferry", "harbour", "lighthouse", "captain", "winter", "ticket", "island", "stone", "bay", "engine")


def chat(luck: random.Random, words: int) -> list[Message]:
    text = " ".join(luck.choice(WORDS) for _ in range(words))
    return [Message("system", "Tell a long story about the words."), Message("user", text)]


def evaluation_seconds(backend: LlamaBackend, luck: random.Random, words: int) -> float:
    """Seconds from the start of an answer to its first token."""
    begin = time.perf_counter()
    next(backend.generate(chat(luck, words), 1, Control()))
    return time.perf_counter() - begin


def stopped(backend: LlamaBackend, messages: list[Message], after: float) -> tuple[float, bool]:
    """Milliseconds that it took to stop, and whether no token had come yet; NaN when it was done before."""
    control, came = Control(), False
    at: list[float] = []

    def cancel() -> None:
        at.append(time.perf_counter())
        control.cancel()

    timer = threading.Timer(after, cancel)
    timer.start()
    try:
        for _ in backend.generate(messages, 200, control):
            came = True
    except Cancelled:
        return 1000 * (time.perf_counter() - at[0]), not came
    finally:
        timer.cancel()
    return float("nan"), not came


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=50)
    parser.add_argument("--words", type=int, default=400)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    bundle = active(LLM)
    assert bundle is not None, "no language model is installed"
    backend, luck = LlamaBackend.load(bundle, threads=options.threads), random.Random(1)
    prompt = evaluation_seconds(backend, luck, options.words)
    print(f"{bundle.id}: a prompt of {options.words} words is evaluated in {prompt:.2f} s")
    rows = []
    for n in range(options.tries):
        after = prompt * luck.uniform(0.05, 0.9) if n % 2 else prompt * 1.2 + luck.uniform(0, 1)
        rows.append(stopped(backend, chat(luck, options.words), after))
    for title, early in (("in the prompt", True), ("between tokens", False)):
        times = np.array([ms for ms, first in rows if first is early and ms == ms])
        if times.size:
            median, high = cast(tuple[float, float], tuple(np.percentile(times, [50, 95])))
            print(
                f"{title}: {times.size} tries, median {median:.0f} ms, 95 % {high:.0f} ms, largest {times.max():.0f} ms"
            )
    backend.close()


if __name__ == "__main__":
    main()
