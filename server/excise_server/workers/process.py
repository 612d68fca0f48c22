"""One worker process, seen from its parent: started, asked, cancelled, ended."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import msgspec

from excise_server.foundation.cancellation import StopFlag
from excise_server.workers.frames import BrokenFrameError, framed, read_frame
from excise_server.workers.messages import Answer, Cancel, Opened, Order, Request
from excise_server.workers.note import Note, Parsing, shared_page

__all__ = ["Died", "Worker", "WorkerMissingError"]

INSIDE = 0.05
"""Seconds that a cancelled worker gets to come out of a parser."""

ELSEWHERE = 1.0
"""Seconds that it gets anywhere else."""

_OPENING = 60.0
"""Seconds after which a worker that says nothing has failed: it starts before any text is read."""


class WorkerMissingError(Exception):
    """There is no worker: the system starts none, or it ended before it was ready."""


class Died(Exception):  # noqa: N818 (a state of a process)
    """The worker ended in the middle of a request.

    Attributes
    ----------
    parsing
        What a parser had then, if one ran.
    signal
        Which ended it; 0: none.
    stopped
        Whether that was the parent, as somebody cancelled.
    """

    def __init__(self, parsing: Parsing | None, signal: int, *, stopped: bool) -> None:
        """Take what is known of the death."""
        super().__init__(f"signal {signal}" if signal else "it ended by itself")
        self.parsing, self.signal, self.stopped = parsing, signal, stopped


@dataclass(frozen=True, slots=True)
class _Wake:
    """Put among the answers when somebody cancels the request of this number."""

    number: int


class Worker:
    """A process and its two pipes; one thread asks, any thread may cancel or end."""

    def __init__(self) -> None:
        """Start the process; it gets ready beside us.

        Raises
        ------
        WorkerMissingError
            If the system starts none.
        """
        if not sys.executable:
            raise WorkerMissingError("the path of this interpreter is unknown")
        self._note, page = _shared()
        try:
            self._process = _popen(page)
        except (OSError, ValueError) as error:
            raise WorkerMissingError(str(error)) from error
        finally:
            if page is not None:
                os.close(page)
        self._write_lock = threading.Lock()
        self._inbox: SimpleQueue[Answer | BrokenFrameError | _Wake | None] = SimpleQueue()
        self._opened = False
        threading.Thread(target=self._read, name="excise-answers", daemon=True).start()

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait until it has loaded what it needs.

        Raises
        ------
        WorkerMissingError
            If it does not come to that.
        """
        if self._opened:
            return
        try:
            answer = self._inbox.get(timeout=_OPENING)
        except Empty:
            answer = None
        if not isinstance(answer, Opened):
            self.kill()
            raise WorkerMissingError(f"it ended before it was ready ({self._process.wait()})")
        self._opened = True

    def tell(self, request: Request) -> None:
        """Send what has no answer; to a dead worker, nothing."""
        with contextlib.suppress(OSError), self._write_lock:
            self._write(request)

    def ask(self, request: Order, number: int, cancel: StopFlag) -> Answer:
        """Send a request and wait for its answer, or for the end of the worker.

        Raises
        ------
        Died
            If it ended instead; it is gone then.
        BrokenFrameError
            If it wrote something other than an answer; it is ended then.
        """
        cancel.listen(lambda: self._cancel(number))
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionError), self._write_lock:
                self._write(request)
            return self._answer(number, cancel)
        finally:
            cancel.release()

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """End it, and let go of what it had."""
        self.kill()
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        if self._note is not None:
            self._note.close()
            self._note = None

    def _cancel(self, number: int) -> None:
        """Tell the worker, at once; also where that has to wait, the asking thread is woken."""
        self._inbox.put(_Wake(number))
        if self._write_lock.acquire(blocking=False):
            try:
                with contextlib.suppress(OSError):
                    self._write(Cancel(number))
            finally:
                self._write_lock.release()

    def _answer(self, number: int, cancel: StopFlag) -> Answer:
        patience = (INSIDE, ELSEWHERE - INSIDE)
        waited = 0
        while True:
            try:
                answer = self._inbox.get(timeout=patience[waited] if cancel.cancelled else None)
            except Empty:
                waited += 1
                if waited == len(patience) or self._parsing() is not None:
                    raise self._ended(stopped=True) from None
                continue
            if isinstance(answer, _Wake):
                # A cancel that crossed the answer to its request must not stop the next one.
                if answer.number == number:
                    self._cancel_again(number)
            elif answer is None:
                raise self._ended(stopped=False)
            elif isinstance(answer, BrokenFrameError):
                self.kill()
                raise answer
            elif isinstance(answer, Opened) or answer.number != number:
                self.kill()
                raise BrokenFrameError("an answer that nobody asked for")
            else:
                return answer

    def _cancel_again(self, number: int) -> None:
        """Send the cancel that met a request which was still being written."""
        with contextlib.suppress(OSError), self._write_lock:
            self._write(Cancel(number))

    def _ended(self, *, stopped: bool) -> Died:
        self.kill()
        code = self._process.wait()
        return Died(self._parsing(), max(-code, 0), stopped=stopped)

    def _parsing(self) -> Parsing | None:
        return None if self._note is None else self._note.read()

    def _write(self, request: Request | Order) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        view = memoryview(framed(msgspec.msgpack.encode(request)))
        while view:
            view = view[os.write(pipe.fileno(), view) :]

    def _read(self) -> None:
        """Put what arrives into the inbox, in a thread, until the stream ends."""
        pipe = self._process.stdout
        assert pipe is not None
        decoder = msgspec.msgpack.Decoder(Answer)
        try:
            while (body := read_frame(lambda size: os.read(pipe.fileno(), size))) is not None:
                self._inbox.put(decoder.decode(body))
        except BrokenFrameError as error:
            self._inbox.put(error)
        except (msgspec.MsgspecError, RecursionError, ValueError, MemoryError) as error:
            self._inbox.put(BrokenFrameError(f"not a message: {error}"))
        except OSError:
            pass
        self._inbox.put(None)
        with contextlib.suppress(OSError):
            pipe.close()


def _shared() -> tuple[Note | None, int | None]:
    """Return the page on which the worker notes what it parses, or None if there is none."""
    if os.name != "posix":
        return None, None
    try:
        return shared_page()
    except OSError:
        return None, None


def _popen(page: int | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-m", "excise_server.workers.child"]
    kept: tuple[int, ...] = ()
    if page is not None:
        command.append(str(page))
        kept = (page,)
    return subprocess.Popen(  # noqa: S603 our own interpreter and module
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        pass_fds=kept,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
