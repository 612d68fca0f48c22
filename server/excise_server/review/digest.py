"""The digest of a review: two reviews with the same digest show the same hunks and variants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from excise_server.review.candidate import Candidate, digest_of

__all__ = ["review_digest"]


def review_digest(origin: str, candidates: Iterable[Candidate]) -> str:
    """Return the SHA-256 of an origin and its candidates' edits, in hexadecimal digits.

    Neither the target's files in the working tree nor the order of the candidates is part of it.
    The set of candidates is, because hunks depend on it.

    Parameters
    ----------
    origin
        The commit that all edits are replayed onto, or the digest of the folder they started from.
    """
    hashed = hashlib.sha256(f"excise review 1\n{origin}\n".encode())
    for candidate in sorted(candidates, key=lambda candidate: candidate.id):
        name = candidate.id.encode("utf-8", "surrogateescape")
        hashed.update(b"%d:%b" % (len(name), name))
        hashed.update(digest_of(candidate.old, candidate.new).encode())
    return hashed.hexdigest()
