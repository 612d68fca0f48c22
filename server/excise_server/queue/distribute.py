"""Work on several processes or machines, by Dask: the same functions, and the same results.

What a worker does are plain functions over plain values, so that any worker can do any part again:
one that is lost with its worker is made anew from its arguments, which the scheduler keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any, BinaryIO
from uuid import uuid4

from excise import __version__
from excise.errors import extra_hint
from excise.patches import IGNORED, Message, Patch, Pool
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
def connected(address: str | None, workers: int) -> Iterator[Any]:
    """Yield a client of a scheduler, or of new workers on this machine, for as long as this lasts.

    A task whose worker dies is done again by another.

    Raises SourceError if Dask is not installed, the scheduler does not answer, it has no workers,
    or these have another version of excise.
    """
    dask = _imported("distributed")
    with ExitStack() as stack:
        if address is None:
            # Keys for this run alone: another user of the machine must not give work to it.
            _imported("cryptography")
            security = dask.Security.temporary()
            # The scheduler always serves a page of its own, and without an address on a fixed port:
            # two runs side by side would print a warning about it.
            cluster = dask.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                protocol="tls", dashboard_address="127.0.0.1:0", security=security,
                scheduler_kwargs={"dashboard": False}, silence_logs=50,
            )  # fmt: skip
            client = stack.enter_context(dask.Client(stack.enter_context(cluster)))
        else:
            try:
                client = stack.enter_context(dask.Client(address, timeout=_SECONDS))
            except (OSError, TimeoutError, ValueError) as error:
                reason = f"no scheduler answers there: {error}".split("\n")[0]
                hint = "check the address, such as tcp://host:8786"
                raise SourceError(reason, name=address, hint=hint) from error
        _check(client, address or "the local cluster")
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
    ignored: Sequence[str] = IGNORED,
    idf: bool = False,
    only_newest: bool = False,
    advance: Callable[[float], None] = lambda done: None,
) -> Counted:
    """Read a queue as `read_counted` does, by workers; what they have read stays with them."""
    parts: list[Any] = []

    def reading(_: object, cut: Iterable[Sequence[Piece]]) -> Iterator[bytes | Part]:
        parts.extend(client.submit(read_part, ignored, part, pure=False) for part in cut)
        return _results(parts)

    def search(least: float, idf: bool) -> Iterator[Pairs]:
        return _searched(client, parts, counted.numbers, least, idf)

    pool = Pool(ignored=ignored, idf=idf, searcher=search)
    counted = read_counted(paths, stdin, reading, pool, only_newest=only_newest, advance=advance)
    return counted


def distributed_pool(
    client: Any,  # noqa: ANN401
    patches: Sequence[Patch],
    *,
    ignored: Sequence[str] = IGNORED,
    idf: bool = False,
) -> Pool:
    """Return a pool whose features and pairs come from workers; single scores are made here."""
    parts = [
        client.submit(
            count_part, tuple(ignored), list(patches[start : start + TOGETHER]), pure=False
        )
        for start in range(0, len(patches), TOGETHER)
    ]

    def search(least: float, idf: bool) -> Iterator[Pairs]:
        return _searched(client, parts, range(len(patches)), least, idf)

    pool = Pool(ignored=ignored, idf=idf, searcher=search)
    merger = Merger()
    counted = (known for part in _results(parts) for known in merger.take(part)[1])
    for patch, (_, edits, ids) in zip(patches, counted, strict=True):
        pool.add_read(patch, edits, ids)
    return pool


def _searched(
    client: Any,  # noqa: ANN401
    parts: Sequence[Any],
    numbers: Sequence[int],
    least: float,
    idf: bool,
) -> Iterator[Pairs]:
    """Return the pairs of a pool whose parts the workers have."""
    pieces = max(1, min(PIECES * len(client.nthreads()), len(numbers) // TOGETHER))
    given = (uuid4().hex, numbers, least, idf), list(parts)
    return _results(
        [client.submit(search_pairs, *given, piece, pieces, pure=False) for piece in range(pieces)]
    )


# --- what a worker does --------------------------------------------------------------------------


def version_here() -> str:
    """Return the version of excise that a worker has."""
    return __version__


def read_part(ignored: Sequence[str], pieces: Sequence[Piece]) -> bytes | Part:
    """Read and count messages, under a vocabulary of their own."""
    return PieceReader(ignored)(pieces)


def count_part(ignored: Sequence[str], patches: Sequence[Patch]) -> Part:
    """Count patches, under a vocabulary of their own."""
    return PieceReader(ignored).part([Message(1, patch=patch) for patch in patches])


def search_pairs(
    search: tuple[str, Sequence[int], float, bool],
    parts: Sequence[bytes | Part],
    piece: int,
    pieces: int,
) -> Pairs:
    """Return the pairs of one piece of a search that are close enough.

    - ``search``: its name, the numbers of the patches that are in it, the least value, and ``idf``.
    """
    name, numbers, least, idf = search
    known = _searches(name)
    if not known:
        merger = Merger()
        edits = [own[1] for part in parts for own in merger.take(part)[1]]
        known.append(piece_search([edits[number] for number in numbers], least, idf=idf))
    return known[0](piece, pieces)


# The one thing a worker remembers between parts, as an index is costly: it dies with the process.
@lru_cache(maxsize=1)
def _searches(name: str) -> list[Callable[[int, int], Pairs]]:
    """Return the place of the search of a name: one search at a time is kept."""
    return []
