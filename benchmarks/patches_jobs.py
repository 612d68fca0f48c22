"""The command on a mailbox of many patches, with one process and with two (`make bench-patches`).

    EXCISE_DATA=DIR python benchmarks/patches_jobs.py [N]

The patches are those of `patches_scale.py`. Wall times mean something only where nothing else runs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import seconds_of_children
from patches_scale import texts

ENTRY = "import sys; from excise_server.cli import main; sys.exit(main())"


def mailbox(n: int, path: Path) -> None:
    """Write n patches as mails, with every line quoted that would begin another mail."""
    with path.open("wb") as file:
        for at, text in enumerate(texts(n)):
            head = (
                f"From: A <a@b>\nMessage-ID: <{at}@b>\nSubject: [PATCH] change {at}\n\nWhy.\n---\n"
            )
            body = re.sub(rb"(?m)^(>*From )", rb">\1", text)
            file.write(b"From a@b Mon Sep 17 00:00:00 2001\n" + head.encode() + body)
            file.write(b"-- \n2.40\n\n" if body.endswith(b"\n") else b"\n-- \n2.40\n\n")


def jobs(n: int, rounds: int = 3) -> None:
    """Print what the command takes with one process and with two, in turn, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        box = Path(folder) / "queue.mbox"
        mailbox(n, box)
        least: dict[int, float] = {}
        printed = set()
        print("| jobs | wall s | CPU s of all processes | groups |\n|---|---|---|---|")
        for number in (1, 2) * rounds:
            chosen = ["cluster", str(box), "--format", "json"]
            before, start = seconds_of_children(), time.perf_counter()
            ran = subprocess.run(
                [sys.executable, "-c", ENTRY, *chosen],
                check=True,
                capture_output=True,
                env={**os.environ, "EXCISE_JOBS": str(number)},
            )
            wall, used = time.perf_counter() - start, seconds_of_children() - before
            printed.add(ran.stdout)
            groups = len(json.loads(ran.stdout)["clusters"])
            print(f"| {number} | {wall:.1f} | {used:.1f} | {groups:,} |", flush=True)
            least[number] = min(wall, least.get(number, wall))
    print(f"{n:,} patches, the shortest of {rounds}: two processes {least[1] / least[2]:.2f} times")
    print(f"as fast as one (goal: 1.7); the same bytes: {len(printed) == 1}")


if __name__ == "__main__":
    jobs(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
