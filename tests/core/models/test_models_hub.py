"""Models of the hub, fetched from a small real hub on loopback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gguf_files import tiny
from hub_server import COMMIT, Hub, checkpoint, serving

from core.base.errors import Cancelled, DiskFull, KnownError, ModelDamaged, ModelMissing
from core.base.events import Control, Event, Progress
from core.base.paths import models
from core.encode.encoder import Encoder
from core.encode.install import add
from core.encode.onnx import FP32, OnnxEncoder
from core.models import bundles, catalogue, hub_fetch
from core.models import hub as hub_model
from core.models.bundles import Bundle

REPO = "some-lab/tiny-encoder"
WEIGHTS = "model.safetensors"
NEEDED = {"config.json", WEIGHTS, "tokenizer.json", "1_Pooling/config.json"}


@pytest.fixture
def hub(tiny_bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("HF_HOME", os.environ["WHYMATCH_HOME"])  # no token of the person
    monkeypatch.setattr(hub_fetch, "_REST_SECONDS", 0.05)
    with serving(REPO, checkpoint(tiny_bundle.folder)) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


def test_it_tells_what_a_model_takes_before_anything_is_fetched(hub: Hub) -> None:
    needs = catalogue.needs(REPO)
    assert (needs.id, needs.kind, needs.licence, needs.languages) == ("tiny-encoder", "encoder", "mit", ("en", "de"))
    assert needs.download == sum(len(hub.files[name]) for name in NEEDED)
    assert needs.disk > 2 * needs.download
    assert needs.memory > needs.download
    assert needs.free > 0
    assert hub.sent == []


def test_the_address_of_its_page_names_a_model(hub: Hub) -> None:
    assert catalogue.needs(f"{hub.url}/{REPO}/").source == REPO
    with pytest.raises(KnownError, match="does not exist"):
        catalogue.needs(f"http://elsewhere.example/{REPO}")


def test_only_the_needed_files_come_and_the_encoder_serves(hub: Hub, tiny_encoder: Encoder) -> None:
    events: list[Event] = []
    bundle = add(REPO, listener=events.append)
    assert {name for name, _, _ in hub.sent} == NEEDED
    assert (bundle.id, bundle.config["source"], bundle.config["revision"]) == ("tiny-encoder", REPO, COMMIT)
    assert (bundle.config["licence"], bundle.config["languages"]) == ("mit", ["en", "de"])
    text = ["the honey of the hive", "a contract of the tenant"]
    served = OnnxEncoder(bundle, threads=1, file=FP32)  # which precision is quicker is up to the machine
    np.testing.assert_allclose(served.encode(text), tiny_encoder.encode(text), atol=1e-5)
    fetched = [e for e in events if isinstance(e, Progress) and e.stage == "fetching"]
    assert fetched[-1].done == fetched[-1].total == sum(len(hub.files[name]) for name in NEEDED)
    assert [e.done for e in fetched] == sorted(e.done for e in fetched)
    assert not hub_fetch.staging(REPO).exists()
    before = len(hub.sent)
    assert add(REPO).id == "tiny-encoder"
    assert len(hub.sent) == before


def test_nothing_is_told_of_the_person(hub: Hub) -> None:
    add(REPO)
    assert {headers["user-agent"] for headers in hub.headers} == {"whymatch"}
    assert not any("authorization" in headers or "cookie" in headers for headers in hub.headers)


def test_a_broken_connection_goes_on_where_it_broke(hub: Hub) -> None:
    size = len(hub.files[WEIGHTS])
    hub.cut_after = size // 2
    add(REPO)
    parts = [(start, count) for name, start, count in hub.sent if name == WEIGHTS]
    assert len(parts) == 2
    assert parts[0][0] == 0
    assert parts[1][0] > 0
    assert parts[1][0] + parts[1][1] == size
    assert hub.bytes_sent(WEIGHTS) - size <= parts[0][1] - parts[1][0]  # at most what was lost on the way
    assert parts[1][0] > size // 4


def test_a_server_without_ranges_sends_all_again(hub: Hub) -> None:
    hub.cut_after, hub.ignores_range = len(hub.files[WEIGHTS]) // 2, True
    assert add(REPO).id == "tiny-encoder"


def test_another_content_than_the_hash_says_is_refused(hub: Hub) -> None:
    for name in (WEIGHTS, "tokenizer.json"):
        hub.wrong = name
        with pytest.raises(ModelDamaged, match=name):
            add(REPO)
        with pytest.raises(ModelMissing):
            bundles.find("tiny-encoder")
    hub.wrong = ""
    add(REPO)  # nothing of the wrong one was kept


def test_a_cancel_is_heard_at_once_even_when_nothing_comes(hub: Hub) -> None:
    hub.stall_after = 100_000
    control = Control()

    def cancel() -> None:
        _wait_for_part(100_000 - 8192)
        control.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(Cancelled):
        add(REPO, control=control)
    thread.join()
    assert not hub.ended.is_set()  # the server still holds the connection
    parts = list(hub_fetch.staging(REPO).glob("*.part"))
    assert len(parts) == 1
    assert parts[0].stat().st_size >= 100_000 - 8192
    hub.stall_after = None
    hub.ended.set()
    kept = parts[0].stat().st_size
    add(REPO)
    # a piece that was on its way may still have been kept after the cancel was heard
    assert [start for name, start, _ in hub.sent if name == WEIGHTS][-1] >= kept


def _wait_for_part(size: int) -> None:
    deadline = time.monotonic() + 30
    while not any(p.stat().st_size >= size for p in hub_fetch.staging(REPO).glob("*.part")):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_killed_child_leaves_what_the_next_one_goes_on_with(hub: Hub) -> None:
    hub.slow = 0.02
    code = f"from core.encode.install import add; add({REPO!r})"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL)
    _wait_for_part(50_000)
    child.send_signal(signal.SIGKILL)
    child.wait()
    hub.slow = 0.0
    kept = max(p.stat().st_size for p in hub_fetch.staging(REPO).glob("*.part"))
    add(REPO)
    starts = [start for name, start, _ in hub.sent if name == WEIGHTS]
    assert kept in starts
    assert sum(name == "config.json" for name, _, _ in hub.sent) == 1  # whole files are not fetched again


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (401, "", "closed to you"), (403, "GatedRepo", "closed to you"), (404, "RepoNotFound", "has no model"),
        (429, "", "too many requests"), (503, "", "trouble of its own"),
    ],
)  # fmt: skip
def test_refusals_are_told_in_a_sentence(hub: Hub, status: int, code: str, said: str) -> None:
    hub.status, hub.error_code = status, code
    with pytest.raises(KnownError, match=said) as caught:
        catalogue.needs(REPO)
    assert caught.value.advice
    assert not models().exists() or not list(models().glob(".download*"))


def test_an_unknown_name_a_page_that_is_no_hub_and_no_network(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelMissing, match="has no model some-lab/other"):
        add("some-lab/other")
    hub.garbage = True
    with pytest.raises(KnownError, match="cannot be understood"):
        add(REPO)
    hub.garbage = False
    remote = hub_model.describe(REPO)
    hub.garbage = True
    with pytest.raises(KnownError, match="cannot be understood"):
        hub_fetch.fetch(remote, Control(), lambda event: None)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(KnownError, match="cannot be reached"):
        add(REPO)


def test_a_token_is_sent_only_to_a_closed_model(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub_model.describe(REPO)
    assert not any("authorization" in headers for headers in hub.headers)
    hub.token = "hf_secret"
    assert add(REPO).id == "tiny-encoder"
    hub.token = "hf_other"
    with pytest.raises(KnownError, match="closed to you"):
        hub_model.describe(REPO)


def test_too_little_room_is_told_before_anything_is_fetched(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(".")._replace(free=100_000_000)
    monkeypatch.setattr(hub_fetch.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(DiskFull, match="100 MB are free"):
        add(REPO)
    assert hub.sent == []


def test_a_repository_without_a_usable_model_is_refused(hub: Hub) -> None:
    del hub.files[WEIGHTS]
    with pytest.raises(KnownError, match="no model that can be used"):
        catalogue.needs(REPO)
    hub.files[WEIGHTS] = b"these are no weights" * 10
    with pytest.raises(ModelDamaged):
        add(REPO)
    assert bundles.installed() == []


def test_names_that_lead_elsewhere_are_never_written(hub: Hub) -> None:
    hub.files |= {"../1_Pooling/config.json": b"{}", "1_Pooling/../../config.json": b"{}"}
    names = {file.name for file in hub_model.describe(REPO).files}
    assert names == NEEDED


def test_of_several_gguf_files_one_is_taken(hub: Hub) -> None:
    names = ("m-f16.gguf", "m-q4_k_m.gguf", "m-q8_0.gguf", "m-q2_k-00001-of-00002.gguf")
    hub.files = {name: name.encode() * (40 if "q4" in name else 80) for name in names}
    remote = hub_model.describe(REPO)
    assert (remote.kind, remote.weights.name) == ("llm", "m-q4_k_m.gguf")
    assert hub_model.describe(f"{REPO}:q8_0").weights.name == "m-q8_0.gguf"
    assert remote.memory > remote.disk == remote.download


def test_an_llm_is_installed_under_the_name_of_its_file(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"small-q4_k_m.gguf": tiny(llama__context_length=4096)}
    bundle = add(REPO)
    assert (bundle.id, bundle.kind, bundle.config["context"]) == ("small-q4_k_m", "llm", 4096)
    assert [e.id for e in catalogue.listing() if e.source == REPO] == ["small-q4_k_m"]


def test_another_owner_never_takes_the_id_of_an_installed_model(hub: Hub) -> None:
    add(REPO)
    hub.repo = "other-lab/tiny-encoder"
    assert add(hub.repo).id == "other-lab-tiny-encoder"
    assert bundles.find("tiny-encoder").config["source"] == REPO


def test_what_was_fetched_in_part_can_be_thrown_away(hub: Hub) -> None:
    staged = hub_fetch.staging(REPO)
    staged.mkdir(parents=True)
    (staged / "abc.part").write_bytes(b"half")
    catalogue.remove(REPO)
    assert not staged.exists()


def _stopped(hub: Hub, spec: str) -> catalogue.ModelEntry:
    """Fetch until the connection stands still, then cancel; how it is listed then."""
    hub.stall_after, control = 20, Control()
    threading.Timer(0.5, control.cancel).start()
    with pytest.raises(Cancelled):
        add(spec, control=control)
    (row,) = (e for e in catalogue.listing() if e.partial)
    hub.stall_after = None
    hub.ended.set()
    return row


def test_a_stopped_one_is_listed_gone_on_with_and_removed(hub: Hub) -> None:
    hub.files = {
        "m-q4_k_m.gguf": tiny(llama__context_length=4096) + bytes(50_000),
        "m-q8_0.gguf": tiny(llama__context_length=4096) + bytes(60_000),
    }
    row = _stopped(hub, f"{REPO}:q8_0")
    assert (row.id, row.kind, row.spec, row.licence) == (REPO, "llm", f"{REPO}:m-q8_0", "mit")
    assert (row.partial, row.installed, row.languages) == (True, False, ("en", "de"))
    assert 0 < row.download <= len(hub.files["m-q8_0.gguf"])
    assert [e.source for e in catalogue.listing()].count(REPO) == 1
    assert add(row.spec).id == "m-q8_0"
    assert [(e.id, e.partial) for e in catalogue.listing() if e.source == REPO] == [("m-q8_0", False)]
    hub.ended.clear()
    half = _stopped(hub, REPO)  # another file of the same repository, beside the installed one
    assert half.spec == f"{REPO}:m-q4_k_m"
    catalogue.remove(half.spec)
    assert [(e.id, e.partial) for e in catalogue.listing() if e.source == REPO] == [("m-q8_0", False)]
    assert not hub_fetch.staging(REPO).exists()


@pytest.mark.parametrize("told", [None, b"{", b'{"repo": 1}', b"[]"])
def test_one_that_an_older_version_began_is_listed_by_its_folder(hub: Hub, told: bytes | None) -> None:
    staged = hub_fetch.staging("some--lab/tiny--encoder")
    (staged / "tiny--encoder").mkdir(parents=True)
    (staged / "abc.part").write_bytes(b"half")
    if told is not None:
        (staged / "model.json").write_bytes(told)
    (row,) = (e for e in catalogue.listing() if e.partial)
    assert (row.id, row.spec, row.size) == ("some--lab/tiny--encoder", "some--lab/tiny--encoder", 4)
    catalogue.remove(row.id)
    assert not [e for e in catalogue.listing() if e.partial]


def test_what_a_killed_installation_left_is_swept_by_the_next(hub: Hub) -> None:
    left = models() / ".tiny-encoder.abc.part"
    left.mkdir(parents=True)
    (left / "model.onnx").write_bytes(b"x" * 100)
    add(REPO)
    assert not left.exists()


def test_the_command_tells_adds_uses_and_removes(hub: Hub) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "core.cli", "models", *words], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip

    done = run("add", REPO, "--json")
    assert done.returncode == 0, done.stderr
    row = next(m for m in json.loads(done.stdout)["models"] if m["id"] == "tiny-encoder")
    assert {"id", "kind", "source", "size", "licence", "installed", "active"} <= row.keys()
    assert row["installed"]
    assert "mit" in done.stderr
    assert "MB to fetch" in done.stderr
    used = json.loads(run("use", "tiny-encoder", "--json").stdout)["models"]
    assert [m["id"] for m in used if m["active"]] == ["tiny-encoder"]
    assert run("remove", "tiny-encoder").returncode == 1  # in use
    assert run("add", "some-lab/other").returncode == 1


def test_ctrl_c_ends_the_command_with_130(hub: Hub) -> None:
    hub.slow = 0.02
    child = subprocess.Popen(
        [sys.executable, "-m", "core.cli", "models", "add", REPO], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    _wait_for_part(20_000)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=20)
    assert child.returncode == 130, error
    assert b"Traceback" not in error
    assert b"Cancelled" in error
