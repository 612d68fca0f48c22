"""What the language server costs an editor: `make bench-lsp`. Prints a table, asserts nothing.

Every figure is seen from outside, through the pipe, JSON and all. The document has 2,000 lines (the
standard library's typing.py); its revisions differ from it in 11 places each. Beside them stands
the same server on the same document without revisions: nothing is ever scored there.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

import lsp_budgets
import workloads
from lsp_client import URI, Client, Message
from measure import percentiles

from excise_server.lsp.scheduler import DEBOUNCE

SHORTEST = 0.02
"""Seconds, at most, between the begin of the scoring and what is to interrupt it."""

CANCELLED = -32800


@dataclass
class Bench:
    """One document with its revisions, and the characters typed into it."""

    revisions: int
    events: int
    processes: int
    text: str = field(default_factory=workloads.text_b)
    rng: random.Random = field(default_factory=lambda: random.Random(workloads.SEED))

    def __post_init__(self) -> None:
        """Find the comments: what is typed there is typed into tokens, and leaves the syntax."""
        self.lines = self.text.split("\n")
        self.comments = [at for at, line in enumerate(self.lines) if line.lstrip().startswith("#")]
        self.texts = workloads.revisions_of_b(self.revisions) if self.revisions else []
        self.typed: int | None = None

    def type(self, client: Client) -> Message:
        """Return the next keystroke: a character at the end of a comment, then its removal."""
        if self.typed is None:
            self.typed = self.rng.choice(self.comments)
            return client.keystroke(self.typed, len(self.lines[self.typed]), "x")
        line, self.typed = self.typed, None
        return client.keystroke(line, len(self.lines[line]) + 1, "")

    def session(self) -> Client:
        """Return a session with the document and its revisions."""
        client = Client()
        client.initialize()
        client.open(self.text, self.texts)
        return client

    # --- what is measured; each yields seconds ---

    def keystrokes(self, client: Client) -> Iterator[float]:
        """From a change to the answer of a trivial request behind it, in the pause."""
        for _ in range(self.events):
            trivial = client.request("excise/removeCandidates", {"ids": []})
            begin = client.send(self.type(client), trivial)
            yield client.answer(trivial)[0] - begin

    def keystrokes_while_scoring(self, client: Client) -> Iterator[float]:
        """The same while the worker scores everything anew: the change makes that stale."""
        for _ in range(self.events if self.texts else 0):
            report = self.score_anew(client)
            trivial = client.request("excise/removeCandidates", {"ids": []})
            begin = client.send(self.type(client), trivial)
            yield client.answer(trivial)[0] - begin
            client.send({"method": "$/cancelRequest", "params": {"id": report["id"]}})
            client.answer(report)

    def diagnostics(self, client: Client) -> Iterator[float]:
        """From a change to its diagnostics, without the pause: ranges move, scores stay."""
        for _ in range(self.events if self.texts else 0):
            begin = client.send(self.type(client))
            yield client.diagnostics() - begin - DEBOUNCE

    def diagnostics_of_origin(self, client: Client) -> Iterator[float]:
        """The same after the review started again: the origin is new, every pair scored anew."""
        for _ in range(self.events if self.texts else 0):
            begin = client.send(self.type(client), *self.new_origin(client))
            yield client.diagnostics() - begin - DEBOUNCE

    def diagnostics_of_revision(self, client: Client) -> Iterator[float]:
        """The same after one revision is replaced: its pairs are scored anew."""
        for event in range(self.events if self.texts else 0):
            at = self.rng.randrange(len(self.texts))
            text = self.texts[at].replace("# ", f"# {event} ", 1)
            record = {"id": f"r{at}", "text": text}
            params = {"uri": URI, "revisions": [record]}
            begin = client.send(client.request("excise/addRevisions", params))
            yield client.diagnostics() - begin - DEBOUNCE

    def hovers(self, client: Client) -> Iterator[float]:
        """Hovers over hunks that have been scored; one in ten over the first line."""
        lines = [0]
        if self.texts:
            hunks = client.call("excise/report", {"uri": URI})[1]["result"]["hunks"]
            lines = [hunk["range"]["start"]["line"] for hunk in hunks]
        for event in range(self.events):
            line = 0 if event % 10 == 0 else self.rng.choice(lines)
            where = {"textDocument": {"uri": URI}, "position": {"line": line, "character": 0}}
            yield client.call("textDocument/hover", where)[0]

    def cancellations(self, client: Client) -> Iterator[float]:
        """From the cancel of a report, under way, to the answer that it is cancelled."""
        found = 0
        while found < self.events and self.texts:
            report = self.score_anew(client)
            begin = client.send({"method": "$/cancelRequest", "params": {"id": report["id"]}})
            end, answer = client.answer(report)
            if answer.get("error", {}).get("code") == CANCELLED:  # else it was done before
                found += 1
                yield end - begin

    def starts_and_exits(self) -> Iterator[tuple[float, float]]:
        """From the process to the answer of initialize; from shutdown and exit to its end."""
        for _ in range(self.processes):
            with Client() as client:
                started = client.initialize()
                client.open(self.text, self.texts)
                self.score_anew(client)
                leave = client.request("shutdown")
                begin = client.send(leave, {"method": "exit", "params": None})
                client.process.wait()
                yield started, perf_counter() - begin

    # --- helpers ---

    def new_origin(self, client: Client) -> tuple[Message, Message]:
        """Return what makes the buffer the origin: a save alone does not, in a review."""
        document = {"textDocument": {"uri": URI}}
        again = client.request("excise/startAgain", {"uri": URI})
        return {"method": "textDocument/didSave", "params": document}, again

    def score_anew(self, client: Client) -> Message:
        """Have everything scored, at once and not after the pause; return while it is."""
        report = client.request("excise/report", {"uri": URI})
        client.send(self.type(client), *self.new_origin(client), report)
        time.sleep(self.rng.uniform(0, SHORTEST))
        return report


ROWS: dict[str, tuple[str, Callable[[Bench, Client], Iterator[float]]]] = {
    "keystroke": ("5", Bench.keystrokes),
    "keystroke while scoring": ("5", Bench.keystrokes_while_scoring),
    "diagnostics after a keystroke": ("300", Bench.diagnostics),
    "diagnostics after a revision": ("300", Bench.diagnostics_of_revision),
    "diagnostics after starting again": ("300", Bench.diagnostics_of_origin),
    "hover": ("50", Bench.hovers),
    "cancellation": ("50", Bench.cancellations),
}


def written(seconds: list[float]) -> str:
    """Return p50, p95 and the maximum in milliseconds."""
    return percentiles([value * 1e3 for value in seconds], ".1f")


def measured(bench: Bench) -> dict[str, list[float]]:
    """Return the seconds of every row."""
    found: dict[str, list[float]] = {}
    with bench.session() as client:
        for name, (_, measure) in ROWS.items():
            client.call("excise/report", {"uri": URI})  # nothing is under way when a row begins
            found[name] = list(measure(bench, client))
            tell(bench, name, found[name])
    ends = list(bench.starts_and_exits())
    found["initialize"] = [started for started, _ in ends]
    found["exit while scoring"] = [ended for _, ended in ends]
    return found


def tell(bench: Bench, name: str, seconds: list[float]) -> None:
    """Say on standard error what has been found: the table takes minutes."""
    print(f"{bench.revisions} revisions: {name}: {written(seconds)}", file=sys.stderr, flush=True)


def main() -> None:
    """Print the table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200, help="of each kind (default 200)")
    parser.add_argument("--processes", type=int, default=20, help="started and ended (default 20)")
    parser.add_argument("--revisions", type=int, nargs="*", default=[5, 64, 0])
    chosen = parser.parse_args()
    columns = [
        measured(Bench(revisions, chosen.events, chosen.processes))
        for revisions in chosen.revisions
    ]
    print(f"p50 / p95 / max in ms; {chosen.events} events, {chosen.processes} processes\n")
    heads = [f"{k} revisions" if k else "no revisions" for k in chosen.revisions]
    print(f"| | budget | {' | '.join(heads)} |")
    print(f"|---|---|{'---|' * len(heads)}")
    budgets = {name: budget for name, (budget, _) in ROWS.items()}
    for name, budget in (budgets | {"initialize": "1000", "exit while scoring": "1000"}).items():
        print(f"| {name} | {budget} | {' | '.join(written(c[name]) for c in columns)} |")
    print(f"\nBudgets of a review, the server alone\n\n{lsp_budgets.table(chosen.events // 2)}")


if __name__ == "__main__":
    main()
