"""Which lines of a commit have certain words: one question about all of its files."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from excise_server.git.command import GitError
from excise_server.git.repository import Repository

_MAX_WORDS = 500
"""Most words of one question."""


FileLine = tuple[str, bytes]
"""The path of a file, and a line of it."""


def lines_with(
    repository: Repository, commit: str, words: Collection[str]
) -> Sequence[FileLine] | None:
    """Return every line of a commit that has one of the words, or None if git cannot tell.

    Binary files count, and a line of which git does not say in which file it is has an empty path.

    Raises UnansweredError if git takes too long.

    - ``words``: words without white space: ``a`` is found in ``a.b``, and not in ``ab``.
    """
    if not words or len(words) > _MAX_WORDS:
        return None if words else ()
    patterns = [argument for word in sorted(words) for argument in ("-e", word)]
    # The repository's configuration must not change what is printed.
    options = (
        "-z", "-w", "--fixed-strings", "--text", "--no-textconv", "--no-recurse-submodules",
        "--no-color", "--no-line-number", "--no-column", "--no-break", "--no-heading",
    )  # fmt: skip
    warnings: list[str] = []
    try:
        out = repository.git.run(
            "grep", *options, *patterns, commit, "--", status=(0, 1), warnings=warnings
        )
    except GitError:
        return None
    if any(warnings):  # objects that a partial clone lacks, and that are not fetched
        return None
    start, lines = f"{commit}:".encode(), list[FileLine]()
    for record in out.removesuffix(b"\n").split(b"\n") if out else ():
        name, ends, text = record.partition(b"\0")
        if ends and name.startswith(start):
            lines.append((name[len(start) :].decode("utf-8", "surrogateescape"), text))
        else:
            lines.append(("", record))
    return lines
