"""Patches of one hunk, and pools of them."""

from __future__ import annotations

from excise.patches import Pool, parse


def hunk(*lines: str, name: str = "x.c", heading: str = "", start: int = 1) -> bytes:
    """Return a patch whose hunk has these lines, each with its first character."""
    old = sum(line[:1] in " -" for line in lines)
    new = sum(line[:1] in " +" for line in lines)
    header = f"@@ -{start},{old} +{start},{new} @@ {heading}".rstrip()
    return "\n".join([f"--- a/{name}", f"+++ b/{name}", header, *lines, ""]).encode()


def pool_of(*patches: bytes, **options) -> Pool:
    """Return a pool of patches, of which no file is ignored."""
    pool = Pool(ignored=(), **options)
    for patch in patches:
        pool.add(parse(patch))
    return pool
