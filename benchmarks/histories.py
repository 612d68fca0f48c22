"""Reviews of real histories, beside git's own reading and one bare parse of each distinct text.

EXCISE_MIRRORS names a folder with bare clones as ``OWNER+NAME/repo``, with the heads of pull
requests (``git clone --mirror``). Seconds are those of the processor, of all processes: the median
of some runs, in turn. *Git's reading* is what no review can do without: the commit that each
candidate started from, what it changed, and one ``cat-file`` of these files. *A bare parse* is
`excise.syntax.parse` of every text that a parser gets in the review, once for each grammar, in one
process. What the review parses is heard from the auditing events of its parsers. *Again* is that
command once more, with the cache that the first run left; each first run begins without one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import measure
import peers
import workloads

from excise import ScoreMatrix
from excise.kernels import _lcs
from excise.reading import PARSER_SECONDS
from excise.syntax import parse, tokenise
from excise.text import normalise

ROUNDS = 3
REVIEW = "import sys; from excise_server.cli import main; sys.exit(main())"
IMPORTS = (
    "import excise_server.cli.review, excise_server.candidates.worktrees,"
    " excise_server.report.review, excise_server.sources.candidates"
)
# Each text that a parser gets is written to a file of its own: its grammar, a line end, its bytes.
HEARD = f"""
import os, sys
folder, audit, heard = sys.argv.pop(1), sys.audit, []

def hear(event, *arguments):
    if event == "excise.parse":
        heard.append(event)
        with open(f"{{folder}}/{{os.getpid()}}-{{len(heard)}}", "wb") as file:
            file.write(arguments[0].encode() + b"\\n" + arguments[1])
    audit(event, *arguments)

sys.audit = hear
{REVIEW}
"""
OWN = b"python_ast"
"""Python's own parser in the auditing events: each text of Python is read by it as well."""


def git(clone: Path, *arguments: str, given: str = "") -> str:
    """Return what a command of git prints; nothing, if it finds nothing."""
    done = subprocess.run(
        ["git", "-C", str(clone), *arguments], input=given.encode(), capture_output=True
    )
    return done.stdout.decode("utf-8", "replace")


def pull_requests(clone: Path) -> Iterable[str]:
    """Yield the heads of pull requests, the newest first."""
    refs = git(clone, "for-each-ref", "--format=%(refname) %(objectname)", "refs/pull/*/head")
    rows = [line.split(" ") for line in refs.split("\n")[:-1]]
    yield from (head for _, head in sorted(rows, key=lambda row: -int(row[0].split("/")[2])))


def topics(clone: Path) -> Iterable[str]:
    """Yield the topics that are merged into ``next``, and not into ``master`` yet."""
    merges = git(clone, "log", "--first-parent", "--merges", "--format=%P", "master..next")
    yield from (line.split(" ")[1] for line in merges.split("\n")[:-1])


def candidates(clone: Path, target: str, heads: Iterable[str], count: int) -> list[str]:
    """Return the first heads that have something of their own."""
    found: dict[str, None] = {}
    for head in heads:
        base = git(clone, "merge-base", target, head).strip()
        if base and base != head:
            found[head] = None
        if len(found) == count:
            break
    return list(found)


def read_by_git(clone: Path, target: str, heads: Sequence[str]) -> None:
    """Read what a review needs, as git alone would."""
    blobs = set[str]()
    for head in heads:
        base = git(clone, "merge-base", target, head).strip()
        for line in git(clone, "diff-tree", "-r", "-M", base, head).split("\n")[:-1]:
            blobs.update(line.split(" ")[2:4])
    git(clone, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in sorted(blobs)))


def of_children(command: Sequence[str], cache: Path) -> float:
    """Return the seconds of the processor of a command, which keeps reviews in this folder."""
    before = measure.seconds_of_children()
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return measure.seconds_of_children() - before


def review(name: str, mirror: Path, target: str, heads: Sequence[str]) -> None:
    """Print what the review of some commits costs."""
    with tempfile.TemporaryDirectory() as folder:
        clone, texts = Path(folder, "clone"), Path(folder, "texts")
        git(mirror, "clone", "--quiet", "--shared", "--no-checkout", str(mirror), str(clone))
        git(clone, "checkout", "--quiet", "--detach", git(mirror, "rev-parse", target).strip())
        refs = "".join(f"create refs/heads/agent/{head} {head}\n" for head in heads)
        git(clone, "update-ref", "--stdin", given=refs)
        asked = ("review", "--repo", str(clone), "--git", "agent/*", "--format", "json")
        python = (sys.executable, "-c")
        texts.mkdir()
        of_children((*python, HEARD, str(texts), *asked), Path(folder, "heard"))
        parsed = [file.read_bytes() for file in texts.iterdir()]
        distinct = {
            (grammar.decode(), data.decode("utf-8", "surrogatepass"))
            for grammar, _, data in (text.partition(b"\n") for text in set(parsed))
            if grammar != OWN
        }

        def bare() -> None:
            for grammar, text in distinct:
                parse(text, grammar, timeout=PARSER_SECONDS)

        def by_git() -> float:
            before = measure.seconds_of_children()
            read_by_git(clone, "HEAD", heads)
            return measure.seconds_of_children() - before

        bare()  # which loads the grammars
        caches = [Path(folder, f"cache-{number}") for number in range(ROUNDS)]
        taken = [
            (
                of_children((*python, REVIEW, *asked), cache),
                of_children((*python, REVIEW, *asked), cache),  # which finds the document
                of_children((*python, IMPORTS), cache),
                by_git(),
                measure.seconds(bare),
            )
            for cache in caches
        ]
    own, again, start, reading, parsing = map(median, zip(*taken, strict=True))
    least = reading + parsing
    print(
        f"| {name} | {len(parsed)} of {len(set(parsed))} | {own:.2f} | {start:.2f} | {reading:.2f} "
        f"| {parsing:.2f} | {own / least:.1f} | {(own - start) / least:.1f} "
        f"| {(again - start) / reading:.1f} |",
        flush=True,
    )


def versions(clone: Path, revision: str, *paths: str) -> list[str]:
    """Return the versions of a file, the newest first, each once."""
    commits = git(clone, "log", "--format=%H", revision, "--", *paths).split()
    texts = (git(clone, "show", f"{commit}:{path}") for commit in commits for path in paths)
    return list(dict.fromkeys(normalise(text) for text in texts if text))


def from_text(name: str, grammar: str, wanted: float, texts: Sequence[str]) -> None:
    """Print what a matrix of versions of a file costs, beside bare parses of all."""

    def bare() -> None:
        for text in texts:
            parse(text, grammar)

    ours = partial(ScoreMatrix.from_texts, texts[-1], texts[:-1], language=grammar)
    found = measure.ratio(bare, ours, rounds=5)
    own, parsing = found.theirs, found.ours
    mark = "met" if found.median <= wanted else "MISSED"
    print(f"{len(texts)} versions of {name}: {found} bare parses (<= {wanted}: {mark}; {own:.2f} s "
          f"of {parsing:.2f} s)")  # fmt: skip


def far_apart(clone: Path) -> None:
    """Print what the tokens of two versions of a file cost that are years apart."""
    texts = [git(clone, "show", f"{revision}:diff.c") for revision in ("v2.45.0", "master")]
    names: dict[str, int] = {}
    ours = [workloads.interned(tokenise(normalise(text), "c").tokens, names) for text in texts]
    theirs = [peers.as_lines(tokens) for tokens in ours]
    found = measure.ratio(partial(_lcs.edits, *ours), partial(peers.git_minimal, *theirs))
    mark = "met" if found.median >= 1 else "MISSED"
    sizes = " and ".join(f"{len(tokens):,}" for tokens in ours)
    print(f"tokens of diff.c, v2.45.0 and now ({sizes}): git (MINIMAL) takes {found} times as long "
          f"(>= 1: {mark}; {found.ours * 1e3:.1f} ms)")  # fmt: skip


def main() -> None:
    """Print a table, and a line for each history of a file."""
    if "EXCISE_MIRRORS" not in os.environ:
        print("histories: EXCISE_MIRRORS names no folder with clones as psf+requests/repo")
        return
    mirrors = Path(os.environ["EXCISE_MIRRORS"])
    requests, own = (mirrors / name / "repo" for name in ("psf+requests", "git+git"))
    print(
        "| candidates | parses of distinct texts | review, s | its imports | git | bare parses"
        " | all: <= 2.5 times both | without imports: <= 1.8 | again, beside git: <= 1.3 |"
    )
    print("|---" * 9 + "|")
    for name, clone, target, heads, count in (
        ("78 pull requests of psf/requests", requests, "main", pull_requests(requests), 78),
        ("20 pull requests of git.git", own, "master", pull_requests(own), 20),
        ("20 topics in git.git's next", own, "master", topics(own), 20),
    ):
        review(name, clone, target, candidates(clone, target, heads, count))
    print()
    models = versions(requests, "main", "src/requests/models.py", "requests/models.py")
    from_text("models.py of requests", "python", 0.4, models[:64])
    backend = versions(own, "master", "refs/files-backend.c")
    from_text("refs/files-backend.c of git", "c", 0.6, backend[:16])
    far_apart(own)


if __name__ == "__main__":
    main()
