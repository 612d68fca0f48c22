"""``excise cluster``: which of many patches are one issue, and which make the same edit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from functools import partial

import click

from excise.clustering import merges
from excise.errors import ExciseError
from excise.patches import Message, Patch, Pool, group
from excise.patches.evidence import ChangeCounts
from excise_server.candidates.whole import WholePatches, whole_patches
from excise_server.cli import options
from excise_server.cli.inputs import report_rejected
from excise_server.cli.progress import progress
from excise_server.cli.review import opened
from excise_server.cli.streams import show
from excise_server.duplicates.find import (
    Proposal,
    find_duplicates,
    find_issues,
    proposals_of,
)
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.repository import Repository
from excise_server.processes.forks import Map, forked_map, usable_cores
from excise_server.queue.counted import read_counted
from excise_server.queue.reading import STDIN, Member, Queue, read_queue
from excise_server.queue.state import State, read_watched
from excise_server.report.blocks import markdown, terminal
from excise_server.report.cluster import (
    Grouped,
    cluster_blocks,
    cluster_document,
    cluster_lines,
    cluster_markdown,
    duplicates_document,
    hunk_of,
    like_blocks,
    values_of,
)
from excise_server.report.markdown import LONGEST_PAGE
from excise_server.sources.commits import is_range, read_commits
from excise_server.sources.requests import (
    PullFacts,
    main_line,
    read_named,
    read_pull_list,
    read_requests,
    with_pull_facts,
)
from excise_server.wire.documents import json_text

MOST_JOBS = 8
"""Processes used unasked: beyond these, what one process does alone takes most of the time."""

NEAREST = 5
"""Patches that ``--like`` shows."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """Everything that was read, once: patches, what they change, and the proposals they make.

    ``has_commits``: whether commits of a range are among them.
    """

    queue: Queue
    proposals: Sequence[Proposal]
    pool: Pool | None = None
    patch_of: Callable[[int], Patch] | None = None
    new: frozenset[str] | None = None
    about: tuple[str, ...] = ()
    has_commits: bool = False


@click.command("cluster")
@click.argument("paths", nargs=-1, metavar="[PATCH|MBOX|DIR...]")
@options.source_option("git", multiple=True)
@click.option("--repo", metavar="DIR", help="The repository.  [default: this one]")
@options.onto_option
@click.option(
    "--like",
    metavar="PATCH",
    help="Is somebody doing this already? Compare this one with all others: a file, a mail, - or a "
    "branch or commit of the repository.",
)
@click.option(
    "--state",
    metavar="FILE",
    help="Remember all patches in this file (made if it is missing), and say first what is new.",
)
@click.option(
    "--pulls",
    metavar="FILE",
    help="With --git: titles, bodies and authors as JSON (gh pr list --json ..).",
)
@options.format_option
@options.output_option
@options.verbose_option
def command(
    *,
    paths: tuple[str, ...],
    git: tuple[str, ...],
    repo: str | None,
    onto: str,
    like: str | None,
    state: str | None,
    pulls: str | None,
    format: str,
    output: str | None,
    verbose: bool,
) -> int:
    """Say which of many patches are about one issue, and which of these make the same edit.

    The arguments are patch files, mailboxes and folders of them (- is standard input); with --git
    they are heads of a repository, which may be bare: each against its merge base with HEAD, or
    with --onto; or the commits of a range. A series is one proposal. What a pair may be besides
    (versions, one author's, a stack, a revert, a backport) is named. Which patches have the same
    code takes whole files: of heads, or of the repository to which the patches apply (--repo).
    """
    if git and (paths or state is not None):
        raise click.UsageError("--git takes no patches or --state: name a folder by --repo.")
    if not (paths or git or state is not None):
        raise click.UsageError(
            "Name patches, mailboxes or a folder of them ('-': standard input), or --git PATTERN."
        )
    if not git and pulls is not None:
        raise click.UsageError("--pulls needs --git.")
    if onto and not git and like is None and repo is None:
        raise click.UsageError("--onto needs --git, --repo or --like.")
    if like is not None and (format == "html" or (like == STDIN and STDIN in paths)):
        raise click.UsageError("--like has no page, and not the same standard input as the others.")
    with ExitStack() as stack:
        repository = opened(repo or ".", only_commits=True) if git or repo is not None else None
        with progress("Reading", 1.0) as advance:
            facts = {} if pulls is None else read_pull_list(pulls)
            asked = None if like is None else _asked(like, repository, onto, facts)
            if git and repository is not None:
                sent = _read_git(repository, git, onto, facts, advance)
            elif state is not None:
                opened_state = stack.enter_context(closing(State(state)))
                sent = _read_state(opened_state, paths)
            else:
                queue, pool, changes, of = read_counted(paths, sys.stdin.buffer, _map(), advance)
                sent = _Sent(queue, _proposals(queue, pool, changes, of), pool, of)
        if asked is not None:
            others = [proposal for proposal in sent.proposals if not proposal.is_same_as(asked)]
            with progress("Comparing", 1 + len(others)) as advance:
                duplicates = find_duplicates([asked], others, top=NEAREST, advance=advance)
            rejected = sent.queue.rejected
            nearest = duplicates_document(duplicates, rejected, sent.about)
            blocks = like_blocks(nearest, places=1 if format == "text" else None, verbose=verbose)
            if format == "json":
                show(json_text(nearest), output)
            elif format == "markdown":
                show(markdown(blocks, LONGEST_PAGE, "excise cluster --format json"), output)
            else:
                show(partial(terminal, blocks), output)
            return report_rejected(rejected, paths)
        whole = None if repository is None else _whole(repository, onto, sent)
        grouped = _grouped(sent, whole)
        document = cluster_document(grouped, scores=verbose and format == "json")
        if format == "json":
            show(json_text(document), output)
        elif format == "markdown":
            show(cluster_markdown(document, verbose=verbose, hunk=hunk_of(grouped)), output)
        elif format == "html":
            from excise_server.report.html_page import blocks_page

            hunk, values = hunk_of(grouped), values_of(grouped)
            with progress("Writing the report"):
                page = blocks_page(cluster_blocks(document, hunk=hunk, values=values))
            show(page, output)
        else:
            lines = partial(cluster_lines, document, verbose=verbose, hunk=hunk_of(grouped))
            show(lines, output)
        return report_rejected(grouped.queue.rejected, paths)


# --- reading -------------------------------------------------------------------------------------


def _read_state(state: State, paths: tuple[str, ...]) -> _Sent:
    """Keep what is new, and return all that the state knows."""
    queue, new, known = read_watched(paths, sys.stdin.buffer, state)
    about = [f"state {state.path}: {len(new):,} new, {len(state.entries):,} in all"]
    about += [f"seen before and not read again: {known:,}"] if known else []
    about += [f"state {state.path}: {state.rebuilt}"] if state.rebuilt else []
    every = zip(state.entries, state.changes(), strict=True)
    entries = [(entry, changed) for entry, changed in every if entry.message.patch.files]
    pool = Pool()
    for entry, _ in entries:  # nothing is read again, or counted unasked
        pool.add_read(entry.message.patch, entry.edits, entry.ids)

    def patch_of(number: int) -> Patch:
        return state.whole(entries[number][0])

    proposals = _proposals(queue, pool, [changed for _, changed in entries], patch_of)
    return _Sent(queue, proposals, pool, patch_of, new, tuple(about))


def _proposals(
    queue: Queue, pool: Pool, changes: Sequence[ChangeCounts], patch_of: Callable[[int], Patch]
) -> list[Proposal]:
    """Return the proposals of patches that were counted, which are read again to be shown."""
    kept = {
        member.id: (pool.patch_id(number), partial(patch_of, number), changes[number])
        for number, member in enumerate(queue.patches)
    }
    return proposals_of(queue.sent, [kept.get(member.id) for member in queue.sent])


def _read_git(
    repository: Repository,
    patterns: tuple[str, ...],
    onto: str,
    facts: Mapping[str, PullFacts],
    advance: Callable[[float], None],
) -> _Sent:
    members: list[Member] = []
    rejected: list[Rejected] = []
    notes: list[tuple[str, str]] = []
    proposals: list[Proposal] = []
    about: list[str] = []
    for name in filter(is_range, patterns):
        commits = read_commits(repository, name, advance)
        if not (commits.sent or commits.rejected):
            raise SourceError("it contains no commits", name=name, hint="check the order: OLD..NEW")
        known = {member.id for member in members}  # ranges may overlap
        new = [member for member in commits.sent if member.id not in known]
        members += new
        rejected += (each for each in commits.rejected if each not in rejected)
        notes += commits.notes
        proposals += proposals_of(new)
    if heads := [name for name in patterns if not is_range(name)]:
        requests = read_requests(repository, heads, onto, advance)
        if not (requests.proposals or requests.rejected or requests.notes):
            raise SourceError("no ref matches", name=heads[0], hint="fetch pull requests first")
        own = with_pull_facts(requests.proposals, facts)
        for each in own:
            message = Message(
                1, author=each.author, subject=each.title, title=each.title, patch=each.whole,
                text=each.text,
            )  # fmt: skip
            members.append(Member(each.id, message))
        proposals += own
        rejected += requests.rejected
        about += requests.notes
    queue = Queue(tuple(members), tuple(rejected), 0, tuple(notes))
    has_commits = any(map(is_range, patterns))
    return _Sent(queue, proposals, about=tuple(about), has_commits=has_commits)


def _asked(
    like: str, repository: Repository | None, onto: str, facts: Mapping[str, PullFacts]
) -> Proposal:
    """Return the one patch that is asked about.

    Raises SourceError if there is none, or several.
    """
    if like != STDIN and not os.path.lexists(like):
        try:
            repository = repository or opened(".", only_commits=True)
        except SourceError as error:
            hint = "name a file, - for standard input, or a branch or commit with --repo"
            raise SourceError("no such file", name=like, hint=hint) from error
        return with_pull_facts([read_named(repository, like, onto)], facts)[0]
    queue = read_queue([like], sys.stdin.buffer)
    proposals = proposals_of(queue.sent)
    if not proposals:
        why = queue.rejected[0].reason if queue.rejected else "it holds no patch"
        raise SourceError(why, name=like, hint="--like takes one patch or series")
    if len(proposals) > 1:
        raise SourceError(
            f"it holds {len(proposals):,} patches", name=like, hint="--like takes one of them"
        )
    return proposals[0]


# --- comparing -----------------------------------------------------------------------------------


def _map(meanwhile: Callable[[], None] = lambda: None) -> Map:
    return forked_map(options.asked_jobs() or min(usable_cores(), MOST_JOBS), meanwhile)


def _import_clustering() -> None:
    """Import what large groups need, which takes half a second; `group` reports what is missing."""
    with suppress(ExciseError):
        import numpy as np

        merges(np.zeros((2, 2)))


def _whole(repository: Repository, onto: str, sent: _Sent) -> WholePatches:
    """Return what whole files tell of patches that are not made for each other."""
    patches = {member.id for member in sent.queue.patches}
    single = [
        replace(proposal, id=name)
        for proposal in sent.proposals
        if proposal.between or not sent.has_commits
        for name, *others in [sorted(proposal.messages & patches)]
        if not others
    ]
    if not single:
        none = "same code: not looked for among the commits of a range, or the patches of a series"
        return WholePatches(notes=(none,))
    with progress("Reading whole files", 1.0) as advance:
        return whole_patches(repository, main_line(repository, onto), single, advance)


def _grouped(sent: _Sent, whole: WholePatches | None) -> Grouped:
    pool, patch_of = sent.pool, sent.patch_of
    if pool is None or patch_of is None:
        pool = Pool()
        with progress("Counting", len(sent.queue.patches)) as advance:
            for done, member in enumerate(sent.queue.patches, start=1):
                pool.add(member.message.patch)
                advance(done)
        patch_of = pool.patches.__getitem__
    with progress("Comparing"):
        clusters = group(pool, map=_map(_import_clustering))
    with progress("Relating", len(sent.proposals)) as advance:
        duplicates, issues = find_issues(sent.proposals, advance)
    return Grouped(
        sent.queue, pool, clusters, patch_of, duplicates, issues, sent.new, sent.about, whole,
        _map(),
    )  # fmt: skip
