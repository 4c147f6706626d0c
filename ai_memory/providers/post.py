"""One JSON request to a service that was named: bounded, patient, and silent about what was sent.

No error tells more than a class and a status: an answer may quote the text, and a URL or header the key.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from typing import IO, Any
from urllib.parse import urlsplit

from ai_memory.providers.embedder import ModelFault

LARGEST_ANSWER_BYTES = 64 << 20
LONGEST_PAUSE_S = 60.0
AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 529))
"""Statuses that may pass."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a caller waits."""

    tries: int = 5
    timeout_s: float = 120.0
    pause_s: float = 1.0
    """Before the second try; doubled before each further one."""


AT_WORK = Patience()
SOMEBODY_WAITS = Patience(tries=1, timeout_s=5.0)
"""A search is better without vectors than late."""


class _SameOrigin(urllib.request.HTTPRedirectHandler):
    """Follows a redirect with the same request, and only to where the key belongs: same scheme, host and port."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,  # noqa: ARG002 (urllib's own signature)
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request:
        if _origin(newurl) != _origin(req.full_url):
            raise urllib.error.HTTPError(req.full_url, code, "redirected to another origin", headers, fp)
        return urllib.request.Request(newurl, data=req.data, headers=dict(req.header_items()), method=req.get_method())

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def post_json(
    service: str,
    url: str,
    body: object,
    *,
    headers: Mapping[str, str],
    patience: Patience = AT_WORK,
    sleep: Callable[[float], None] = time.sleep,
) -> Any:
    """The answer, as JSON. Errors: ModelFault naming the service, the class of the failure and the status."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ModelFault(f"{service} has no usable address", hint="embed.base_url begins with https:// or http://")
    content = json.dumps(body).encode()
    request = urllib.request.Request(
        url, data=content, headers={"Content-Type": "application/json", **headers}, method="POST"
    )
    opener = urllib.request.build_opener(_SameOrigin)
    for number in range(1, patience.tries + 1):
        try:
            with opener.open(request, timeout=patience.timeout_s) as answer:
                return json.loads(_bounded(answer, service))
        except urllib.error.HTTPError as fault:
            fault.close()
            if fault.code not in AGAIN or number == patience.tries:
                raise _refused(service, fault) from None
            sleep(_pause_s(fault.headers.get("Retry-After"), number, patience))
        except (OSError, HTTPException) as fault:
            if number == patience.tries:
                raise _unreachable(service, fault) from None
            sleep(_pause_s(None, number, patience))
        except ValueError:
            raise ModelFault(f"{service} answered what is no JSON", hint="check embed.base_url") from None
    raise AssertionError("the last try returns or raises")


def _bounded(answer: Any, service: str) -> bytes:
    content: bytes = answer.read(LARGEST_ANSWER_BYTES + 1)
    if len(content) > LARGEST_ANSWER_BYTES:
        raise ModelFault(f"{service} answered more than {LARGEST_ANSWER_BYTES >> 20} MiB", hint="check embed.base_url")
    return content


def _pause_s(told: str | None, number: int, patience: Patience) -> float:
    asked = float(told) if told is not None and told.isascii() and told.isdigit() else 0.0
    return min(LONGEST_PAUSE_S, max(asked, patience.pause_s * float(1 << number - 1)))


def _refused(service: str, fault: urllib.error.HTTPError) -> ModelFault:
    if 300 <= fault.code < 400:
        return ModelFault(
            f"{service} sends elsewhere (status {fault.code}), where the key does not belong",
            hint="set embed.base_url to the final address",
        )
    hints = {401: "check the key", 403: "check the key", 404: "check embed.model and embed.base_url"}
    hint = hints.get(fault.code, "try again later" if fault.code in AGAIN else "check embed.model and its settings")
    return ModelFault(f"{service} refused: {type(fault).__name__}, status {fault.code}", hint=hint)


def _unreachable(service: str, fault: Exception) -> ModelFault:
    reason = getattr(fault, "reason", None)
    kind = type(reason if isinstance(reason, Exception) else fault).__name__
    return ModelFault(f"{service} cannot be reached: {kind}", hint="check the network and embed.base_url")
