"""The few calls of GitHub's REST API that are needed, over the standard library."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import IO, Any

from excise_server.foundation.inputs import SourceError

MAX_ANSWER = 20_000_000
"""Bytes of an answer that are read."""

_SECONDS = 30.0
_PAGE = 100
_JSON = "application/vnd.github+json"
_DIFF = "application/vnd.github.v3.diff"


class ApiError(SourceError):
    """The host refused, did not answer, or answered something else."""


class RateLimitError(ApiError):
    """No more calls for now."""


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows no redirect to another host: it would get the token."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = (urllib.parse.urlsplit(url) for url in (req.full_url, newurl))
        if (old.scheme, old.netloc) != (new.scheme, new.netloc):
            raise ApiError(f"redirected to another host, {new.netloc}: not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Api:
    """One repository of a host.

    - ``base``: the address of the API: ``https://api.github.com``.
    - ``repository``: ``owner/name``.
    - ``token``: a token that may read pull requests, and write comments and labels if these are
      written.
    """

    def __init__(self, base: str, repository: str, token: str) -> None:
        if urllib.parse.urlsplit(base).scheme not in ("https", "http"):
            raise ApiError("the address of the API is not http or https", name=base)
        self._start = f"{base.rstrip('/')}/repos/{urllib.parse.quote(repository)}"
        self._token = token
        self._opener = urllib.request.build_opener(_SameHost)

    def one(self, path: str) -> dict[str, Any]:
        """Return an object."""
        value = self._json(path)
        if not isinstance(value, dict):
            raise ApiError("the answer is not a JSON object", name=path)
        return value

    def listed(self, path: str, most: int) -> Iterator[dict[str, Any]]:
        """Yield the objects of a list, page after page."""
        joint = "&" if "?" in path else "?"
        for page in range(1, -(-most // _PAGE) + 1):
            entries = self._json(f"{path}{joint}per_page={_PAGE}&page={page}")
            if not isinstance(entries, list):
                raise ApiError("the answer is not a JSON list", name=path)
            rest = most - (page - 1) * _PAGE
            yield from (entry for entry in entries[:rest] if isinstance(entry, dict))
            if len(entries) < _PAGE:
                return

    def diff(self, number: int) -> bytes:
        """Return the diff of a pull request."""
        return self._call("GET", f"/pulls/{number}", accept=_DIFF)

    def diff_between(self, base: str, head: str) -> bytes:
        """Return what a commit changed since it parted from another one."""
        return self._call("GET", f"/compare/{base}...{head}", accept=_DIFF)

    def write(self, method: str, path: str, value: object = None) -> None:
        """Send something."""
        self._call(method, path, None if value is None else json.dumps(value).encode())

    def _json(self, path: str) -> Any:  # noqa: ANN401 - JSON
        try:
            return json.loads(self._call("GET", path))
        except (ValueError, RecursionError) as error:
            raise ApiError("the answer is truncated or not valid JSON", name=path) from error

    def _call(
        self, method: str, path: str, data: bytes | None = None, accept: str = _JSON
    ) -> bytes:
        headers = {"Accept": accept, "User-Agent": "excise", "X-GitHub-Api-Version": "2022-11-28"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._start + path, data, headers, method=method
        )
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                body: bytes = answer.read(MAX_ANSWER + 1)
                length = answer.headers.get("content-length", "")
        except urllib.error.HTTPError as error:
            raise _refusal(error, path) from error
        except (OSError, http.client.HTTPException) as error:
            raise ApiError(f"incomplete answer: {error}", name=path) from error
        if length.isdigit() and len(body) < min(int(length), MAX_ANSWER + 1):
            raise ApiError("incomplete answer: the connection ended early", name=path)
        if len(body) > MAX_ANSWER:
            raise ApiError(f"over the limit of {MAX_ANSWER // 1_000_000} MB", name=path)
        return body


def _refusal(error: urllib.error.HTTPError, path: str) -> ApiError:
    spent = error.headers.get("x-ratelimit-remaining") == "0" or error.headers.get("retry-after")
    if error.code == 429 or (error.code == 403 and spent):
        return RateLimitError("the rate limit of the API is reached", name=path)
    reason = {401: "the token is not accepted", 403: "the token may not do this",
              404: "not found, or the token cannot see it",
              406: "the diff is too large for the API"}.get(error.code)  # fmt: skip
    return ApiError(reason or f"HTTP status {error.code}", name=path)
