"""`make fuzz`: random inputs against everything that reads what others wrote.

python -m tests.fuzz [--seconds N] [--seed N] [--out FOLDER] [TARGET..]
python -m tests.fuzz --replay FILE
"""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz import lane, sanitized
from tests.fuzz.targets import TARGETS

# How much of the time a target gets: where an input is slow, or may be one of very many.
SHARES = {"growth": 4, "grammars": 4, "session": 2, "repositories": 2, "engines": 2, "mails": 2}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(names()))
    parser.add_argument("--seconds", type=float, default=120.0, help="in all")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--no-corpus", dest="corpus", action="store_false")
    parser.add_argument("--replay", type=Path, metavar="FILE")
    given = parser.parse_args()
    if given.replay:
        return replay(given.replay)
    chosen = given.targets or names()
    if unknown := set(chosen) - set(names()):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    return fuzz(chosen, given)


def names() -> list[str]:
    return [*TARGETS, *(f"{name}{sanitized.SUFFIX}" for name in sanitized.NAMES)]


def fuzz(chosen: list[str], given: argparse.Namespace) -> int:
    """Run the targets one after the other; return 1 if anything was found."""
    total = sum(SHARES.get(name, 1) for name in chosen)
    print(f"seed {given.seed}, {given.seconds:.0f} s, findings go to {given.out}", flush=True)
    count = 0
    for name in chosen:
        plain, environment = prepared(name)
        if plain != name and environment is None:
            print(f"{name:22}   skipped: no compiler with the sanitizers", flush=True)
            continue
        start = time.monotonic()
        outcome = lane.run(
            plain,
            seed=given.seed,
            seconds=given.seconds * SHARES.get(name, 1) / total,
            kept=given.out,
            environment=environment,
            corpus=given.corpus,
            label=name,
        )
        spent = time.monotonic() - start
        state = f"{len(outcome.findings)} found" if outcome.findings else "nothing found"
        print(f"{name:22} {outcome.inputs:8} inputs {spent:6.1f} s   {state}", flush=True)
        for path, message, after in outcome.findings:
            print(f"  after {after:.0f} s: {message}\n    {lane.replay_command(path)}", flush=True)
        count += len(outcome.findings)
    return int(count > 0)


def prepared(name: str) -> tuple[str, dict[str, str] | None]:
    """Return the target of a name, and what its processes need in their environment."""
    plain = name.removesuffix(sanitized.SUFFIX)
    return plain, None if plain == name else sanitized.environment()


def replay(path: Path) -> int:
    """Try one input again, in a process that may die of it."""
    plain, environment = prepared(path.parent.name)
    code, out, err = lane.child((plain, str(path.absolute())), environment, 600.0)
    print(out + err, end="")
    print(lane.reason(code, err) if code else "nothing happens")
    return int(code != 0)


if __name__ == "__main__":
    sys.exit(main())
