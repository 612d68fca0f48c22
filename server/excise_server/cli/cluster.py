"""``excise cluster``: groups of similar revisions or patches, each with a representative.

Modules that only one form of the command needs are imported where that form begins: revisions of a
file need neither mails nor repositories, whose import takes longer than grouping a small file.
"""

from __future__ import annotations

import click

import excise
from excise.clustering import DISTANCE, LINKAGE
from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import ScoringOptions, shared_options
from excise_server.cli.patch_options import PatchChoices, patch_options
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, write_text
from excise_server.foundation.inputs import RevisionSet
from excise_server.report.documents import cluster_document
from excise_server.report.reasons import reason_lines, revision_reasons
from excise_server.wire.documents import json_text


@click.command("cluster")
@click.option(
    "--origin", metavar="FILE", help="The file before any edit (- as for matrix); without: patches."
)
@click.option(
    "--git",
    metavar="RANGE|PATTERN",
    multiple=True,
    help="The commits of a range (main..topic) as patches, or whole branches (agent/*); the "
    "argument is then the repository.",
)
@click.option(
    "--repo",
    metavar="REPO",
    help="Patches: compare whole files. REPO has the texts that their index lines name; they are "
    "applied to these and replayed onto HEAD. A series is one candidate.",
)
@click.option("--onto", metavar="REV", help="With --repo: replay them onto it, not onto HEAD.")
@click.argument("revisions", nargs=-1, metavar="REVISION|PATCH|MBOX|DIR...")
@shared_options
@patch_options
def command(
    choices: ScoringOptions,
    chosen: PatchChoices,
    *,
    origin: str | None,
    git: tuple[str, ...],
    repo: str | None,
    onto: str | None,
    revisions: tuple[str, ...],
) -> int:
    """Group patches, or REVISIONs of a file, that are alike; each group has a representative.

    Without --origin, the arguments are patch files, mailboxes and folders of them (- is standard
    input). Patches that cannot be read are listed as rejected, and the others are grouped.
    """
    if chosen.related:
        if origin is not None or git or repo is not None or onto is not None:
            raise click.UsageError("--related takes patches, and no --origin, --git or --repo.")
        from excise_server.cli.patches import cluster_related

        return cluster_related(revisions, choices, chosen)
    if onto is not None and repo is None:
        raise click.UsageError("--onto needs --repo.")
    if repo is not None:
        if origin is not None or git:
            raise click.UsageError("--repo takes patches, and neither --origin nor --git.")
        from excise_server.cli.patches import cluster_in_repository

        return cluster_in_repository(repo, onto or "", revisions, choices, chosen)
    if chosen.dask is not None and chosen.workers is not None:
        raise click.UsageError("--dask has workers of its own: drop --workers.")
    if git:
        if origin is not None or len(revisions) > 1:
            raise click.UsageError("--git takes one repository, and no --origin.")
        return _cluster_git("".join(revisions) or ".", git, choices, chosen)
    if origin is None:
        from excise_server.cli.patches import cluster_patches

        return cluster_patches(revisions, choices, chosen)
    if chosen.patches_alone or chosen.ignore_path:
        names = [*chosen.patches_alone, *(["--ignore-path"] if chosen.ignore_path else [])]
        raise click.UsageError(f"{', '.join(names)}: only for patches.")
    return _cluster_revisions(read_set(origin, revisions, choices), choices, chosen)


def _cluster_git(
    folder: str, names: tuple[str, ...], choices: ScoringOptions, chosen: PatchChoices
) -> int:
    """Group the commits of a range, or whole branches."""
    from excise_server.sources.commits import is_range

    if any(map(is_range, names)):
        if len(names) > 1:
            raise click.UsageError("--git takes one range, or any number of branch patterns.")
        from excise_server.cli.patches import cluster_commits

        return cluster_commits(folder, names[0], choices, chosen)
    if chosen.patches_alone:
        raise click.UsageError(f"{', '.join(chosen.patches_alone)}: only for patches.")
    from excise_server.cli.patches import compare_heads
    from excise_server.cli.review import opened
    from excise_server.git.checkouts import Selection
    from excise_server.sources.candidates import find_candidates

    selection = Selection(worktrees=False, chosen={"branches": names})
    with progress("Reading"):
        repository = opened(folder, only_commits=True)
        candidates = find_candidates(repository, selection)
    return compare_heads(repository.top, candidates, choices, chosen)


def _cluster_revisions(
    revision_set: RevisionSet, choices: ScoringOptions, chosen: PatchChoices
) -> int:
    threshold = DISTANCE if chosen.threshold is None else chosen.threshold
    linkage = chosen.linkage or LINKAGE
    matrix = similarities(revision_set, choices)
    with progress("Clustering"):
        clusters = excise.cluster(matrix, threshold=threshold, linkage=linkage)
        reasons = revision_reasons(matrix, clusters, revision_set)
    lines = reason_lines(clusters, matrix.ids, reasons)
    if chosen.html is not None:
        from excise_server.report.html_groups import revisions_page

        shown_as = revisions_page(
            matrix, clusters, revision_set, lines, threshold=threshold, linkage=linkage
        )
        write_text(chosen.html, shown_as)
    if choices.json:
        document = cluster_document(
            matrix, clusters, revision_set, reasons, threshold=threshold, linkage=linkage
        )
        print(json_text(document))
    else:
        from excise_server.report.tables import (
            SignatureText,
            cluster_table,
            notes_about,
            reasons_about,
        )

        table = cluster_table(matrix, clusters)
        about = [*reasons_about(lines), *notes_about(matrix, revision_set)]
        console().print(table, *about, SignatureText(matrix.signature), sep="\n")
    return report_rejected(revision_set.rejected)
