"""What the user's files have of a candidate, and what is decided by that. Pure.

Whether something was taken is read off the files themselves: by whatever door it came, and until it
is undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from excise.text import raw_lines
from excise_server.foundation.changes import Side, differing_lines
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.composing import edited_beside, is_same_file

Now = Mapping[str, Side | None]
"""The user's files that differ from the target, by path; None: deleted."""


def taken_paths(candidate: Candidate, now: Now) -> dict[str, bool]:
    """Return whether the files have all of a candidate's edit, or a part, by path; else nothing.

    - ``now``: what differs from the target that the candidate is replayed on.
    """
    paths = (candidate.old.keys() | candidate.new.keys()) & now.keys() - candidate.conflicts.keys()
    old, new = candidate.old, candidate.new
    shares = {path: _share(old.get(path), new.get(path), now[path]) for path in sorted(paths)}
    return {path: share for path, share in shares.items() if share is not None}


def is_whole(candidate: Candidate, taken: Mapping[str, bool]) -> bool:
    """Whether the files have all that a candidate changes."""
    paths = candidate.old.keys() | candidate.new.keys() | candidate.conflicts.keys()
    return bool(paths) and all(taken.get(path, False) for path in paths)


def _share(before: Side | None, after: Side | None, now: Side | None) -> bool | None:
    """Return whether a file has all of an edit, or a part of it (False), or nothing (None)."""
    if after is None or now is None:
        return True if after is now else None
    if is_same_file(now, after):
        return True
    if before is None:
        return None
    with suppress(SourceError):  # else somebody changed the same lines
        if edited_beside(before, after, now).data == now.data:
            return True
    return False if _edits(before, after) & _edits(before, now) else None


def _edits(before: Side, after: Side) -> set[tuple[int, int, str]]:
    old, new = raw_lines(before.text or ""), raw_lines(after.text or "")
    return {
        (o_lo, o_hi, "".join(new[a_lo:a_hi]))
        for o_lo, o_hi, a_lo, a_hi in differing_lines(old, new)
    }


def decided_states(
    candidates: Iterable[Candidate], tasks: Iterable[Sequence[str]], now: Now
) -> dict[str, str]:
    """Return what is decided of candidates, by id; those that are still open are missing.

    ``taken``: the files have all of it; ``partly taken``: some; ``passed over``: nothing of it, but
    all of another one of its task.

    - ``tasks``: the ids of each task.
    """
    states = {}
    for candidate in candidates:
        if taken := taken_paths(candidate, now):
            states[candidate.id] = "taken" if is_whole(candidate, taken) else "partly taken"
    for members in tasks:
        if any(states.get(name) == "taken" for name in members):
            states |= {name: "passed over" for name in members if name not in states}
    return states
