"""One worker: asked, cancelled, replaced if it dies, and done without if none can be started.

A text that ends its worker while a parser has it is quarantined, and everything goes on without
it. A death at any other place, or by a signal from outside, proves nothing of a text: the work is
done again, and only where that dies as well, without parsers.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from queue import Empty
from typing import Any, TypeVar, cast

import msgspec

from excise import CancelFlag, Cancelled
from excise_server.editor.analysis import Analysis, Snapshot
from excise_server.editor.document import document_key
from excise_server.foundation.inputs import SourceError
from excise_server.processes.lifetime import StopFlag
from excise_server.processes.parsers import Guard, Note, Quarantine, grammar_of, shared_page
from excise_server.processes.worker import DEADLINE, MissingError, Process
from excise_server.wire import worker as w
from excise_server.workers.child import Service
from excise_server.workers.scored import check_early, unpack
from excise_server.workers.surveys import document_of

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
"""Signals that say nothing of the text: the user or the system ended the process."""

IDLE = 300.0
"""Seconds without a request after which the second worker ends."""

_MEMORY = 2 << 30
"""Bytes of memory from which a machine has room for two workers."""

_TURN = 0.05
"""Seconds between two looks at the flag of who waits for another's work to end."""

Head = tuple[int, bool, tuple[bytes, ...]]
"""How every order begins: its number, whether parsers are kept out, and what is quarantined."""

Heard = Callable[[w.Marked], None]
R = TypeVar("R")
A = TypeVar("A", w.Scored, w.Surveyed, w.ReplayedTexts)


class FailedInWorkerError(Exception):
    """Work failed in a worker; the message is its traceback."""


class _Died(Exception):  # noqa: N818 (a state of a process)
    """A process ended in the middle of a request: what a parser had then, if one ran; the signal
    that ended it (0: none); and whether its parent did that, as somebody cancelled."""

    def __init__(self, parsing: bytes | None, signal: int, *, stopped: bool) -> None:
        super().__init__(f"signal {signal}" if signal else "it ended by itself")
        self.parsing, self.signal, self.stopped = parsing, signal, stopped


class Worker:
    """One process at a time. Requests wait for earlier ones.

    - ``quarantine``: texts that no parser gets; those that end a process join them.
    - ``idle``: seconds without a request after which the process ends.
    """

    def __init__(self, quarantine: Quarantine, idle: float | None = None) -> None:
        self._quarantine, self._idle = quarantine, idle
        self._turn = threading.Lock()
        self._process: _Process | None = None
        self._told = _Told()
        self._leaving: deque[str] = deque()
        self._number = 0
        self._before = self._latest = w.WorkFrame(0, 0, 0)
        self._here: Service | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the process beside us."""
        with self._turn:
            try:
                self._started()
            except MissingError as error:
                self._stay(error)

    def analyse(
        self,
        snapshot: Snapshot,
        cancel: StopFlag,
        early: Callable[[w.EarlyHunks], None] | None = None,
    ) -> Analysis:
        """Return all that is known of a snapshot; ``early`` gets the hunks of many revisions.

        Raises excise.errors.Cancelled when the flag was raised meanwhile. Raises
        FailedInWorkerError if the work failed.
        """
        # Without revisions nobody looks at more than the first line.
        first, _, _ = snapshot.origin.partition("\n")
        asked = snapshot if snapshot.revisions else replace(snapshot, origin=first, buffer=None)

        def read(answer: w.Scored) -> Analysis:
            known, uri = self._told.scores, asked.uri_or_path
            known[uri] = unpack(asked, answer, known.get(uri))
            return known[uri][1]

        def heard(answer: w.Marked) -> None:
            check_early(asked, answer.early)
            if early is not None:
                early(answer.early)

        order = partial(self._order, snapshot=asked)
        analysis = self._ask(w.Scored, order, read, cancel, heard)
        return analysis if asked is snapshot else replace(analysis, snapshot=snapshot)

    def survey(self, kind: str, arguments: bytes, cancel: StopFlag) -> dict[str, Any]:
        """Make a report on a repository.

        Raises excise_server.sources.SourceError if there is none to make, with the reason. Raises
        excise.errors.Cancelled and FailedInWorkerError as for `analyse`.
        """
        return self._ask(
            w.Surveyed,
            lambda head: w.Survey(*head, kind, arguments),
            lambda answer: document_of(kind, answer.document),
            cancel,
        )

    def replay(
        self, before: str, current: str, texts: Sequence[str], cancel: StopFlag
    ) -> list[str]:
        """Replay revisions of a text on a newer one, as `excise.replay` does.

        Raises excise.errors.Cancelled and FailedInWorkerError as for `analyse`.
        """

        def read(answer: w.ReplayedTexts) -> list[str]:
            if len(answer.texts) != len(texts):
                raise w.BrokenFrameError("malformed message: a text for each revision")
            return list(answer.texts)

        order = before, current, tuple(texts)
        return self._ask(w.ReplayedTexts, lambda head: w.Replay(*head, *order), read, cancel)

    @property
    def work(self) -> w.WorkFrame:
        """What all processes have done, as far as they have answered; the memory of the last."""
        before, now = self._before, self._latest
        return w.WorkFrame(now.rss, before.parses + now.parses, before.pairs + now.pairs)

    def forget(self, key: str) -> None:
        """Forget the document of a key: at once, or before the next request if one is running."""
        self._leaving.append(key)
        if self._turn.acquire(blocking=False):
            try:
                self._leave()
            finally:
                self._turn.release()

    def close(self) -> None:
        """End the process, whatever it does."""
        self._closed = True
        if (process := self._process) is not None:
            process.end()

    # --- an order ---

    def _ask(
        self,
        kind: type[A],
        order: Callable[[Head], w.Order],
        read: Callable[[A], R],
        cancel: StopFlag,
        heard: Heard | None = None,
    ) -> R:
        """Have an order done, by as many processes as it takes.

        ``order`` is asked again for each of them; ``read`` may refuse an answer that cannot be, and
        ``heard`` one that comes before it.
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
                    answer = process.ask(request, self._number, cancel, heard)
                    return read(self._checked(kind, answer))
                except _Died as death:
                    self._drop()
                    if death.stopped:
                        raise Cancelled("the worker was ended on request") from death
                    self._check_open()
                    deaths.append(death)
                    # Quarantine the text that a process died of, if one is to blame.
                    text = death.parsing
                    before = [other.parsing for other in deaths[:-1]]
                    where = "" if text is None else f" while it parsed a text as {grammar_of(text)}"
                    logger.warning("a worker died (%s)%s", death, where)
                    if text is not None and (death.signal not in _OUTSIDE or text in before):
                        self._quarantine.add(text)
                    if lexical:
                        raise FailedInWorkerError("a worker died outside any parser") from death
                except w.BrokenFrameError as error:
                    self._drop()
                    broken += 1
                    logger.warning("a worker wrote what cannot be read: %s", error)
                    if broken > 1:
                        self._stay(error)
                except MissingError as error:
                    self._drop()
                    self._check_open()
                    self._stay(error)
            flag = CancelFlag(DEADLINE, cpu=True)
            cancel.listen(flag.cancel)
            try:
                request = order(self._head(lexical=False))
                answer = self._here.answer(request, flag, lambda _early: None)
            finally:
                cancel.release()
            return read(self._checked(kind, answer))
        finally:
            self._turn.release()

    def _check_open(self) -> None:
        if self._closed:
            raise Cancelled("the worker was ended on request")

    def _checked(self, kind: type[A], answer: w.Answer) -> A:
        if isinstance(answer, kind):
            self._latest = answer.work
            return answer
        if isinstance(answer, w.Failed):
            if answer.kind == "stopped":
                raise Cancelled("stopped on request")
            if answer.kind == "broken":
                raise FailedInWorkerError(answer.reason.decode(errors="replace"))
            if kind is w.Surveyed:
                with contextlib.suppress(UnicodeDecodeError):
                    raise SourceError(w.as_text(answer.reason))
        raise w.BrokenFrameError("an answer of another kind than was asked for")

    def _head(self, *, lexical: bool) -> Head:
        self._number += 1
        told = self._told.quarantined
        names = tuple(name for name in self._quarantine.names if name not in told)
        told.update(names)
        return self._number, lexical, names

    def _order(self, head: Head, snapshot: Snapshot) -> w.Analyse:
        self._leave()
        uri, buffer = snapshot.uri_or_path, snapshot.buffer
        texts = (snapshot.origin, *(r.text for r in snapshot.revisions))
        fresh = self._told.fresh(uri, (*texts, *(() if buffer is None else (buffer,))))
        known, number = self._told.scores.get(uri), self._told.numbers
        options = snapshot.options
        return w.Analyse(
            *head,
            uri=w.as_bytes(uri),
            origin=number[snapshot.origin],
            revisions=tuple(
                (w.as_bytes(r.id), w.as_bytes(r.label), number[r.text], r.id in snapshot.deleted)
                for r in snapshot.revisions
            ),
            language=None if snapshot.language is None else w.as_bytes(snapshot.language),
            path=None if snapshot.path is None else w.as_bytes(snapshot.path),
            options=(
                options.granularity, options.lcs, options.deletion, options.comments, options.place
            ),
            intent=w.as_bytes(snapshot.intent),
            buffer=None if buffer is None else number[buffer],
            own=snapshot.own,
            version=snapshot.version,
            scores=known[0] if known is not None else 0,
            texts=fresh,
            gone=self._told.gone(),
        )  # fmt: skip

    def _leave(self) -> None:
        """Forget documents. The caller holds the turn."""
        while self._leaving:
            key = self._leaving.popleft()
            for uri in [uri for uri in self._told.scores if document_key(uri) == key]:
                self._told.forget(uri)
                if self._here is not None:
                    self._here.forget(w.Forget(w.as_bytes(uri)))
                elif self._process is not None:
                    self._process.tell(w.Forget(w.as_bytes(uri)))

    # --- the process ---

    def _started(self) -> _Process:
        if (process := self._process) is not None and (
            process.ended() == 0 or self._latest.rss > LARGEST
        ):
            self._drop()
        if self._process is None:
            self._told = _Told()
            self._before, self._latest = self.work, w.WorkFrame(0, 0, 0)
            self._process = _Process(self._idle)
            if self._closed:  # meanwhile: nobody else will end it
                self._process.end()
        return self._process

    def _drop(self) -> None:
        if (process := self._process) is not None:
            self._process = None
            process.close()

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
        self.scores: dict[str, tuple[int, Analysis]] = {}
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
                fresh.append((self._count, w.as_bytes(text)))
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


class _Process(Process):
    """A process, and the page on which it notes what a parser has."""

    def __init__(self, idle: float | None) -> None:
        """Start it, or raise `MissingError`; it gets ready beside us."""
        if not sys.executable:
            raise MissingError("the path of this interpreter is unknown")
        self._note: Note | None = None
        self._opened = False
        page = -1
        if os.name == "posix":
            with contextlib.suppress(OSError):
                self._note, page = shared_page()
        named = [str(page), str(idle or 0)]
        try:
            super().__init__(
                [sys.executable, "-I", "-m", "excise_server.workers.child", *named],
                partial(w.read_messages, kind=w.Answer),
                pass_fds=() if page < 0 else (page,),
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        finally:
            if page >= 0:
                os.close(page)

    def wait_until_ready(self) -> None:
        """Wait until it has loaded what it needs, or raise `MissingError`."""
        if self._opened:
            return
        try:
            answer = self.inbox.get(timeout=_OPENING)
        except Empty:
            answer = None
        if not isinstance(answer, w.Opened):
            raise MissingError(f"it ended before it was ready ({self.kill()})")
        self._opened = True

    def tell(self, request: w.Request, *, wait: bool = True) -> None:
        """Send what has no answer; to a dead process, nothing."""
        with contextlib.suppress(OSError):
            self.send(w.framed(msgspec.msgpack.encode(request)), wait=wait)

    def ask(self, request: w.Order, number: int, cancel: StopFlag, heard: Heard | None) -> w.Answer:
        """Send a request and wait for its answer, or for the end of the process.

        Raises `_Died` if it ended instead, and `BrokenFrameError` if it wrote something other than
        an answer: it has been ended then.
        """

        def stop() -> None:
            """Tell the process, at once; where that has to wait, the asking thread is woken."""
            self.inbox.put(w.Cancel(number))
            self.tell(w.Cancel(number), wait=False)

        cancel.listen(stop)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionError):
                self.send(w.framed(msgspec.msgpack.encode(request)))
            return self._answer(number, cancel, heard)
        finally:
            cancel.release()

    def close(self) -> None:
        """End it, and release its note."""
        super().close()
        if self._note is not None:
            self._note.close()
            self._note = None

    def parsing(self) -> bytes | None:
        """Return what a parser of it has now, as far as that is known."""
        return None if self._note is None else self._note.read()

    def _answer(self, number: int, cancel: StopFlag, heard: Heard | None) -> w.Answer:
        patience = (INSIDE, ELSEWHERE - INSIDE)
        waited = 0
        while True:
            try:
                answer = self.inbox.get(timeout=patience[waited] if cancel.cancelled else None)
            except Empty:
                waited += 1
                if waited == len(patience) or self.parsing() is not None:
                    raise self._ended(stopped=True) from None
                continue
            if isinstance(answer, w.Cancel):
                # The first try may have met a request which was still being written; and one that
                # crossed the answer to its request must not stop the next.
                if answer.number == number:
                    self.tell(answer)
            elif answer is None:
                raise self._ended(stopped=False)
            elif isinstance(answer, w.BrokenFrameError):
                self.end()
                raise answer
            elif isinstance(answer, w.Opened) or answer.number != number:
                self.end()
                raise w.BrokenFrameError("an answer that nobody asked for")
            elif isinstance(answer, w.Marked) and heard is not None:
                heard(answer)
            else:
                return cast("w.Answer", answer)

    def _ended(self, *, stopped: bool) -> _Died:
        return _Died(self.parsing(), max(-self.kill(), 0), stopped=stopped)


# --- the workers of a server ---


def room_for_two() -> bool:
    """Tell whether this machine has two cores, and memory for two workers."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = _MEMORY
    return (os.cpu_count() or 1) >= 2 and memory >= _MEMORY


class WorkerPool:
    """The worker for the document that is looked at, and the one for all else.

    A machine with one core, or little memory, has one for everything.

    - ``quarantine``: texts that no parser gets.
    - ``two``: whether there are two of them.
    """

    def __init__(self, quarantine: Quarantine, *, two: bool) -> None:
        self.first = Worker(quarantine)
        self.second = Worker(quarantine, idle=IDLE) if two else self.first

    def forget(self, key: str) -> None:
        """Forget the document of a key."""
        for worker in {self.first, self.second}:
            worker.forget(key)

    def close(self) -> None:
        """End all workers, whatever they do."""
        self.first.close()
        self.second.close()
