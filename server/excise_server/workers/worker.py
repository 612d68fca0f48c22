"""One worker with its death: asked, cancelled, replaced, and done without where there is none.

A text that ends its worker while a parser has it is quarantined, and everything goes on without
it. A death at any other place, or by a signal from outside, proves nothing of a text: the work is
done again, and only where that dies as well, without parsers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import msgspec

from excise import CancelFlag, Cancelled
from excise_server.editor.analysis import Analysis
from excise_server.editor.document import document_key
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.cancellation import StopFlag
from excise_server.foundation.inputs import SourceError
from excise_server.workers.child import DEADLINE, Service
from excise_server.workers.guard import Guard, Note, Parsing, shared_page
from excise_server.workers.messages import (
    Analyse,
    Answer,
    BrokenFrameError,
    Cancel,
    Failed,
    Forget,
    Opened,
    Order,
    Request,
    Scored,
    Survey,
    Surveyed,
    WorkFrame,
    as_bytes,
    as_text,
    read_messages,
    write_message,
)
from excise_server.workers.quarantine import Quarantine
from excise_server.workers.scored import Scores, unpack
from excise_server.workers.surveys import document_of

__all__ = ["LARGEST", "FailedInWorkerError", "Worker"]

logger = logging.getLogger(__name__)

LARGEST = 512 << 20
"""Bytes of a worker's memory from which the next request gets a new one."""

INSIDE = 0.05
"""Seconds that a cancelled worker gets to come out of a parser."""

ELSEWHERE = 1.0
"""Seconds that it gets anywhere else."""

_OPENING = 60.0
"""Seconds after which a worker that says nothing has failed: it starts before any text is read."""

_MOST_DEATHS = 8
"""Deaths over one request after which it is done without parsers."""

_OUTSIDE = {int(s) for s in (signal.SIGTERM, getattr(signal, "SIGKILL", 9), signal.SIGINT)}
"""Signals that say nothing of the text: somebody, or the system, wanted the process gone."""

_TURN = 0.05
"""Seconds between two looks at the flag of who waits for another's work to end."""

Head = tuple[int, bool, tuple[bytes, ...]]
"""How every order begins: its number, whether parsers are kept out, and what is quarantined."""

R = TypeVar("R")
A = TypeVar("A", Scored, Surveyed)


class FailedInWorkerError(Exception):
    """Work failed in a worker; the message is its traceback."""


class _MissingError(Exception):
    """There is no process: the system starts none, or it ended before it was ready."""


class _Died(Exception):  # noqa: N818 (a state of a process)
    """A process ended in the middle of a request: what a parser had then, if one ran; the signal
    that ended it (0: none); and whether its parent did that, as somebody cancelled."""

    def __init__(self, parsing: Parsing | None, signal: int, *, stopped: bool) -> None:
        super().__init__(f"signal {signal}" if signal else "it ended by itself")
        self.parsing, self.signal, self.stopped = parsing, signal, stopped


class Worker:
    """One process at a time; who asks waits for who asked before.

    Parameters
    ----------
    quarantine : Quarantine
        Texts that no parser gets; those that end a process join them.
    idle : float, optional
        Seconds after which the process ends if nobody asked it for anything.
    """

    def __init__(self, quarantine: Quarantine, idle: float | None = None) -> None:
        """Start nothing yet."""
        self._quarantine, self._idle = quarantine, idle
        self._timer: threading.Timer | None = None
        self._timer_lock = threading.Lock()
        self._turn = threading.Lock()
        self._process: _Process | None = None
        self._told = _Told()
        self._leaving: deque[str] = deque()
        self._number = 0
        self._before = self._latest = WorkFrame(0, 0, 0)
        self._here: Service | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the process beside us."""
        with self._turn:
            try:
                self._started()
            except _MissingError as error:
                self._stay(error)

    def analyse(self, snapshot: Snapshot, cancel: StopFlag) -> Analysis:
        """Return all that is known of a snapshot.

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised meanwhile.
        FailedInWorkerError
            If the work failed.
        """
        # Without revisions nobody looks at more than the first line.
        first, _, _ = snapshot.origin.partition("\n")
        asked = snapshot if snapshot.revisions else replace(snapshot, origin=first, buffer=None)

        def read(answer: Scored) -> Analysis:
            scores = self._told.scores
            uri = asked.uri_or_path
            analysis, scores[uri] = unpack(asked, answer, scores.get(uri))
            return analysis

        analysis = self._ask(Scored, lambda head: self._order(head, asked), read, cancel)
        return analysis if asked is snapshot else replace(analysis, snapshot=snapshot)

    def survey(self, kind: str, arguments: bytes, cancel: StopFlag) -> dict[str, Any]:
        """Make a report on a repository.

        Raises
        ------
        excise_server.sources.SourceError
            If there is none to make, with the reason.
        excise.errors.Cancelled, FailedInWorkerError
            As for `analyse`.
        """
        return self._ask(
            Surveyed,
            lambda head: Survey(*head, kind, arguments),
            lambda answer: document_of(kind, answer.document),
            cancel,
        )

    @property
    def work(self) -> WorkFrame:
        """What all processes have done, as far as they have answered; the memory of the last."""
        before, now = self._before, self._latest
        return WorkFrame(now.rss, before.parses + now.parses, before.pairs + now.pairs)

    def forget(self, key: str) -> None:
        """Let go of the document of a key: at once, or before the next one if somebody asks."""
        self._leaving.append(key)
        if self._turn.acquire(blocking=False):
            try:
                self._leave()
            finally:
                self._turn.release()

    def _rest_later(self) -> None:
        """End the process after a while, if it has nothing to do then."""
        with self._timer_lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._idle is not None and not self._closed:
                self._timer = threading.Timer(self._idle, self._rest)
                self._timer.daemon = True
                self._timer.start()

    def _rest(self) -> None:
        if not self._turn.acquire(blocking=False):
            self._rest_later()
            return
        try:
            self._drop()
        finally:
            self._turn.release()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        self._rest_later()
        if (process := self._process) is not None:
            process.kill()

    # --- an order ---

    def _ask(
        self,
        kind: type[A],
        order: Callable[[Head], Order],
        read: Callable[[A], R],
        cancel: StopFlag,
    ) -> R:
        """Have an order done, by as many processes as it takes.

        ``order`` is asked again for each of them; ``read`` may refuse an answer that cannot be.
        """
        while not self._turn.acquire(timeout=_TURN):
            cancel.check()
        try:
            deaths: list[_Died] = []
            broken = 0
            while self._here is None:
                cancel.check()
                self._check_open()
                # Without parsers where it died twice elsewhere, or again and again.
                elsewhere = sum(death.parsing is None for death in deaths)
                lexical = elsewhere > 1 or len(deaths) > _MOST_DEATHS
                try:
                    process = self._started()
                    process.wait_until_ready()
                    request = order(self._head(lexical=lexical))
                    return read(self._checked(kind, process.ask(request, self._number, cancel)))
                except _Died as death:
                    self._drop()
                    if death.stopped:
                        raise Cancelled("the worker was ended on request") from death
                    self._check_open()
                    deaths.append(death)
                    self._bury(death, deaths)
                    if lexical:
                        raise FailedInWorkerError("a worker died outside any parser") from death
                except BrokenFrameError as error:
                    self._drop()
                    broken += 1
                    logger.warning("a worker wrote what cannot be read: %s", error)
                    if broken > 1:
                        self._stay(error)
                except _MissingError as error:
                    self._drop()
                    self._check_open()
                    self._stay(error)
            flag = CancelFlag(DEADLINE, cpu=True)
            cancel.listen(flag.cancel)
            try:
                answer = self._here.answer(order(self._head(lexical=False)), flag)
            finally:
                cancel.release()
            return read(self._checked(kind, answer))
        finally:
            self._turn.release()
            self._rest_later()

    def _check_open(self) -> None:
        if self._closed:
            raise Cancelled("the worker was ended on request")

    def _checked(self, kind: type[A], answer: Answer) -> A:
        """Return an answer of the kind that was asked for."""
        if isinstance(answer, kind):
            self._latest = answer.work
            return answer
        if isinstance(answer, Failed):
            if answer.kind == "stopped":
                raise Cancelled("stopped on request")
            if answer.kind == "broken":
                raise FailedInWorkerError(answer.reason.decode(errors="replace"))
            if kind is Surveyed:
                with contextlib.suppress(UnicodeDecodeError):
                    raise SourceError(as_text(answer.reason))
        raise BrokenFrameError("an answer of another kind than was asked for")

    def _head(self, *, lexical: bool) -> Head:
        self._number += 1
        told = self._told.quarantined
        names = tuple(name for name in self._quarantine.names if name not in told)
        told.update(names)
        return self._number, lexical, names

    def _order(self, head: Head, snapshot: Snapshot) -> Analyse:
        self._leave()
        uri, buffer = snapshot.uri_or_path, snapshot.buffer
        texts = (snapshot.origin, *(r.text for r in snapshot.revisions))
        fresh = self._told.fresh(uri, (*texts, *(() if buffer is None else (buffer,))))
        known, number = self._told.scores.get(uri), self._told.numbers
        options = snapshot.options
        return Analyse(
            *head,
            uri=as_bytes(uri),
            origin=number[snapshot.origin],
            revisions=tuple(
                (as_bytes(r.id), as_bytes(r.label), number[r.text], r.id in snapshot.deleted)
                for r in snapshot.revisions
            ),
            language=None if snapshot.language is None else as_bytes(snapshot.language),
            path=None if snapshot.path is None else as_bytes(snapshot.path),
            options=(
                options.granularity, options.lcs, options.deletion, options.comments, options.place
            ),
            intent=as_bytes(snapshot.intent),
            buffer=None if buffer is None else number[buffer],
            own=snapshot.own,
            version=snapshot.version,
            scores=known.number if known is not None else 0,
            texts=fresh,
            gone=self._told.gone(),
        )  # fmt: skip

    def _leave(self) -> None:
        """Let go of documents; for who has the turn."""
        while self._leaving:
            key = self._leaving.popleft()
            for uri in [uri for uri in self._told.scores if document_key(uri) == key]:
                self._told.forget(uri)
                if self._here is not None:
                    self._here.forget(Forget(as_bytes(uri)))
                elif self._process is not None:
                    self._process.tell(Forget(as_bytes(uri)))

    # --- the process ---

    def _started(self) -> _Process:
        if self._process is not None and self._latest.rss > LARGEST:
            self._drop()
        if self._process is None:
            self._told = _Told()
            self._before, self._latest = self.work, WorkFrame(0, 0, 0)
            self._process = _Process()
            if self._closed:  # meanwhile: nobody else will end it
                self._process.kill()
        return self._process

    def _drop(self) -> None:
        if (process := self._process) is not None:
            self._process = None
            process.close()

    def _bury(self, death: _Died, deaths: list[_Died]) -> None:
        """Quarantine the text that a process died of, if one is to blame."""
        text = death.parsing
        before = [other.parsing for other in deaths[:-1]]
        where = "" if text is None else f" while it parsed a text as {text.grammar}"
        logger.warning("a worker died (%s)%s", death, where)
        if text is not None and (death.signal not in _OUTSIDE or text in before):
            self._quarantine.add(text)

    def _stay(self, error: Exception) -> None:
        """Work in this process from now on."""
        guard = Guard()
        guard.install()
        self._here = Service(guard)
        self._told = _Told()
        logger.warning("no worker process can be used (%s): scoring in this process", error)


class _Told:
    """What one process knows, and is not sent again: quarantined texts, the numbers of texts, and
    the scores that came from it, by document."""

    def __init__(self) -> None:
        self.quarantined: set[bytes] = set()
        self.scores: dict[str, Scores] = {}
        self.numbers: dict[str, int] = {}
        self._count = 0
        self._used: dict[str, tuple[str, ...]] = {}

    def fresh(self, uri: str, texts: tuple[str, ...]) -> tuple[tuple[int, bytes], ...]:
        """Number the texts of a document; return those that the process does not know."""
        fresh = []
        for text in dict.fromkeys(texts):
            if text not in self.numbers:
                self._count += 1
                self.numbers[text] = self._count
                fresh.append((self._count, as_bytes(text)))
        self._used[uri] = texts
        return tuple(fresh)

    def gone(self) -> tuple[int, ...]:
        """Forget the texts that no document has any more; return their numbers."""
        used = {text for texts in self._used.values() for text in texts}
        gone = [text for text in self.numbers if text not in used]
        return tuple(self.numbers.pop(text) for text in gone)

    def forget(self, uri: str) -> None:
        del self.scores[uri]
        self._used.pop(uri, None)


class _Process:
    """A process and its two pipes; one thread asks, any thread may cancel or end."""

    def __init__(self) -> None:
        """Start it, or raise `_MissingError`; it gets ready beside us."""
        if not sys.executable:
            raise _MissingError("the path of this interpreter is unknown")
        self._note: Note | None = None
        page: int | None = None
        if os.name == "posix":
            with contextlib.suppress(OSError):
                self._note, page = shared_page()
        try:
            named = [] if page is None else [str(page)]
            self._process = subprocess.Popen(  # noqa: S603 our own interpreter and module
                [sys.executable, "-I", "-m", "excise_server.workers.child", *named],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                pass_fds=() if page is None else (page,),
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        except (OSError, ValueError) as error:
            raise _MissingError(str(error)) from error
        finally:
            if page is not None:
                os.close(page)
        self._write_lock = threading.Lock()
        # A Cancel among the answers wakes the thread that asks.
        self._inbox: SimpleQueue[Answer | BrokenFrameError | Cancel | None] = SimpleQueue()
        self._opened = False
        threading.Thread(target=self._read, name="excise-answers", daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait until it has loaded what it needs, or raise `_MissingError`."""
        if self._opened:
            return
        try:
            answer = self._inbox.get(timeout=_OPENING)
        except Empty:
            answer = None
        if not isinstance(answer, Opened):
            self.kill()
            raise _MissingError(f"it ended before it was ready ({self._process.wait()})")
        self._opened = True

    def tell(self, request: Request) -> None:
        """Send what has no answer; to a dead process, nothing."""
        with contextlib.suppress(OSError), self._write_lock:
            self._write(request)

    def ask(self, request: Order, number: int, cancel: StopFlag) -> Answer:
        """Send a request and wait for its answer, or for the end of the process.

        Raises `_Died` if it ended instead, and `BrokenFrameError` if it wrote something other than
        an answer: it is gone then.
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
        """Tell the process, at once; also where that has to wait, the asking thread is woken."""
        self._inbox.put(Cancel(number))
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
                if waited == len(patience) or self.parsing() is not None:
                    raise self._ended(stopped=True) from None
                continue
            if isinstance(answer, Cancel):
                # The first try may have met a request which was still being written; and one that
                # crossed the answer to its request must not stop the next.
                if answer.number == number:
                    self.tell(answer)
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

    def _ended(self, *, stopped: bool) -> _Died:
        self.kill()
        code = self._process.wait()
        return _Died(self.parsing(), max(-code, 0), stopped=stopped)

    def parsing(self) -> Parsing | None:
        """Return what a parser of it has now, as far as that is known."""
        return None if self._note is None else self._note.read()

    def _write(self, request: Request | Order) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        write_message(pipe.fileno(), request)

    def _read(self) -> None:
        """Put what arrives into the inbox, in a thread, until the stream ends."""
        pipe = self._process.stdout
        assert pipe is not None
        try:
            for answer in read_messages(pipe.fileno(), Answer):
                self._inbox.put(answer)
        except BrokenFrameError as error:
            self._inbox.put(error)
        except (msgspec.MsgspecError, RecursionError, ValueError, MemoryError) as error:
            self._inbox.put(BrokenFrameError(f"not a message: {error}"))
        except OSError:
            pass
        self._inbox.put(None)
        with contextlib.suppress(OSError):
            pipe.close()
