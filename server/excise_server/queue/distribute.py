"""Work on several processes or machines, by Dask: the same functions, and the same results.

What a worker does are plain functions over plain values, so that any worker can do any part again:
one that is lost with its worker is made anew from its arguments, which the scheduler keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any, BinaryIO
from uuid import uuid4

from excise import __version__
from excise.errors import extra_hint
from excise.patches import Pool
from excise.patches.pool import Pairs, piece_search
from excise_server.foundation.inputs import SourceError
from excise_server.queue.counted import Counted, Merger, Part, Piece, PieceReader, read_counted

INSTALL = extra_hint("distributed")

TOGETHER = 200
"""Patches of one task."""

PIECES = 4
"""Pieces of a search for each worker, so that a slow one does not hold up the others."""

_SECONDS = 20


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of a scheduler for as long as this lasts.

    A task whose worker dies is done again by another.

    Raises SourceError if Dask is not installed, the scheduler does not answer, it has no workers,
    or these have another version of excise.
    """
    dask = _imported("distributed")
    try:
        client = dask.Client(address, timeout=_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        reason = f"no scheduler answers there: {error}".split("\n")[0]
        hint = "check the address, such as tcp://host:8786"
        raise SourceError(reason, name=address, hint=hint) from error
    with client:
        _check(client, address)
        yield client


def _imported(module: str) -> Any:  # noqa: ANN401 - it may be missing, and has no types of its own
    try:
        return import_module(module)
    except ImportError as error:
        raise SourceError(f"Dask is missing: no module {error.name}", hint=INSTALL) from error


def _check(client: Any, name: str) -> None:  # noqa: ANN401
    """Refuse workers that would give other numbers."""
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
    except (OSError, TimeoutError) as error:
        raise SourceError(
            "it has no workers", name=name, hint="start: dask worker ADDRESS"
        ) from error
    try:
        versions = client.run(version_here)
    except Exception as error:
        hint = f"on the workers, too, {INSTALL}"
        raise SourceError(
            f"excise is not on every worker: {error}", name=name, hint=hint
        ) from error
    own = version_here()
    if other := {worker: version for worker, version in versions.items() if version != own}:
        worker, version = next(iter(other.items()))
        reason = f"the worker at {worker} has excise {version}, this is {own}"
        raise SourceError(reason, name=name, hint="install the same version everywhere")


def _results(tasks: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of tasks in order.

    Raises SourceError if the workers are gone, or one task killed several of them.
    """
    gone = (
        _imported("distributed").KilledWorker,
        import_module("distributed.client").FutureCancelledError,
    )
    for task in tasks:
        try:
            yield task.result()
        except (*gone, OSError) as error:
            reason = f"the workers are gone: {type(error).__name__}"
            raise SourceError(reason, hint="start them again, or go without --dask") from error


def distributed_queue(
    client: Any,  # noqa: ANN401
    paths: Iterable[str],
    stdin: BinaryIO,
    *,
    advance: Callable[[float], None] = lambda done: None,
) -> Counted:
    """Read a queue as `read_counted` does, by workers; what they have read stays with them."""
    parts: list[Any] = []

    def reading(_: object, cut: Iterable[Sequence[Piece]]) -> Iterator[bytes | Part]:
        parts.extend(client.submit(read_part, part, pure=False) for part in cut)
        return _results(parts)

    def search(least: float, idf: bool) -> Iterator[Pairs]:
        """Return the pairs of the pool, whose parts the workers have."""
        pieces = max(1, min(PIECES * len(client.nthreads()), len(pool) // TOGETHER))
        given = (uuid4().hex, least, idf), list(parts)
        return _results(
            [
                client.submit(search_pairs, *given, each, pieces, pure=False)
                for each in range(pieces)
            ]
        )

    pool = Pool(searcher=search)
    return read_counted(paths, stdin, reading, pool, advance=advance)


# --- what a worker does --------------------------------------------------------------------------


def version_here() -> str:
    """Return the version of excise that a worker has."""
    return __version__


def read_part(pieces: Sequence[Piece]) -> bytes | Part:
    """Read and count messages, under a vocabulary of their own."""
    return PieceReader()(pieces)


def search_pairs(
    search: tuple[str, float, bool],
    parts: Sequence[bytes | Part],
    piece: int,
    pieces: int,
) -> Pairs:
    """Return the pairs of one piece of a search that are close enough.

    - ``search``: its name, the least value, and ``idf``.
    """
    name, least, idf = search
    known = _searches(name)
    if not known:
        merger = Merger()
        edits = [own[1] for part in parts for own in merger.take(part)[1]]
        known.append(piece_search(edits, least, idf=idf))
    return known[0](piece, pieces)


# The one thing a worker remembers between parts, as an index is costly: it dies with the process.
@lru_cache(maxsize=1)
def _searches(name: str) -> list[Callable[[int, int], Pairs]]:
    """Return the place of the search of a name: one search at a time is kept."""
    return []
