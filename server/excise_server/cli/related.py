"""``excise cluster --related``: groups of patches that may be about the same issue."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from excise.patches.related import RELATED_DISTANCE
from excise_server.cli.options import Choices
from excise_server.cli.patch_options import PatchChoices
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, say
from excise_server.duplicates.groups import related_groups
from excise_server.duplicates.proposals import proposals_of
from excise_server.foundation.inputs import SourceError
from excise_server.queue.reading import newest, read_queue
from excise_server.report.documents import json_text
from excise_server.report.duplicates import groups_document

__all__ = ["cluster_related"]


def cluster_related(paths: tuple[str, ...], choices: Choices, chosen: PatchChoices) -> int:
    """Group patches, a series being one, and print the groups."""
    if not paths:
        raise click.UsageError("Name patches, mailboxes or a folder of them.")
    _check(choices, chosen)
    with progress("Reading"):
        queue = read_queue(paths, sys.stdin.buffer)
        queue = newest(queue) if chosen.newest else queue
    proposals = proposals_of([(member.id, member.message) for member in queue.sent])
    threshold = RELATED_DISTANCE if chosen.threshold is None else chosen.threshold
    with progress("Comparing", len(proposals)) as advance:
        groups = related_groups(proposals, threshold, advance)
    document = groups_document(groups, queue.rejected)
    if choices.json:
        print(json_text(document))
    else:
        from excise_server.report.duplicates_text import group_lines

        out = console()
        for line in group_lines(document, out):
            out.print(line)
    for rejection in queue.rejected:
        say(f"left out: {SourceError(rejection.reason, name=rejection.id, hint=rejection.hint)}")
    return 1 if queue.rejected else 0


def _check(choices: Choices, chosen: PatchChoices) -> None:
    """Refuse the options that only apply to groups of equal edits."""
    plain = PatchChoices(threshold=chosen.threshold, newest=chosen.newest)
    same = Choices("nested", "star", "keep", None, None, None, choices.json)
    if replace(chosen, related=False) != plain or choices != same:
        raise click.UsageError("--related takes --threshold, --newest and --json alone.")
