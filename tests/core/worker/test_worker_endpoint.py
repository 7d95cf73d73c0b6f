"""The `models` child with an endpoint: looked at, switched on and off, forgotten, never outside unasked."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest
from endpoint_server import Served, serving

from core.answer.remote import RemoteBackend
from core.base.errors import BadSetting, KnownError
from core.models import endpoint
from core.worker.client import ChildClient
from core.worker.roles.answer import _wanted, load_backend

pytestmark = pytest.mark.e2e


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as made:
        yield made


def test_it_is_looked_at_used_switched_off_and_forgotten(served: Served) -> None:
    with ChildClient("models") as child:
        assert child.call("list")["endpoint"] is None
        assert child.call("list")["memory"] == psutil.virtual_memory().total
        found = child.call("endpoint_look", {"url": f"127.0.0.1:{served.port}"})
        assert found == {
            "url": served.url,
            "host": f"127.0.0.1:{served.port}",
            "models": ["some-model", "other-model"],
        }
        assert endpoint.kept() is None
        args = {"url": served.url, "model": "other-model", "in_use": True}
        assert child.call("endpoint_use", args)["endpoint"]["in_use"]
        assert isinstance(_wanted(), endpoint.Endpoint)
        assert not child.call("endpoint_use", {**args, "in_use": False})["endpoint"]["in_use"]
        assert _wanted() == ""
        assert child.call("endpoint_forget")["endpoint"] is None
    assert served.paths == ["/v1/models"]  # naming it and switching it on send nothing


def test_what_cannot_be_is_refused(served: Served) -> None:
    with ChildClient("models") as child:
        with pytest.raises(BadSetting):
            child.call("endpoint_use", {"url": "nothing like it", "model": "m", "in_use": True})
        with pytest.raises(BadSetting):
            child.call("endpoint_use", {"url": served.url, "model": "", "in_use": True})
        with pytest.raises(KnownError, match="nothing was sent"):
            child.call("endpoint_use", {"url": "http://8.8.8.8/v1", "model": "m", "in_use": True})
        with pytest.raises(KnownError, match="nothing was sent"):
            child.call("endpoint_look", {"url": "http://8.8.8.8/v1"})
        assert child.call("list")["endpoint"] is None


def test_only_questions_go_there(served: Served) -> None:
    """Whatever else wants a language model (names of concepts, questions for learning) gets the local one or none."""
    endpoint.keep(endpoint.made(served.url, "some-model", in_use=True))
    assert not isinstance(load_backend(), RemoteBackend)
    assert load_backend() is None
