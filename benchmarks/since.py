"""What `excise since` says of real histories and of real versions of patches, beside git's answers.

    python benchmarks/since.py ladder REPO [--candidates N]
    python benchmarks/since.py versions kernel_versions.jsonl.gz git_same_origin.jsonl.gz
    python benchmarks/since.py series REPO [--most N]

`ladder` makes candidates of a few edits on a commit 1,000 commits ago, lets git rebase each onto
later ones, and asks what their author changed; then with one more edit planted. `versions` compares
pairs and words of series with `git range-diff`; `series` does so with every two versions that
patchew imported into REPO (a tag for each series that was sent), and then squashes two patches,
splits one, drops one and swaps two of each, and counts how often this is what is said. Nothing of
REPO or of the files is written.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from excise.patches import FilePair, Hunk, Patch, PatchError, parse, read
from excise.patches.blocks import images
from excise.text import raw_lines
from excise_server.cli.review import opened
from excise_server.report.since import since_document, since_lines
from excise_server.report.tables import plain_text
from excise_server.review.versions import SeriesPatch, paired_patches
from excise_server.sources.since import compare_versions, version_named

STEPS = (0, 1, 10, 100, 1_000)
_PAIR = re.compile(r"^\s*(-|\d+):\s+\S+ ([=!<>])\s+(-|\d+):", re.MULTILINE)
_SAFE = ("-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null")
_ENVIRONMENT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", "1700000000 +0000"))
}


def git(folder: Path | str, *arguments: str, stdin: bytes = b"", check: bool = True) -> bytes:
    ran = subprocess.run(
        ["git", *_SAFE, "-C", str(folder), *arguments],
        input=stdin, capture_output=True, check=check, env=os.environ | _ENVIRONMENT,
    )  # fmt: skip
    return ran.stdout


def text(folder: Path | str, *arguments: str) -> str:
    return git(folder, *arguments).decode("utf-8", "replace").strip()


# --- a ladder of churn under one candidate ---


def with_file(folder: Path, commit: str, files: Mapping[str, bytes]) -> str:
    """Commit other contents of files on top of a commit, without a checkout."""
    index = {"GIT_INDEX_FILE": str(folder / "bench-index")}
    run = lambda *a, stdin=b"": subprocess.run(  # noqa: E731
        ["git", "-C", str(folder), *a], input=stdin, capture_output=True, check=True,
        env=os.environ | _ENVIRONMENT | index,
    ).stdout.decode().strip()  # fmt: skip
    run("read-tree", commit)
    for path, data in files.items():
        blob = run("hash-object", "-w", "--stdin", stdin=data)
        mode = run("ls-tree", commit, "--", path).partition(" ")[0] or "100644"
        run("update-index", "--cacheinfo", f"{mode},{blob},{path}")
    return run("commit-tree", run("write-tree"), "-p", commit, "-m", "x")


def holds(base: bytes, origin: bytes, places: Sequence[int]) -> bool:
    """Whether the condition of the text law holds: every hunk and its neighbours are left."""
    texts = base.split(b"\n"), origin.split(b"\n")
    for place in places:
        around = texts[0][max(place - 1, 0) : place + 2]
        runs = [
            sum(lines[start : start + 3] == around for start in range(len(lines) - 2))
            for lines in texts
        ]
        if runs != [1, 1]:
            return False
    return True


def ladder(source: str, number: int) -> None:
    rng = random.Random(32)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repo"
        subprocess.run(["git", "clone", "--quiet", "--shared", source, str(folder)], check=True)
        chain = text(folder, "rev-list", "--first-parent", "--max-count=1001", "HEAD").split("\n")
        total = int(text(folder, "rev-list", "--count", f"{chain[-1]}..HEAD"))
        print(f"{len(chain) - 1:,} first parents, {total:,} commits")
        repository = opened(str(folder))
        paths = [
            path
            for path in text(folder, "ls-tree", "-r", "--name-only", chain[-1]).split("\n")
            if path.endswith((".py", ".c", ".rst", ".md", ".go", ".js", ".h"))
        ]
        counts = {step: Counter() for step in STEPS}
        most_cpu, over = 0.0, 0
        for _ in range(number):
            path = rng.choice(paths)
            base = git(folder, "show", f"{chain[-1]}:{path}")
            lines = base.split(b"\n")
            if len(lines) < 12 or b"\0" in base:
                continue
            places = sorted(rng.sample(range(1, len(lines) - 1), min(3, len(lines) // 8)))
            revised = [
                line + _MARK if place in places else line for place, line in enumerate(lines)
            ]
            old = with_file(folder, chain[-1], {path: b"\n".join(revised)})
            for step in STEPS:
                target = chain[max(len(chain) - 1 - step, 0)]
                counts[step]["tried"] += 1
                merged = git(
                    folder, "merge-tree", "--write-tree", target, old,
                    check=False,
                ).decode().split("\n")  # fmt: skip
                origin = git(folder, "show", f"{target}:{path}", check=False)
                is_law = holds(base, origin, places)
                counts[step]["law"] += is_law
                if len(merged) > 2:
                    counts[step]["git conflicts"] += 1
                    continue
                new = text(folder, "commit-tree", merged[0], "-p", target, "-m", "x")
                start = (
                    resource.getrusage(resource.RUSAGE_SELF),
                    resource.getrusage(resource.RUSAGE_CHILDREN),
                )
                found = compare_versions(
                    repository,
                    version_named(repository, old),
                    version_named(repository, new),
                    target,
                )
                ends = (
                    resource.getrusage(resource.RUSAGE_SELF),
                    resource.getrusage(resource.RUSAGE_CHILDREN),
                )
                most_cpu = max(
                    most_cpu,
                    sum(
                        end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
                        for begin, end in zip(start, ends, strict=True)
                    ),
                )
                states = found.since.counts
                counts[step]["empty"] += set(states) <= {"same"}
                counts[step]["law, empty"] += is_law and set(states) <= {"same"}
                if not is_law:
                    continue
                # One more edit in one of the hunks.
                now = git(folder, "show", f"{new}:{path}").split(b"\n")
                edited = [place for place, line in enumerate(now) if line.endswith(_MARK)]
                now[rng.choice(edited)] += b", and planted"
                planted = with_file(folder, new, {path: b"\n".join(now)})
                found = compare_versions(
                    repository,
                    version_named(repository, old),
                    version_named(repository, planted),
                    target,
                )
                shown = [hunk for file in found.since.files for hunk in file.hunks]
                is_exact = (
                    found.since.counts["changed"] == 1
                    and sum(found.since.counts[word] for word in ("new", "dropped", "conflict"))
                    == 0
                    and len(shown) == 1
                    and sum(line[:1] in "+-" for line in shown[0].lines) == 2
                )
                counts[step]["planted, exact"] += is_exact
                if not is_exact:
                    print(f"  planted at {step}: {path} {dict(found.since.counts)}", shown)
                document = since_document(str(folder), found)
                page = plain_text(lambda out, d=document: since_lines(d, out, is_whole=True)).split(
                    "\n"
                )
                own = text(folder, "diff", "-U3", new, planted).split("\n")
                over += len(page) > len(own) + 2 * len(shown) + 3
        print(f"{'churn':>6} " + " ".join(f"{key:>15}" for key in _COLUMNS))
        for step, row in counts.items():
            print(f"{step:>6} " + " ".join(f"{row[key]:>15}" for key in _COLUMNS))
        print(f"pages with more lines than git diff -U3 + 2 a hunk + 3: {over}")
        print(f"most CPU of one comparison: {most_cpu:.2f} s")


_MARK = b" // edited, 32"
_COLUMNS = ("tried", "law", "git conflicts", "empty", "law, empty", "planted, exact")


# --- versions of series, beside range-diff ---


def fragments(patch: Patch) -> dict[str, tuple[bytes, bytes]]:
    """Return what a patch shows of each file before and after it."""
    files: dict[str, tuple[list[str], list[str]]] = {}
    for pair in patch.files:
        before, after = files.setdefault(pair.old or pair.path, ([], []))
        for number, hunk in enumerate(pair.hunks):
            gap = [f" gap {number} {line}" for line in range(8)]
            heading = hunk.heading.decode("latin-1")
            old, new = images(hunk)
            for lines, image in ((before, old), (after, new)):
                lines += [*gap[:4], *([heading] if heading else []), *gap[4:], *image]
    join = lambda lines: "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")  # noqa: E731
    return {path: (join(before), join(after)) for path, (before, after) in files.items()}


def imported(folder: str, series: Mapping[str, Sequence[tuple[str, Patch]]]) -> None:
    """Import versions of series. Between two patches stands a merge, which range-diff skips."""
    stream: list[bytes] = []
    marks = 0

    def commit(
        branch: str, message: str, parents: Sequence[int], files: Mapping[str, bytes]
    ) -> int:
        nonlocal marks
        marks += 1
        body = message.encode("utf-8", "replace")
        stream.append(f"commit refs/heads/{branch}\nmark :{marks}\n".encode())
        stream.append(b"committer a <a@example.org> 1700000000 +0000\n")
        stream.append(b"data %d\n%b\n" % (len(body), body))
        for word, parent in zip(("from", "merge"), parents, strict=False):
            stream.append(f"{word} :{parent}\n".encode())
        stream.append(b"deleteall\n")
        for path, data in files.items():
            stream.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode())
            stream.append(data + b"\n")
        return marks

    root = commit("root", "root", (), {"root": b"x\n"})
    aside = commit("aside", "aside", (root,), {"root": b"y\n"})
    for branch, patches in series.items():
        tip = root
        for title, patch in patches:
            files = fragments(patch)
            befores = {path: before for path, (before, _) in files.items()}
            setup = commit(branch, "setup", (tip, aside), befores)
            tip = commit(
                branch, title, (setup,), {path: after for path, (_, after) in files.items()}
            )
    git(folder, "fast-import", "--quiet", "--force", stdin=b"".join(stream))


def range_diff(folder: str, old: str, new: str) -> dict[tuple[int | None, int | None], str]:
    out = git(folder, "range-diff", "--no-color", f"aside..{old}", f"aside..{new}")
    return {
        (None if a == "-" else int(a), None if b == "-" else int(b)): sign
        for a, sign, b in _PAIR.findall(out.decode("utf-8", "replace"))
    }


def edits(patch: Patch) -> list[tuple[str, bytes]]:
    """Return the changed lines of a patch, in order."""
    return [
        (pair.path, line)
        for pair in patch.files
        for hunk in pair.hunks
        for line in hunk.lines
        if line[:1] in (b"+", b"-")
    ]


def rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def versions(kernel: str, of_git: str) -> None:
    rng = random.Random(32)
    groups = []
    for row in rows(kernel):
        try:
            patches = [parse(c["patch"].encode("latin-1")) for c in row["candidates"][:2]]
        except PatchError:  # git refuses it, too
            continue
        if len(patches) == 2 and all(p.files and len(edits(p)) < 400 for p in patches):
            groups.append((row["subject"] or row["id"], *patches))
    rng.shuffle(groups)
    for row in rows(of_git):
        texts = [row["origin"], *(c["text"] for c in row["candidates"][:2])]
        if len(texts) == 3 and all(len(raw_lines(t)) < 20_000 for t in texts):
            groups.append(
                (
                    row["subject"] or row["id"],
                    *(of_texts(row["path"], texts[0], t) for t in texts[1:]),
                )
            )
    groups = groups[:160] + groups[-40:]
    rng.shuffle(groups)
    words, odd = Counter(), []
    pairs_equal = 0
    with tempfile.TemporaryDirectory() as name:
        git(name, "init", "--quiet", "--bare")
        for start in range(0, len(groups), 10):
            part = groups[start : start + 10]
            old = [(title, a) for title, a, _ in part]
            new = [(title, b) for title, _, b in part[1:]]  # one is dropped
            rng.shuffle(new)
            imported(name, {"v1": old, "v2": new})
            theirs = range_diff(name, "v1", "v2")
            series = [
                [of_series(n, title, patch) for n, (title, patch) in enumerate(side, 1)]
                for side in (old, new)
            ]
            for pair in paired_patches(*series):
                key = pair.old and pair.old.number, pair.new and pair.new.number
                sign = theirs.get(key)
                pairs_equal += sign is not None
                word = pair.status
                if pair.old and pair.new:
                    a, b = edits(pair.old.patch), edits(pair.new.patch)
                    word += ", same edits" if a == b else ", other edits"
                words[sign or "no such pair", word] += 1
                if sign is None:
                    odd.append((key, pair.status, (pair.new or pair.old).title))
    print(f"{len(groups)} pairs of versions; pairs as range-diff: {pairs_equal}")
    for (sign, word), count in sorted(words.items()):
        print(f"  range-diff {sign}  ours {word}: {count}")
    for each in odd:
        print("  differs:", *each)


def of_series(number: int, title: str, patch: Patch) -> SeriesPatch:
    return SeriesPatch(number, title, lambda: patch)


# --- versions that were sent, beside range-diff ---

_IMPORTER = "Patchew Importer"
_MOST_PATCHES = 60


class Sent(NamedTuple):
    """A series as it was sent: when, its base, its tip, and its patches."""

    when: int
    base: str
    tip: str
    author: str
    titles: tuple[str, ...]


def sent_series(repo: str) -> Iterator[Sent]:
    """Yield the series of the tags: what the importer committed below each."""
    for tag in text(repo, "for-each-ref", "--format=%(objectname)", "refs/tags/patchew").split():
        shown = "--format=%H%x00%P%x00%cn%x00%ct%x00%an%x00%s"
        log = text(repo, "log", shown, f"--max-count={_MOST_PATCHES + 1}", "--first-parent", tag)
        own = []
        for row in (line.split("\0") for line in log.split("\n")):
            if row[2] != _IMPORTER:
                break
            own.append(row)
        if own and len(own) <= _MOST_PATCHES:
            first = own[-1]
            titles = tuple(row[5] for row in reversed(own))
            yield Sent(int(first[3]), first[1], own[0][0], first[4], titles)


def series_of(repo: str, sent: Sent) -> list[tuple[str, Patch]]:
    mails = git(repo, "format-patch", "--stdout", f"{sent.base}..{sent.tip}")
    return [(message.title, message.patch) for message in read(mails)]


def numbered(side: Sequence[tuple[str, Patch]]) -> list[SeriesPatch]:
    return [of_series(n, title, patch) for n, (title, patch) in enumerate(side, 1)]


def series(repo: str, most: int) -> None:
    by_author: dict[str, list[Sent]] = {}
    for sent in sent_series(repo):
        by_author.setdefault(sent.author, []).append(sent)
    versions_: list[tuple[Sent, Sent]] = []
    for own in by_author.values():
        own.sort()
        for at, new in enumerate(own):
            before = [old for old in own[:at] if set(old.titles) & set(new.titles)]
            if before and max(len(before[-1].titles), len(new.titles)) > 1:
                versions_.append((before[-1], new))
    random.Random(45).shuffle(versions_)
    words, planted = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    pairs, equal, odd, used, cpu = 0, 0, [], 0, 0.0
    for old, new in versions_[:most]:
        sides = series_of(repo, old), series_of(repo, new)
        if any(len(side) != len(each.titles) for side, each in zip(sides, (old, new), strict=True)):
            continue  # a commit without a diff is no mail
        used += 1
        out = git(repo, "range-diff", "--no-color", *(f"{s.base}..{s.tip}" for s in (old, new)))
        theirs = {(a, b): sign for a, sign, b in _PAIR.findall(out.decode("utf-8", "replace"))}
        begin = time.process_time()
        found = paired_patches(*map(numbered, sides))
        cpu += time.process_time() - begin
        ours = {}
        for pair in found:
            is_pair = pair.status not in ("squashed", "split")
            key = tuple(str(p.number) if p else "-" for p in (pair.old, pair.new))
            if pair.status == "squashed":
                key = (key[0], "-")
            elif pair.status == "split":
                key = ("-", key[1])
            ours[key] = pair.status
            if is_pair and pair.old and pair.new:
                words[theirs.get(key, "no such pair"), pair.status] += 1
            else:
                words[theirs.get(key, "in a pair"), pair.status] += 1
        for key, sign in theirs.items():
            if sign in "=!":
                pairs += 1
                equal += key in ours
                if key not in ours:
                    odd.append((new.titles[int(key[1]) - 1], sign, old.titles[int(key[0]) - 1]))
        plant(sides[1], planted)
    print(f"{used} pairs of versions; {pairs:,} patches that range-diff pairs: {equal:,} as there")
    print(f"CPU seconds: {cpu:.1f}")
    for (sign, word), count in sorted(words.items()):
        print(f"  range-diff {sign}  ours {word}: {count}")
    for title, sign, was in odd:
        print(f"  differs: {title} {sign} {was}")
    for (what, word), count in sorted(planted.items()):
        print(f"  planted: {what}: {word} {count}")


def plant(side: Sequence[tuple[str, Patch]], counts: Counter[tuple[str, str]]) -> None:
    """Change a series in each way, and count the words that are said, with how many of each."""
    middle = len(side) // 2

    def said(old: Sequence[tuple[str, Patch]], new: Sequence[tuple[str, Patch]]) -> str:
        found = Counter(p.status for p in paired_patches(numbered(old), numbered(new)))
        return ", ".join(f"{n} {w}" for w, n in sorted(found.items()) if w != "same") or "nothing"

    if len(side) > 1:
        first, second = side[middle - 1 : middle + 1]
        both = Patch(first[1].files + second[1].files, (), (len(first[1].files),))
        for title in (first[0], second[0]):
            squashed = [*side[: middle - 1], (title, both), *side[middle + 1 :]]
            counts["squashed", said(side, squashed)] += 1
            counts["split", said(squashed, side)] += 1
        counts[
            "swapped", said(side, [*side[: middle - 1], second, first, *side[middle + 1 :]])
        ] += 1
        less = [*side[:middle], *side[middle + 1 :]]
        counts["dropped", said(side, less)] += 1
        counts["new", said(less, side)] += 1
    whole, parts = side[middle], halves(side[middle][1])
    if parts:
        cut = [*side[:middle], (whole[0], parts[0]), ("the rest", parts[1]), *side[middle + 1 :]]
        counts["split in halves", said(side, cut)] += 1
        counts["squashed of halves", said(cut, side)] += 1


def halves(patch: Patch) -> tuple[Patch, Patch] | None:
    """Cut a patch between two hunks."""
    hunks = [(pair, hunk) for pair in patch.files for hunk in pair.hunks]
    if len(hunks) < 2:
        return None

    def of(part: Sequence[tuple[FilePair, Hunk]]) -> Patch:
        return Patch(tuple(replace(pair, hunks=(hunk,)) for pair, hunk in part))

    return of(hunks[: len(hunks) // 2]), of(hunks[len(hunks) // 2 :])


def of_texts(path: str, old: str, new: str) -> Patch:
    with tempfile.TemporaryDirectory() as name:
        for side, content in (("a", old), ("b", new)):
            (Path(name) / side).write_bytes(content.encode("latin-1"))
        out = git(name, "diff", "--no-index", "a", "b", check=False)
    out = re.sub(rb"(?m)^(---|\+\+\+) [ab]/[ab]$", rb"\1 a/" + path.encode(), out)
    return parse(
        re.sub(rb"(?m)^diff --git .*$", b"diff --git a/%b b/%b" % ((path.encode(),) * 2), out)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    own = tasks.add_parser("ladder")
    own.add_argument("repo")
    own.add_argument("--candidates", type=int, default=40)
    own = tasks.add_parser("versions")
    own.add_argument("kernel")
    own.add_argument("git")
    own = tasks.add_parser("series")
    own.add_argument("repo")
    own.add_argument("--most", type=int, default=1_000)
    arguments = parser.parse_args()
    if arguments.task == "ladder":
        ladder(arguments.repo, arguments.candidates)
    elif arguments.task == "series":
        series(arguments.repo, arguments.most)
    else:
        versions(arguments.kernel, arguments.git)
    return 0


if __name__ == "__main__":
    sys.exit(main())
