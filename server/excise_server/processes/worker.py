"""A worker process, which its input may crash, and the two pipes to it: both ends."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from excise import CancelFlag
from excise_server.wire import worker as w

DEADLINE = 30.0
"""CPU seconds after which work takes a shorter way (the library then scores by lines)."""

_IDLE = 3.0
"""Seconds without a request after which a worker loads what only some requests need."""


class MissingError(Exception):
    """The process cannot be started, or ended before it was ready."""


class Process:
    """A process and its two pipes; one thread asks, any thread may write or end it.

    Raises MissingError if the system starts none.

    - ``read``: yields what the process writes, from the descriptor of its pipe.
    - ``**settings``: as of `subprocess.Popen`.
    """

    def __init__(
        self,
        command: Sequence[str],
        read: Callable[[int], Iterator[Any]],
        **settings: Any,  # noqa: ANN401 - as they are
    ) -> None:
        """Start it, and a thread that reads its output."""
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(  # noqa: S603 our own module, or one the user named
                command, stdin=pipe, stdout=pipe, bufsize=0, **settings
            )
        except (OSError, ValueError) as error:
            raise MissingError(str(error)) from error
        self._lock = threading.Lock()
        self.inbox: SimpleQueue[Any] = SimpleQueue()
        """What it wrote; a `BrokenFrameError` for what cannot be read; None at the end."""
        threading.Thread(
            target=self._hear, args=(read,), name="excise-answers", daemon=True
        ).start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def ended(self) -> int | None:
        """Return its exit status, negative for a signal, or None while it runs."""
        return self._process.poll()

    def send(self, data: bytes, *, wait: bool = True) -> None:
        """Write to it, unless another thread does and this one does not wait for that.

        Raises OSError if it has ended.
        """
        assert self._process.stdin is not None
        if self._lock.acquire(blocking=wait):
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._process.stdin.fileno(), view) :]
            finally:
                self._lock.release()

    def kill(self) -> int:
        """End it at once, and return its exit status."""
        self.end()
        return self._process.wait()

    def end(self) -> None:
        """Have it end, without waiting for that."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """End it, and close its pipes."""
        self.kill()
        with suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _hear(self, read: Callable[[int], Iterator[Any]]) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        try:
            for answer in read(pipe.fileno()):
                self.inbox.put(answer)
        except w.BrokenFrameError as error:
            self.inbox.put(error)
        except (msgspec.MsgspecError, RecursionError, ValueError, MemoryError) as error:
            self.inbox.put(w.BrokenFrameError(f"not a message: {error}"))
        except OSError:
            pass
        self.inbox.put(None)
        with suppress(OSError):
            pipe.close()


class Inbox:
    """In the process: requests in order; cancels are heard at once, while other work is done.

    If the stream ends, the parent has ended, and this process ends as well.
    """

    def __init__(self, source: int) -> None:
        """Begin to read a descriptor, in a thread."""
        self._requests: SimpleQueue[w.Order | w.Forget] = SimpleQueue()
        self._lock = threading.Lock()
        self._running: tuple[int, CancelFlag] | None = None
        self._cancelled = 0
        threading.Thread(
            target=self._hear, args=(source,), name="excise-requests", daemon=True
        ).start()

    def next(self, idle: Callable[[], None], most: float | None) -> w.Order | w.Forget:
        """Wait for the next request; act once if none comes for a while, end after ``most`` s."""
        try:
            return self._requests.get(timeout=_IDLE)
        except Empty:
            idle()
        try:
            return self._requests.get(timeout=most)
        except Empty:
            os._exit(0)

    def begin(self, number: int) -> CancelFlag:
        """Return the flag of a request that begins now: its clock is that of this thread."""
        flag = CancelFlag(DEADLINE, cpu=True)
        with self._lock:
            self._running = (number, flag)
            if number <= self._cancelled:
                flag.cancel()
        return flag

    def _hear(self, source: int) -> None:
        try:
            for request in w.read_messages(source, w.Request):
                if not isinstance(request, w.Cancel):
                    self._requests.put(request)
                    continue
                with self._lock:
                    self._cancelled = max(self._cancelled, request.number)
                    if self._running is not None and self._running[0] <= self._cancelled:
                        self._running[1].cancel()
        finally:
            os._exit(0)
