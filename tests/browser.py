"""A real Chromium without a window, driven over its own pipe: no driver, no further package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic",
    "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe",
    # Whatever a page asks of the network fails, and is then seen as an error.
    "--proxy-server=127.0.0.1:9",
)  # fmt: skip
_SECONDS = 240.0
# Chromium reads from descriptor 3 and writes to 4, whatever these are called here.
_START = """import os, sys
from fcntl import F_DUPFD, fcntl
read, write = (fcntl(int(end), F_DUPFD, 10) for end in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.closerange(5, 100)
os.execv(sys.argv[3], sys.argv[3:])"""


class Browser:
    """One page. `problems` holds what it said on its console, threw, or was kept from doing."""

    def __init__(self, profile: Path, *, width: int = 1280, height: int = 800) -> None:
        assert CHROMIUM is not None
        self._read, write = os.pipe()
        read, self._write = os.pipe()
        size = f"--window-size={width},{height}"
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START,
                str(read),
                str(write),
                CHROMIUM,
                *_FLAGS,
                f"--user-data-dir={profile}",
                size,
            ],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(read)
        os.close(write)
        self._number, self._buffer, self._session = 0, b"", None
        self.problems: list[str] = []
        self._events: list[dict] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._session = None
            self._send("Browser.close", {})
            self._process.wait(20)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._read)
            os.close(self._write)

    def open(self, url: str, *, dark: bool = False) -> None:
        """Show a page, and wait until it is loaded."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self.call("Page.navigate", url=url)
        self._until(lambda: any(e["method"] == "Page.loadEventFired" for e in self._events))

    def run(self, expression: str):
        """Return what a script in the page gives; the driver's own, which no policy keeps away."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key as a person would."""
        text = {"Enter": "\r"}.get(key)
        code = {"Tab": 9, "Enter": 13}[key]
        more = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", **more, **({"text": text} if text else {})
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", **more)

    def picture(self) -> bytes:
        """Return what is seen as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def call(self, method: str, **params):
        """Call a method of the protocol, and return its result."""
        number = self._send(method, params)
        answer: dict = {}
        self._until(lambda: bool(answer), number, answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def _send(self, method: str, params: dict) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        return self._number

    def _until(self, done, number: int = 0, answer: dict | None = None) -> None:
        end = time.monotonic() + _SECONDS
        while not done():
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "chromium does not answer"
            data = os.read(self._read, 1 << 20)
            assert data, "chromium ended"
            *messages, self._buffer = (self._buffer + data).split(b"\0")
            for message in map(json.loads, messages):
                if message.get("id") == number and answer is not None:
                    answer.update(message)
                elif "method" in message:
                    self._seen(message)

    def _seen(self, message: dict) -> None:
        self._events.append(message)
        method, params = message["method"], message["params"]
        if method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.problems.append(json.dumps(params)[:500])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"a dialog: {params['message']}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.problems.append(f"asked the network for {url}")
