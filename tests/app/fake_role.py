"""A small real role that speaks the worker protocol, with the habits that tests need: crash, hang, flood."""

from __future__ import annotations

import base64
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import fake_adapt
import fake_models

from core.base.errors import Cancelled
from core.base.events import Control
from core.base.wire import to_plain
from core.train import recipe_fields
from core.train.recipes import named
from core.worker.protocol import CONTROLS, Reply, decode_request, encode_reply, private_streams, read_lines

CHANGED = {"generation": 3, "documents": 2, "passages": 9}


class FakeRole:
    def __init__(self, role: str) -> None:
        self.role = role
        self.requests, self.replies = private_streams()
        self.controls: dict[int, Control] = {}
        self.lock = threading.Lock()

    def say(self, number: int, event: str, data: Any = None) -> None:
        line = encode_reply(Reply(number, event, data))
        with self.lock:
            while line:  # a raw pipe may take a part only
                line = line[os.write(self.replies.fileno(), line) :]

    def serve(self) -> None:
        if self.role == "stillborn":
            sys.stderr.write("cannot load\n")
            os._exit(7)
        self.say(0, "ready", {"role": self.role})
        for line in read_lines(self.requests):
            request = decode_request(line)
            if request.op in CONTROLS:
                control = self.controls.get(request.id)
                if control is not None:
                    getattr(control, request.op)()
                continue
            self.controls[request.id] = Control()
            threading.Thread(target=self.run, args=(request.id, request.op, request.args), daemon=True).start()
        os._exit(0)

    def run(self, number: int, op: str, args: dict[str, Any]) -> None:
        try:
            self.say(number, "result", getattr(self, op)(number, self.controls[number], **args))
        except Cancelled:
            self.say(number, "cancelled")

    def echo(self, number: int, control: Control, **args: Any) -> Any:
        return args | {"pid": os.getpid()}

    def env(self, number: int, control: Control) -> Any:
        return {"home": os.environ.get("WHYMATCH_HOME", ""), "folder": str(Path.cwd())}

    def work(self, number: int, control: Control, steps: int = 20, rest: float = 0.02) -> Any:
        for step in range(steps):
            control.check()
            self.say(number, "progress", {"stage": "reading", "done": step, "total": steps, "detail": f"file {step}"})
            time.sleep(rest)
        self.say(number, "changed", CHANGED)
        return {"steps": steps}

    def ingest(self, number: int, control: Control, paths: list[str], **options: bool) -> Any:
        for step in range(10 if paths == ["/x"] else 40):
            control.check()
            if control.giving_way:
                return self.report(gave_way=True)
            counts = {"files": step, "files_total": 40, "encoded": step * 11, "failed": step // 9}
            detail = f"/home/ada/Documents/minutes/{step:02d} of the harbour association.pdf"
            data = {
                "stage": "reading",
                "done": step,
                "total": 40,
                "detail": detail,
                "counts": counts,
                "seconds_left": 150,
            }
            self.say(number, "progress", data)
            time.sleep(0.03)
        self.say(number, "changed", CHANGED)
        return self.report()

    def report(self, **more: Any) -> Any:
        counts = {"documents": 2, "passages": 9, "skipped": 0, "removed": 0, "read": 2}
        return counts | {"failed": [], "seconds": 0.3} | more

    def watch(self, number: int, control: Control, every: float) -> Any:
        if "FAKE_CHANGES" in os.environ:
            time.sleep(0.1)
            self.say(number, "partial", {"paths": int(os.environ["FAKE_CHANGES"])})
        while True:
            control.check()
            time.sleep(0.05)

    def demo(self, number: int, control: Control) -> Any:
        return self.ingest(number, control, ["/x"])

    def remove(self, number: int, control: Control, path: str = "", paths: tuple[str, ...] = (), id: str = "") -> Any:
        if id:
            return fake_models.listing(removed=id)
        return {"documents": len(paths) or 1, "passages": 3, "path": path}

    def purge(self, number: int, control: Control) -> Any:
        return {"bytes_before": 5_400_000, "bytes_after": 3_100_000, "segments": 1, "concepts": "kept"}

    def reencode(self, number: int, control: Control, model: str) -> Any:
        for step in range(20):
            control.check()
            data = {"stage": "encoding", "done": step, "total": 20, "detail": model, "seconds_left": 200}
            self.say(number, "progress", data)
            time.sleep(0.03)
        self.say(number, "changed", CHANGED)
        return {"generation": 4, "encoder": model, "passages": 9, "encoded": 9, "seconds": 0.6, "before": 3}

    def rollback(self, number: int, control: Control, to: int) -> Any:
        return {"generation": to}

    def list(self, number: int, control: Control) -> Any:
        return fake_models.listing()

    def needs(self, number: int, control: Control, spec: str) -> Any:
        if spec.startswith("closed/"):
            self.say(number, "error", fake_models.CLOSED)
            raise SystemExit
        return fake_models.needs(spec)

    def add(self, number: int, control: Control, spec: str) -> Any:
        size = 2_295_000_000
        for step in range(40):
            control.check()
            data = {"stage": "fetching", "done": size * step // 40, "total": size, "detail": "model.safetensors"}
            self.say(number, "progress", data | {"seconds_left": 400 - step, "counts": {"bytes": 1}})
            time.sleep(0.03)
        return {"id": spec} | fake_models.listing(added=spec)

    def renew(self, number: int, control: Control, id: str) -> Any:
        if id == "damaged":
            self.say(number, "error", fake_models.DAMAGED)
            raise SystemExit
        for _ in range(20):
            control.check()
            self.say(number, "progress", {"stage": "installing", "done": 0, "total": 0, "detail": id})
            time.sleep(0.03)
        return {"id": id} | fake_models.listing(renewed=id)

    def measure(self, number: int, control: Control, id: str) -> Any:
        return fake_models.listing(measured=id)

    def endpoint_look(self, number: int, control: Control, url: str, anywhere: bool) -> Any:
        if "example.com" in url and not anywhere:
            self.say(number, "error", fake_models.OUTSIDE)
            raise SystemExit
        return fake_models.OFFERS

    def endpoint_use(self, number: int, control: Control, **endpoint: Any) -> Any:
        return fake_models.listing(endpoint=endpoint | {"host": "127.0.0.1:8080"})

    def endpoint_forget(self, number: int, control: Control) -> Any:
        return fake_models.listing()

    def use(self, number: int, control: Control, id: str) -> Any:
        return fake_models.listing(used=id)

    def adapt_settings(self, number: int, control: Control, recipe: str, changes: dict[str, Any]) -> Any:
        return to_plain({"settings": recipe_fields.of(named(recipe), changes)})

    def adapt_estimate(self, number: int, control: Control, recipe: str) -> Any:
        time.sleep(fake_adapt.rest())
        if fake_adapt.kind() == "broken":
            self.say(number, "error", fake_adapt.FAILED)
            raise SystemExit
        return fake_adapt.estimate(recipe)

    def adapt_history(self, number: int, control: Control) -> Any:
        return fake_adapt.history()

    def adapt(
        self, number: int, control: Control, recipe: str, minutes: int | None, changes: dict[str, Any] | None = None
    ) -> Any:
        for event, data in fake_adapt.events(recipe):
            control.check()
            self.say(number, event, data)
            time.sleep(fake_adapt.rest())
        if fake_adapt.kind() == "failed":
            self.say(number, "error", fake_adapt.FAILED)
            raise SystemExit
        return fake_adapt.result(recipe) | {"changes": changes or {}}

    def judge_next(self, number: int, control: Control, asked: list[str]) -> Any:
        return fake_adapt.question(len(asked))

    def flood(self, number: int, control: Control, lines: int = 5000) -> Any:
        for step in range(lines):
            self.say(number, "progress", {"stage": "reading", "done": step, "total": lines})
        return {"lines": lines}

    def tokens(self, number: int, control: Control, lines: int = 200) -> Any:
        for step in range(lines):
            self.say(number, "partial", {"token": f"{step} "})
        return {"lines": lines}

    def picture(self, number: int, control: Control, size: int = 1_000_000) -> Any:
        return {"image": base64.b64encode(os.urandom(size)).decode()}

    def crash(self, number: int, control: Control) -> Any:
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(5)

    def leave(self, number: int, control: Control, code: int = 3) -> Any:
        sys.stderr.write("leaving\n")
        sys.stderr.flush()
        os._exit(code)

    def hang(self, number: int, control: Control) -> Any:
        time.sleep(600)

    def stubborn(self, number: int, control: Control) -> Any:
        signal_ignored = "SIGTERM"
        self.say(number, "partial", {"ignores": signal_ignored})
        time.sleep(600)

    def error(self, number: int, control: Control) -> Any:
        self.say(number, "error", {"code": "library-locked", "message": "Locked.", "advice": "Wait."})
        raise SystemExit

    def bug(self, number: int, control: Control) -> Any:
        self.say(number, "bug", {"message": "Oops", "traceback": "Traceback ..."})
        raise SystemExit

    def garbage(self, number: int, control: Control) -> Any:
        with self.lock:
            os.write(self.replies.fileno(), b"this is no reply\n\xff\xfe\n{}\n")
        return {"fine": True}

    def noise(self, number: int, control: Control) -> Any:
        print("native chatter on descriptor 1", flush=True)
        os.write(1, b"more of it\n")
        return {"fine": True}


if __name__ == "__main__":
    if "stubborn" in sys.argv[2:]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    FakeRole(sys.argv[1]).serve()
