"""A client of plain JSON-RPC that notes when each message has arrived. One thread, no library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

Message = dict[str, Any]
URI = "file:///nowhere/benchmark.py"
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"relatedInformation": True},
    },
}


def opened(uri: str, text: str) -> Message:
    """Return what opens a document."""
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    return {"method": "textDocument/didOpen", "params": {"textDocument": document}}


class Client:
    """A session with a server of its own; `born` is when its process was asked for."""

    def __init__(self) -> None:
        self.born = perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", "excise_server", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._next = 0
        self.version = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: Message) -> float:
        """Send messages in one write; return when."""
        bodies = (json.dumps({"jsonrpc": "2.0"} | message).encode() for message in messages)
        data = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
        begin = perf_counter()
        self.process.stdin.write(data)
        self.process.stdin.flush()
        return begin

    def request(self, method: str, params: object = None) -> Message:
        """Return a request to send."""
        self._next += 1
        return {"id": self._next, "method": method, "params": params}

    def wait(self, wanted: Callable[[Message], bool]) -> tuple[float, Message]:
        """Return the first message that is wanted, and when it was there."""
        stream = self.process.stdout
        while header := stream.readline():
            length = int(header.removeprefix(b"Content-Length: "))
            stream.readline()
            body = stream.read(length)
            now = perf_counter()
            message = json.loads(body)
            if wanted(message):
                return now, message
        raise EOFError("the server has ended")

    def answer(self, request: Message) -> tuple[float, Message]:
        """Return the answer to a request, and when it was there."""
        return self.wait(lambda m: "method" not in m and m.get("id") == request["id"])

    def call(self, method: str, params: object = None) -> tuple[float, Message]:
        """Return how long a request took, and its answer."""
        request = self.request(method, params)
        begin = self.send(request)
        end, answer = self.answer(request)
        return end - begin, answer

    def initialize(self) -> float:
        """Begin the session; return the seconds since the process was asked for."""
        params = {"processId": None, "rootUri": None, "capabilities": CAPABILITIES}
        request = self.request("initialize", params)
        self.send(request)
        end, _ = self.answer(request)
        self.send({"method": "initialized", "params": {}})
        return end - self.born

    def open(self, text: str, revisions: list[str]) -> None:
        """Open a document and add its revisions; what is scored then is still to come."""
        self.version = 1
        self.send(opened(URI, text))
        if revisions:
            request = self.added(URI, revisions)
            self.send(request)
            _, answer = self.answer(request)
            if answer["result"]["rejected"]:
                raise RuntimeError(answer)

    def added(self, uri: str, texts: list[str]) -> Message:
        """Return the request that adds revisions to a document."""
        records = [{"id": f"r{number}", "text": text} for number, text in enumerate(texts)]
        return self.request("excise/addRevisions", {"uri": uri, "revisions": records})

    def keystroke(self, line: int, length: int, text: str) -> Message:
        """Return the change that puts one more character, or none, for the last of a line."""
        self.version += 1
        begin = length if text else length - 1
        span = {
            "start": {"line": line, "character": begin},
            "end": {"line": line, "character": length},
        }
        params = {
            "textDocument": {"uri": URI, "version": self.version},
            "contentChanges": [{"range": span, "text": text}],
        }
        return {"method": "textDocument/didChange", "params": params}

    def diagnostics(self) -> float:
        """Return when the diagnostics of the newest version are there."""

        def wanted(message: Message) -> bool:
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and message["params"].get("version") == self.version
            )

        return self.wait(wanted)[0]
