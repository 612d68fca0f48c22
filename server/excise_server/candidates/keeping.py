"""Keep as Candidate: what a working tree has beside its commit, as a commit below a private ref.

For tools that edit one tree, one after the other. Only objects of git and one ref are made: index,
HEAD, branches, stash and files stay as they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from itertools import count

from excise_server.foundation.escape import shown_name
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.git.branches import NewCommit, checked_out, commit_apart, move_ref
from excise_server.git.checkouts import KEPT, find_refs, kept_refs
from excise_server.git.conversions import filtered
from excise_server.git.repository import Repository
from excise_server.sources.reading import Target, saved_target

_NAME = 60
"""Most characters of a snapshot's name, which is made of the words of what the user calls it."""


def keep(
    repository: Repository, name: str, unsaved: Collection[str]
) -> tuple[str, list[str], list[str]]:
    """Keep the files that differ from HEAD, new ones included, as a candidate.

    Returns its id, its files, and what else to know of it.

    Raises SourceError if there are none, an editor has not saved some, or git fails.

    - ``name``: what the user calls it; ``kept`` if it has no word.
    - ``unsaved``: paths of files that an editor has not saved.
    """
    if unsaved:
        raise SourceError(f"not saved: {first_few([shown_name(path) for path in sorted(unsaved)])}")
    on = checked_out(repository)
    target = saved_target(repository, on.commit)
    odd = filtered(repository.git, target.saved)
    notes = [*_notes(repository, target, odd)]
    files = {path: side for path, side in target.saved.items() if path not in odd}
    if not files:
        reason = "; ".join(["nothing to keep: no file differs from the last commit", *notes])
        raise SourceError(reason)
    words = "-".join(re.findall(r"\w+", name[:_NAME])) or "kept"
    message = f"{words}\n\nKept as a candidate: what was changed on {on.branch or on.commit}\n"
    commit = commit_apart(repository, on.commit, NewCommit(files, message))
    refs = kept_refs(repository)
    tree = repository.git.run("rev-parse", f"{commit}^{{tree}}").decode().strip()
    made = repository.git.run("for-each-ref", "--format=%(tree) %(parent) %(refname)", KEPT)
    same = f"{tree} {on.commit} ".encode()  # an agent may ask after each turn
    before = {os.fsdecode(x[len(same) :]) for x in made.split(b"\n") if x.startswith(same)}
    for ref in refs:
        if ref.full in before:
            return ref.name, sorted(files), ["it was kept before", *notes]
    taken = {ref.full for ref in refs}
    names = (f"{KEPT}{words}{f'-{number}' * (number > 1)}" for number in count(1))
    full = next(name for name in names if name not in taken)
    move_ref(repository, full, commit)
    [ref] = find_refs(repository, [full])[0]
    return ref.name, sorted(files), notes


def _notes(repository: Repository, target: Target, odd: Collection[str]) -> Iterator[str]:
    yield from target.notes
    for path, reason in target.unread.items():
        yield f"left out: {shown_name(path)}: {reason}"
    if odd:
        shown = first_few([shown_name(path) for path in odd])
        yield f"left out: {shown}: git converts it by a filter, which Excise never runs"
    mirrors = ("--type=bool", r"^remote\..*\.mirror$", "true")
    if repository.git.run("config", "--get-regexp", *mirrors, status=(0, 1)):
        yield "a remote is a mirror: a push sends what is kept there as well"


def remove_kept(repository: Repository, name: str) -> bool:
    """Remove a snapshot by its id, and return whether it was there.

    Raises SourceError if git fails.
    """
    ref = next((ref for ref in kept_refs(repository) if ref.name == name), None)
    if ref is not None:
        move_ref(repository, ref.full, old=ref.commit)
    return ref is not None
