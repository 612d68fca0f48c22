"""What `review --cross` shows of agents' patches, of which it is known which are right.

    EXCISE_DATA=DIR EXCISE_MIRRORS=DIR python benchmarks/cross.py [-o FILE] [REPOSITORY...]

Each task of swebench_lite_agents_dev whose repository is in EXCISE_MIRRORS (at OWNER+NAME/repo),
and of which a candidate brought a script or a test, becomes a repository of its own: the commit
that the patches were made for, found by the blobs that they name, with one branch for each
candidate. `excise review --cross` then runs there. The base also has a `sitecustomize.py` with the
names that old code wants of Python, and bytecode, without which importing takes most of the time.
Tasks with a right patch come first.
FILE keeps each task's evidence as a line of JSON; tasks that are in it are not run again.

The `python3` of the PATH needs pytest, and what the projects import (sympy: mpmath).
"""

from __future__ import annotations

import json
import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from measure import rows
from mixes_of_candidates import blobs_of, git

from excise_server.review.candidate import Candidate
from excise_server.review.verdicts import Verdict, match_verdicts

REPOSITORIES = ("sympy/sympy", "psf/requests", "pallets/flask", "pytest-dev/pytest")
LABELS = ("resolved", "unresolved")
SECONDS = "20"
JOBS = "2"

BESIDE = {"tests", "rubi_tests", "doc", "docs", "examples", "benchmarks", "release"}
"""Folders that the base lacks where no patch touches them: to copy them is most of the time."""

SHIM = """
import collections, collections.abc, fractions, inspect, math
for name in collections.abc.__all__:
    if not hasattr(collections, name):
        setattr(collections, name, getattr(collections.abc, name))
fractions.gcd = math.gcd
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = lambda f: inspect.getfullargspec(f)[:4]
"""

_CHANGED = re.compile(r"^diff --git a/(\S+) b/\S+\n(new file)?", re.M)


def main(arguments: list[str]) -> int:
    kept = Path(arguments[1]) if arguments[:1] == ["-o"] else Path(os.devnull)
    chosen = arguments[2 if arguments[:1] == ["-o"] else 0 :] or REPOSITORIES
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []
    skipped = Counter[str]()
    for repository in chosen:
        mirror = Path(os.environ["EXCISE_MIRRORS"], repository.replace("/", "+"), "repo")
        for name, patches in sorted(tasks(repository), key=lambda task: not has_right(task[1])):
            if any(task["name"] == name for task in done):
                continue
            if not any(brings(patch) for _, patch, label in patches if label in LABELS):
                skipped[f"{repository}: no script or test"] += 1
                continue
            with tempfile.TemporaryDirectory() as folder:
                labels = made(Path(folder), mirror, patches)
                if isinstance(labels, str):
                    skipped[f"{repository}: {labels}"] += 1
                    continue
                task = {"name": name, "labels": labels, "verdicts": crossed(Path(folder))}
            done.append(task)
            with kept.open("a") as file:
                file.write(json.dumps(task) + "\n")
            print(f"{name}: {len(labels)} candidates, {len(task['verdicts'])} runs", flush=True)
    print(*(f"skipped {count}: {why}" for why, count in sorted(skipped.items())), sep="\n")
    report(done)
    return 0


def tasks(repository: str) -> Iterator[tuple[str, list[tuple[str, bytes, str]]]]:
    """Yield each task of a repository: its name, and its patches with their labels."""
    for row in rows("swebench_lite_agents_dev.jsonl.gz"):
        name = row["id"].partition("/")[2]
        if name.rpartition("-")[0].replace("__", "/") == repository:
            yield name, [(e["name"], e["patch"].encode(), e["label"]) for e in row["candidates"]]


def has_right(patches: Sequence[tuple[str, bytes, str]]) -> bool:
    """Whether a patch resolves the task."""
    return any(label == "resolved" for _, _, label in patches)


def brings(patch: bytes) -> bool:
    """Whether a patch may bring something to be run: what its paths tell."""
    changed = _CHANGED.findall(patch.decode("utf-8", "replace"))
    return any(
        path.endswith(".py") and ("test" in path or (new and "/" not in path))
        for path, new in changed
    )


def made(
    folder: Path, mirror: Path, patches: Sequence[tuple[str, bytes, str]]
) -> dict[str, str] | str:
    """Make the repository of a task: the labels of its branches, or why there is none."""
    blobs: dict[str, Counter[str]] = defaultdict(Counter)
    for _, patch, _ in patches:
        for path, blob in blobs_of(patch):
            blobs[path][blob] += 1
    base = commit_with({path: found.most_common(1)[0][0] for path, found in blobs.items()}, mirror)
    if base is None:
        return "no commit has the blobs"
    git(folder, "init", "-q")
    alternates = folder / ".git/objects/info/alternates"
    alternates.write_text(f"{mirror.resolve()}/objects\n")
    git(folder, "read-tree", "-u", "--reset", base)
    for path in sorted(folder.rglob("*"), reverse=True):
        inner = f"{path.relative_to(folder)}/"
        if path.is_dir() and path.name in BESIDE and not any(p.startswith(inner) for p in blobs):
            shutil.rmtree(path)
    (folder / "sitecustomize.py").write_text(SHIM)
    for path in folder.rglob("*.py"):
        compiled(folder, path)
    git(folder, "add", "-f", "-A")
    commit(folder, "refs/heads/main", [])
    labels = {}
    for number, (name, patch, label) in enumerate(patches):
        if label not in LABELS:
            continue
        git(folder, "read-tree", "refs/heads/main")
        if git(folder, "apply", "--cached", "--whitespace=nowarn", "-", stdin=patch).returncode:
            continue
        commit(folder, f"refs/heads/c/{number}-{name}", ["-p", "refs/heads/main"])
        labels[f"c/{number}-{name}"] = label
    git(folder, "read-tree", "--reset", "refs/heads/main")
    git(folder, "symbolic-ref", "HEAD", "refs/heads/main")
    return labels if len(labels) > 1 else "fewer than two labelled patches apply"


def commit(folder: Path, ref: str, parents: list[str]) -> None:
    tree = git(folder, "write-tree").stdout.decode().strip()
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    ran = git(folder, *who, "commit-tree", tree, *parents, "-m", ref)
    git(folder, "update-ref", ref, ran.stdout.decode().strip())


_bytecode: dict[tuple[str, bytes], bytes] = {}


def compiled(folder: Path, path: Path) -> None:
    """Write the bytecode of a file, as if it were in the folder of a run."""
    inner, source = path.relative_to(folder), path.read_bytes()
    target = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
    target.parent.mkdir(exist_ok=True)
    key = str(inner), source
    if key not in _bytecode:
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        where = f"/copy/{inner}"
        py_compile.compile(str(path), str(target), where, quiet=2, invalidation_mode=mode)
        _bytecode[key] = target.read_bytes() if target.exists() else b""
    if _bytecode[key]:
        target.write_bytes(_bytecode[key])


def commit_with(blobs: dict[str, str], mirror: Path) -> str | None:
    """Return the last commit before one of the files was changed that has all of these blobs."""
    for path, blob in sorted(blobs.items(), key=lambda item: "test" in item[0]):
        log = git(mirror, "log", "--all", "--format=%H", "--raw", "--abbrev=40", "--", path)
        commits, found = "", list[str]()
        for line in log.stdout.decode().splitlines():
            if re.fullmatch(r"[0-9a-f]{40}", line):
                commits = line
            elif line.startswith(":") and line.split()[2].startswith(blob):
                found.append(f"{commits}^")
            elif line.startswith(":") and line.split()[3].startswith(blob):
                found.append(commits)
        for base in found:
            ran = git(mirror, "ls-tree", base, "--", *blobs)
            have = {
                line.split("\t")[1]: line.split()[2] for line in ran.stdout.decode().splitlines()
            }
            if all(have.get(path, "").startswith(blob) for path, blob in blobs.items()):
                return git(mirror, "rev-parse", base).stdout.decode().strip()
    return None


def crossed(folder: Path) -> list[dict[str, Any]]:
    """Run the command, and return the evidence that it wrote."""
    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(
            [Path(sys.executable).parent / "excise", "review", "--repo", folder, "--git", "c/*",
             "--issue", "one task", "--cross", "--timeout", SECONDS, "-o", os.devnull],
            env=os.environ | {"XDG_CACHE_HOME": cache, "EXCISE_JOBS": JOBS},
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return [
            json.loads(line)
            for file in Path(cache).rglob("verdicts.jsonl")
            for line in file.read_text().splitlines()
        ]


def report(done: Sequence[dict[str, Any]]) -> None:
    """Print against how many right and wrong edits there is evidence, and against which right."""
    marked: dict[str, Counter[str]] = defaultdict(Counter)
    scripts, blind, misled = 0, 0, list[str]()
    ran = [task for task in done if task["verdicts"]]
    for task in ran:
        labels = {f"branch:{name}": label for name, label in task["labels"].items()}
        named = [Candidate(name, "", "", "", label=name) for name in labels]
        verdicts = [msgspec.convert(verdict, Verdict) for verdict in task["verdicts"]]
        found = match_verdicts(verdicts, named)
        told = {verdict.check for each in found.checks.values() for verdict in each}
        scripts += len({verdict.check for verdict in verdicts})
        blind += len({verdict.check for verdict in verdicts}) - len(told)
        for name, label in labels.items():
            _, against = found.standing(name, list(labels))
            marked[label][re.sub(r"(raises|import).*", r"\1", against) or "nothing"] += 1
            if against and label == "resolved":
                misled.append(f"{task['name']} {name}: {against}: {found.evidence(name)}")
    print(f"{len(ran)} tasks with a run, {len(done) - len(ran)} without")
    print(f"{scripts} scripts and tests, of which {blind} tell nobody apart")
    print("| | wrong | right |\n|---|--:|--:|")
    wrong, right = marked["unresolved"], marked["resolved"]
    for why in sorted({*wrong, *right}):
        print(f"| {why} | {wrong[why]} | {right[why]} |")
    print(f"| all | {wrong.total()} | {right.total()} |")
    print(*misled, sep="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
