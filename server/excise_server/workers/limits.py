"""How much a worker may take. Memory and CPU time only: numbers must not depend on the load."""

from __future__ import annotations

__all__ = ["MEMORY", "limit_memory"]

MEMORY = 8 << 30
"""Bytes of addresses of a worker: a 10 MB text as one node a character takes some 3 GB."""


def limit_memory() -> None:
    """Let what would fill the machine end this process; leave no core file of people's texts."""
    try:
        import resource
    except ImportError:
        return
    for kind, wanted in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or wanted < hard:
            resource.setrlimit(kind, (wanted, hard if kind == resource.RLIMIT_AS else wanted))
