"""Work on several processes or machines, by Dask: the same functions, and the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, BinaryIO
from uuid import uuid4

from excise.errors import extra_hint
from excise.patches import IGNORED, Message, Patch, Pool
from excise.patches.mail import pieces
from excise.patches.pool import Pairs
from excise_server.foundation.inputs import SourceError
from excise_server.queue import distributed_work as work
from excise_server.queue.counted import Counted, Merger, Part, Piece, read_counted

__all__ = ["Crew", "crew", "distributed_pool", "distributed_queue"]

INSTALL = extra_hint("distributed")

TOGETHER = 200
"""Messages or patches of one task."""

PIECES = 4
"""Pieces of a search for each worker, so that a slow one does not hold up the others."""

_SMALL = 1_000_000
"""Bytes of a file below which it is read here."""

_SECONDS = 20


class Crew:
    """Workers, and ways to give them work; a task whose worker dies is done again by another."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - distributed has no types
        """Take a connected client."""
        self._client = client

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self._client.nthreads())

    def submit(self, function: Callable[..., Any], *given: Any) -> Any:  # noqa: ANN401
        """Start one task; what is given may be a task itself."""
        return self._client.submit(function, *given, pure=False)

    def results(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results in order.

        Raises
        ------
        SourceError
            If the workers are gone, or one task killed several of them.
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

    def read(self, data: bytes) -> tuple[Message, ...]:
        """Read every message of a file."""
        found = [(n, line, piece) for n, (line, piece) in enumerate(pieces(data), start=1)]
        if len(data) < _SMALL:
            return tuple(work.read_pieces(found))
        parts = [found[at : at + TOGETHER] for at in range(0, len(found), TOGETHER)]
        tasks = [self.submit(work.read_pieces, part) for part in parts]
        return tuple(message for part in self.results(tasks) for message in part)


@contextmanager
def crew(address: str | None, workers: int) -> Iterator[Crew]:
    """Connect to a scheduler, or start workers on this machine for as long as this lasts.

    Raises
    ------
    SourceError
        If Dask is not installed, the scheduler does not answer, it has no workers, or these have
        another version of excise.
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
        yield Crew(client)


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
        found = client.run(work.version_here)
    except Exception as error:
        hint = f"on the workers, too, {INSTALL}"
        raise SourceError(
            f"excise is not on every worker: {error}", name=name, hint=hint
        ) from error
    own = work.version_here()
    if other := {worker: version for worker, version in found.items() if version != own}:
        worker, version = next(iter(other.items()))
        reason = f"the worker at {worker} has excise {version}, this is {own}"
        raise SourceError(reason, name=name, hint="give all the same version")


def distributed_queue(
    crew: Crew,
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

    def reading(_: object, found: Iterable[Sequence[Piece]]) -> Iterator[bytes | Part]:
        parts.extend(crew.submit(work.read_part, ignored, part) for part in found)
        return crew.results(parts)

    def search(least: float, idf: bool) -> Iterator[Pairs]:
        return _searched(crew, parts, counted.numbers, least, idf)

    pool = Pool(ignored=ignored, idf=idf, searcher=search)
    counted = read_counted(paths, stdin, reading, pool, only_newest=only_newest, advance=advance)
    return counted


def distributed_pool(
    crew: Crew, patches: Sequence[Patch], *, ignored: Sequence[str] = IGNORED, idf: bool = False
) -> Pool:
    """Return a pool whose features and pairs come from workers; single scores are made here."""
    parts = [
        crew.submit(work.count_part, tuple(ignored), list(patches[start : start + TOGETHER]))
        for start in range(0, len(patches), TOGETHER)
    ]

    def search(least: float, idf: bool) -> Iterator[Pairs]:
        return _searched(crew, parts, range(len(patches)), least, idf)

    pool = Pool(ignored=ignored, idf=idf, searcher=search)
    merger = Merger()
    counted = (known for part in crew.results(parts) for known in merger.take(part)[1])
    for patch, known in zip(patches, counted, strict=True):
        pool.add_read(patch, known.edits, patch_id=known.patch_id, text_id=known.text_id)
    return pool


def _searched(
    crew: Crew, parts: Sequence[Any], numbers: Sequence[int], least: float, idf: bool
) -> Iterator[Pairs]:
    """Return the pairs of a pool whose parts the workers have."""
    pieces = max(1, min(PIECES * crew.size, len(numbers) // TOGETHER))
    run = work.Run(uuid4().hex, numbers)
    return crew.results(
        [
            crew.submit(work.search_pairs, run, list(parts), least, idf, piece, pieces)
            for piece in range(pieces)
        ]
    )
