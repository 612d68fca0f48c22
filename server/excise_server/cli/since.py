"""``excise since``: what has changed in a candidate since somebody looked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import click

from excise_server.cli import options
from excise_server.cli.progress import progress
from excise_server.cli.review import opened
from excise_server.cli.streams import say, show
from excise_server.foundation.inputs import SourceError
from excise_server.report.blocks import markdown, terminal
from excise_server.report.markdown import LONGEST_PAGE
from excise_server.report.since import since_blocks, since_document
from excise_server.sources.since import (
    WAYS,
    compare_versions,
    newer_of,
    own_changes,
    version_named,
)
from excise_server.wire.documents import json_text


@click.command("since")
@click.argument("old", required=False, metavar="[OLD]")
@click.argument("new", required=False, metavar="[NEW]")
@options.repo_option
@options.onto_option
@options.path_option
@options.source_option("patches", multiple=False)
@click.option("--reviewed", is_flag=True, help="OLD is what you looked at last.")
@click.option("--mark", is_flag=True, help="Remember NEW as looked at.")
@options.choice_option(
    "--format",
    ("text", "markdown", "json"),
    "text",
    "For people, for a comment or a prompt, for programs (docs/json.md).",
)
@options.output_option
@options.verbose_option
def command(
    *,
    old: str | None,
    new: str | None,
    repo: str,
    onto: str,
    path: tuple[str, ...],
    patches: str | None,
    reviewed: bool,
    mark: bool,
    format: str,
    output: str | None,
    verbose: bool,
) -> int:
    """Show what the author changed from OLD to NEW (default: this checkout), rebased or not.

    \b
      excise since @{1}                   since the last amend, rebase or commit
      excise since topic@{1}              the same, of another branch
      excise since 3f2a91c topic          since the head before a forced push
      excise since v1.mbox v2.mbox        two versions of a series
      excise since --reviewed codex-3fa9  since you looked at it

    OLD is replayed onto the base of NEW, so that what others did meanwhile is no change. Commits
    may be squashed, split or reordered: only their edits count. A hunk in which the base changed
    the same lines is counted apart, as nobody can tell what of it the author did. Both are made for
    the main branch, if --onto does not say otherwise. NEW may be --patches.

    A candidate counts as looked at after excise take, a decision in the editor, excise review of it
    alone on a terminal, and with --mark, which says so of NEW (or of the one candidate named).
    """
    repository = None
    try:
        repository = opened(repo)
    except SourceError:  # the folder where the command runs need not be in one
        if repo != ".":
            raise
    if patches is not None and new is not None:
        raise click.UsageError("name NEW or its --patches, and not both.")
    if reviewed and new is not None:
        raise click.UsageError("--reviewed is OLD: name NEW alone.")
    if reviewed or (mark and new is None and patches is None):
        old, new = None, old
    new = patches or new
    if old is None and not (reviewed or mark):
        raise click.UsageError(f"nothing to compare with: {WAYS}.")
    with progress("Comparing"):
        if new is not None:
            newer = version_named(repository, new)
        elif repository is not None:
            newer = newer_of(repository, old or "")
        else:
            raise SourceError(
                "without a repository, name NEW, too", hint="excise since v1.mbox v2.mbox"
            )
        if reviewed or mark:
            if repository is None:
                raise SourceError("--reviewed and --mark need a repository", name=repo)
            from excise_server.memory.reviewed import note_reviewed, version_reviewed

            older = version_reviewed(repository, newer) if reviewed else None
        else:
            older = None
        older = version_named(repository, old) if old is not None else older
        compared = None
        if older is not None:
            compared = compare_versions(repository, older, newer, onto)
    if compared is not None:
        if path:
            compared = replace(compared, since=compared.since.of(path))
        document = since_document(repository.top if repository else None, compared)
        if format == "json":
            show(json_text(document), output)
        elif format == "markdown":
            blocks = since_blocks(document, is_whole=verbose)
            show(markdown(blocks, LONGEST_PAGE, "excise since -v shows all"), output)
        else:
            show(partial(terminal, since_blocks(document, is_whole=verbose)), output)
    if mark and repository is not None:
        said = note_reviewed(
            repository, own_changes(repository, newer, onto), "excise since --mark"
        )
        say(said)
    return 0
