"""Patches of one hunk, and pools of them."""

from hypothesis import strategies as st

from excise.patches import Pool, parse


def bodies(
    lines: st.SearchStrategy[str], most: int, first: str = " +-"
) -> st.SearchStrategy[list[str]]:
    """Return lists of lines with their first characters, of which one changes something.

    A hunk of context alone is none: git calls such a patch corrupt, and so do we.
    """
    line = st.tuples(st.sampled_from(first), lines).map("".join)
    return st.lists(line, min_size=1, max_size=most).filter(
        lambda body: any(line[0] != " " for line in body)
    )


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
