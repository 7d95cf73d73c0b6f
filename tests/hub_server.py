"""A small model hub on loopback that speaks what `huggingface_hub` asks: model information, HEAD and ranged GET of
files, with LFS hashes, ETag, X-Repo-Commit and a redirect to the place where large files lie. It counts what it sends
and can be told to misbehave.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".gguf", ".bin", ".pt")  # kept as LFS objects
PIECE = 4096


@dataclass
class Hub:
    """`files` are served as `repo`. `sent` counts the bytes of each file, by (name, first byte)."""

    repo: str
    files: dict[str, bytes]
    url: str = ""
    card: dict[str, Any] = field(default_factory=lambda: {"license": "mit", "language": ["en", "de"]})
    status: int = 200  # of every answer
    error_code: str = ""
    garbage: bool = False
    cut_after: int | None = None  # bytes of a large file, then the connection breaks, once
    stall_after: int | None = None  # bytes of a large file, then nothing more comes
    slow: float = 0.0  # seconds between two pieces
    wrong: str = ""  # name of a file that is served with another content than its hash says
    token: str = ""  # asked for, when there is one
    ignores_range: bool = False
    sent: list[tuple[str, int, int]] = field(default_factory=list)  # name, first byte, bytes
    headers: list[dict[str, str]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def bytes_sent(self, name: str) -> int:
        return sum(count for sent, _, count in self.sent if sent == name)

    def info(self) -> dict[str, Any]:
        siblings = [self._sibling(name, data) for name, data in self.files.items()]
        tags = [f"license:{self.card['license']}"] if "license" in self.card else []
        return {"id": self.repo, "modelId": self.repo, "sha": COMMIT, "private": False, "gated": False, "tags": tags,
                "downloads": 1, "likes": 1, "cardData": self.card, "siblings": siblings,
                "config": self._config()}  # fmt: skip

    def _config(self) -> dict[str, Any]:
        told = json.loads(self.files.get("config.json", b"{}") or b"{}")
        return {key: told[key] for key in ("architectures", "model_type") if key in told}

    @staticmethod
    def _sibling(name: str, data: bytes) -> dict[str, Any]:
        blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()
        told: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": blob}
        if name.endswith(LARGE):
            told["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return told


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        hub = self.hub
        hub.headers.append({key.lower(): value for key, value in self.headers.items()})
        path = self.path.partition("?")[0]
        if hub.garbage:
            self._answer(200, b"<html>Sign in to the hotel's network</html>", {"Content-Type": "text/html"})
        elif hub.status != 200 or (hub.token and self.headers.get("authorization") != f"Bearer {hub.token}"):
            status = hub.status if hub.status != 200 else 401
            self._answer(status, b"{}", {"X-Error-Code": hub.error_code} if hub.error_code else {})
        elif path in (f"/api/models/{hub.repo}", f"/api/models/{hub.repo}/revision/main"):
            self._answer(200, json.dumps(hub.info()).encode(), {"Content-Type": "application/json"})
        elif path.startswith(f"/{hub.repo}/resolve/{COMMIT}/"):
            self._file(path.removeprefix(f"/{hub.repo}/resolve/{COMMIT}/"))
        elif path.startswith("/objects/"):
            self._send(path.removeprefix("/objects/"))
        else:
            self._answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _file(self, name: str) -> None:
        data = self.hub.files.get(name)
        if data is None:
            self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        elif name.endswith(LARGE):
            linked = {"X-Linked-Etag": hashlib.sha256(data).hexdigest(), "X-Linked-Size": str(len(data))}
            self._answer(302, b"", {"Location": f"/objects/{name}", "X-Repo-Commit": COMMIT, **linked})
        else:
            self._send(name)

    def _send(self, name: str) -> None:
        hub, data = self.hub, self.hub.files[name]
        if name == hub.wrong:
            data = data[:-1] + bytes([data[-1] ^ 1])
        start = 0
        if (asked := self.headers.get("range")) and not hub.ignores_range:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command != "HEAD":
            self._pieces(name, data, start)

    def _pieces(self, name: str, data: bytes, start: int) -> None:
        hub, count = self.hub, 0
        try:
            while start + count < len(data):
                if name.endswith(LARGE) and hub.cut_after is not None and count >= hub.cut_after:
                    hub.cut_after = None
                    self.close_connection = True
                    return
                if name.endswith(LARGE) and hub.stall_after is not None and count >= hub.stall_after:
                    hub.ended.wait(30)
                    self.close_connection = True
                    return
                piece = data[start + count : start + count + PIECE]
                self.wfile.write(piece)
                count += len(piece)
                time.sleep(hub.slow)
        except OSError:  # the other side has gone
            self.close_connection = True
        finally:
            hub.sent.append((name, start, count))

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {"X-Repo-Commit": COMMIT, **headers}.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serving(repo: str, files: dict[str, bytes]) -> Iterator[Hub]:
    hub = Hub(repo, files)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def checkpoint(folder: Path) -> dict[str, bytes]:
    """The files of an encoder's checkpoint as a hub has them, some of no use here among them."""
    files = {name: (folder / name).read_bytes() for name in ("config.json", "model.safetensors", "tokenizer.json")}
    pooling = json.dumps({"pooling_mode_mean_tokens": True, "word_embedding_dimension": 64}).encode()
    return files | {
        "1_Pooling/config.json": pooling,
        "README.md": b"---\nlicense: mit\n---\n# Tiny\n",
        "flax_model.msgpack": b"\x00" * 5000,
        "onnx/model.onnx": b"\x00" * 5000,
        ".gitattributes": b"*.bin filter=lfs\n",
    }
