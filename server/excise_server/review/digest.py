"""The digest of a review: two reviews with the same digest show the same hunks and variants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from excise_server.review.candidate import Candidate, digest_of

__all__ = ["review_digest"]


def review_digest(origin: str, candidates: Iterable[Candidate]) -> str:
    """Return the SHA-256 of an origin and of what candidates make of it, in hexadecimal digits.

    The files of the target as they lie there are not part of it, and neither is the order of the
    candidates; who is a candidate is, since hunks depend on the company.

    Parameters
    ----------
    origin
        The commit that all are replayed on, or the digest of the folder that all began as.
    """
    hashed = hashlib.sha256(f"excise review 1\n{origin}\n".encode())
    for candidate in sorted(candidates, key=lambda candidate: candidate.id):
        name = candidate.id.encode("utf-8", "surrogateescape")
        hashed.update(b"%d:%b" % (len(name), name))
        hashed.update(digest_of(candidate.old, candidate.new).encode())
    return hashed.hexdigest()
