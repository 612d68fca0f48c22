"""Candidates put together: pull requests that only add, and merges that people made.

    python benchmarks/landing.py heads REPOSITORY [PATTERN]
    python benchmarks/landing.py merges REPOSITORY [MOST] [MERGES]

`heads` replays the requests of a repository (pull/*) onto its HEAD, and prints the CPU seconds of
reading, comparing and landing. Of each pair of them that `git merge-file` cannot merge although all
its conflicts only add on both sides, it says whether the two land together, whether the union
parses, has every line that either adds and none that one deletes; and why the others do not land.

`merges` looks at the newest MERGES (3,000) merge commits of two parents until MOST (40) files are
found that git cannot merge, but for conflicts that only add on both sides. The parents' versions of
such a file are landed on that of the merge base. Where they fit, the union is compared with what
the maintainer merged: as lines, up to their order and to blank ones. Each deviation is printed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from excise.languages import resolve
from excise.syntax import errors_of
from excise.text import raw_lines
from excise_server.candidates.compared import Compared, compared
from excise_server.candidates.landing import land_candidates
from excise_server.foundation.changes import Side, differing_lines
from excise_server.git.checkouts import Selection
from excise_server.git.repository import open_commits
from excise_server.review.candidate import Candidate
from excise_server.review.landing import Chosen, Landing, land
from excise_server.sources.candidates import Candidates, find_candidates

CONFLICT = re.compile(
    r"^<{7}[^\n]*\n(.*?)^\|{7}[^\n]*\n(.*?)^={7}\n(.*?)^>{7}[^\n]*\n", re.MULTILINE | re.DOTALL
)


def git(repository: str, *arguments: str, good: tuple[int, ...] = (0, 1)) -> bytes:
    ran = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=False)
    if ran.returncode not in good:
        raise OSError(ran.stderr.decode("utf-8", "replace"))
    return ran.stdout


def conflicts(a: str, origin: str, b: str) -> list[tuple[str, str, str]]:
    """Return the conflicts of git's own merge: the text of the first, the origin, the second."""
    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder, name)) for name in ("a", "origin", "b")]
        for name, text in zip(names, (a, origin, b), strict=True):
            Path(name).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        out = git(folder, "merge-file", "-p", "--diff3", *names, good=tuple(range(128)))
    return CONFLICT.findall(out.decode("utf-8", "surrogateescape"))


def only_adds(found: Sequence[tuple[str, str, str]]) -> bool:
    return bool(found) and not any(origin for _, origin, _ in found)


def landed(compared_candidates: Compared, chosen: Sequence[Candidate]) -> Landing:
    return land(Chosen(tuple(chosen)), compared_candidates.relations, {})


def is_complete(origin: str, sides: Sequence[str], union: str) -> bool:
    """Whether a union has every line that a side adds, and none that one deletes."""
    lines = Counter(union.split("\n"))  # the last line of a side may have no line end
    wanted = Counter(origin.split("\n"))
    lines[""] = wanted[""] = 0
    seen = set[tuple[int, int, str]]()
    for side in sides:
        old, new = raw_lines(origin), raw_lines(side)
        for lo, hi, start, stop in differing_lines(old, new):
            change = lo, hi, "".join(new[start:stop])
            if change not in seen:
                seen.add(change)
                wanted.subtract(line.rstrip("\n") for line in old[lo:hi])
                wanted.update(line.rstrip("\n") for line in new[start:stop])
    wanted[""] = 0
    return +lines == +wanted


def parses(path: str, text: str, sides: Sequence[str]) -> bool:
    grammar = resolve(None, path, text)
    if grammar is None:
        return True
    errors = len(errors_of(text, grammar, None, 60))
    return errors <= max(len(errors_of(side, grammar, None, 60)) for side in sides)


# --- heads ----------------------------------------------------------------------------------------


def heads(folder: str, pattern: str = "pull/*") -> None:
    began = time.process_time()
    repository = open_commits(folder)
    found = find_candidates(repository, Selection(chosen={"git": (pattern,)}, worktrees=False))
    read = time.process_time()
    every = compared(found)
    analysed = time.process_time()
    landing = land_candidates(repository, found)
    end = time.process_time()
    print(
        f"{len(found.found)} candidates: {len(landing.order)} land, {len(landing.left_out)} left "
        f"out, {len(landing.undecided)} tasks undecided; CPU seconds: reading {read - began:.1f}, "
        f"relations {analysed - read:.1f}, relations again and landing {end - analysed:.1f}"
    )
    tried, together, good, refused = 0, 0, 0, list[str]()
    for a, b in combinations(found.found, 2):
        paths = [path for path in a.old.keys() & b.old.keys() if path in a.new and path in b.new]
        texts = {p: tuple(s[p].text or "" for s in (a.new, a.old, b.new)) for p in paths}
        parts = {path: conflicts(*three) for path, three in texts.items()}
        parts = {path: found_there for path, found_there in parts.items() if found_there}
        if not parts or not all(map(only_adds, parts.values())):
            continue
        tried += 1
        result = landed(every, [a, b])
        if len(result.order) < 2:
            why = [o.message for each in result.left_out for o in each.obstacles]
            refused.append(f"{a.label} {b.label}: {'; '.join(why[:2])}")
            continue
        together += 1
        unions = {file.old_path: file.new.text or "" for file in result.taken.files if file.new}
        good += all(
            is_complete(texts[p][1], texts[p][::2], unions[p]) and parses(p, unions[p], texts[p])
            for p in parts
        )
    print(f"{tried} pairs conflict in git and only add: {together} land together, of which {good} "
          "parse, keep every line of both, and no other")  # fmt: skip
    print("\n".join(refused))


# --- merges ---------------------------------------------------------------------------------------


def merged_files(folder: str, merge: str) -> Iterator[tuple[str, tuple[str, str, str], str]]:
    """Yield the files of a merge of which additions alone conflict: three texts, and the result."""
    bases = git(folder, "merge-base", "--all", f"{merge}^1", f"{merge}^2").split()
    if len(bases) != 1:
        return
    out = git(folder, "merge-tree", "--write-tree", "--name-only", f"{merge}^1", f"{merge}^2")
    names = out.decode("utf-8", "surrogateescape").split("\n\n")[0].split("\n")[1:]
    for path in filter(None, names):
        try:
            texts = [
                git(folder, "cat-file", "blob", f"{commit}:{path}", good=(0,))
                for commit in (f"{merge}^1", bases[0].decode(), f"{merge}^2", merge)
            ]
        except OSError:  # renamed, created or deleted by one of them
            continue
        if any(b"\0" in text for text in texts):
            continue
        a, origin, b, made = (Side("100644", text).text or "" for text in texts)
        if only_adds(conflicts(a, origin, b)):
            yield path, (a, origin, b), made


def merges(folder: str, most: int = 40, newest: int = 3000) -> None:
    ids = git(folder, "rev-list", "--merges", "--min-parents=2", "--max-parents=2",
              f"--max-count={newest}", "HEAD").decode().split()  # fmt: skip
    tried = fitting = equal = looked = 0
    apart = list[str]()
    for merge in ids:
        looked += 1
        if tried >= most:
            break
        for path, (a, origin, b), made in merged_files(folder, merge):
            tried += 1
            sides = [
                Candidate(name, "", "", "", label=name,
                          old={path: Side("100644", origin.encode("utf-8", "surrogatepass"))},
                          new={path: Side("100644", text.encode("utf-8", "surrogatepass"))})
                for name, text in (("ours", a), ("theirs", b))
            ]  # fmt: skip
            result = landed(compared(Candidates("0" * 40, tuple(sides))), sides)
            if len(result.order) < 2:
                why = result.left_out[0].obstacles[0].message
                apart.append(f"{merge[:10]} {path}: not composed: {why}")
                continue
            fitting += 1
            [file] = result.taken.files
            union = Counter(((file.new and file.new.text) or "").split("\n"))
            wanted = Counter(made.split("\n"))
            union[""] = wanted[""] = 0  # blank lines aside
            if union == wanted:
                equal += 1
                continue
            lines = [*(f"-{line.rstrip()}" for line in (wanted - union)),
                     *(f"+{line.rstrip()}" for line in (union - wanted))]  # fmt: skip
            apart.append(f"{merge[:10]} {path}: DEVIATES: {' | '.join(lines[:8])}")
    print(f"{Path(folder).parent.name}: {looked} merges, {tried} files in conflict by additions "
          f"alone, {fitting} composed, {equal} as the maintainer merged up to order")  # fmt: skip
    print("\n".join(apart))


if __name__ == "__main__":
    kind, repository_folder, *rest = sys.argv[1:]
    if kind == "heads":
        heads(repository_folder, *rest)
    else:
        merges(repository_folder, *map(int, rest))
