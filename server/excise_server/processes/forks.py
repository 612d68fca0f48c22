"""A function over many pieces of work: a `map` of forked processes, with the results of one.

A fork has whatever its parent has, so nothing is sent to it. It takes pieces in their order from a
pipe that all forks share, and sends back results as MessagePack: plain values, bytes and arrays,
where a tuple becomes a list. Work that its input may crash belongs to `outlive`, or
to ``workers``.

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
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from typing import Any

from msgspec import msgpack

from excise_server.processes.lifetime import dying_with_parent

Map = Callable[..., Iterable[Any]]

TURNS = 32
"""Into so many parts for each process the work is cut at most: a part costs a message."""

_MOST_PARTS = 4096
"""Their numbers wait in a pipe, which takes 16,384."""

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
    return partial(_mapped, jobs, meanwhile) if jobs > 1 and _can_fork() else map


def _mapped(
    jobs: int,
    meanwhile: Callable[[], None] | None,
    function: Callable[[Any], Any],
    items: Iterable[Any],
) -> Iterator[Any]:
    parts = _cut(list(items), TURNS * jobs)
    if len(parts) < 2:
        yield from map(function, chain.from_iterable(parts))
        return
    done: dict[int, bytes | None] = {}
    with closing(_forked(function, parts, min(jobs, len(parts)), meanwhile)) as forks:
        for number, part in enumerate(parts):
            while number not in done and (sent := next(forks, None)) is not None:
                done[sent[0]] = sent[1]
            yield from _results(function, part, done.pop(number, None))


def as_they_come(
    jobs: int, function: Callable[[Any], Any], items: Sequence[Any], lost: Callable[[Any], Any]
) -> Iterator[Any]:
    """Yield the results of a function in the order in which processes have them.

    What a process had that died is tried again, each item alone in a process of its own. If that
    dies, too, the result is that of ``lost``.
    """
    parts = _cut(items, _MOST_PARTS)
    if jobs < 2 or not _can_fork():
        yield from map(function, items)
        return
    while parts:
        forks, left = min(jobs, len(parts)), dict(enumerate(parts))
        with closing(_forked(function, parts, forks)) as results:
            for number, data in results:
                yield from _results(function, left.pop(number), data)
        # Parts are taken in order: those that a fork had are the first of what is left.
        rest = list(left.values())
        for item in chain.from_iterable(rest[:forks]):
            with closing(_forked(function, [[item]], 1)) as results:
                for _, data in results:
                    yield from _results(function, [item], data)
                    break
                else:
                    yield lost(item)
        parts = rest[forks:]


def _can_fork() -> bool:
    # On macOS the system's libraries do not outlive a fork.
    return hasattr(os, "fork") and sys.platform != "darwin"


def _cut(items: Sequence[Any], most: int) -> list[Sequence[Any]]:
    """Cut items into so many parts at most."""
    size = -(-len(items) // most) or 1
    return [items[start : start + size] for start in range(0, len(items), size)]


def _results(
    function: Callable[[Any], Any], part: Sequence[Any], data: bytes | None
) -> Iterable[Any]:
    """Return what a fork has sent, or without that, make it here."""
    return map(function, part) if data is None else msgpack.decode(data, ext_hook=_array)


def _forked(
    function: Callable[[Any], Any],
    parts: Sequence[Sequence[Any]],
    size: int,
    meanwhile: Callable[[], None] | None = None,
) -> Generator[tuple[int, bytes | None]]:
    """Yield the numbers of parts, with their results or None (they are to be made here).

    Of a part whose fork dies, nothing is yielded. All forks end with this, whatever they do.
    """
    tasks, handed = os.pipe()
    os.write(handed, b"".join(map(_NUMBER.pack, range(len(parts)))))
    os.close(handed)
    children: dict[int, tuple[int, bytearray]] = {}
    """By their pipes: the process, and what it has sent."""

    def reap(pipe: int) -> None:
        process, _ = children.pop(pipe)
        os.close(pipe)
        with suppress(ChildProcessError):
            os.waitpid(process, 0)

    try:
        try:
            while len(children) < size:
                _fork(function, parts, tasks, children)
        except OSError:
            pass  # the forks that were started do all the work, or this process
        finally:
            os.close(tasks)
        if not children:
            yield from ((number, None) for number in range(len(parts)))
        elif meanwhile is not None:
            meanwhile()
        while children:
            waiting = select.poll()
            for pipe in children:
                waiting.register(pipe, select.POLLIN)
            for pipe, _ in waiting.poll():
                if not (piece := os.read(pipe, 1 << 20)):
                    reap(pipe)
                    continue
                data = children[pipe][1]
                data += piece
                while len(data) >= _HEAD.size:
                    number, length = _HEAD.unpack_from(data)
                    stop = _HEAD.size + (0 if length == _FAILED else length)
                    if len(data) < stop:
                        break
                    found = None if length == _FAILED else bytes(data[_HEAD.size : stop])
                    del data[:stop]
                    yield number, found
    finally:
        for pipe, (process, _) in tuple(children.items()):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            reap(pipe)


def _fork(
    function: Callable[[Any], Any],
    parts: Sequence[Sequence[Any]],
    tasks: int,
    children: dict[int, tuple[int, bytearray]],
) -> None:
    """Add a fork that does parts until all are taken."""
    before_work = dying_with_parent()
    pipe, results = os.pipe()
    # Whoever interrupts us must not find a fork that would handle it as its parent does.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        with warnings.catch_warnings():
            # Python 3.12 on: of threads that may hold locks; none of ours holds one for long.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process:
            children[pipe] = process, bytearray()
            return
        try:  # in the fork, nothing that it inherited is flushed
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its forks
            for ending in _ENDING - {signal.SIGINT}:
                signal.signal(ending, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            if before_work is not None:
                before_work()
            for inherited in (pipe, *children):
                os.close(inherited)
            gc.freeze()  # a collection would write to, and so copy, all that was inherited
            while task := os.read(tasks, _NUMBER.size):
                (number,) = _NUMBER.unpack(task)
                try:
                    made = [function(item) for item in parts[number]]
                    data = msgpack.encode(made, enc_hook=_extension)
                    rest = memoryview(_HEAD.pack(number, len(data)) + data)
                except Exception:  # noqa: BLE001 - the parent will meet it, too
                    rest = memoryview(_HEAD.pack(number, _FAILED))
                while rest:
                    rest = rest[os.write(results, rest) :]
        finally:
            os._exit(0)
    except OSError:
        os.close(pipe)
        raise
    finally:
        os.close(results)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- results -------------------------------------------------------------------------------------


def _extension(value: Any) -> msgpack.Ext:  # noqa: ANN401 - whatever a function returns
    if not isinstance(value, array):
        raise TypeError(f"{type(value).__name__} is not a plain value")
    return msgpack.Ext(ord(value.typecode), value.tobytes())


def _array(code: int, data: memoryview) -> array[Any]:
    return array(chr(code), bytes(data))
