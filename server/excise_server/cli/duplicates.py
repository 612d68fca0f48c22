"""``excise duplicates``: patches that may be about the same issue."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial

import click

from excise.patches.evidence import Background
from excise.patches.related import LEVELS
from excise_server.cli.inputs import report_rejected
from excise_server.cli.options import choice_option, output_option
from excise_server.cli.progress import progress
from excise_server.cli.review import opened
from excise_server.cli.streams import show
from excise_server.duplicates.find import find_duplicates, proposals_of
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError
from excise_server.queue.reading import Queue, read_queue
from excise_server.queue.state import State, read_watched
from excise_server.report.duplicates import duplicates_document, duplicates_tsv
from excise_server.report.markdown_pages import duplicates_markdown
from excise_server.sources.requests import (
    PullFacts,
    Requests,
    read_pull_list,
    read_requests,
    with_pull_facts,
)
from excise_server.wire.documents import DuplicatesDocument, json_text


@click.command("duplicates")
@click.argument("new", nargs=-1, metavar="[PATCH|MBOX|DIR...]")
@click.option(
    "--git",
    metavar="PATTERN",
    multiple=True,
    help="Pull requests or branches (refs/pull/*/head, agent/*), each against its own merge base; "
    "the argument is then the repository.",
)
@click.option("--onto", metavar="REV", default="", help="With --git: the main line, if not HEAD.")
@click.option(
    "--pulls",
    metavar="FILE",
    help="With --git: titles, bodies and authors as JSON (gh pr list --json ..).",
)
@click.option(
    "--among",
    metavar="PATH",
    multiple=True,
    help="Compare with these, and not with each other: patches, mailboxes, folders of them.",
)
@click.option(
    "--state",
    metavar="FILE",
    help="Compare with all patches that this file remembers, and add the new ones (also a file of "
    "cluster --incremental).",
)
@choice_option(
    "--min",
    [*LEVELS[:2], "any"],
    "possibly",
    "The weakest verdict to show (any: every pair with something in common).",
    "least",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    metavar="N",
    help="Most pairs to show for each patch (0: all).",
)
@click.option("--no-message", is_flag=True, help="Compare only the changes, not the messages.")
@click.option(
    "--background",
    metavar="FILE",
    help="How common words are, instead of what comes with excise (docs/duplicates.md).",
)
@choice_option(
    "--format",
    ("text", "json", "markdown", "tsv"),
    "text",
    "For people, for programs (docs/json.md), for a comment, for a spreadsheet.",
)
@output_option
def command(
    *,
    new: tuple[str, ...],
    git: tuple[str, ...],
    onto: str,
    pulls: str | None,
    among: tuple[str, ...],
    state: str | None,
    least: str,
    top: int,
    no_message: bool,
    background: str | None,
    format: str,
    output: str | None,
) -> int:
    """Find patches that may be about the same issue as a PATCH, by what they do and say.

    The arguments are patch files, mailboxes and folders of them (- is standard input), or with
    --git the heads of a repository. A series counts as one patch. Without --among, they are
    compared with each other. Whether two patches are the same edit is a separate question, which is
    answered as well.

    Pairs that have another explanation (one author, a stack of patches, a revert, a backport) are
    marked.
    """
    if git and len(new) > 1:
        raise click.UsageError("--git takes one repository.")
    if onto and not git:
        raise click.UsageError("--onto needs --git.")
    if pulls is not None and not git:
        raise click.UsageError("--pulls needs --git.")
    if state is not None and (git or among):
        raise click.UsageError("--state keeps mails and files: drop --git and --among.")
    if not (new or git or state):
        raise click.UsageError("Name patches, mailboxes or a folder of them ('-': standard input).")
    frequencies = None if background is None else _background(background)
    pull_facts = {} if pulls is None else read_pull_list(pulls)
    with ExitStack() as stack:
        with progress("Reading", 1.0) as advance:
            if state is not None:
                opened_state = stack.enter_context(closing(State(state)))
                queries, pool = _read_state(opened_state, new)
            else:
                folder = "".join(new) or "."
                queries = _read_git(folder, git, onto, pull_facts, advance) if git else _read(new)
                pool = _read(among)
        if among and not pool.proposals:
            raise SourceError("there are no patches to compare with", name=among[0])
        with progress("Comparing", len(queries.proposals) + len(pool.proposals)) as advance:
            duplicates = find_duplicates(
                queries.proposals,
                pool.proposals,
                together=not among,
                least=next((level for level in LEVELS if level == least), "none"),
                top=top,
                with_why=not no_message,
                background=frequencies,
                advance=advance,
            )
    rejected = (*queries.rejected, *pool.rejected)
    _show(duplicates_document(duplicates, rejected, queries.notes), format, output)
    return report_rejected(rejected)


def _read_state(state: State, paths: tuple[str, ...]) -> tuple[Requests, Requests]:
    """Keep new proposals, and return those that the paths name (or all), and the rest."""
    watched = read_watched(paths, sys.stdin.buffer, state)
    members = [(entry.id, entry.message) for entry in state.entries]
    # What was read before is weighed, and read again only to be shown.
    kept = [
        (entry.ids.patch, partial(state.whole, entry), counts)
        if entry.message.patch.files
        else None
        for entry, counts in zip(state.entries, state.changes(), strict=True)
    ]
    proposals = proposals_of(members, kept)
    notes = [f"state {state.path}: {len(watched.new):,} new, {len(state.entries):,} in all"]
    notes += [f"state {state.path}: {state.rebuilt}"] if state.rebuilt else []
    queries = [p for p in proposals if not paths or not watched.named.isdisjoint(p.messages)]
    rest = [p for p in proposals if paths and watched.named.isdisjoint(p.messages)]
    return Requests(queries, list(watched.queue.rejected), notes), Requests(rest)


def _read(paths: tuple[str, ...]) -> Requests:
    queue = read_queue(paths, sys.stdin.buffer) if paths else Queue()
    members = [(member.id, member.message) for member in queue.sent]
    return Requests(proposals_of(members), list(queue.rejected))


def _read_git(
    folder: str,
    patterns: tuple[str, ...],
    onto: str,
    pulls: Mapping[str, PullFacts],
    advance: Callable[[float], None],
) -> Requests:
    requests = read_requests(opened(folder, only_commits=True), patterns, onto, advance)
    if not (requests.proposals or requests.rejected or requests.notes):
        raise SourceError("no ref matches", name=patterns[0], hint="fetch pull requests first")
    return replace(requests, proposals=list(with_pull_facts(requests.proposals, pulls)))


def _background(path: str) -> Background:
    """Read a table that benchmarks/background.py printed."""
    try:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        shares = [
            {str(word): int(n) for word, n in table[key].items()} for key in ("changes", "messages")
        ]
        if not all(0 <= n <= 1000 for part in shares for n in part.values()):
            raise ValueError("a share that is not within 0 to 1000")
        return Background(shares[0], shares[1], str(table["name"]))
    except OSError as error:
        raise file_error(path, error).named(path) from error
    except (
        ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise SourceError("not a table of word shares", name=path) from error


def _show(document: DuplicatesDocument, format: str, output: str | None) -> None:
    if format == "json":
        show(json_text(document), output)
    elif format == "markdown":
        show(duplicates_markdown(document), output)
    elif format == "tsv":
        show("\n".join(duplicates_tsv(document)), output)
    else:
        from excise_server.report.tables import duplicates_lines

        show(partial(duplicates_lines, document), output)
