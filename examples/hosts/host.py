"""A host program in Python: start `excise serve`, ask for a review of a repository, print it.

python host.py REPOSITORY [METHOD]      METHOD: candidates, land or since; candidates if absent
"""

import json
import subprocess
import sys
from pathlib import Path


class Excise:
    """A running server. It answers one question after another; texts never leave the machine."""

    def __init__(self, folder: Path) -> None:
        """Start the server for one workspace folder, which the user trusts."""
        self.uri, self._last = folder.resolve().as_uri(), 0
        self._server = subprocess.Popen(
            ["excise", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        folders = [{"uri": self.uri, "name": folder.name}]
        self.ask("initialize", processId=None, capabilities={}, workspaceFolders=folders)
        self._send({"method": "initialized", "params": {}})

    def ask(self, method: str, **params: object) -> dict:
        """Send a request, and return its result. Notifications of the server are passed over."""
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while True:
            length = 0
            while header := self._server.stdout.readline().strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            message = json.loads(self._server.stdout.read(length))
            if message.get("id") == self._last and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]

    def close(self) -> None:
        """End the server."""
        self.ask("shutdown")
        self._send({"method": "exit"})
        self._server.wait()

    def _send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._server.stdin.flush()


if __name__ == "__main__":
    excise = Excise(Path(sys.argv[1]))
    method = sys.argv[2] if len(sys.argv) > 2 else "candidates"
    print(json.dumps(excise.ask(f"excise/{method}", uri=excise.uri), indent=2))
    excise.close()
