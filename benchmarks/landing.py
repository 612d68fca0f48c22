"""Candidates put together: pull requests that only add, and merges that people made.

    python benchmarks/landing.py heads REPOSITORY [PATTERN]
    python benchmarks/landing.py merges REPOSITORY [MOST] [MERGES]
    python benchmarks/landing.py planted REPOSITORY [MOST]
    python benchmarks/landing.py pairs REPOSITORY [MOST]
    python benchmarks/landing.py many [CANDIDATES]
    python benchmarks/landing.py takes REPOSITORY [PATTERN]
    python benchmarks/landing.py unions REPOSITORY [PATTERN] [MOST]
    python benchmarks/landing.py merged REPOSITORY SUFFIX [MOST] [SECONDS]

`heads` replays the requests of a repository (pull/*) onto its HEAD, and prints the CPU seconds of
reading, comparing and landing. Of each pair of them that `git merge-file` cannot merge although all
its conflicts only add on both sides, it says whether the two land together, whether the union
parses, has every line that either adds and none that one deletes; and why the others do not land.

`merges` looks at the newest MERGES (3,000) merge commits of two parents until MOST (40) files are
found that git cannot merge, but for conflicts that only add on both sides. The parents' versions of
such a file are landed on that of the merge base. Where they fit, the union is compared with what
the maintainer merged: as lines, up to their order and to blank ones. Each deviation is printed,
and of what does not compose the types of the nodes around the two additions.

`planted` takes MOST (50) functions of Python at HEAD. One candidate renames each everywhere, or
removes it, or narrows its parameters; another one newly calls it: in the same file, in another one,
or in a new one. It prints how often the first is said to break the second, and, of what is removed
and used in other files, the target. Of MOST files it takes away a name's definition, an import or a
bracket, and prints how often that is said to be broken.

`pairs` looks for MOST (50) pairs of commits of which the earlier one deletes a definition, and the
later one, up to ten commits away, applies to where the earlier one began. Both are in the history:
whatever `land` says that either breaks counts as a false alarm, and is printed.

`takes` takes each request that merges cleanly as a whole, and compares every byte and mode with
what `git merge-tree` makes of it in a clone that shares the objects.

`unions` lands MOST (200) pairs of requests that change one file, and has each such file read where
each part passes: Python, JSON, TOML and YAML by their own parsers, all others by their grammar.

`merged` makes pairs of a repository's history, for open requests that land together are few: a
commit, and one of the ten later ones that change the same file with this suffix, brought back to
the parent of the first where that is possible without a conflict. Until MOST (50) pairs land
together, the union of that file is given to the language's own tool, in the tree of
that parent: `tsc` (of the PATH), `g++ -fsyntax-only`, `javac -proc:none`, or its parser. An error
counts if neither part has it. `git merge-file` says how many of the files it merges.

`many` lands CANDIDATES (1,000) that change one file: a line each, the same line, a method each.
"""

from __future__ import annotations

import ast
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

from excise.languages import resolve
from excise.syntax import encode, errors_of, parse
from excise.text import raw_lines
from excise_server.candidates.compared import Compared, compared
from excise_server.candidates.landing import land_candidates
from excise_server.foundation.changes import Side, differing_lines
from excise_server.git.checkouts import Selection
from excise_server.git.repository import open_commits
from excise_server.review.candidate import Candidate
from excise_server.review.landing import Chosen, Landing, land
from excise_server.review.replayed import replay_files
from excise_server.review.taking import Choice, take
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


def parents(path: str, sides: Sequence[str], parts: Sequence[tuple[str, str, str]]) -> str:
    """Return the types of the nodes around what two sides add, as their grammar has them."""
    if (grammar := resolve(None, path, sides[0])) is None:
        return "no grammar"
    around = dict[str, None]()
    for added, side in ((part[2 * n], sides[n]) for part in parts for n in (0, 1)):
        before, found_there, _ = side.partition(added)
        if not added.strip() or not found_there:
            continue
        first = len(encode(before)) + len(added) - len(added.lstrip())
        last = len(encode(before + added.rstrip()))
        node = parse(side, grammar).root_node.descendant_for_byte_range(first, last)
        while node and node.parent and first <= node.start_byte and node.end_byte <= last:
            node = node.parent
        around[node.type if node else "?"] = None
    return f"{grammar} {', '.join(around)}"


def parses(path: str, text: str, sides: Sequence[str]) -> bool:
    grammar = resolve(None, path, text)
    if grammar is None:
        return True
    parsed = ((own, parse(own, grammar, timeout=60)) for own in (text, *sides))
    errors, *others = (len(errors_of(own, tree)) for own, tree in parsed)
    return errors <= max(others)


# --- heads ----------------------------------------------------------------------------------------


def heads(folder: str, pattern: str = "pull/*") -> None:
    began = time.process_time()
    repository = open_commits(folder)
    found = find_candidates(repository, Selection(chosen={"git": (pattern,)}, worktrees=False))
    read = time.process_time()
    landing = land_candidates(repository, found)
    end = time.process_time()
    every = compared(found)
    print(
        f"{len(found.found)} candidates: {len(landing.order)} land, {len(landing.left_out)} left "
        f"out, {len(landing.undecided)} tasks undecided; CPU seconds: {end - began:.1f}, of which "
        f"reading {read - began:.1f}, relations and landing {end - read:.1f}"
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
            around = [parents(p, texts[p][::2], parts[p]) for p in parts]
            refused.append(f"{a.label} {b.label} ({'; '.join(around)}): {'; '.join(why[:2])}")
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
                around = parents(path, (a, b), conflicts(a, origin, b))
                apart.append(f"{merge[:10]} {path} ({around}): not composed: {why}")
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


# --- breaks ---------------------------------------------------------------------------------------

DEFINED = re.compile(r"^def (\w{4,})\(([^()]*)\)(?: -> [^\n]*)?:\n", re.MULTILINE)
DELETES = re.compile(r"^-\s*(?:(?:async )?def|class) \w+", re.MULTILINE)


def side(text: str) -> Side:
    return Side("100644", text.encode("utf-8", "surrogateescape"))


def candidate(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Candidate:
    before, after = ({path: side(text) for path, text in texts.items()} for texts in (old, new))
    return Candidate(name, "", name, "", label=name, old=before, new=after)


def source(folder: str) -> dict[str, str]:
    """Return the files of Python at HEAD, as normalised texts."""
    paths = git(folder, "ls-tree", "-r", "--name-only", "HEAD").decode().split("\n")
    texts = {}
    for path in paths:
        if path.endswith(".py"):
            text = Side("100644", git(folder, "cat-file", "blob", f"HEAD:{path}")).text
            if text is not None and 0 < len(text) < 200_000:
                texts[path] = text
    return texts


def newly_calling(
    path: str, name: str, others: Sequence[str], texts: Mapping[str, str], way: int, arguments: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files of a change that newly calls a function, before and after."""
    stem = Path(path).stem
    call = f"\n\ndef newly():\n    return {name}({arguments})\n"
    has_import = f"from .{stem} import {name}\n" if way == 1 else f"from . import {stem}\n"
    if way == 2:
        call = call.replace(f"return {name}", f"return {stem}.{name}")
    if way == 0:
        return {path: texts[path]}, {path: texts[path].rstrip("\n") + "\n" + call}
    if way == 1 and others:
        other = others[0]
        return {other: texts[other]}, {other: f"{texts[other].rstrip()}\n{has_import}{call}"}
    return {}, {str(Path(path).parent / "newly_used.py"): has_import + call}


def edits_of(
    path: str, match: re.Match[str], texts: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str], dict[str, str], str]]:
    """Yield what may be done to a function: the files before and after, and the call's arguments.

    A function is renamed everywhere, or removed where it is, or given a parameter that has to be
    passed, or one fewer.
    """
    name, text = match[1], texts[path]
    word = re.compile(rf"\b{name}\b")
    users = [other for other in texts if word.search(texts[other])]
    if len(users) <= 60:
        renamed = {other: word.sub(f"{name}_anew", texts[other]) for other in users}
        yield "renames", {other: texts[other] for other in users}, renamed, ""
    node = next((n for n in ast.parse(text).body if getattr(n, "name", "") == name), None)
    if node is not None:
        rows = text.split("\n")
        rest = "\n".join([*rows[: node.lineno - 1], *rows[node.end_lineno :]])
        if not word.search(rest):
            yield "removes", {path: text}, {path: rest}, ""
    given = [part.strip() for part in match[2].split(",") if part.strip()]
    if not any(set(part) & set("*=/:") for part in given):
        for more in (True, False):
            if (given or more) and len(re.findall(rf"\b{name}\(", text)) == 1:
                changed = [*given, "anew"] if more else given[:-1]
                head = match[0].replace(f"({match[2]})", f"({', '.join(changed)})")
                narrowed = text.replace(match[0], head, 1)
                arguments = ", ".join("1" for _ in given)
                yield "narrows", {path: text}, {path: narrowed}, arguments


def broken_texts(text: str, coin: Random) -> Iterator[tuple[str, str]]:
    """Yield texts that cannot work: a name that nothing defines, an import less, a bracket less."""
    every = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    calls = [node for node in every if isinstance(node.func, ast.Name)]
    for what, nodes in (("names", calls), ("brackets", every)):
        if not nodes or not text.isascii():
            continue
        node, rows = coin.choice(nodes), text.split("\n")
        if what == "names":
            row, at, new = node.lineno - 1, node.col_offset, "not_defined_"
            rows[row] = rows[row][:at] + new + rows[row][at:]
        else:
            row, at = (node.end_lineno or 1) - 1, node.end_col_offset or 1
            rows[row] = rows[row][: at - 1] + rows[row][at:]
        yield what, "\n".join(rows)
    if imports := list(re.finditer(r"^import (\w+)\n", text, re.MULTILINE)):
        at = coin.choice(imports)
        if len(re.findall(rf"(?<![\w.]){at[1]}\.", text)) and f"as {at[1]}" not in text:
            yield "imports", text[: at.start()] + text[at.end() :]


def planted(folder: str, most: int = 50) -> None:
    texts = source(folder)
    repository = open_commits(folder)
    commit = git(folder, "rev-parse", "HEAD").decode().strip()
    places = [(path, match) for path in texts for match in DEFINED.finditer(texts[path])]
    times = Counter(match[1] for _, match in places)
    coin = Random("planted python")
    coin.shuffle(places)
    tried, found, missed = Counter[str](), Counter[str](), list[str]()

    def count(what: str, is_found: bool, said: str) -> None:
        tried[what] += 1
        found[what] += is_found
        missed.extend([] if is_found else [f"{what} {said}"])

    for path, match in places:
        word = re.compile(rf"\b{match[1]}\b")
        folder_of = Path(path).parent
        others = [o for o in texts if Path(o).parent == folder_of and not word.search(texts[o])]
        coin.shuffle(others)
        before = texts[path][: match.start()].rstrip("\n").rpartition("\n")[2]
        if times[match[1]] > 1 or match[1].startswith("test_") or before.startswith("@"):
            continue
        for does, old, new, arguments in edits_of(path, match, texts):
            user = newly_calling(path, match[1], others, texts, tried[does] % 3, arguments)
            if tried[does] >= most or (does == "renames" and user[0].keys() & old.keys() - {path}):
                continue
            taker, caller = candidate("taker", old, new), candidate("user", *user)
            every = compared(Candidates(commit, (taker, caller)))
            words = [r for each in every.relations for r in each.reasons if r.word == "breaks"]
            said = f"{match[1]} of {path}, used in {', '.join(user[1])}"
            count(does, any(r.by == "taker" for r in words), said)
            stem = re.compile(rf"(?:from|import)\b.*\b{Path(path).stem}\b.*\b{match[1]}\b")
            users = [o for o in texts if o != path and stem.search(texts[o])]
            if does == "removes" and users:
                landing = land_candidates(repository, Candidates(commit, (taker,)), ["taker"])
                is_told = any(o.word == "breaks" for e in landing.left_out for o in e.obstacles)
                count("removes from the target", is_told, f"{match[1]} of {path}, used in {users}")
    paths = [path for path in texts if len(texts[path]) > 1000]
    for path in coin.sample(paths, min(len(paths), most)):
        for what, text in broken_texts(texts[path], coin):
            one = candidate("one", {path: texts[path]}, {path: text})
            claims = compared(Candidates(commit, (one,))).claims["one"]
            count(what, any(claim.word == "broken" for claim in claims), path)
    name = Path(folder).parent.name
    print(f"{name}:", *(f"{does} {found[does]} of {tried[does]};" for does in tried))
    print("\n".join(missed))


def commit_files(
    folder: str, commit: str, suffixes: tuple[str, ...]
) -> tuple[dict[str, Side], dict[str, Side]]:
    """Return what a commit changes, before and after."""
    out = git(folder, "diff-tree", "-r", "-z", "--no-renames", f"{commit}^", commit).decode()
    fields = out.split("\0")
    old, new = dict[str, Side](), dict[str, Side]()
    for head, path in zip(fields[::2], fields[1::2], strict=False):
        before, after, before_id, after_id, _ = head.removeprefix(":").split(" ")
        for sides, mode, blob in ((old, before, before_id), (new, after, after_id)):
            if mode in ("100644", "100755"):
                sides[path] = Side(mode, git(folder, "cat-file", "blob", blob, good=(0,)))
    return old, new


def at_commit(
    folder: str, commit: str, start: str, onto: str, suffixes: tuple[str, ...], name: str
) -> Candidate | None:
    """Return a commit as a candidate for another one, or None if it conflicts or is empty."""
    old, new = commit_files(folder, commit, suffixes)
    if start != onto:
        apart = git(folder, "diff", "--name-only", "--no-renames", "-z", start, onto).decode()
        now = dict[str, Side | None]()
        for path in {*apart.split("\0")} & (old.keys() | new.keys()):
            data = git(folder, "cat-file", "blob", f"{onto}:{path}", good=(0, 128))
            now[path] = Side("100644", data) if data else None
        replayed = replay_files(old, new, now, {})
        if replayed.conflicts:
            return None
        old, new = replayed.old, replayed.new
    if not any(path.endswith(suffixes) for path in old.keys() | new.keys()):
        return None
    return Candidate(name, "", name, "", label=name, old=old, new=new)


def pairs(folder: str, most: int = 50) -> None:
    suffixes = (".py",)
    log = git(folder, "rev-list", "--no-merges", "--topo-order", "--max-count=6000", "HEAD")
    ids = log.decode().split()[::-1]
    repository = open_commits(folder)
    tried, takes, alarms = 0, 0, list[str]()
    coin = Random("pairs")
    starts = list(range(1, len(ids) - 12))
    coin.shuffle(starts)
    for start in starts:
        if tried >= most:
            break
        first = ids[start]
        diff = git(folder, "show", "--format=", first, "--", *(f"*{s}" for s in suffixes))
        if not DELETES.search(diff.decode("utf-8", "replace")):
            continue
        onto = git(folder, "rev-parse", f"{first}^").decode().strip()
        second = ids[start + coin.randint(1, 10)]
        try:
            a = at_commit(folder, first, onto, onto, suffixes, "first")
            parent = git(folder, "rev-parse", f"{second}^").decode().strip()
            b = at_commit(folder, second, parent, onto, suffixes, "second")
        except (OSError, ValueError):
            continue
        if a is None or b is None:
            continue
        tried += 1
        found = Candidates(onto, (a, b))
        landing = land_candidates(repository, found, ["first", "second"])
        takes += bool(compared(found).reader.edit(a).taken)
        told = [o.message for e in landing.left_out for o in e.obstacles if o.word == "breaks"]
        if told:
            alarms.append(f"{first[:10]} {second[:10]}: {'; '.join(told[:3])}")
    print(f"{Path(folder).parent.name}: {tried} pairs of commits that were merged, of {takes} the "
          f"first takes a name away: {len(alarms)} false alarms")  # fmt: skip
    print("\n".join(alarms))


# --- many -----------------------------------------------------------------------------------------


def many(count: int = 1000) -> None:
    rows = [f"line_{n} = {n}" for n in range(2 * count)]
    text = "\n".join(rows) + "\n\n\nclass Store:\n    size = 0\n"
    ways: dict[str, Callable[[int], str]] = {
        "a line each": lambda n: text.replace(f"line_{2 * n} = ", f"line_{2 * n} = 1 + "),
        "the same line": lambda n: text.replace("line_0 = 0", f"line_0 = -{n}"),
        "a method each": lambda n: f"{text}\n    def method_{n}(self):\n        return {n}\n",
    }
    for way, revised in ways.items():
        every = tuple(
            replace(candidate(f"c{n}", {"a.py": text}, {"a.py": revised(n)}), task=f"task {n}")
            for n in range(count)
        )
        began = time.process_time()
        landing = land_candidates(None, Candidates("0" * 40, every))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        seconds = time.process_time() - began
        print(f"{count:,} candidates, {way}: {len(landing.order)} land, {len(landing.left_out)} "
              f"left out; CPU seconds {seconds:.1f}, {peak:,.0f} MB")  # fmt: skip


# --- takes and unions -----------------------------------------------------------------------------


def requests_of(folder: str, pattern: str) -> Candidates:
    selection = Selection(chosen={"git": (pattern,)}, worktrees=False)
    return find_candidates(open_commits(folder), selection)


def takes(folder: str, pattern: str = "pull/*") -> None:
    found = requests_of(folder, pattern)
    same, wrong = 0, list[str]()
    with tempfile.TemporaryDirectory() as clone:
        git(folder, "clone", "--quiet", "--shared", "--bare", folder, clone)
        for each in found.found:
            if each.conflicts or each.beyond_git:
                continue
            tree = git(clone, "merge-tree", "--write-tree", found.origin, each.commit)
            name = tree.split(b"\n")[0].decode()
            listed = git(clone, "diff-tree", "-r", "-z", "--no-renames", found.origin, name)
            fields = listed.decode("utf-8", "surrogateescape").split("\0")
            wanted = {
                p: raw.split()[1:4:2] for raw, p in zip(fields[::2], fields[1::2], strict=False)
            }
            made = dict[str, Side | None]()
            for file in take([[each]], [Choice(each.id)]).files:
                made.setdefault(file.old_path, None)
                made[file.path] = file.new
            clean = made.keys() == wanted.keys()
            for path, (mode, blob) in wanted.items():
                side, is_gone = made.get(path), not int(mode, 8)
                data = b"" if is_gone or mode == "160000" else git(clone, "cat-file", "blob", blob)
                is_same = side is None if is_gone else side and (side.mode, side.data)
                clean = clean and (is_same in (True, (mode, data)) or mode == "160000")
            same += clean
            wrong += [] if clean else [each.label]
    print(f"{same} of {same + len(wrong)} takes are git's merge byte for byte; not: {wrong}")


def passes(path: str, text: str) -> bool:
    """Whether the parser of a language, or else its grammar, reads a text."""
    try:
        match Path(path).suffix:
            case ".py":
                ast.parse(text)
            case ".json":
                json.loads(text)
            case ".toml":
                tomllib.loads(text)
            case ".yml" | ".yaml":
                from yaml import compose_all  # of the tests

                list(compose_all(text))
            case _:
                grammar = resolve(None, path, text)
                return not (grammar and errors_of(text, parse(text, grammar, timeout=60)))
    except Exception:  # noqa: BLE001 - each parser has its own
        return False
    return True


def unions(folder: str, pattern: str = "pull/*", most: int = 200) -> None:
    found = requests_of(folder, pattern)
    every, tried, together, refused = compared(found), 0, 0, list[str]()
    for a, b in combinations(found.found, 2):
        paths = [path for path in a.new.keys() & b.new.keys() if a.new[path] != b.new[path]]
        if not paths or tried >= most or a.conflicts or b.conflicts:
            continue
        tried += 1
        result = landed(every, [a, b])
        if len(result.order) < 2:
            continue
        together += 1
        new = {file.path: file.new.text or "" for file in result.taken.files if file.new}
        for path in paths:
            parts = [side[path].text or "" for side in (a.new, b.new)]
            if path in new and all(passes(path, text) for text in parts):
                refused += [] if passes(path, new[path]) else [f"{a.label} {b.label} {path}"]
    print(f"{tried} pairs change one file: {together} land together, of which "
          f"{len(refused)} files are refused though each part passes: {refused}")  # fmt: skip


# --- merged ---------------------------------------------------------------------------------------

TOOLS: dict[str, tuple[str, ...]] = {
    ".ts": ("tsc", "--noEmit", "--skipLibCheck", "--target", "esnext", "--strict",
            "--moduleResolution", "bundler", "--module", "esnext"),
    ".h": ("g++", "-fsyntax-only", "-w", "-std=c++20", "-Iinclude", "-Isrc", "-x", "c++"),
    ".hpp": ("g++", "-fsyntax-only", "-w", "-std=c++20", "-Iinclude", "-x", "c++"),
    ".java": ("javac", "-proc:none", "-implicit:none", "-Xmaxerrs", "10000", "-d", "-out-"),
}  # fmt: skip
ERROR = re.compile(r"(?:^|: |\) ?)error(?: TS(\d+))?: (.*)")


def errors_in(path: str, text: str, tree: Path) -> Counter[str]:
    """Return what the language's own tool says of a file of a tree, without the places."""
    tool = TOOLS.get(Path(path).suffix)
    if tool is None:
        return Counter() if passes(path, text) else Counter(["its parser"])
    file = tree / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    with tempfile.TemporaryDirectory() as out:
        command = [out if part == "-out-" else part for part in tool]
        ran = subprocess.run(
            [*command, path], cwd=tree, capture_output=True, text=True, errors="replace",
            check=False, timeout=120,
        )  # fmt: skip
    said = (ERROR.search(line) for line in f"{ran.stdout}{ran.stderr}".split("\n"))
    found = Counter(" ".join(filter(None, each.groups())) for each in said if each)
    return found if ran.returncode == 0 or found else Counter(["no reason"])


def merged(folder: str, suffix: str, most: int = 50, seconds: int = 600) -> None:
    log = git(folder, "log", "--no-merges", "--max-count=4000", "--name-only", "--format=%x00%H",
              "HEAD", "--", f"*{suffix}").decode("utf-8", "surrogateescape")  # fmt: skip
    of_path: dict[str, list[str]] = {}
    for entry in log.split("\0")[1:]:
        commit, *paths = filter(None, entry.split("\n"))
        for path in paths:
            of_path.setdefault(path, []).insert(0, commit)
    starts = [(p, n) for p, commits in of_path.items() for n in range(len(commits) - 1)]
    coin, began = Random("merged"), time.monotonic()
    coin.shuffle(starts)
    tried, together, files, by_git, refused = 0, 0, 0, 0, list[str]()
    for path, n in starts:
        if together >= most or time.monotonic() - began > seconds:
            break
        first, second = of_path[path][n], coin.choice(of_path[path][n + 1 : n + 11])
        try:
            onto, parent = (git(folder, "rev-parse", f"{c}^", good=(0,)) for c in (first, second))
            start = onto.decode().strip()
            a = at_commit(folder, first, start, start, (suffix,), "first")
            b = at_commit(folder, second, parent.decode().strip(), start, (suffix,), "second")
        except (OSError, ValueError):
            continue
        if a is None or b is None or path not in a.new.keys() & b.new.keys() & a.old.keys():
            continue
        tried += 1
        result = landed(compared(Candidates(start, (a, b))), [a, b])
        if len(result.order) < 2:
            continue
        together += 1
        new = {file.path: file.new.text or "" for file in result.taken.files if file.new}
        both = [path] if path in new else []
        with tempfile.TemporaryDirectory() as tree:
            if suffix in TOOLS:
                archive = git(folder, "archive", start, good=(0,))
                subprocess.run(["tar", "-x", "-C", tree], input=archive, check=True)
            for each in both:
                texts = [side[each].text or "" for side in (a.new, b.new)]
                old = (a.old[each].text if each in a.old else "") or ""
                files, by_git = files + 1, by_git + (not conflicts(texts[0], old, texts[1]))
                if said := errors_in(each, new[each], Path(tree)):
                    parts = [errors_in(each, text, Path(tree)) for text in texts]
                    said -= parts[0] + parts[1]  # what is not installed is missed by each
                if said:
                    refused.append(f"{first[:10]} {second[:10]} {each}: {next(iter(said))}")
    print(f"{Path(folder).parent.name} {suffix}: {tried} pairs of commits change one file: "
          f"{together} land together, {files} files ({by_git} merged by git), of which "
          f"{len(refused)} are refused for what neither part has")  # fmt: skip
    print("\n".join(refused))


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    modes: dict[str, Callable[..., None]] = {
        "heads": heads,
        "merges": merges,
        "planted": planted,
        "pairs": pairs,
        "many": many,
        "takes": takes,
        "unions": unions,
        "merged": merged,
    }
    modes[kind](*(int(each) if each.isdecimal() else each for each in rest))
