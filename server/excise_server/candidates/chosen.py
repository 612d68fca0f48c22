"""Which candidates and tasks names denote, and what is taken of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from excise_server.candidates.compared import compared
from excise_server.foundation.escape import shortened, visible
from excise_server.foundation.file_bytes import SHA256_DIGITS
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import (
    Candidate,
    candidate_called,
    candidates_called,
    candidates_meant,
    review_digest,
)
from excise_server.review.git_patch import git_patch
from excise_server.review.ranked import chosen_task
from excise_server.review.relations import Task, joined
from excise_server.review.taking import Choice, Taken, take
from excise_server.sources.candidates import Candidates


def without(
    candidates: Candidates, aside: Mapping[str, str]
) -> tuple[Candidates, tuple[Candidate, ...]]:
    """Return the candidates without those of some ids, and those.

    A candidate that is set aside no longer counts as identical to another one.
    """
    remaining = tuple(
        replace(c, identical=tuple(name for name in c.identical if name not in aside))
        for c in candidates.found
        if c.id not in aside
    )
    return replace(candidates, found=remaining), tuple(c for c in candidates.found if c.id in aside)


def chosen_candidates(
    candidates: Candidates, names: Sequence[str], *, reads: bool = False
) -> Candidates:
    """Return the candidates with some names (ids, labels, branches), or all without names.

    Raises SourceError if a name denotes none or several of those that change something.

    - ``reads``: as for `candidate_called`.
    """
    if not names:
        return candidates
    idle = {**dict.fromkeys(candidates.unchanged, "it changes nothing"),
            **{landed.id: landed.words for landed in candidates.landed}}  # fmt: skip
    chosen = set()
    for name in names:
        if not candidates_called(name, candidates.found):
            for identity, reason in idle.items():
                if name in (identity, identity.partition(":")[2]):
                    raise SourceError(f"nothing of {visible(name)} is left to compare: {reason}")
        chosen.add(candidate_called(name, candidates.found, reads=reads).id)
    return replace(candidates, found=tuple(c for c in candidates.found if c.id in chosen))


def is_known(name: str, candidates: Candidates) -> bool:
    """Tell whether a name denotes something that was read, though it may have changed nothing."""
    idle = (*candidates.unchanged, *(landed.id for landed in candidates.landed))
    return bool(candidates_meant(name, candidates.found)) or any(
        name in (identity, identity.partition(":")[2]) for identity in idle
    )


_NAME_OF_ISSUE = 72
"""Most characters of an issue's name."""


def for_issue(candidates: Candidates, issue: str) -> Candidates:
    """Return the candidates as attempts at one issue, if there is one.

    Raises SourceError if its text is blank.

    - ``issue``: its text, which is called by its first line, or nothing.
    """
    if not issue:
        return candidates
    lines = (line.strip().removeprefix("# ").strip() for line in issue.split("\n"))
    if not (name := next(filter(None, lines), "")):
        raise SourceError("it is empty", name="the issue")
    name = shortened(name, _NAME_OF_ISSUE)
    found = tuple(replace(c, issues=(*c.issues, name)) for c in candidates.found)
    return replace(candidates, found=found)


def chosen_tasks(
    candidates: Candidates, every: tuple[Task, ...], name: str
) -> tuple[Candidates, tuple[Task, ...], tuple[Task, ...]]:
    """Return the candidates of the task that was chosen, its tasks, and all other tasks.

    Several names with commas between them say that these are one task.

    Raises SourceError if no task has that name; an empty one chooses all.
    """
    if not name:
        return candidates, every, ()
    task = chosen_task(every, name, candidates.found)
    taken = [task]
    if task is None:
        names = [part.strip() for part in name.split(",")]
        taken = [chosen_task(every, part, candidates.found) for part in names]
        name = next((part for part, own in zip(names, taken, strict=True) if own is None), name)
        if None not in taken:
            task = joined(filter(None, taken), candidates.found)
    if task is None:
        count = f"there are {len(every)}" if len(every) > 1 else "there is one"
        hint = f"{count}: name a task by its number, its tool's name for it, or a candidate in it"
        hint = hint if every else "no candidate changes anything"
        raise SourceError(f"no task is called {visible(name)}", hint=hint)
    members = tuple(c for c in candidates.found if c.id in task.members)
    others = tuple(each for each in every if each not in taken)
    return replace(candidates, found=members), (task,), others


def take_from_review(
    candidates: Candidates,
    choose: Callable[[Sequence[Candidate]], Sequence[Choice]],
    *,
    task: str = "",
    digest: str | None = None,
    anyway: bool = False,
    split: bool = False,
    folders: bool = False,
) -> Taken:
    """Put the chosen parts of some candidates together.

    Raises SourceError if no task has that name, the review has another digest by now, or a choice
    cannot be made. Raises BrokenMixError if what was chosen cannot work together.

    - ``choose``: returns the choices among the candidates of the review.
    - ``task``: the only task that is reviewed: its number, its name or a candidate in it;
      empty for all.
    - ``anyway``: whether a mix that cannot work is taken all the same.
    - ``split``: whether a hunk is taken without those that belong with it.
    - ``folders``: whether the candidates are folders without a repository.
    """
    reviewed, choices = candidates, list[Choice]()
    if not task and digest is None:
        choices = [*choose(candidates.found)]
    owners = {choice.candidate for choice in choices}
    if len(owners) == 1 and all(choice.lines is None for choice in choices):
        # Whole files of one candidate depend on no other one.
        companies = [[c for c in candidates.found if c.id in owners]]
    else:
        every = compared(candidates).tasks
        reviewed, tasks, _ = chosen_tasks(candidates, every, task)
        companies = [[c for c in reviewed.found if c.id in each.members] for each in tasks]
    own = review_digest(reviewed.origin, reviewed.found)
    known = digest in (None, own, *(review_digest(reviewed.origin, each) for each in companies))
    if digest is not None and not known:
        raise SourceError(
            f"the review has changed: its digest is {own}, and not {visible(digest)[:80]}",
            hint="look at it again with excise review, and choose again",
        )
    taken = take(companies, choices or choose(reviewed.found), anyway=anyway, split=split)
    sha256 = not folders and len(reviewed.origin) == SHA256_DIGITS
    patch = git_patch(taken.files, sha256=sha256)
    return replace(taken, origin=reviewed.origin, digest=own, patch=patch)
