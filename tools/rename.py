"""Give the project another name: `python tools/rename.py NAME`, in a clone without changes.

Packages, commands, methods of the server, settings of the editor, variables of the environment and
sentences get the new name. The measure keeps its own, Excision Score: it is the paper's. Nothing is
committed. After it, in a new environment: `make format schema`, what the linter says of lines that
are too long (nothing if the name is as long as the old one), and the tests with UPDATE_EXPECT=1,
because the name is part of what the digests on the pages are made of.
"""

from __future__ import annotations

import keyword
import re
import subprocess
import sys
from pathlib import Path

OLD = "excise"
# Not the verb: "excises", "excised".
NAMED = re.compile(rf"{OLD}(?![ds]\b)", re.IGNORECASE)


def renamed(text: str, name: str) -> str:
    """Return a text with the new name, written as the old one was: small, CAPITAL or Capital."""

    def written(match: re.Match[str]) -> str:
        old = match[0]
        return name.upper() if old.isupper() else name.title() if old[0].isupper() else name

    return NAMED.sub(written, text)


def main() -> None:
    """Rename every tracked file, and in each the name."""
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    taken = {OLD, *keyword.kwlist, *sys.stdlib_module_names}
    if not re.fullmatch(r"[a-z][a-z0-9]{2,29}", name) or name in taken:
        sys.exit("usage: python tools/rename.py NAME (3 to 30 of a-z and 0-9; no module of Python)")

    def git(*arguments: str) -> str:
        return subprocess.check_output(("git", *arguments), text=True)  # noqa: S607 the user's own

    if git("status", "--porcelain"):
        sys.exit("this clone has changes: commit them first, so that only the name changes")
    for tracked in git("ls-files", "-z").split("\0")[:-1]:
        path = Path(tracked)
        data = b"" if path.is_symlink() else path.read_bytes()
        if b"\0" not in data and NAMED.search(data.decode("utf-8", "surrogateescape")):
            text = renamed(data.decode("utf-8", "surrogateescape"), name)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        if (target := Path(renamed(tracked, name))) != path:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
    git("add", "--all")
    print(git("diff", "--cached", "--shortstat").strip())


if __name__ == "__main__":
    main()
