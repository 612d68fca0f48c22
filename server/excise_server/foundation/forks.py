"""A function over many pieces of work: a `map` of forked processes, with the results of one.

A fork has whatever its parent has, so nothing is sent to it. It takes pieces in their order from a
pipe that all forks share, and sends back results as MessagePack: plain values, bytes and arrays,
where a tuple becomes a list. Work that may die of what it parses belongs to ``workers``.

A piece whose fork fails or dies is done again by the parent, when it is its turn. So an error is
raised by the very call that raises it in one process, and where nothing can be forked (no second
core, no memory, no ``fork``) everything is done here.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import struct
import sys
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import msgspec

from excise_server.foundation.processes import dying_with_parent

__all__ = ["Map", "forked_map", "usable_cores"]

Map = Callable[..., Iterable[Any]]

TURNS = 32
"""Into so many parts for each process the work is cut at most: a part costs a message."""

_NUMBER = struct.Struct("=I")
_HEAD = struct.Struct("=IQ")
"""The number of a part, and the bytes of its results."""
_FAILED = 2**64 - 1
_QUOTA = "/sys/fs/cgroup/cpu.max"
_ENDING = {
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
}


def usable_cores() -> int:
    """Return how many processors this process may use: by its affinity, and its group's quota."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        cores = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        with open(_QUOTA, encoding="ascii") as file:
            quota, period = file.read().split()
        cores = min(cores, max(1, int(quota) // int(period)))
    return cores


def forked_map(jobs: int, meanwhile: Callable[[], None] | None = None) -> Map:
    """Return a `map` that uses so many processes; it yields results in order, as they come.

    ``meanwhile`` is called in this process while the others begin, if there are others.

    The function must not need what another thread of this process holds, such as the lock of a
    module that it imports.
    """
    # On macOS the system's libraries do not outlive a fork.
    can_fork = hasattr(os, "fork") and sys.platform != "darwin"
    return partial(_mapped, jobs, meanwhile) if jobs > 1 and can_fork else map


def _mapped(
    jobs: int,
    meanwhile: Callable[[], None] | None,
    function: Callable[[Any], Any],
    items: Iterable[Any],
) -> Iterator[Any]:
    work = list(items)
    size = -(-len(work) // (TURNS * jobs)) or 1
    parts = [work[start : start + size] for start in range(0, len(work), size)]
    forks = _Forks(function, parts, min(jobs, len(parts)) if len(parts) > 1 else 0)
    try:
        if meanwhile is not None and forks.works:
            meanwhile()
        for number, part in enumerate(parts):
            data = forks.results(number)
            if data is None:
                yield from map(function, part)
            else:
                yield from msgspec.msgpack.decode(data, ext_hook=_array)
    finally:
        forks.end()


class _Forks:
    """The forks of one `map`."""

    def __init__(
        self, function: Callable[[Any], Any], parts: Sequence[Sequence[Any]], size: int
    ) -> None:
        self._function, self._parts = function, parts
        self._done: dict[int, bytes | None] = {}
        """The results of parts; None: no fork has any."""
        self._children: dict[int, tuple[int, bytearray]] = {}
        """By their pipes: the process, and what it has sent."""
        if size < 2:
            return
        tasks, handed = os.pipe()
        os.write(handed, b"".join(map(_NUMBER.pack, range(len(parts)))))
        os.close(handed)
        try:
            for _ in range(size):
                self._fork(tasks)
        except OSError:
            pass  # those that there are do it all, or this process
        except BaseException:
            self.end()
            raise
        finally:
            os.close(tasks)

    @property
    def works(self) -> bool:
        """Whether there are any."""
        return bool(self._children)

    def results(self, number: int) -> bytes | None:
        """Wait for the results of a part; None: it is to be done here."""
        while number not in self._done and self._children:
            waiting = select.poll()
            for pipe in self._children:
                waiting.register(pipe, select.POLLIN)
            for pipe, _ in waiting.poll():
                if not (piece := os.read(pipe, 1 << 20)):
                    self._bury(pipe)
                    continue
                data = self._children[pipe][1]
                data += piece
                while len(data) >= _HEAD.size:
                    done, length = _HEAD.unpack_from(data)
                    stop = _HEAD.size + (0 if length == _FAILED else length)
                    if len(data) < stop:
                        break
                    self._done[done] = None if length == _FAILED else bytes(data[_HEAD.size : stop])
                    del data[:stop]
        return self._done.pop(number, None)

    def end(self) -> None:
        """End all forks, whatever they do."""
        for pipe, (process, _) in tuple(self._children.items()):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            self._bury(pipe)

    def _bury(self, pipe: int) -> None:
        process, _ = self._children.pop(pipe)
        os.close(pipe)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)

    def _fork(self, tasks: int) -> None:
        before_work = dying_with_parent()
        pipe, results = os.pipe()
        # Whoever interrupts us must not find a fork that would handle it as its parent does.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            with warnings.catch_warnings():
                # Python 3.12 on: of threads that may hold locks; none of ours holds one for long.
                warnings.simplefilter("ignore", DeprecationWarning)
                process = os.fork()
            if process == 0:
                os.close(pipe)
                self._work(before_work, before, tasks, results)
            self._children[pipe] = process, bytearray()
        except OSError:
            os.close(pipe)
            raise
        finally:
            os.close(results)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _work(
        self, before_work: Callable[[], None] | None, mask: Iterable[int], tasks: int, results: int
    ) -> NoReturn:
        """Do parts until there are none; nothing that this process inherited is flushed."""
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its forks
            for ending in _ENDING - {signal.SIGINT}:
                signal.signal(ending, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            if before_work is not None:
                before_work()
            for pipe in self._children:
                os.close(pipe)
            gc.freeze()  # a collection would write to, and so copy, all that was inherited
            while task := os.read(tasks, _NUMBER.size):
                (number,) = _NUMBER.unpack(task)
                try:
                    found = [self._function(item) for item in self._parts[number]]
                    data = msgspec.msgpack.encode(found, enc_hook=_extension)
                    rest = memoryview(_HEAD.pack(number, len(data)) + data)
                except Exception:  # noqa: BLE001 - the parent will meet it, too
                    rest = memoryview(_HEAD.pack(number, _FAILED))
                while rest:
                    rest = rest[os.write(results, rest) :]
        finally:
            os._exit(0)


# --- results -------------------------------------------------------------------------------------


def _extension(value: Any) -> msgspec.msgpack.Ext:  # noqa: ANN401 - whatever a function returns
    if not isinstance(value, array):
        raise TypeError(f"{type(value).__name__} is not a plain value")
    return msgspec.msgpack.Ext(ord(value.typecode), value.tobytes())


def _array(code: int, data: memoryview) -> array[Any]:
    return array(chr(code), bytes(data))
