"""Bundles: whole or not there, verified, chosen, removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.base.errors import KnownError, ModelDamaged, ModelMissing, PathMissing
from core.base.files import write_json
from core.base.paths import models
from core.models import bundles, catalogue

CONFIG = {"id": "small", "kind": "llm", "model": "w.gguf", "context": 512, "licence": "MIT", "source": "here"}


def install(id: str = "small", kind: str = "llm", content: bytes = b"weights") -> bundles.Bundle:
    with bundles.installing({**CONFIG, "id": id, "kind": kind}) as folder:
        (folder / "w.gguf").write_bytes(content)
    return bundles.find(id)


def test_installed_bundle_is_found_and_verified() -> None:
    bundle = install()
    bundles.verify(bundle)
    assert bundle.config["files"].keys() == {"w.gguf"}
    assert bundle.size == len(b"weights")
    assert [found.id for found in bundles.installed()] == ["small"]


def test_failed_install_leaves_nothing() -> None:
    def fail() -> None:
        with bundles.installing(CONFIG) as folder:
            (folder / "w.gguf").write_bytes(b"half")
            raise KnownError("no network")

    with pytest.raises(KnownError):
        fail()
    assert list(models().iterdir()) == []
    with pytest.raises(ModelMissing):
        bundles.find("small")


def test_failed_install_keeps_the_older_bundle() -> None:
    install(content=b"old")
    with pytest.raises(KnownError), bundles.installing(CONFIG):
        raise KnownError("no network")
    assert bundles.find("small").path("w.gguf").read_bytes() == b"old"


def test_install_replaces_the_older_bundle() -> None:
    install(content=b"old")
    assert install(content=b"newer").path("w.gguf").read_bytes() == b"newer"
    assert [entry.name for entry in models().iterdir()] == ["small"]


@pytest.mark.parametrize("damage", ["cut", "gone", "config", "newer"])
def test_damage_is_seen_without_hashing(damage: str) -> None:
    bundle = install()
    if damage == "cut":
        bundle.path("w.gguf").write_bytes(b"wei")
    elif damage == "gone":
        bundle.path("w.gguf").unlink()
    elif damage == "config":
        bundle.path("bundle.json").write_text("{")
    else:
        bundle.path("bundle.json").write_text(json.dumps({**bundle.config, "format": bundles.FORMAT + 1}))
    with pytest.raises(ModelDamaged):
        bundles.find("small")
    assert bundles.installed() == []


def test_changed_byte_is_seen_by_verify() -> None:
    bundle = install()
    bundle.path("w.gguf").write_bytes(b"WEIGHTS")
    with pytest.raises(ModelDamaged):
        bundles.verify(bundles.find("small"))


@pytest.mark.parametrize("id", ["", "..", "../other", "a/b", ".hidden", "x" * 200])
def test_an_id_never_leaves_the_folder(id: str) -> None:
    with pytest.raises(ModelMissing):
        bundles.find(id)
    with pytest.raises(ModelMissing):
        bundles.remove(id)


def test_active_is_the_chosen_one_else_the_starter() -> None:
    assert bundles.active("llm") is None
    starter = install(bundles.STARTERS["llm"])
    other = install("other")
    assert bundles.active("llm") == starter
    bundles.set_active("llm", "other")
    assert bundles.active("llm") == other
    bundles.remove("other")
    assert bundles.active("llm") == starter


def test_set_active_refuses_another_kind() -> None:
    install()
    with pytest.raises(KnownError):
        bundles.set_active("encoder", "small")


def test_unreadable_choice_falls_back_to_the_starter() -> None:
    starter = install(bundles.STARTERS["llm"])
    (models() / "active.json").write_text("not json")
    assert bundles.active("llm") == starter


def test_listing_names_starters_and_installed_ones() -> None:
    before = {entry.id: entry for entry in catalogue.listing()}
    assert set(bundles.STARTERS.values()) < set(before)
    assert {"bge-m3", "multilingual-e5-small"} < set(before)
    assert all(entry.licence and entry.about and entry.download and entry.memory for entry in before.values())
    assert not any(entry.installed or entry.active for entry in before.values())
    install()
    catalogue.use("small")
    after = {entry.id: entry for entry in catalogue.listing()}
    assert after["small"].installed
    assert after["small"].active
    assert after["small"].licence == "MIT"


def test_the_encoder_in_use_is_not_removed() -> None:
    install("one", kind="encoder")
    catalogue.use("one")
    with pytest.raises(KnownError, match="in use"):
        catalogue.remove("one")
    install("two", kind="encoder")
    catalogue.use("two")
    catalogue.remove("one")
    assert [entry.id for entry in catalogue.listing() if entry.installed] == ["two"]


def test_a_damaged_bundle_can_be_removed() -> None:
    install().path("w.gguf").unlink()
    catalogue.remove("small")
    assert not Path(models() / "small").exists()


@pytest.mark.parametrize(
    "lie",
    [
        {"files": {"../outside.txt": "0"}}, {"files": {"C:\\outside.txt": "0"}}, {"files": {"/outside.txt": "0"}},
        {"files": {}}, {"id": 5}, {"languages": [1]}, {"heads": 5},
    ],
    ids=str,
)  # fmt: skip
def test_a_config_that_names_what_is_not_its_own_is_damaged(lie: dict[str, object]) -> None:
    bundle = install()
    files = lie.get("files")
    sizes = {"sizes": dict.fromkeys(files, 0)} if isinstance(files, dict) and files else {}
    write_json(bundle.path(bundles.CONFIG), {**bundle.config, **lie, **sizes})
    with pytest.raises(ModelDamaged):
        bundles.load(bundle.folder)
    assert bundles.installed() == []


def test_a_folder_in_the_place_of_a_config_is_no_bundle() -> None:
    bundle = install()
    bundle.path(bundles.CONFIG).unlink()
    bundle.path(bundles.CONFIG).mkdir()
    assert bundles.installed() == []
    assert not any(entry.id == bundle.id and entry.installed for entry in catalogue.listing())


@pytest.mark.parametrize("spec", ["~nosuchaccount/model", "x" * 5000])
def test_a_spec_that_is_no_path_at_all_is_missing(spec: str) -> None:
    with pytest.raises(PathMissing):
        catalogue.needs(spec)
