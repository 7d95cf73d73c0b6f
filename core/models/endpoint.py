"""Another program that writes the answers: an OpenAI-compatible endpoint on the person's own machine or network.

There is none until the person names it, and it is asked only while it is switched on. Addresses outside of the machine
and its private networks are refused unless the person allows them for this endpoint.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from core.base.errors import BadSetting, KnownError
from core.base.files import read_json, write_json
from core.base.paths import models

DEFAULT_CONTEXT = 4096  # tokens: what most servers give a conversation at least
_LEAST_CONTEXT, _MOST_CONTEXT = 512, 1 << 20
_PORTS = {"http": 80, "https": 443}
_NO_ONES = tuple(  # counted as private by the standard library, and nobody's network
    ipaddress.ip_network(name)
    for name in ("0.0.0.0/8", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
                 "::/128", "100::/64", "2001::/23", "2001:db8::/32")
)  # fmt: skip
_TYPE = "Type an address such as http://127.0.0.1:8080/v1."


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`url` is the base of its interface, such as http://127.0.0.1:8080/v1; `anywhere` allows public addresses."""

    url: str
    model: str
    in_use: bool = False
    anywhere: bool = False
    context: int = DEFAULT_CONTEXT

    @property
    def host(self) -> str:
        """Name and port, as shown to the person."""
        return urlsplit(self.url).netloc

    @property
    def title(self) -> str:
        """What stands for the model of an answer."""
        return f"{self.model} @ {self.host}"


def made(url: str, model: str, *, in_use: bool = False, anywhere: bool = False, context: int = 0) -> Endpoint:
    """An endpoint of what a person typed: `http://` and `/v1` may be left out.

    Raises BadSetting.
    """
    typed = url.strip()
    parts = _parts(typed if "://" in typed else f"http://{typed}")
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    context = context or DEFAULT_CONTEXT
    if not _LEAST_CONTEXT <= context <= _MOST_CONTEXT:
        raise BadSetting(f"A context of {context} tokens cannot be.", f"Choose {_LEAST_CONTEXT} or more.")
    return Endpoint(f"{parts.scheme}://{parts.netloc}{path}", model.strip()[:200], in_use, anywhere, context)


def _parts(url: str) -> SplitResult:
    """Raises BadSetting for what is no plain address of a server: none with a name, a key or a question in it."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in _PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        fits = False
    odd = not url.isascii() or not url.isprintable() or " " in url or not fits
    if odd or parts.username or parts.password or parts.query or parts.fragment:
        raise BadSetting(f"{url!r} is not the address of an endpoint.", _TYPE)
    return parts


def kept() -> Endpoint | None:
    """The endpoint that the person named, in use or not; None when there is none, or its file cannot be read."""
    try:
        value = read_json(_path())
        known = {field.name: value[field.name] for field in fields(Endpoint)}
        if not all(type(known[name]) is kind for name, kind in _KINDS.items()):
            return None
        return made(known["url"], known["model"], **{k: known[k] for k in ("in_use", "anywhere", "context")})
    except (OSError, ValueError, TypeError, KeyError, KnownError):
        return None


_KINDS: dict[str, type] = {"url": str, "model": str, "in_use": bool, "anywhere": bool, "context": int}


def in_use() -> Endpoint | None:
    """The endpoint that answers are to be asked of."""
    endpoint = kept()
    return endpoint if endpoint is not None and endpoint.in_use and endpoint.model else None


def keep(endpoint: Endpoint) -> None:
    """Raises BadSetting without a model, KnownError when it cannot be written or its address is not allowed."""
    if not endpoint.model:
        raise BadSetting("No model of the endpoint is named.", "Choose one of those that it offers.")
    if endpoint.in_use:
        addresses(endpoint)
    write_json(_path(), asdict(endpoint))


def forget() -> None:
    with contextlib.suppress(FileNotFoundError):
        _path().unlink()


def addresses(endpoint: Endpoint) -> list[tuple[str, int]]:
    """Address and port of the host, every one allowed. Connect to these, not to the name: it may lead elsewhere later.

    Raises KnownError: the name is not known, or leads out of the person's networks without being allowed to.
    """
    parts = _parts(endpoint.url)
    port = parts.port or _PORTS[parts.scheme]
    try:
        found: list[Any] = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise KnownError(f"{endpoint.host} was not found.", "Check the address, and whether it runs.") from error
    told = dict.fromkeys((str(entry[4][0]), port) for entry in found)
    if not endpoint.anywhere and not all(is_near(address) for address, _ in told):
        what = f"{endpoint.host} is outside of this computer and its private networks: nothing was sent."
        raise KnownError(what, "Allow it for this endpoint if you want your passages to go there.")
    return list(told)


def is_near(address: str) -> bool:
    """Is this address on the machine itself or in a private network?"""
    ip = ipaddress.ip_address(address.partition("%")[0])
    ip = getattr(ip, "ipv4_mapped", None) or ip
    near = ip.is_loopback or ip.is_private or ip.is_link_local
    return near and not any(ip in network for network in _NO_ONES)


def _path() -> Path:
    return models() / "endpoint.json"
