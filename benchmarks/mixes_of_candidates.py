"""Random mixes of real candidates, and how many of them the check refuses.

    EXCISE_DATA=DIR EXCISE_MIRRORS=DIR python benchmarks/mixes_of_candidates.py [N [REPOSITORY...]]

Candidates are agents' patches of one task (swebench_lite_agents_dev) and pull requests of one issue
(duplicates_dev), onto the blobs that their patches name, and versions of one commit of git
(git_same_origin_dev). EXCISE_MIRRORS has clones, at OWNER+NAME or OWNER+NAME/repo. N mixes a
repository (20): of two or three candidates each hunk is taken or left by a coin with a fixed seed.
Each mix that is refused is printed with its findings, and with whether another reading agrees: of
Python by its compiler and symbol tables, of imports by the text of the other file, of other
languages by whether the word is in the mix, and no line there looks like its definition. This
second reading is rough: where it does not agree, look.
"""

from __future__ import annotations

import builtins
import os
import random
import re
import subprocess
import symtable
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from measure import rows

from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import review_files
from excise_server.review.mixes import BrokenMixError, Finding
from excise_server.review.taking import Choice, Taken, take

SEED, ROUNDS, TRIES = 30, 10, 20

_DIFF = re.compile(rb"^diff --git a/(\S+) b/(\S+)$", re.M)
_INDEX = re.compile(rb"^index ([0-9a-f]{6,40})\.\.[0-9a-f]+(?: (\d{6}))?$", re.M)


def main(arguments: list[str]) -> int:
    wanted = int(arguments[0]) if arguments else 20
    by_repository: dict[str, list[tuple[str, list[Candidate]]]] = defaultdict(list)
    for repository, name, candidates in tasks(Path(os.environ["EXCISE_MIRRORS"])):
        if not arguments[1:] or repository in arguments[1:]:
            by_repository[repository].append((name, candidates))
    table = ["| repository | tasks | mixes | refused | another reading agrees |"]
    table.append("|---|---|---|---|---|")
    for repository, found in sorted(by_repository.items()):
        coin = random.Random(f"{SEED} {repository}")
        coin.shuffle(found)
        mixed = refused = agreed = 0
        for name, candidates in found * ROUNDS:
            if mixed == wanted or (mix := mix_of(candidates, coin)) is None:
                continue
            choices, taken, error = mix
            mixed += 1
            if error is not None:
                verdicts = [is_so(finding, taken, candidates) for finding in error.findings]
                refused, agreed = refused + 1, agreed + any(verdicts)
                owners = len({choice.candidate for choice in choices})
                print(f"{repository} {name}, {owners} candidates:", flush=True)
                for finding, verdict in zip(error.findings, verdicts, strict=True):
                    print(f"  {'agreed' if verdict else 'NOT AGREED'}: {finding}")
        table.append(f"| {repository} | {len(found)} | {mixed} | {refused} | {agreed} |")
    print(*table, sep="\n")
    return 0


def mix_of(
    candidates: Sequence[Candidate], coin: random.Random
) -> tuple[list[Choice], Taken, BrokenMixError | None] | None:
    """Return some hunks of two or three candidates, or None if no choice of them goes together."""
    for _ in range(TRIES):
        batch = coin.sample(candidates, coin.choice([2, min(3, len(candidates))]))
        choices = [
            Choice(member.id, file.path, None if file.origin is None else (hunk.lo, hunk.hi))
            for file in review_files(batch)
            for hunk in file.hunks
            for member in batch
            if any(member.id in ids for ids, _ in file.variants(hunk)) and coin.random() < 0.5
        ]
        if len(choices) < 2:
            continue
        error = None
        try:
            taken = take([batch], choices, split=True)
        except BrokenMixError as broken:
            error, taken = broken, take([batch], choices, anyway=True, split=True)
        except SourceError:  # they overlap
            continue
        if any(
            taken.files == take([batch], [Choice(each.id)], anyway=True).files for each in batch
        ):
            continue
        return choices, taken, error
    return None


def is_so(finding: Finding, taken: Taken, candidates: Sequence[Candidate]) -> bool:
    """Whether another reading of the mix agrees with a finding."""
    files = {path: side for c in candidates for path, side in c.old.items()}
    files |= {file.path: file.new for file in taken.files if file.new is not None}
    text = files[finding.path].text or ""
    word = re.compile(rf"(?<!\w){re.escape(finding.name)}(?!\w)")
    if finding.kind == "syntax":
        return not compiles(text) if finding.path.endswith(".py") else True
    if finding.kind == "import":
        match = re.search(r"(?:of|imports) (\S+), which", finding.message)
        other = files.get(match[1]) if match else None
        return other is None or not word.search(other.text or "")
    if not finding.path.endswith(".py"):
        name = re.escape(finding.name)
        defining = re.compile(
            rf"(?:func|fn|function|import|define|class)\s+{name}\b|{name}\s*:?=[^=]"
        )
        return bool(word.search(text)) and not defining.search(text)
    if finding.kind != "name" or finding.message.startswith("exports"):
        return not re.search(rf"(?:def|class) {finding.name}\b|(?<!\w){finding.name} *=[^=]", text)
    return not finding.name or finding.name in undefined(text)


def compiles(text: str) -> bool:
    try:
        compile(text, "mix", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def undefined(text: str) -> set[str]:
    """Return the names that the symbol tables of a text call global, and that it never binds."""
    table = symtable.symtable(text, "mix", "exec")
    bound = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    bound |= {s.get_name() for s in table.get_symbols() if s.is_namespace()}
    tables, read = [table], set[str]()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
                read.add(symbol.get_name())
            if symbol.is_declared_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
    return read - bound - set(dir(builtins))


def tasks(mirrors: Path) -> Iterator[tuple[str, str, list[Candidate]]]:
    """Yield the repository, the name and the candidates of each task with two that can be read."""
    patches: dict[tuple[str, str], list[tuple[str, bytes]]] = defaultdict(list)
    for row in rows("swebench_lite_agents_dev.jsonl.gz"):
        name = row["id"].partition("/")[2]
        repository = name.rpartition("-")[0].replace("__", "/")
        for each in row["candidates"]:
            patches[repository, name].append((each["name"], each["patch"].encode()))
    for row in rows("duplicates_dev.jsonl.gz"):
        if row["issue"] is not None:
            pull = f"pull/{row['pr']}", row["diff"].encode()
            patches[row["repo"], f"issue {row['issue']}"].append(pull)
    for row in rows("git_same_origin_dev.jsonl.gz"):
        old, path = {row["path"]: Side("100644", row["origin"].encode("latin-1"))}, row["path"]
        yield (
            "git/git",
            row["id"],
            [
                Candidate(
                    f"commit:{each['name']}", "", "", "", label=each["name"][:10], old=old,
                    new={path: Side("100644", each["text"].encode("latin-1"))},
                )
                for each in row["candidates"]
            ],
        )  # fmt: skip
    for (repository, name), found in patches.items():
        folder = next(
            (mirrors / part for part in clones(repository) if (mirrors / part).is_dir()), None
        )
        if folder is None or len(found) < 2:
            continue
        candidates, blobs = [], dict[str, str]()
        for label, patch in found:
            own = {m[0]: m[1] for m in blobs_of(patch)}
            if any(blobs.get(path, blob) != blob for path, blob in own.items()):
                continue  # of another state of the file
            if (candidate := candidate_of(label, patch, own, folder)) is not None:
                blobs |= own
                if all(candidate.new != other.new for other in candidates):
                    candidates.append(candidate)
        if len(candidates) > 1:
            yield repository, name, candidates


def clones(repository: str) -> list[str]:
    name = repository.replace("/", "+")
    return [f"{name}/repo", name]


def blobs_of(patch: bytes) -> Iterator[tuple[str, str]]:
    """Yield the path and the abbreviated blob of each file that a patch changes."""
    starts = list(_DIFF.finditer(patch))
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        index = _INDEX.search(patch, start.end(), after.start() if after else len(patch))
        if index is not None and index[1].strip(b"0"):
            yield start[1].decode(), index[1].decode()[:7]


def candidate_of(label: str, patch: bytes, blobs: dict[str, str], folder: Path) -> Candidate | None:
    """Return a patch applied to its blobs; None if they are not there, or it does not apply."""
    if not blobs:
        return None
    old: dict[str, Side] = {}
    for path, blob in blobs.items():
        ran = git(folder, "cat-file", "blob", blob)
        if ran.returncode:
            return None
        old[path] = Side("100644", ran.stdout)
    with tempfile.TemporaryDirectory() as scratch:
        for path, side in old.items():
            (place := Path(scratch, path)).parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(side.data)
        if git(scratch, "apply", "--whitespace=nowarn", "-", stdin=patch).returncode:
            return None
        new = {
            str(place.relative_to(scratch)): Side("100644", place.read_bytes())
            for place in sorted(Path(scratch).rglob("*"))
            if place.is_file()
        }
    return Candidate(f"patch:{label}", "", "", "", label=label, old=old, new=new)


def git(
    folder: Path | str, *arguments: str, stdin: bytes = b""
) -> subprocess.CompletedProcess[Any]:
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(Path(folder).parent)}
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], input=stdin, capture_output=True, env=environment
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
