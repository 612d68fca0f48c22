"""The document in other worktrees and branches; the origin is where their histories part.

Each revision has its own merge base with HEAD. Where all of these hold the same text, that is the
origin; where not, it is the text at the common ancestor of all, and a note says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from excise.text import Revision, normalise
from excise_server.git.repository import (
    AbsentError,
    Blob,
    Repository,
    Worktree,
    opened,
    points_back,
)
from excise_server.sources import SourceError, unique_ids
from excise_server.sources.finding import Context, Found, OriginText, Refused, Watch, watch_file
from excise_server.sources.paths import inside, read_bytes, text_of, visible

__all__ = ["MAX_BRANCHES", "MAX_WORKTREES", "find"]

MAX_BRANCHES = 64
"""Most branches looked at: those with the newest commits."""

MAX_WORKTREES = 64
"""Most worktrees looked at, in the order in which git lists them."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One revision to be; ``text`` is None until it is read (a branch), ``file`` where it lies."""

    id: str
    label: str
    commit: str
    text: str | SourceError | None = None
    bases: tuple[str, ...] = ()
    file: str = ""


def find(context: Context, repository: Repository | SourceError | None = None) -> Found:
    """Find the document in the other worktrees and branches of its repository.

    The origin is given only for the setting ``mergeBase``.
    """
    settings = context.settings
    if not (settings.worktrees or settings.branches or settings.origin == "mergeBase"):
        return Found()
    try:
        repository = opened(context, repository)
        if repository is None:
            missing = Refused("origin", "in no git repository")
            return Found(refused=(missing,) if settings.origin == "mergeBase" else ())
        return _find(context, repository)
    except SourceError as error:
        return Found(refused=(Refused("git", error.reason, error.hint),))


def _find(context: Context, repository: Repository) -> Found:
    head = repository.head()
    if head is None:
        return Found(
            refused=(Refused("git", "no commit yet"),), watch=_watch(context, repository, [])
        )
    listed = repository.worktrees()
    trees, refused = _worktrees(repository, listed) if context.settings.worktrees else ([], [])
    candidates = [_from_worktree(repository, tree) for tree in trees]
    own = [tree for tree in listed if os.path.realpath(tree.path) == repository.top]
    branches, unlisted = _branches(context, repository, {t.branch for t in (*trees, *own)})
    refused += unlisted
    candidates += branches
    related, unrelated = _related(repository, head, candidates, dict(context.bases))
    names = unique_ids([candidate.id for candidate in related])
    related = [replace(c, id=name) for c, name in zip(related, names, strict=True)]
    found = _compared(repository, head, related, context.settings.origin == "mergeBase")
    return replace(
        found,
        refused=(*refused, *unrelated, *found.refused),
        watch=_watch(context, repository, trees),
    )


def _worktrees(
    repository: Repository, listed: list[Worktree]
) -> tuple[list[Worktree], list[Refused]]:
    """Return the other worktrees that are what git says, and why the rest is not."""
    taken, refused = [], []
    for tree in listed[:MAX_WORKTREES]:
        real = os.path.realpath(tree.path)
        if real == repository.top:
            continue
        if reason := _worktree_objection(tree, real, repository.common):
            refused.append(Refused(f"worktree:{visible(tree.path)}", reason))
        else:
            taken.append(replace(tree, path=real))
    if len(listed) > MAX_WORKTREES:
        reason = f"only the first {MAX_WORKTREES} of {len(listed)} are looked at"
        refused.append(Refused("worktrees", reason))
    return taken, refused


def _worktree_objection(tree: Worktree, real: str, common: str) -> str:
    if tree.prunable:
        return f"prunable: {tree.prunable}"
    if not tree.head.strip("0"):
        return "it has no commit yet"
    return points_back(real, common)


def _from_worktree(repository: Repository, tree: Worktree) -> _Candidate:
    """Return the document as it lies in a worktree, or why it cannot be read."""
    branch = tree.branch.removeprefix("refs/heads/")
    label = f"{branch or f'detached at {tree.head[:10]}'} in {visible(tree.path)}"
    path = os.path.join(tree.path, *repository.path.split("/"))
    text: str | SourceError
    try:
        text = text_of(read_bytes(path, [tree.path]))
    except SourceError as error:
        text = error
        if not os.path.lexists(path):
            text = AbsentError("the file does not exist there")
        elif not inside(path, [tree.path]):
            text = SourceError("a link that leaves the worktree")
    name = f"worktree:{visible(os.path.basename(tree.path))}"
    return _Candidate(name, label, tree.head, text, file=path)


def _branches(
    context: Context, repository: Repository, shown: set[str]
) -> tuple[list[_Candidate], list[Refused]]:
    """Return the local branches, newest first, without those that a worktree shows."""
    if not context.settings.branches:
        return [], []
    patterns = [f"refs/heads/{p}" for p in context.settings.branches if p and "\0" not in p]
    if not patterns:  # without any, git would list every ref
        return [], [Refused("branches", "a pattern is empty or holds a NUL character")]
    out = repository.git.run(
        "for-each-ref",
        "--sort=-committerdate",
        f"--count={MAX_BRANCHES + 1}",
        "--format=%(objectname) %(objecttype) %(refname)",
        "--end-of-options",
        *patterns,
    )
    lines = os.fsdecode(out).split("\n")[:-1]
    candidates = []
    for line in lines[:MAX_BRANCHES]:
        commit, kind, ref = line.split(" ", 2)
        if ref not in shown and kind == "commit":
            name = visible(ref.removeprefix("refs/heads/"))
            candidates.append(_Candidate(f"branch:{name}", f"branch {name}", commit))
    refused = []
    if len(lines) > MAX_BRANCHES:
        refused.append(Refused("branches", f"only the {MAX_BRANCHES} newest are looked at"))
    return candidates, refused


def _related(
    repository: Repository, head: str, candidates: list[_Candidate], known: Mapping[str, str]
) -> tuple[list[_Candidate], list[Refused]]:
    """Give each candidate its merge bases with HEAD, unless its base is known.

    One without any has nothing in common.
    """
    bases: dict[str, tuple[str, ...]] = {head: (head,)}
    related, refused = [], []
    for candidate in candidates:
        if base := known.get(candidate.id):
            related.append(replace(candidate, bases=(base,)))
            continue
        if candidate.commit not in bases:
            bases[candidate.commit] = tuple(repository.merge_bases(head, candidate.commit))
        if bases[candidate.commit]:
            related.append(replace(candidate, bases=bases[candidate.commit]))
        else:
            refused.append(Refused(candidate.id, "its history has nothing in common with HEAD"))
    return related, refused


def _compared(
    repository: Repository, head: str, candidates: list[_Candidate], wants_origin: bool
) -> Found:
    """Read what is not read yet, leave out what did not change, and settle the origin."""
    commits = list(dict.fromkeys(base for c in candidates for base in c.bases))
    tips = [c for c in candidates if c.text is None]
    names = [f"{commit}:{repository.path}" for commit in (*commits, *(c.commit for c in tips))]
    texts = [_read(blob) for blob in repository.blobs(names)]
    base_texts = dict(zip(commits, texts, strict=False))
    tip_texts = {c.id: text for c, text in zip(tips, texts[len(commits) :], strict=True)}
    taken: list[tuple[_Candidate, Revision]] = []
    refused, unchanged = [], []
    for candidate in candidates:
        text = candidate.text if candidate.text is not None else tip_texts[candidate.id]
        started = [base_texts[base] for base in candidate.bases]
        if _same(text, started):
            unchanged.append(candidate.id)
        elif isinstance(text, str):
            taken.append((candidate, Revision(candidate.id, text, candidate.label)))
        else:
            refused.append(Refused(candidate.id, text.reason, text.hint))
    made_from = [(c.id, base_texts[c.bases[0]]) for c, _ in taken]
    found = Found(
        revisions=tuple(revision for _, revision in taken),
        refused=tuple(refused),
        made_from=tuple((name, text) for name, text in made_from if isinstance(text, str)),
        unchanged=tuple(unchanged),
        files=tuple((c.id, c.file) for c, _ in taken if c.file),
    )
    return _with_origin(repository, head, taken, base_texts, found) if wants_origin else found


def _read(blob: Blob | SourceError) -> str | SourceError:
    """Return the text of a blob, or why there is none."""
    if isinstance(blob, SourceError):
        return blob
    try:
        return text_of(blob.data)
    except SourceError as error:
        return error


def _same(text: str | SourceError, started: list[str | SourceError]) -> bool:
    """Whether a revision is what it started from; a file absent in both is the same as well."""
    if isinstance(text, SourceError):
        return isinstance(text, AbsentError) and all(
            isinstance(base, AbsentError) for base in started
        )
    return all(isinstance(base, str) and normalise(base) == normalise(text) for base in started)


def _with_origin(
    repository: Repository,
    head: str,
    taken: list[tuple[_Candidate, Revision]],
    base_texts: dict[str, str | SourceError],
    found: Found,
) -> Found:
    """Add the merge base that serves all revisions, or why there is none."""
    bases = list(dict.fromkeys(base for candidate, _ in taken for base in candidate.bases))
    if not bases:
        reason = "no other worktree or branch has changed the file: no merge base"
        return replace(found, refused=(*found.refused, Refused("origin", reason)))
    notes: tuple[tuple[str, str], ...] = ()
    texts = {base: base_texts[base] for base in bases}
    if not _agree(list(texts.values())):
        short = ", ".join(base[:10] for base in bases[:4])
        bases = repository.merge_bases(head, *(c.commit for c, _ in taken), octopus=True)
        names = [f"{base}:{repository.path}" for base in bases]
        texts = dict(zip(bases, map(_read, repository.blobs(names)), strict=True))
        note = f"merge bases differ ({short}): the origin is the common ancestor of all"
        notes = tuple((revision.id, note) for _, revision in taken)
    if not texts or not _agree(list(texts.values())):
        reason = "the merge bases differ, and no common ancestor of all holds one text"
        return replace(found, refused=(*found.refused, Refused("origin", reason)))
    base, text = next(iter(texts.items()))
    if isinstance(text, SourceError):
        reason = f"at the merge base {base[:10]}: {text.reason}"
        return replace(found, refused=(*found.refused, Refused("origin", reason, text.hint)))
    return replace(
        found, origin=OriginText(text, "mergeBase", f"merge base {base[:10]}"), notes=notes
    )


def _agree(texts: list[str | SourceError]) -> bool:
    """Whether all texts are one, or all are missing."""
    if all(isinstance(text, AbsentError) for text in texts):
        return True
    return len({normalise(t) if isinstance(t, str) else None for t in texts}) == 1 and all(
        isinstance(text, str) for text in texts
    )


def _watch(context: Context, repository: Repository, trees: list[Worktree]) -> tuple[Watch, ...]:
    """What moves HEAD, a branch or the list of worktrees, and the file in each of them."""
    watch = [watch_file(os.path.join(repository.git_dir, "HEAD"))]
    if context.settings.branches:
        watch += [
            Watch(repository.common, "refs/heads/**"),
            Watch(repository.common, "packed-refs"),
        ]
    if context.settings.worktrees:
        watch.append(Watch(repository.common, "worktrees/**"))
    files = [os.path.join(tree.path, *repository.path.split("/")) for tree in trees]
    return (*watch, *map(watch_file, files))
