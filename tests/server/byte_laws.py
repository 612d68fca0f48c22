"""Two laws of taking, on random files of bytes; by the hundred in tests, by the thousand alone.

    python -m tests.server.byte_laws 100000 [SEED [LAW]]

tries so many change sets for each law, and prints the seed of each one that breaks it.

1. Where base and origin are one and the target is clean, a candidate taken is its bytes.
2. With drift and the user's own edits, no byte of the target outside the taken hunks changes.
"""

import multiprocessing
import sys
from collections import Counter
from random import Random

from excise.text import byte_lines
from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate, digest_of
from excise_server.review.composing import edited_beside
from excise_server.review.hunks import review_files
from excise_server.review.replayed import replay_files
from excise_server.review.taking import Choice, take

CONTENTS = (
    b"a", b"b", b"c = 1", b"", b"  d", "é".encode(), b"\xe9", b"\xc3", "€ = 2".encode(), b"\x85",
    b"\x0c", "x\u2028y".encode(), "\u202ez".encode(), b"\xef\xbb\xbf", b"\xed\xa0\x80",
)  # fmt: skip
ENDS = (b"\n", b"\r\n", b"\r")
MARK = b"\xef\xbb\xbf"


def some_lines(choice: Random, most: int = 8) -> list[bytes]:
    contents = CONTENTS if choice.random() < 0.7 else CONTENTS[:5]
    ends = ENDS if choice.random() < 0.3 else (choice.choice(ENDS),)
    return [
        choice.choice(contents) + choice.choice(ends) for _ in range(choice.randrange(most + 1))
    ]


def some_file(choice: Random) -> bytes:
    """Return a text in some encoding, with or without last line end; or no text at all."""
    data = b"".join(some_lines(choice))
    if choice.random() < 0.3:
        data += choice.choice(CONTENTS[:6])
    kind = choice.random()
    if kind < 0.1:
        return MARK * choice.choice((1, 1, 2)) + data
    if kind < 0.16:
        encoding = choice.choice(("utf-16", "utf-16-le", "utf-32", "utf-16-be"))
        return data.decode("latin-1").encode(encoding)
    if kind < 0.2:
        return data + b"\0" + choice.randbytes(choice.randrange(9))
    return choice.randbytes(choice.randrange(20)) if kind < 0.24 else data


def changed(choice: Random, data: bytes) -> bytes:
    """Return another version: some lines edited, or the whole file converted, or both."""
    if choice.random() < 0.1:
        return some_file(choice)
    lines = byte_lines(data)
    for _ in range(choice.randrange(4)):
        at = choice.randint(0, len(lines))
        lines[at : at + choice.randrange(3)] = some_lines(choice, 2)
    data = b"".join(lines)
    kind = choice.random()
    if kind < 0.2:
        end = choice.choice(ENDS)
        data = b"".join(
            line.rstrip(b"\r\n") + (end if line[-1:] in (b"\r", b"\n") else b"")
            for line in byte_lines(data)
        )
    elif kind < 0.3:
        data = data.decode("latin-1").encode()
    elif kind < 0.35:
        data = data.decode("utf-8", "replace").encode("latin-1", "replace")
    elif kind < 0.42:
        data = data[3:] if data.startswith(MARK) else MARK + data
    elif kind < 0.5 and data[-1:] in (b"\r", b"\n"):
        data = data.rstrip(b"\r\n")
    return data


def some_side(choice: Random, data: bytes) -> Side:
    kind = choice.random()
    if kind < 0.03:
        commit = f"{choice.getrandbits(160):040x}"
        return Side(SUBMODULE, f"Subproject commit {commit}\n".encode(), commit)
    if kind < 0.06:
        return Side(LINK, data.replace(b"\0", b"") or b"x")
    return Side("100755" if kind < 0.12 else "100644", data)


def some_candidate(choice: Random, name: str, old: dict[str, Side]) -> Candidate:
    new: dict[str, Side] = {}
    for path, side in old.items():
        kind = choice.random()
        if kind < 0.08:
            continue
        target = f"{path}.moved" if kind < 0.14 else path
        data = side.data if kind < 0.2 else changed(choice, side.data)
        new[target] = Side(side.mode, data) if choice.random() < 0.8 else some_side(choice, data)
        if side.mode == SUBMODULE:
            new[target] = some_side(choice, data) if choice.random() < 0.5 else side
    if choice.random() < 0.2:
        new["created.txt"] = some_side(choice, some_file(choice))
    for path in [*new]:
        if path in old and (old[path].mode, old[path].data) == (new[path].mode, new[path].data):
            del new[path]
            old = {known: side for known, side in old.items() if known != path}
    return candidate_of(name, old, new)


def candidate_of(
    name: str, old: dict[str, Side], new: dict[str, Side], now: dict[str, Side] | None = None
) -> Candidate:
    files = replay_files(old, new, now or {}, {})
    return Candidate(
        f"worktree:{name}", f"/{name}", "", "", label=name, old=files.old, new=files.new,
        digest=digest_of(old, new), conflicts=files.conflicts, disputed=files.disputed,
    )  # fmt: skip


def clean(seed: int) -> str:
    """Take a candidate whose base is the origin, beside another one; return what came out."""
    choice = Random(seed)
    old = {f"{n}.txt": some_side(choice, some_file(choice)) for n in range(choice.randint(1, 3))}
    ada, bo = (some_candidate(choice, name, dict(old)) for name in ("ada", "bo"))
    taken = take([[ada, bo]], [Choice(ada.id)])
    files = {path: side for path, side in old.items() if path in ada.old or path in ada.new}
    for file in taken.files:
        if file.old is not None:
            assert files.pop(file.old_path).data == file.old.data, seed
    for file in taken.files:
        if file.new is not None:
            files[file.path] = file.new
        if file.old is not None and file.new is not None:
            assert edited_beside(file.old, file.new, file.old).data == file.new.data, seed
    expected = {path: (side.mode, side.data) for path, side in ada.new.items()}
    got = {path: (side.mode, side.data) for path, side in files.items()}
    assert got == expected, (seed, old, got, expected)
    return "taken" if taken.files else "nothing to take"


def tagged(choice: Random, tags: list[str], end: bytes, wild: bool) -> list[bytes]:
    """Return lines that are told apart by their first words, in some encoding."""
    contents = CONTENTS[:10] if wild else (b"x", b"y", "é".encode())
    return [
        tag.encode() + b" " + choice.choice(contents).strip() + (end or choice.choice(ENDS))
        for tag in tags
    ]


def tag_of(line: bytes) -> str:
    return line.split(b" ", 1)[0].decode()


def lines_of(side: Side) -> list[bytes]:
    return byte_lines(side.data.removeprefix(MARK))


def edited(choice: Random, lines: list[bytes], letter: str, end: bytes) -> list[bytes]:
    """Return the lines with a few others in place of some."""
    lines = list(lines)
    for number in range(choice.randint(1, 3)):
        at = choice.randint(0, len(lines))
        tags = [f"{letter}{number}.{n}" for n in range(choice.randrange(3))]
        lines[at : at + choice.randrange(3)] = tagged(choice, tags, end, choice.random() < 0.5)
    return lines


def converted(choice: Random, lines: list[bytes]) -> list[bytes]:
    kind = choice.random()
    if kind < 0.15:
        end = choice.choice(ENDS)
        return [line.rstrip(b"\r\n") + end for line in lines]
    if kind < 0.25:
        return [line.decode("utf-8", "replace").encode("latin-1", "replace") for line in lines]
    return lines


def drifted(seed: int) -> str:
    """Take some hunks of a candidate onto a target that went on, beside edits of the user."""
    choice = Random(seed)
    end = choice.choice((*ENDS, b""))
    tags = [f"L{n}" for n in range(choice.randint(1, 12))]
    base = tagged(choice, tags, end, choice.random() < 0.5)
    revision = converted(choice, edited(choice, base, "N", end))
    origin = converted(choice, edited(choice, base, "O", end))
    working = converted(choice, edited(choice, origin, "W", end))
    sides = [
        Side("100644", (MARK if choice.random() < 0.1 else b"") + b"".join(lines))
        for lines in (base, revision, origin, working)
    ]
    if choice.random() < 0.2:
        sides = [Side("100644", side.data.rstrip(b"\r\n")) for side in sides]
    names = "f.txt"
    candidate = candidate_of("ada", {names: sides[0]}, {names: sides[1]}, {names: sides[2]})
    target = sides[2]
    hunks = [hunk for file in review_files([candidate]) for hunk in file.hunks]
    hunks = [hunk for hunk in hunks if choice.random() < 0.8]
    if not hunks or names not in candidate.new:
        return "no hunk"
    try:
        taken = take([[candidate]], [Choice(candidate.id, names, (h.lo, h.hi)) for h in hunks])
    except SourceError as error:
        if "the target changed" in error.reason:
            return "refused: in conflict"
        if "has no" not in error.reason:  # the encoding of the target, for a character
            raise
        return "refused: no such character"
    if not taken.files:
        return "no change"
    (file,) = taken.files
    assert file.new is not None, seed
    lines = lines_of(target)
    inside = {tag_of(lines[n]) for h in hunks for n in range(h.lo, h.hi)}
    own = set(map(tag_of, lines)) - inside
    kept = [line for line in lines if tag_of(line) in own]
    found = [line for line in lines_of(file.new) if tag_of(line) in own]
    assert _same(kept, found), (seed, kept, found)
    assert file.new.data.startswith(MARK) == target.data.startswith(MARK), seed
    if not _converts(sides[0], sides[1], target):
        # A hunk may also hold lines that the target itself has there, from both sides.
        theirs = {*lines_of(sides[1]), *lines}
        news = [line for line in lines_of(file.new) if tag_of(line) not in own]
        assert all(_known(line, theirs) for line in news), (seed, news)
    try:
        beside = edited_beside(target, file.new, sides[3])
    except SourceError:
        return "taken, refused beside the user's edits"
    mine = [line for line in lines_of(sides[3]) if tag_of(line) not in inside]
    found = [line for line in lines_of(beside) if tag_of(line) in set(map(tag_of, mine))]
    assert _same(mine, found), (seed, mine, found)
    return "taken, also beside the user's edits"


def _same(before: list[bytes], after: list[bytes]) -> bool:
    """Whether lines are the same bytes; the last may have got or lost its line end."""
    if len(before) != len(after):
        return False
    if not before:
        return True
    last = [lines[-1].rstrip(b"\r\n") for lines in (before, after)]
    return before[:-1] == after[:-1] and last[0] == last[1]


def _known(line: bytes, lines: set[bytes]) -> bool:
    return line in lines or line.rstrip(b"\r\n") in {known.rstrip(b"\r\n") for known in lines}


def _converts(*sides: Side) -> bool:
    known = [side.lines for side in sides]
    return len({(lines.end, lines.encoding) for lines in known if lines}) > 1


LAWS = {"clean": clean, "drifted": drifted}


def _tried(job: tuple[str, int]) -> tuple[str, str]:
    name, seed = job
    try:
        return LAWS[name](seed), ""
    except Exception as error:  # noqa: BLE001 - whatever it is, it breaks the law
        return "broken", f"{name} {seed}: {type(error).__name__}: {error}"


def main() -> int:
    count = int(sys.argv[1])
    start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    broken = 0
    with multiprocessing.Pool() as pool:
        for name in sys.argv[3:] or LAWS:
            jobs = ((name, seed) for seed in range(start, start + count))
            outcomes: Counter[str] = Counter()
            for outcome, problem in pool.imap_unordered(_tried, jobs, chunksize=100):
                outcomes[outcome] += 1
                if outcomes.total() % 10_000 == 0:
                    print(f"{name}: {outcomes.total():,}, {outcomes['broken']} broken", flush=True)
                if problem and outcomes["broken"] <= 20:
                    print(problem, flush=True)
            broken += outcomes["broken"]
            shown = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes.most_common())
            print(f"{name}: {count:,} change sets: {shown}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
