"""URIs of texts that are in no file: revisions, and the origin that they are compared with.

The path is for people and tells the language. The query holds the document and the id in an
alphabet that no client re-encodes.
"""

from __future__ import annotations

import base64
import binascii
import json
from urllib.parse import quote, unquote, urlsplit

__all__ = ["SCHEME", "parse_uri", "virtual_uri"]

SCHEME = "excise-revision"


def virtual_uri(uri: str, revision: str | None) -> str:
    """Return the URI of a revision of a document, or without a revision of its origin.

    >>> parse_uri(virtual_uri("file:///a/b c.py", "x/y")) == ("file:///a/b c.py", "x/y")
    True
    """
    last = unquote(urlsplit(uri).path).rpartition("/")[2]
    shown = quote(f"{'origin' if revision is None else revision[:60]}", safe="")
    payload = json.dumps([uri, revision], separators=(",", ":")).encode()
    query = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    return f"{SCHEME}:/{shown}/{quote(last, safe='')}?{query}"


def parse_uri(uri: str) -> tuple[str, str | None] | None:
    """Return document and revision of a URI made by `virtual_uri`, or None for any other."""
    scheme, _, rest = uri.partition(":")
    query = rest.partition("?")[2]
    if scheme != SCHEME or not query:
        return None
    try:
        decoded = json.loads(base64.urlsafe_b64decode(query + "=" * (-len(query) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    match decoded:
        case [str(document), str() | None as revision]:
            return document, revision
    return None
