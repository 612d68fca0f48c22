"""Random sequences of messages against the real process: always an answer, never a hang.

A model of the protocol's rules says of every request what its answer must be: the error of the
specification, or anything that is no traceback. Each sequence ends by asking for one more answer,
so a server that has stopped listening fails the test.
"""

import json
from random import Random

import pytest
from tests.reference.budget import scaled
from tests.server.raw_client import PING, Message, RawClient

from excise_server.wire import lsp as p

pytestmark = pytest.mark.slow

PARSE, INVALID_REQUEST, NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL, NOT_INITIALIZED, CANCELLED = -32603, -32002, -32800
STEPS = 60
SEQUENCES = scaled(12)

METHODS = [*sorted(p.METHODS.keys() - {p.SHOW}), "textDocument/hover", "workspace/executeCommand"]
"""All but the one that shows something to the user."""
NOTIFICATIONS = [
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "workspace/didChangeWatchedFiles",
    "workspace/didChangeWorkspaceFolders",
    "initialized",
    "$/setTrace",
    "no/such",
]
UNKNOWN = ["no/such", "$/ask", "", "textDocument/documentSymbol", "excise/", "__class__"]
MALFORMED = [
    b"Content-Length: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"Content-Length: 1\r\n\r\n{",
    b"Content-Length: 2\r\n\r\n[]",
    b"Content-Length: 4\r\n\r\nnull",
    b"Content-Length: 2\r\n\r\n\xff\xfe",
    b"Content-Type: x\r\n\r\n",
    b"Content-Length: -5\r\n\r\n",
    b"Content-Length: 99999999999\r\n\r\n",
    b"Content-Length: 16\r\n\r\n" + b'{"jsonrpc": "2"}',
]


class Fuzzer:
    """Sends random messages, and keeps what must come of each."""

    def __init__(self, client: RawClient, random: Random) -> None:
        self.client, self.random = client, random
        self.expected: dict[str, set[int] | None] = {}
        self.nameless = 0
        self.initialized = self.shut_down = False
        self.uris = ["untitled:a", "untitled:b", "file:///nowhere/c.py", "", "no uri", "%zz:\0"]

    def step(self) -> None:
        choices = [self.ask] * 6 + [self.tell] * 6 + [self.ask_wrongly] * 3
        choices += [self.cancel, self.twice, self.malformed, self.respond]
        self.random.choice(choices)()

    # --- what may be sent ---

    def ask(self) -> None:
        method = self.random.choice(METHODS)
        self.request(method, self.params(method))

    def ask_wrongly(self) -> None:
        if self.random.random() < 0.4:
            self.request(self.random.choice(UNKNOWN), self.junk(), codes={NOT_FOUND})
        else:
            self.request(self.random.choice(METHODS), self.junk(), codes={INVALID_PARAMS})

    def tell(self) -> None:
        method = self.random.choice(NOTIFICATIONS)
        params = self.params(method) if self.random.random() < 0.8 else self.junk()
        self.client.notify(method, params)

    def cancel(self) -> None:
        known = list(self.expected) or ["nobody"]
        self.client.notify("$/cancelRequest", {"id": self.random.choice([*known[-3:], 7, None])})

    def twice(self) -> None:
        """Send an id again while it may still be in use: each message has its answer."""
        self.ask()
        name = next(reversed(self.expected))
        self.expected[f"{name} again"] = None
        params = {"uri": self.random.choice(self.uris)}
        self.send(name, "excise/report", params)

    def malformed(self) -> None:
        self.client.send_bytes(self.random.choice(MALFORMED))
        self.nameless += 1

    def respond(self) -> None:
        self.client.send({"jsonrpc": "2.0", "id": self.random.choice([1, "x"]), "result": 1})

    # --- with what ---

    def request(self, method: str, params: object, codes: set[int] | None = None) -> None:
        name = f"{len(self.expected)}"
        if not self.initialized:
            codes = {NOT_INITIALIZED}
        if self.shut_down:
            codes = {INVALID_REQUEST}
        self.expected[name] = codes
        self.send(name, method, params)

    def send(self, name: str, method: str, params: object) -> None:
        self.client.send({"jsonrpc": "2.0", "id": name, "method": method, "params": params})

    def junk(self) -> object:
        return self.random.choice(
            [None, 7, "x", [], [1], {"uri": 7}, {"uri": None}, {"revisions": []}, {"command": 1}]
        )

    def params(self, method: str) -> Message:
        uri = self.random.choice(self.uris)
        document = {"uri": uri, "version": self.random.randrange(-3, 9)}
        match method.rpartition("/")[2]:
            case "addRevisions":
                texts = [{"id": self.random.choice("ab"), "text": self.text()} for _ in range(2)]
                return {"uri": uri, "revisions": texts}
            case "removeCandidates":
                return {"uri": uri, "ids": ["a"]}
            case "didOpen":
                return {"textDocument": document | {"languageId": "python", "text": self.text()}}
            case "didChange":
                edit = {"range": {"start": self.position(), "end": self.position()}}
                changes = [edit | {"text": self.text()}, {"text": self.text()}]
                return {"textDocument": document, "contentChanges": changes}
            case "executeCommand":
                return {"command": "excise.apply", "arguments": [{"uri": uri}]}
            case "didChangeWatchedFiles":
                return {"changes": [{"uri": uri, "type": 1}]}
            case "didChangeWorkspaceFolders":
                return {"event": {"added": [], "removed": [{"uri": uri, "name": "x"}]}}
        return {"uri": uri, "textDocument": document, "position": self.position()}

    def position(self) -> Message:
        numbers = [0, 1, 2, 5, 2**31 - 1]
        return {"line": self.random.choice(numbers), "character": self.random.choice(numbers)}

    def text(self) -> str:
        return "".join(self.random.choices("ab \n\r\x0c\u2028😋`<", k=self.random.randrange(20)))

    # --- what must come ---

    def settle(self) -> None:
        """Ask for a last answer, wait for all, and hold each against what was expected."""
        self.request(*PING)
        answers: dict[str, list[Message]] = {}
        nameless = 0
        wanted = len(self.expected)
        while sum(map(len, answers.values())) < wanted or nameless < self.nameless:
            message = self.client.wait(lambda m: "method" not in m)
            if message["id"] is None:
                nameless += 1
                assert message["error"]["code"] in (PARSE, INVALID_REQUEST)
            else:
                answers.setdefault(message["id"], []).append(message)
        assert nameless == self.nameless
        for name, codes in self.expected.items():
            got = answers[name.removesuffix(" again")]
            found = [answer.get("error", {}).get("code") for answer in got]
            if codes is not None and len(got) == 1:
                assert found[0] in codes | {CANCELLED}, (name, got)
            assert INTERNAL not in found, got
        self.expected.clear()
        self.nameless = 0


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_every_message_of_a_random_sequence_is_answered(seed: int):
    random = Random(seed)
    with RawClient() as client:
        fuzzer = Fuzzer(client, random)
        for _ in range(random.randrange(STEPS // 4)):
            fuzzer.step()
        fuzzer.settle()
        client.initialize()
        fuzzer.initialized = True
        for _ in range(STEPS):
            fuzzer.step()
        fuzzer.settle()
        client.call("shutdown")
        fuzzer.shut_down = True
        for _ in range(random.randrange(STEPS // 4)):
            fuzzer.step()
        fuzzer.settle()
        assert client.exit(shutdown=False) == 0
        wire = json.dumps(client.received)
        assert "Traceback" not in wire
        assert "showMessage" not in wire
        assert not any("Traceback" in line for line in client.log), client.log
