"""What a review costs the server alone: the second table of `make bench-lsp`.

CPU is that of the server and its workers, so that it does not depend on what else the machine does.
Every event has a process of its own, but for the keys.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import workloads
from lsp_client import URI, Client, Message, opened
from measure import percentiles

TICKS = os.sysconf("SC_CLK_TCK")
BESIDE = "file:///nowhere/beside.py"

Found = list[float]


def cpu(client: Client) -> float:
    """Return the CPU seconds that a server and its workers have used until now."""
    used, todo = 0.0, [client.process.pid]
    while todo:
        pid = todo.pop()
        try:
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            for thread in Path(f"/proc/{pid}/task").iterdir():
                todo += map(int, (thread / "children").read_text().split())
        except FileNotFoundError:
            continue
        used += sum(map(int, stat[11:15])) / TICKS
    return used


def large(count: int = 3000) -> list[str]:
    """Return the lines of a document with 200 hunks."""
    return [f"x{n} = {n}" for n in range(count)]


def candidates(lines: list[str], count: int) -> list[str]:
    """Return texts that differ from a document in every fifteenth line."""
    return [
        "\n".join(f"{line} + y{n % 4}" if at % 15 == 5 else line for at, line in enumerate(lines))
        for n in range(count)
    ]


def marked(client: Client, uri: str | None = None) -> Message:
    """Wait for the first marks of a document, or of any."""
    return client.wait(
        lambda m: (
            m.get("method") == "textDocument/publishDiagnostics"
            and uri in (None, m["params"]["uri"])
            and bool(m["params"]["diagnostics"])
        )
    )[1]


def initialize(events: int) -> Iterator[float]:
    """CPU of a process until it has answered initialize, before it starts a worker."""
    for _ in range(events):
        with Client() as client:
            request = client.request("initialize", {"processId": None, "capabilities": {}})
            client.send(request)
            client.answer(request)
            yield cpu(client)


def first_mark(events: int, candidates: int = 5) -> Iterator[float]:
    """CPU from opening a document of 2,000 lines with candidates to its first mark.

    What starting a worker costs is part of it where that has not begun yet.
    """
    text, texts = workloads.text_b(), workloads.revisions_of_b(candidates)
    for _ in range(events):
        with Client() as client:
            client.initialize()
            before = cpu(client)
            client.send(opened(URI, text), client.added(URI, texts))
            marked(client, URI)
            yield cpu(client) - before


def six_megabytes(events: int) -> Iterator[float]:
    """The same for a file of 6 MB with two candidates."""
    lines = [f"    value_{n} = compute({n}, {n % 7})" for n in range(160_000)]
    other = [*lines]
    other[1000], other[80_000] = "    pass", "    value = None"
    for _ in range(max(1, events // 20)):
        with Client() as client:
            client.initialize()
            before = cpu(client)
            texts = ["\n".join(other), "\n".join(other[:-1])]
            client.send(opened(URI, "\n".join(lines)), client.added(URI, texts))
            marked(client, URI)
            yield cpu(client) - before


def visible_first(events: int) -> Iterator[float]:
    """Whether what is looked at has marks before a document that was asked for earlier."""
    text, few, many = workloads.text_b(), workloads.revisions_of_b(5), workloads.revisions_of_b(64)
    for _ in range(max(1, events // 5)):
        with Client() as client:
            client.initialize()
            client.send(opened(BESIDE, text), client.added(BESIDE, many), opened(URI, text),
                        client.added(URI, few))  # fmt: skip
            yield float(marked(client)["params"]["uri"] == URI)


def keys(events: int, rows: dict[str, Found]) -> None:
    """Note what each key costs and sends, in a document with 20 candidates."""
    lines, rng = large(), random.Random(workloads.SEED)
    with Client() as client:
        client.initialize()
        client.send(opened(URI, "\n".join(lines)), client.added(URI, candidates(lines, 20)))
        marked(client, URI)
        for _ in range(events):
            before = cpu(client)
            client.send(client.keystroke(rng.randrange(len(lines)), 0, "#"))
            message = marked(client, URI)
            rows["a key: CPU ms"].append((cpu(client) - before) * 1e3)
            rows["a key: kB sent"].append(len(json.dumps(message, separators=(",", ":"))) / 1e3)


def large_key(events: int) -> Iterator[float]:
    """CPU milliseconds of a key in a file of 3.5 MB with two candidates, marks included."""
    lines = [f"    value_{n} = compute({n}, {n % 7})" for n in range(96_000)]
    texts = [[*lines[:at], "    pass", *lines[at + 1 :]] for at in (1_000, 50_000)]
    with Client() as client:
        client.initialize()
        client.send(opened(URI, "\n".join(lines)), client.added(URI, ["\n".join(t) for t in texts]))
        marked(client, URI)
        for number in range(events):
            before = cpu(client)
            client.send(client.keystroke(100 * number, 0, "#"))
            marked(client, URI)
            yield (cpu(client) - before) * 1e3


def table(events: int) -> str:
    """Return the table, in Markdown: p50, p95 and the maximum of so many events."""
    rows: dict[str, Found] = {
        "initialize: CPU s": list(initialize(events)),
        "open to first mark: CPU s": list(first_mark(events)),
        "the same, 64 candidates": list(first_mark(events, 64)),
        "6 MB to first mark: CPU s": list(six_megabytes(events)),
        "the document that is looked at comes first (1: yes)": list(visible_first(events)),
        "a key, 3.5 MB: CPU ms": list(large_key(events)),
    }
    rows |= {name: [] for name in BUDGETS if name not in rows}
    keys(events, rows)
    lines = ["| | budget | p50 / p95 / max | events |", "|---|---|---|---|"]
    for name, found in rows.items():
        lines.append(f"| {name} | {BUDGETS[name]} | {percentiles(found, '.3g')} | {len(found)} |")
    return "\n".join(lines)


BUDGETS = {
    "initialize: CPU s": ".3",
    "open to first mark: CPU s": ".3",
    "the same, 64 candidates": ".5",
    "6 MB to first mark: CPU s": "1.5",
    "the document that is looked at comes first (1: yes)": "1",
    "a key, 3.5 MB: CPU ms": "40",
    "a key: CPU ms": "-",
    "a key: kB sent": "25",
}
