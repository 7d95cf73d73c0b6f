"""llama.cpp as an answer backend: the one module that runs it (`llama_gpu` asks it for graphics cards).

One conversation at a time. The prompt is evaluated in small batches, and a cancel takes effect even within one of
them (`llama_stop`); the part of a prompt that equals the one before (the system message) is not evaluated again.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from core.answer.backend import SEED, Message
from core.answer.llama_stop import Halt
from core.answer.stop import until
from core.base.errors import ModelDamaged, ModelMissing
from core.base.events import Control
from core.models.gguf_model import SERVED_CONTEXT as CONTEXT
from core.models.gguf_model import inspect
from core.models.speeds import Speed

if TYPE_CHECKING:
    from core.models.bundles import Bundle

BATCH = 64  # tokens evaluated between two looks at the control
SMALL_MODEL = 300_000_000  # bytes of a model file up to which a short prompt serves better
SMALL_BUDGET, LARGE_BUDGET = 480, 2600  # prompt tokens: what two laptop cores evaluate in a few seconds
_MEASURED_READ, _MEASURED_WRITE = 192, 24  # tokens by which the speed is told: a few seconds of a large model
_SOME_TEXT = "Each passage of a document is read before the answer is written, and it names where it comes from. "

# used when the model file carries no template
_CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{{ '<|im_start|>assistant\n' }}"
)
_SAMPLE = [Message("system", "\ue000one\ue001"), Message("user", "\ue000two\ue001")]
_SAMPLE_SHOWN = re.compile("^[^\ue000]*\ue000one\ue001[^\ue000]*\ue000two\ue001[^\ue000]*$")
Arranged = Callable[[Sequence[Message]], list[Message]]


class LlamaBackend:
    """A GGUF model in this process. Greedy decoding: the same prompt gives the same answer."""

    def __init__(self, path: Path, model_id: str, *, context_size: int = 0, threads: int = 0) -> None:
        """Raises ModelMissing, and ModelDamaged when llama.cpp cannot load the file."""
        self._id = model_id
        self._llm = _open(path, context_size, threads)
        self._halt = Halt(self._llm.ctx)
        self._context_size = int(self._llm.n_ctx())
        self._small = path.stat().st_size <= SMALL_MODEL
        self._render = _template(self._llm)

    @classmethod
    def load(cls, bundle: Bundle, *, threads: int = 0) -> LlamaBackend:
        """The model of an installed bundle. Raises ModelMissing or ModelDamaged."""
        files = [name for name in bundle.config["files"] if str(name).endswith(".gguf")]
        if not files:
            raise ModelDamaged(f"The model {bundle.id} holds no GGUF file.", "Remove it and add it again.")
        context = int(bundle.config.get("context") or 0)
        return cls(Path(bundle.folder) / files[0], bundle.id, context_size=context, threads=threads)

    @property
    def id(self) -> str:
        return self._id

    @property
    def context_size(self) -> int:
        return self._context_size

    @property
    def prompt_budget(self) -> int:
        budget = SMALL_BUDGET if self._small else LARGE_BUDGET
        return min(budget, self._context_size - self._context_size // 4)

    @property
    def small(self) -> bool:
        return self._small

    def count_tokens(self, text: str) -> int:
        return len(self._tokens(text, special=False))

    def count_prompt(self, messages: Sequence[Message]) -> int:
        return len(self._prompt(messages))

    def generate(
        self, messages: Sequence[Message], max_tokens: int, control: Control, stop: Sequence[str] = ()
    ) -> Iterator[str]:
        return until(self._heard(self._decode(self._prompt(messages), max_tokens, control), control), stop)

    def measure(self, control: Control) -> Speed:
        """Tokens a second on this machine, as they are at the moment. Raises Cancelled."""
        wanted = min(_MEASURED_READ, self._context_size - _MEASURED_WRITE - 1) // BATCH * BATCH
        prompt = self._tokens(_SOME_TEXT * (1 + wanted // 8), special=False)[:wanted]
        self._llm.reset()
        reading = [self._timed(prompt[n : n + BATCH], control) for n in range(0, len(prompt), BATCH)]
        writing = [self._timed([self._next()], control) for _ in range(_MEASURED_WRITE)]
        # medians: what else runs on the machine at the moment holds up single steps
        return Speed(BATCH / median(reading), 1 / median(writing))

    def _timed(self, tokens: list[int], control: Control) -> float:
        """Seconds that these tokens take."""
        control.check()
        begin = time.perf_counter()
        self._llm.eval(tokens)
        return time.perf_counter() - begin

    def _next(self) -> int:
        return int(self._llm.sample(temp=0.0, repeat_penalty=1.0))

    def close(self) -> None:
        self._llm.close()

    def _heard(self, pieces: Iterator[str], control: Control) -> Iterator[str]:
        with self._halt.listening(control):
            yield from pieces

    def _decode(self, prompt: list[int], max_tokens: int, control: Control) -> Iterator[str]:
        self._evaluate(prompt, control)
        text = codecs.getincrementaldecoder("utf-8")("replace")
        for _ in range(min(max_tokens, self._context_size - len(prompt))):
            control.check()
            token = self._next()
            if self._ends(token):
                return
            piece = text.decode(self._llm.detokenize([token]))
            if piece:
                yield piece
            self._llm.eval([token])

    def _evaluate(self, prompt: list[int], control: Control) -> None:
        # the last token is always evaluated: its logits choose the first token of the answer
        known = min(_common(self._llm.input_ids[: self._llm.n_tokens], prompt), len(prompt) - 1)
        if self._llm._is_recurrent or self._llm._is_hybrid:  # their state cannot be cut back
            known = 0
            self._llm.reset()
        self._llm.n_tokens = known
        for start in range(known, len(prompt), BATCH):
            control.check()
            self._llm.eval(prompt[start : start + BATCH])

    def _ends(self, token: int) -> bool:
        from llama_cpp import llama_vocab_is_eog

        return bool(llama_vocab_is_eog(self._llm._model.vocab, token))

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        """Tokens of the chat. Contents are tokenised apart, so that no text of a document is a control token."""
        marks = [f"\ue000{n}\ue001" for n in range(len(messages))]
        rest = self._render([replace(m, content=mark) for m, mark in zip(messages, marks, strict=True)])
        tokens: list[int] = []
        for mark, message in zip(marks, messages, strict=True):
            before, found, rest = rest.partition(mark)
            tokens += self._tokens(before, special=True)
            if found:
                tokens += self._tokens(message.content, special=False)
        return [*tokens, *self._tokens(rest, special=True)]

    def _tokens(self, text: str, *, special: bool) -> list[int]:
        if not text:
            return []
        return list(self._llm.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special))


def _open(path: Path, context_size: int, threads: int) -> Any:
    if not path.is_file():
        raise ModelMissing(f"The model file {path.name} is missing.", "Add the model again.")
    # threads that spin at a barrier on shared cores make the evaluation five times slower; read when OpenMP loads
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from llama_cpp import Llama

    cores = threads or _cores()
    context = min(context_size or CONTEXT, CONTEXT)
    try:
        return Llama(
            str(path), n_ctx=context, n_batch=BATCH, n_ubatch=BATCH, n_threads=cores, n_threads_batch=cores,
            n_gpu_layers=_gpu_layers(path, context), seed=SEED, verbose=False,
        )  # fmt: skip
    except (ValueError, RuntimeError) as error:
        raise ModelDamaged(f"The model file {path.name} could not be loaded.", "Remove it and add it again.") from error


def _gpu_layers(path: Path, context: int) -> int:
    from core.answer.llama_gpu import free_memory, layers_on_card

    free = free_memory()
    return layers_on_card(inspect(path), free, context) if free else 0


def _cores() -> int:
    """Cores this process may use; above 8, llama.cpp gains nothing for one short answer."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(8, usable))


def _template(llm: Any) -> Any:
    """The model's own chat template as a function of messages; a common one where it has none that works.

    A template is a program of whoever made the file. Some refuse a system message, some leave it out, some are broken:
    one is taken that is seen to hold what it is given, in order.
    """
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    def word(token: int) -> str:
        return str(llm._model.token_get_text(token)) if token >= 0 else ""

    def filled(template: str, arranged: Arranged) -> Any:
        formatter = Jinja2ChatFormatter(template, eos_token=word(llm.token_eos()), bos_token=word(llm.token_bos()))

        def render(messages: Sequence[Message]) -> str:
            chat: Any = [{"role": m.role, "content": m.content} for m in arranged(messages)]
            return str(formatter(messages=chat).prompt)

        return render

    own = llm.metadata.get("tokenizer.chat_template") or _CHATML
    for template, arranged in ((own, list), (own, _without_system)):
        with contextlib.suppress(Exception):
            render = filled(template, arranged)
            if _SAMPLE_SHOWN.search(render(_SAMPLE)):
                return render
    return filled(_CHATML, list)


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """The system message put at the head of the first message of the user."""
    system = "".join(f"{m.content}\n\n" for m in messages if m.role == "system")
    rest = [m for m in messages if m.role != "system"]
    return [replace(rest[0], content=system + rest[0].content), *rest[1:]]


def _common(known: Any, wanted: list[int]) -> int:
    """Length of the common beginning of two token lists."""
    pairs = zip(known.tolist(), wanted, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(known), len(wanted)))
