"""The candidates of a repository: their own edits, replayed on one commit or on saved files.

A candidate is read against the commit that it started from, so that what others did meanwhile does
not count as its edits, and is then replayed onto the target, so that all are comparable. Commands
read all files of all candidates, and an open document one file of each. Which names denote the same
candidate, where it started and what it is called is decided here, for both.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Selection, roots, traces_of
from excise_server.git.command import GitError
from excise_server.git.history import (
    History,
    Start,
    ask_own_commits,
    branch_made,
    branch_of,
    commit_named,
    made_for,
    merge_bases,
    own_commits,
    worktree_made,
)
from excise_server.git.repository import Blob, Repository
from excise_server.git.search import lines_with
from excise_server.review.candidate import Candidate, Landed, in_order, marked_identical
from excise_server.review.claims import CONFIGURED, names_given
from excise_server.review.given import Given
from excise_server.review.names import labels, name_of
from excise_server.sources.facets import with_facets
from excise_server.sources.given import given_candidates
from excise_server.sources.landed import LANDED, landed
from excise_server.sources.reading import (
    ListedCandidate,
    ReplayedCandidate,
    Target,
    is_edited,
    merged_candidates,
    read_changes,
    read_file,
    read_small,
    read_worktrees,
    replayed,
    saved_target,
    verdicts,
)
from excise_server.sources.registry import listers

SAVED = "saved"
"""The name of the target that is the checkout's saved files. A branch is ``heads/saved``."""

SAME_ID = "the client added another candidate with this id"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a repository.

    - ``origin``: the commit that all are replayed on.
    - ``unchanged``: ids of candidates without changes.
    - ``landed``: the candidates that the target has already.
    - ``builtins``: names that the project has without a definition: its linter's configuration says
      so, or it gives them to Python itself.
    """

    origin: str
    found: tuple[Candidate, ...]
    unchanged: tuple[str, ...] = ()
    landed: tuple[Landed, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()
    builtins: frozenset[str] = frozenset()


def find_candidates(
    repository: Repository,
    selection: Selection,
    *,
    given: Sequence[Given] = (),
    clock: Callable[[], float] = time.time,
) -> Candidates:
    """Read what every worktree, branch and patch changed, replayed onto the target.

    Raises SourceError if git fails, there is no commit yet, or a revision that was named does not
    exist.

    - ``given``: candidates of a client. A candidate of the repository with the same id is left out.
    - ``clock``: returns the time in seconds since the epoch, to tell which files are still being
      written.
    """
    onto = selection.onto if selection.onto != SAVED else ""
    origin = commit_named(repository, onto, "--onto") if onto else repository.head()
    if origin is None:
        raise SourceError(
            "no commits yet: nothing to replay candidates onto", hint="commit something first"
        )
    target, notes = Target(origin), list[str]()
    if selection.onto == SAVED:
        target = saved_target(repository, origin)
        if differing := len(target.saved.keys() | target.unread.keys()):
            files = "1 file differs" if differing == 1 else f"{differing:,} files differ"
            notes.append(f"replayed onto the saved files, of which {files} from the commit")
    rejected: list[Rejected] = []
    listed = _listed(repository, selection, origin, rejected)
    entries = read_worktrees(repository, origin, listed, rejected)
    with_bases = _with_bases(repository, selection, origin, entries, rejected)
    read = read_changes(repository, with_bases, clock, rejected)
    reads = read_small(read, rejected)
    answers = verdicts(repository, target, reads, notes)
    gone = landed(repository, origin, reads, answers, notes)
    rest = [entry for entry in reads if entry.candidate.id not in gone]
    by_state: dict[str, list[Candidate]] = {"changed": [], "unchanged": [], "landed": []}
    by_state["landed"] = [entry.candidate for entry in reads if entry.candidate.id in gone]
    for each in merged_candidates(repository, target, rest, answers, rejected):
        by_state[each.state].append(each.candidate)
    edited, unchanged, already = by_state.values()
    notes += [f"{candidate.id}: {note}" for candidate in unchanged for note in candidate.notes]
    given_ids = {candidate.id for candidate in given}
    rejected += [Rejected(c.id, SAME_ID) for c in edited if c.id in given_ids]
    edited = [candidate for candidate in edited if candidate.id not in given_ids]
    edited = _with_refs(edited, lambda candidate: candidate.uncommitted > 0)
    ask_own_commits(repository, origin, [(e.base, e.commit) for e in (*edited, *already)])
    named = labelled(repository, [*edited, *already])
    named, theirs = named[: len(edited)], named[len(edited) :]
    named = _with_made_for(repository, origin, named)
    sent, idle = given_candidates(repository, target, given, {c.label for c in named}, rejected)
    return Candidates(
        origin,
        with_facets(repository, target, marked_identical((*named, *sent))),
        (*(candidate.id for candidate in unchanged), *idle),
        tuple(Landed(each.id, each.label, *gone.get(each.id, ("", LANDED))) for each in theirs),
        tuple(rejected),
        tuple(notes),
        _builtins(repository, origin, (*named, *sent)),
    )


def _with_made_for(
    repository: Repository, target: str, candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """Return the candidates with the branch that each was made for, if it is not the target.

    One whose base was chosen, or that is stacked on another one, was made for that.
    """
    asked = {
        candidate.commit: branch_of(f"refs/remotes/{candidate.branch}")
        if candidate.kind == "remote"
        else candidate.branch
        for candidate in candidates
        if candidate.commit != candidate.base
        and candidate.base in merge_bases(repository, target, candidate.commit)
    }
    found = made_for(repository, target, asked)
    return tuple(
        replace(each, made_for=(visible(branch_of(ref)), visible(ref.split("/", 2)[2])))
        if (ref := found.get(each.commit))
        else each
        for each in candidates
    )


def _builtins(
    repository: Repository, commit: str, candidates: Iterable[Candidate]
) -> frozenset[str]:
    """Return the names that a project has without a definition, by a commit and the candidates."""
    changed = [side for candidate in candidates for side in candidate.own[1].items()]
    if not any(path.endswith(".py") for path, _ in changed):
        return frozenset()
    lines = lines_with(repository, commit, {"builtins", "__builtins__"}) or ()
    paths = sorted({path for path, _ in lines if path.rpartition("/")[2] in CONFIGURED})
    blobs = repository.blobs([f"{commit}:{path}" for path in paths])
    sides = [
        *((path, Side("100644", b.data)) for path, b in zip(paths, blobs, strict=True)
          if isinstance(b, Blob)),
        *((path, side) for path, side in changed if path.rpartition("/")[2] in CONFIGURED),
    ]  # fmt: skip
    own = [line for path, line in lines if path.endswith(".py")]
    own += [
        side.data for path, side in changed if path.endswith(".py") and b"builtins" in side.data
    ]
    texts = [(path, side.text or "") for path, side in sides]
    return frozenset(names_given(texts, (line.decode("utf-8", "replace") for line in own)))


def find_in_file(
    repository: Repository,
    selection: Selection,
    target: Target,
    path: str,
    begun: Sequence[Candidate],
    rejected: list[Rejected],
) -> tuple[list[ReplayedCandidate], list[Candidate]]:
    """Read what every candidate changed of one file of the target, replayed onto that.

    Returns these changes, which may be none, and all candidates that were asked.

    Raises SourceError if git fails.

    - ``begun``: earlier candidates: those that have not moved since keep their bases.
    """
    listed = _listed(repository, selection, target.commit, rejected)
    earlier = {name: candidate for candidate in begun for name in candidate.names}
    unmoved = (
        (now.id, before.base)
        for now in (entry.candidate for entry in listed)
        if (before := earlier.get(now.id)) and before.commit == now.commit and before.base
    )
    remembered = (*unmoved, *selection.remembered)
    selection = replace(selection, remembered=remembered)
    entries = _with_bases(repository, selection, target.commit, listed, rejected)
    by_id = {entry.candidate.id: entry for entry in entries}
    shown = _with_refs(
        [entry.candidate for entry in entries],
        lambda candidate: is_edited(repository, target.commit, by_id[candidate.id]),
    )
    entries = [replace(by_id[candidate.id], candidate=candidate) for candidate in shown]
    read = read_file(repository, target, path, entries, time.time, rejected)
    return list(replayed(repository, target, read, rejected)), shown


def _listed(
    repository: Repository, selection: Selection, origin: str, rejected: list[Rejected]
) -> list[ListedCandidate]:
    return [
        entry
        for list_source in listers()
        for entry in list_source(repository, selection, origin, rejected)
    ]


# --- identity: names, bases and labels -----------------------------------------------------------


def _with_bases(
    repository: Repository,
    selection: Selection,
    origin: str,
    entries: Sequence[ListedCandidate],
    rejected: list[Rejected],
) -> list[ListedCandidate]:
    """Return the candidates with their bases, where all refs at one commit are names of one.

    Refs without their own commits stay apart, because nothing shows that they are the same.

    Raises SourceError if a base was chosen for a candidate that does not exist.
    """
    merged: dict[tuple[str, ...], ListedCandidate] = {}
    for entry in _started(repository, origin, selection, entries, rejected):
        candidate = entry.candidate
        key: tuple[str, ...] = (candidate.commit, candidate.base)
        if candidate.folder or candidate.commit == candidate.base:
            key = (candidate.id,)
        if earlier := merged.get(key):
            entry = replace(entry, candidate=_one_of(earlier.candidate, candidate))
        merged[key] = entry
    return list(merged.values())


def _started(
    repository: Repository,
    origin: str,
    selection: Selection,
    entries: Sequence[ListedCandidate],
    rejected: list[Rejected],
) -> Iterator[ListedCandidate]:
    """Yield the candidates with the commits that they started from."""
    history = History(repository, origin)
    chosen, remembered = dict(selection.bases), dict(selection.remembered)
    set_bases = []
    for entry in entries:
        candidate = entry.candidate
        names = [*candidate.names, *(name.partition(":")[2] for name in candidate.names)]
        spelled = [*names, candidate.branch, candidate.given]
        chosen_base = next((chosen.pop(name) for name in spelled if name in chosen), None)
        remembered_base = next((remembered[name] for name in spelled if name in remembered), None)
        set_bases.append((chosen_base, remembered_base))
    together = zip(entries, set_bases, strict=True)
    unset = [e.candidate for e, bases in together if bases == (None, None) and not e.candidate.base]
    history.ask_together(candidate.commit for candidate in unset)
    for entry, (chosen_base, remembered_base) in zip(entries, set_bases, strict=True):
        candidate = entry.candidate
        base_notes: tuple[str, ...] = ()
        start: Start | None
        try:
            if chosen_base is None and remembered_base is not None:
                remembered_base, base_notes = _still_there(repository, remembered_base)
            if chosen_base is not None:
                start = history.start_at(commit_named(repository, chosen_base, "--base"))
            elif remembered_base is not None:
                start = history.start_at(remembered_base)
            elif candidate.base:  # of a range
                start = history.start_at(candidate.base)
            else:
                start = history.own_base(
                    candidate.commit,
                    folder=candidate.folder,
                    branch=candidate.branch,
                    is_edited=partial(is_edited, repository, origin, entry),
                )
        except GitError as error:
            rejected.append(Rejected(candidate.id, error.reason, error.hint))
            continue
        if start is None:
            rejected.append(Rejected(candidate.id, *unrelated(repository)))
            continue
        base_notes = (*candidate.notes, *base_notes, *start.notes)
        with_base = replace(candidate, base=start.base, behind=start.behind, notes=base_notes)
        if entry.patch is not None:
            with_base = replace(with_base, commit=start.base)  # it has no commits of its own
        yield replace(entry, candidate=with_base)
    if chosen:
        unknown = ", ".join(map(visible, chosen))
        raise SourceError(f"no candidate is called {unknown}", hint="check --base NAME=REV")


def _still_there(repository: Repository, commit: str) -> tuple[str | None, tuple[str, ...]]:
    """Return a base that was set earlier, or a note if it is gone."""
    try:
        return commit_named(repository, commit, ""), ()
    except GitError:
        raise
    except SourceError:
        note = f"the base that was set, {visible(commit[:10])}, is gone: git's answer is used"
        return None, (note,)


def unrelated(repository: Repository) -> tuple[str, str]:
    """Return why a history may have nothing in common with the target, and the way out."""
    reason = "its history has nothing in common with the target"
    hint = "name the commit it started from with --base NAME=REV"
    if os.path.exists(os.path.join(repository.common, "shallow")):
        return f"{reason} in this shallow clone", f"git fetch --unshallow, or {hint}"
    if os.path.exists(os.path.join(repository.common, "info", "grafts")):
        return f"{reason}, according to info/grafts", hint
    return reason, hint


def _with_refs(
    read: Sequence[Candidate], is_edited: Callable[[Candidate], bool]
) -> list[Candidate]:
    """Return the candidates, where refs are names of the worktree that shows their commit.

    A detached worktree with uncommitted changes shows nothing that has a name.
    """
    merged = [candidate for candidate in read if candidate.folder]
    for ref in (candidate for candidate in read if not candidate.folder):
        for place, worktree in enumerate(merged):
            is_alike = (worktree.commit, worktree.base) == (ref.commit, ref.base)
            if not worktree.folder or not is_alike or ref.commit == ref.base:
                continue
            if worktree.branch or not is_edited(worktree):
                merged[place] = _one_of(worktree, ref)
                break
        else:
            merged.append(ref)
    return merged


def _one_of(first: Candidate, second: Candidate) -> Candidate:
    """Return two names of one thing as one candidate."""
    names = in_order([*first.names, *second.names])
    preferred, alias = (first, second) if names[0] in first.names else (second, first)
    return replace(preferred, names=names, given=preferred.given or alias.given)


def labelled(repository: Repository, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates with their labels, tools, tasks and times."""
    listed = repository.worktrees()
    main = listed[0].path if listed else repository.top
    places = roots()
    traces, times, issues = [], [], []
    for candidate in candidates:
        creation = worktree_made(repository, candidate.folder) if candidate.folder else None
        if creation is None and any(name.startswith("branch:") for name in candidate.names):
            creation = branch_made(repository, candidate.branch)
        time_made = creation.time if creation else None
        trace = traces_of(candidate, main)
        commits = own_commits(repository, candidate.base, candidate.commit)
        if time_made is None or not name_of(trace, places).tool:
            trace = replace(trace, trailers=commits.trailers)
            time_made = commits.time if time_made is None else time_made
        traces.append(trace)
        times.append(time_made)
        issues.append(commits.issues)
    names = [name_of(trace, places) for trace in traces]
    shown = labels(traces, places, visible)
    return tuple(
        replace(
            candidate,
            label=label,
            tool=name.tool,
            task=candidate.task or name.task,
            made=time_made,
            issues=named,
        )
        for candidate, name, label, time_made, named in zip(
            candidates, names, shown, times, issues, strict=True
        )
    )
