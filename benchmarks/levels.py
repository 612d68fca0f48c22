"""What levels cost in a review (`make bench`): beside the same one in which only equal texts are.

EXCISE_REPOSITORY names a clone whose branches `agent/*` are the candidates. Seconds of the
processor, forks included, in turn: the least of each, as whatever else runs only adds to them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from measure import seconds_of_children

ROUNDS = 9
REVIEW = "import sys; from excise_server.cli import main; sys.exit(main())"
WITHOUT = f"""
from excise import levels

def keys(programs, key_of, chosen=None):
    every = range(len(programs.edited)) if chosen is None else chosen
    return tuple(programs._key(index, levels._text) for index in every)

levels.Programs._keys = keys
{REVIEW}
"""


def seconds(program: str, repository: str) -> float:
    """Return the seconds of the processor of a review, as a program of Python."""
    arguments = ["review", "--repo", repository, "--git", "agent/*", "--format", "json"]
    before = seconds_of_children()
    with tempfile.TemporaryDirectory() as cache:  # where no review is kept
        subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            check=True,
            env=os.environ | {"XDG_CACHE_HOME": cache},
        )
    return seconds_of_children() - before


def main() -> None:
    """Print both and their ratio."""
    repository = os.environ.get("EXCISE_REPOSITORY")
    if repository is None:
        print("levels: EXCISE_REPOSITORY names no clone with branches agent/*")
        return
    taken = [[seconds(each, repository) for each in (REVIEW, WITHOUT)] for _ in range(ROUNDS)]
    own, without = map(min, zip(*taken, strict=True))
    times = f"{own:.2f} s, without levels {without:.2f} s"
    print(f"a review: {times}; {own / without:.2f} times as long")


if __name__ == "__main__":
    main()
