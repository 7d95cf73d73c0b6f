"""What can go wrong between here and the hub, as sentences for the person."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import httpx2
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

from core.base.errors import KnownError, ModelMissing

KEPT = "What was fetched is kept: adding the model again goes on from there."


@contextlib.contextmanager
def explained(repo: str, endpoint: str) -> Iterator[None]:
    """Turn the errors of a request about `repo` into errors that a person can act on.

    Raises:
        ModelMissing: the hub has no such model.
        KnownError: no network, no access, too many requests, an answer that is none.
    """
    try:
        yield
    except OfflineModeIsEnabled as error:
        raise KnownError(
            "The hub is switched off by HF_HUB_OFFLINE.", "Unset it, or add the model from a folder."
        ) from error
    except HFValidationError as error:
        raise ModelMissing(f"{repo!r} is not a model's name.", "Names look like owner/name.") from error
    except HfHubHTTPError as error:
        raise _refused(error.response.status_code, repo, endpoint) from error
    except (httpx2.TransportError, ConnectionError) as error:
        raise offline(endpoint) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError, AttributeError) as error:
        raise garbage(repo, endpoint) from error


def offline(endpoint: str) -> KnownError:
    return KnownError(f"{endpoint} cannot be reached.", f"Check the network, then try again. {KEPT}")


def garbage(repo: str, endpoint: str) -> KnownError:
    return KnownError(
        f"What {endpoint} answered about {repo} cannot be understood.",
        "A proxy or a sign-in page may stand in between. Open the address in a browser, then try again.",
    )


def _refused(status: int, repo: str, endpoint: str) -> KnownError:
    if status in (401, 403):
        return KnownError(
            f"{repo} is closed to you: it is private, asks for consent to its terms, or does not exist.",
            f"Check the name. Else open {endpoint}/{repo} in a browser, accept the terms, make an access token there, "
            "set it as HF_TOKEN, and try again.",
        )
    if status == 404:
        return ModelMissing(f"{endpoint} has no model {repo}.", "Check the name: it looks like owner/name.")
    if status == 429:
        return KnownError(f"{endpoint} asks to wait: too many requests.", f"Try again in some minutes. {KEPT}")
    if status >= 500:
        return KnownError(f"{endpoint} has trouble of its own (status {status}).", f"Try again later. {KEPT}")
    return garbage(repo, endpoint)
