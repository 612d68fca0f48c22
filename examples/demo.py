"""A session with the language server, as an editor has it: run by `make demo`.

Starts `python -m excise_server`, opens inventory/inventory.py as the origin, adds the five
suggestions beside it, and prints what comes back: diagnostics, ranking, clusters and one hover.
Everything an editor's plugin needs to do is in `Client` and `session`; the rest is print.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

FOLDER = Path(__file__).parent / "inventory"
ORIGIN = FOLDER / "inventory.py"
SUGGESTIONS = sorted(FOLDER.glob("inventory.py.suggestion-*"))
SECONDS = 60
"""After so long without an end the server is taken for dead."""

Message = dict[str, Any]


# --- the client: JSON-RPC over the server's standard input and output ----------------------------


class Client:
    """Sends requests and notifications; notifications that come back are kept by their method."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "excise_server", "--stdio"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.notifications: dict[str, Message] = {}
        self._last = 0
        self._watchdog = threading.Timer(SECONDS, self.process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def notify(self, method: str, params: Message) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Message | None = None) -> Any:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while (answer := self._receive()).get("id") != self._last:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait_for(self, method: str, version: int) -> Message:
        """Return the last notification of a method about a version of the document."""
        while self.notifications.get(method, {}).get("version") != version:
            self._receive()
        return self.notifications.pop(method)

    def close(self) -> None:
        self.request("shutdown")
        self.notify("exit", {})
        code = self.process.wait(SECONDS)
        self._watchdog.cancel()
        if code != 0:
            raise RuntimeError(f"the server ended with {code}")

    def _send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def _receive(self) -> Message:
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not length:
            raise RuntimeError("the server closed its output")
        message = json.loads(self.process.stdout.read(length))
        if "id" not in message:
            self.notifications[message["method"]] = message["params"]
        return message


# --- the session ---------------------------------------------------------------------------------


def session(client: Client) -> Iterator[RenderableType]:
    """Yield what an editor shows, in the order in which it learns it."""
    capabilities = {
        "general": {"positionEncodings": ["utf-32"]},
        "textDocument": {"hover": {"contentFormat": ["markdown"]}},
    }
    client.request("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
    client.notify("initialized", {})

    uri, text = ORIGIN.as_uri(), ORIGIN.read_text(encoding="utf-8")
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    yield Rule("1  an editor opens a file, and adds five suggestions for it", align="left")
    yield f"[bold]{ORIGIN.relative_to(FOLDER.parent.parent)}[/], {text.count(chr(10))} lines"

    revisions = [
        {"id": path.name.rpartition("-")[2], "text": path.read_text(encoding="utf-8")}
        for path in SUGGESTIONS
    ]
    answer = client.request("excise/addRevisions", {"uri": uri, "revisions": revisions})
    if answer["rejected"]:
        raise RuntimeError(f"rejected: {answer['rejected']}")
    yield f"accepted: {', '.join(answer['accepted'])}\n"

    published = client.wait_for("textDocument/publishDiagnostics", 1)["diagnostics"]
    yield Rule("2  its diagnostics: where the suggestions diverge", align="left")
    yield editor(text, published)

    report = client.request("excise/report", {"uri": uri})
    yield Rule("3  the ranking: the edit that most make, then what is nearest to all", align="left")
    yield ranking(report)
    yield Rule("4  the clusters: which of them are alike", align="left")
    yield clusters(report)

    hunk = min(report["hunks"], key=lambda hunk: hunk["agree"])
    where = {"textDocument": {"uri": uri}, "position": hunk["range"]["start"]}
    hover = client.request("textDocument/hover", where)
    line = hunk["range"]["start"]["line"] + 1
    yield Rule(f"5  a hover explains one hunk: line {line}", align="left")
    yield Panel(Markdown(hover["contents"]["value"]), border_style="dim")
    yield Text(report["signature"], "dim")


# --- print ---------------------------------------------------------------------------------------


def editor(text: str, diagnostics: list[Message]) -> RenderableType:
    """Return the lines around each diagnostic, and below them what it says."""
    lines = text.split("\n")
    parts: list[RenderableType] = []
    shown = 0
    for found in sorted(diagnostics, key=lambda d: d["range"]["start"]["line"]):
        span = found["range"]
        first, last = span["start"]["line"], span["end"]["line"]
        gap = span["start"] == span["end"]
        begin, end = max(first - 1, shown), first if gap else last + 1
        if begin > shown:
            parts.append(Text("     ⋮", "dim"))
        for number in range(begin, end):
            inside = number >= first and not gap
            parts.append(code_line(number, lines[number], inside))
        shown = max(shown, end)
        headline = found["message"].partition("\n")[0]
        parts.append(Text.assemble("     ", ("╰─ ", "blue"), ("ⓘ ", "bold blue"), headline))
    return Group(*parts, "")


def code_line(number: int, line: str, inside: bool) -> RenderableType:
    code = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(line)
    code.rstrip()
    mark = ("▌", "bold blue") if inside else " "
    return Text.assemble(
        (f"{number + 1:>4} ", "dim"), mark, code, no_wrap=True, overflow="ellipsis"
    )


def ranking(report: Message) -> RenderableType:
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name in ("rank", "suggestion", "tokens edited", "cluster", "why"):
        table.add_column(name, justify="right" if name in ("rank", "tokens edited") else "left")
    for revision in sorted(report["revisions"], key=lambda r: r["rank"]):
        table.add_row(
            str(revision["rank"]),
            Text(revision["id"], "bold green" if revision["rank"] == 1 else ""),
            str(revision["editSize"]),
            str(revision["cluster"]),
            "; ".join((*revision["why"], *revision["notes"])),
        )
    return Group(table, "")


def clusters(report: Message) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    ids = [revision["id"] for revision in report["revisions"]]
    for number, cluster in enumerate(report["clusters"], start=1):
        best = cluster["representative"]
        members = Text.assemble(("● ", "green"), (best, "bold"))
        for member in cluster["members"]:
            if member != best:
                score = report["similarity"][ids.index(best)][ids.index(member)]
                members.append(f"   {member} ({score:.2f})")
        table.add_row(f"   {number}", members)
    return Group(table, Text("     ● stands for the others; (similarity to it)\n", "dim"))


def main() -> int:
    console = Console()
    client = Client()
    try:
        for part in session(client):
            console.print(part)
        client.close()
    except (OSError, RuntimeError, LookupError, ValueError, TypeError) as error:
        Console(stderr=True).print(f"demo failed: {error!r}", style="bold red", markup=False)
        return 1
    finally:
        client.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
