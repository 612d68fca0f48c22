"""Pull requests of more repositories, as rows of duplicates_dev, for `duplicates.py mined FILE`.

    python benchmarks/mined.py FOLDER OWNER/NAME > FILE      FOLDER: a clone with refs/pull/*/head

Two of one issue by different authors are duplicates: the issue that the last commit of each says it
closes (`Fixes #12`). Of the others so many are drawn that there are 150. As in duplicates_dev,
numbers are masked, trailers removed, and diffs are against the merge base. What two heads share of
commits is not looked for.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from typing import Any

DISTRACTORS, LONGEST, COMMITS = 150, 200_000, 8

_CLOSES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s+(?:https?://\S+/issues/|[\w./-]*#)(\d+)", re.I
)
_TRAILER = re.compile(
    r"^(?:[\w-]+-by|cc|pr-url|refs?|fix(?:es)?|close[sd]?):? .*(?:\n|$)", re.I | re.M
)


def main(folder: str, repository: str) -> int:
    def git(*arguments: str, stdin: str = "") -> str:
        ran = subprocess.run(
            ["git", "-C", folder, *arguments], input=stdin.encode(), capture_output=True
        )
        return ran.stdout.decode("utf-8", "replace")

    lines = git("for-each-ref", "--format=%(objectname) %(refname)", "refs/pull").splitlines()
    numbers = {commit: int(ref.split("/")[2]) for commit, ref in map(str.split, reversed(lines))}
    log = git(
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "--format=%H%x00%ae%x00%B%x01",
        stdin="\n".join(numbers),
    )
    heads = [entry.strip().split("\0") for entry in log.split("\1") if entry.strip()]
    by_issue: dict[int, list[list[str]]] = defaultdict(list)
    alone = []
    for head in heads:
        closed = set(map(int, _CLOSES.findall(head[2])))
        if len(closed) == 1:
            by_issue[closed.pop()].append(head)
        elif not closed:
            alone.append(head)
    several = {issue: of for issue, of in by_issue.items() if len({a for _, a, _ in of}) > 1}
    random.Random(repository).shuffle(alone)
    chosen = [(issue, head) for issue, of in several.items() for head in of]
    drawn = 0
    for issue, (commit, author, message) in [*chosen, *((None, head) for head in alone)]:
        if issue is None and drawn >= DISTRACTORS:
            break
        base = git("merge-base", "HEAD", commit).strip()
        base = git("rev-parse", f"{commit}^").strip() if base == commit else base
        count = git("rev-list", "--count", f"{base}..{commit}").strip()
        diff = git("diff", base, commit) if base and count and int(count) <= COMMITS else ""
        if not diff or len(diff) > LONGEST:
            continue
        drawn += issue is None
        row: dict[str, Any] = {
            "repo": repository, "pr": numbers[commit],
            "issue": -numbers[commit] if issue is None else issue,
            "author_hash": hashlib.sha256(author.encode()).hexdigest()[:12],
            "subject": masked(message.split("\n")[0], issue),
            "message": masked(_TRAILER.sub("", message), issue), "diff": masked(diff, issue),
            "backport": False, "stacked": [],
        }  # fmt: skip
        print(json.dumps(row))
    return 0


def masked(text: str, issue: int | None) -> str:
    """Return a text without numbers of issues."""
    text = re.sub(r"#\d+|/(?:issues|pull)/\d+", "#0", text)
    return text if issue is None or issue < 10 else re.sub(rf"(?<!\d){issue}(?!\d)", "0", text)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
