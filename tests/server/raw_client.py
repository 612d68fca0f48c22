"""A client of plain JSON-RPC over a real process: it shares no code, and no bugs, with pygls."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.server.process_tree import DEADLINE

MODULE = ["-m", "excise_server"]

PING = "excise/removeCandidates", {"ids": []}
"""A request that is answered at once, and changes nothing."""

Message = dict[str, Any]


class RawClient:
    """Speaks to `python -m excise_server`; everything received is kept in order."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, *MODULE, *(arguments or ("--stdio",))]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUTF8": "1"},
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.received: list[Message] = []
        self.log: list[str] = []
        self.opened: set[str] = set()
        self.added: set[str] = set()
        self._inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._log_lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()
        self._logger = threading.Thread(target=self._read_log, daemon=True)
        self._logger.start()

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                stream.close()

    # --- sending ---

    def send_bytes(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object, header: str = "Content-Length") -> None:
        body = json.dumps(message).encode()
        self.send_bytes(f"{header}: {len(body)}\r\n\r\n".encode() + body)

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: object = None) -> int:
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        return self._next

    # --- receiving ---

    def wait(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first message, from now on, that is wanted."""
        while True:
            message = self._inbox.get(timeout=DEADLINE)
            if message is None:
                raise EOFError("the server closed its output")
            self.received.append(message)
            if wanted(message):
                return message

    def answer(self, msg_id: int | str | None) -> Message:
        return self.wait(lambda m: "method" not in m and m.get("id") == msg_id)

    def call(self, method: str, params: object = None) -> Any:
        """Return the result of a request that must succeed."""
        answer = self.answer(self.request(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    def refused(self, method: str, params: object = None) -> Message:
        """Return the error of a request that must fail."""
        answer = self.answer(self.request(method, params))
        assert "result" not in answer, answer
        return answer["error"]

    def edited(self, method: str, params: object) -> tuple[Message, Any]:
        """Return the edit that a request makes the client do, and the request's result."""
        asked = self.request(method, params)
        edit = self.wait(lambda m: m.get("method") == "workspace/applyEdit")
        self.send({"jsonrpc": "2.0", "id": edit["id"], "result": {"applied": True}})
        answer = self.answer(asked)
        assert "error" not in answer, answer
        return edit["params"], answer["result"]

    def diagnostics(self, uri: str, version: int | None = None) -> list[Message]:
        """Wait for the diagnostics of a document (of a version), not for early ones."""

        def wanted(message: Message) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            params = message["params"]
            codes = {diagnostic["code"] for diagnostic in params["diagnostics"]}
            is_early = codes == {"hunk"}
            return (
                not is_early and params["uri"] == uri and version in (None, params.get("version"))
            )

        return self.wait(wanted)["params"]["diagnostics"]

    def next_log_line(self) -> str:
        """Wait for a line on the server's standard error."""
        return self._log_lines.get(timeout=DEADLINE)

    # --- a session ---

    def initialize(self, capabilities: Message | None = None, **params: Any) -> Message:
        result = self.call(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": capabilities or {}} | params,
        )
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        document = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        self.opened.add(uri)

    def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        self.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)}
        )

    def add(self, uri: str, revisions: dict[str, str], **more: Any) -> Message:
        records = [{"id": name, "text": text} for name, text in revisions.items()]
        self.added |= revisions.keys()
        return self.call("excise/addRevisions", {"uri": uri, "revisions": records} | more)

    def listed(self, uri: str) -> list[Message]:
        """Return ids and labels of a document's revisions, none where it is unknown."""
        found = self.answer(self.request("excise/review", {"uri": uri})).get("result")
        return [
            {name: c[name] for name in ("id", "label")} for c in (found or {}).get("candidates", ())
        ]

    def text_of(self, uri: str, name: str | None = None) -> str:
        """Return the text of a revision, or of the origin."""
        review = self.call("excise/review", {"uri": uri})
        own = {candidate["id"]: candidate["uri"] for candidate in review["candidates"]}
        shown = review["originUri"] if name is None else own[name]
        return self.call("workspace/textDocumentContent", {"uri": shown})["text"]

    def add_candidates(self, *candidates: Message, **more: Any) -> Message:
        self.added |= {candidate["id"] for candidate in candidates}
        return self.call("excise/addCandidates", {"candidates": list(candidates)} | more)

    @contextlib.contextmanager
    def in_folder(self, folder: Path) -> Iterator[RawClient]:
        """Have a workspace folder for some steps, and nothing of them left when they are done.

        So tests share a server, whose start costs more than most of what they ask it.
        """
        workspace = {"uri": folder.as_uri(), "name": folder.name}
        change = "workspace/didChangeWorkspaceFolders"
        self.received.clear()
        self.notify(change, {"event": {"added": [workspace], "removed": []}})
        yield self
        self.call("excise/removeCandidates", {"ids": sorted(self.added)})
        for uri in self.opened:
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.notify(change, {"event": {"added": [], "removed": [workspace]}})
        self.added.clear()
        self.opened.clear()

    def exit(self, *, shutdown: bool = True) -> int:
        """End the session; return the exit code."""
        if shutdown:
            self.call("shutdown")
        self.notify("exit")
        code = self.process.wait(timeout=DEADLINE)
        self._logger.join(timeout=DEADLINE)
        return code

    def _read(self) -> None:
        stream = self.process.stdout
        try:
            while header := stream.readline():
                length = int(header.removeprefix(b"Content-Length: "))
                assert stream.readline() == b"\r\n"
                self._inbox.put(json.loads(stream.read(length)))
        finally:
            self._inbox.put(None)

    def _read_log(self) -> None:
        for line in self.process.stderr:
            self.log.append(line.decode(errors="replace"))
            self._log_lines.put(self.log[-1])


@contextlib.contextmanager
def serving(capabilities: Message | None = None, **params: Any) -> Iterator[RawClient]:
    """Serve a client for some steps; in the end nothing may have gone wrong."""
    with RawClient() as client:
        client.initialize(capabilities, **params)
        yield client
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log), "\n".join(client.log)
