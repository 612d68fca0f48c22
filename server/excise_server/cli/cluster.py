"""``excise cluster``: revisions or patches that say the same, and one that stands for them."""

from __future__ import annotations

import click

import excise
from excise.clustering import DISTANCE, LINKAGE, LINKAGES
from excise_server.cli.grouping import PatchChoices
from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import Choices, shared_options
from excise_server.cli.output import write_text
from excise_server.cli.patches import cluster_commits, cluster_patches
from excise_server.cli.progress import progress
from excise_server.cli.streams import console
from excise_server.cli.worktrees import Shown, compare
from excise_server.report.documents import cluster_document, json_text
from excise_server.sources.candidates import Choice
from excise_server.sources.commits import is_range

__all__ = ["command"]


@click.command("cluster", short_help="Group patches, or revisions of a file, that say the same.")
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
@click.argument("revisions", nargs=-1, metavar="REVISION|PATCH|MBOX|DIR...")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Distance 1 - similarity from which clusters are no longer merged.  "
    f"[default: {DISTANCE:g}; patches: 0.55]",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    help="Distance of two clusters: of all pairs on average, the farthest, the nearest.  "
    f"[default: {LINKAGE}; patches: complete]",
)
@click.option("--same-base", is_flag=True, help="Patches: all were made from one tree.")
@click.option("--newest", is_flag=True, help="Patches: only the newest version of each series.")
@click.option("--series", is_flag=True, help="Patches: a whole series is one, not its parts.")
@click.option(
    "--ignore-path",
    metavar="GLOB",
    multiple=True,
    help="Patches: files to leave out, instead of lock files, changelogs and generated lists; "
    "'' for none.",
)
@click.option("--idf", is_flag=True, help="Patches: weigh n-grams in groups; scores stay.")
@click.option(
    "--incremental",
    metavar="STATE",
    help="Patches: a file that remembers all seen before; the arguments may be only new ones.",
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Patches: so many processes here.")
@click.option("--dask", metavar="ADDRESS", help="Patches: workers of this Dask scheduler.")
@click.option("--scores", is_flag=True, help="Patches: with --json, also every pair above 0.")
@click.option("--csv", "as_csv", is_flag=True, help="Patches: print a line a patch.")
@click.option("--html", metavar="FILE", help="Also write a report to be opened in a browser.")
@shared_options
def command(
    choices: Choices,
    *,
    origin: str | None,
    git: tuple[str, ...],
    revisions: tuple[str, ...],
    threshold: float | None,
    linkage: str | None,
    same_base: bool,
    newest: bool,
    series: bool,
    idf: bool,
    incremental: str | None,
    workers: int | None,
    dask: str | None,
    ignore_path: tuple[str, ...],
    scores: bool,
    as_csv: bool,
    html: str | None,
) -> int:
    """Group patches, or REVISIONs of a file, that say the same; each group has a representative.

    Without --origin: patch files, mailboxes and folders of them (- is standard input). What cannot
    be read is named as rejected, and the others are grouped without it.
    """
    alone = {
        "--same-base": same_base,
        "--newest": newest,
        "--series": series,
        "--idf": idf,
        "--incremental": incremental,
        "--workers": workers,
        "--dask": dask,
        "--scores": scores,
        "--csv": as_csv,
    }
    patches_alone = [name for name, given in alone.items() if given]
    if git and (origin is not None or len(revisions) > 1):
        raise click.UsageError("--git takes one repository, and no --origin.")
    if git and not any(map(is_range, git)):
        if patches_alone:
            raise click.UsageError(f"{', '.join(patches_alone)}: for patches alone.")
        shown = Shown(threshold, linkage, ignore_path, choices.json, html)
        return compare("".join(revisions) or ".", Choice(worktrees=False, branches=git), shown)
    if git and len(git) > 1:
        raise click.UsageError("--git takes one range, or any number of patterns of branches.")
    if dask is not None and workers is not None:
        raise click.UsageError("--dask has workers of its own: drop --workers.")
    if same_base and (series or idf):
        raise click.UsageError("--series and --idf compare by edits: drop --same-base.")
    if origin is None:
        chosen = PatchChoices(
            threshold=threshold,
            linkage=linkage,
            same_base=same_base,
            newest=newest,
            series=series,
            idf=idf,
            incremental=incremental,
            workers=workers,
            dask=dask,
            ignore_path=ignore_path,
            scores=scores,
            csv=as_csv,
            html=html,
        )
        if git:
            return cluster_commits("".join(revisions) or ".", git[0], choices, chosen)
        return cluster_patches(revisions, choices, chosen)
    if patches_alone or ignore_path:
        names = [*patches_alone, *(["--ignore-path"] if ignore_path else [])]
        raise click.UsageError(f"{', '.join(names)}: for patches alone.")
    threshold = DISTANCE if threshold is None else threshold
    linkage = linkage or LINKAGE
    found = read_set(origin, revisions, choices)
    matrix = similarities(found, choices)
    with progress("Clustering"):
        clusters = excise.cluster(matrix, threshold=threshold, linkage=linkage)
    if html is not None:
        from excise_server.report.html_revisions import revisions_page

        shown_as = revisions_page(matrix, clusters, found, threshold=threshold, linkage=linkage)
        write_text(html, shown_as)
    if choices.json:
        document = cluster_document(matrix, clusters, found, threshold=threshold, linkage=linkage)
        print(json_text(document))
    else:
        from excise_server.report.tables import cluster_table, notes_about, signature_text

        table = cluster_table(matrix, clusters)
        about = notes_about(matrix, found)
        console().print(table, *about, signature_text(matrix.signature), sep="\n")
    return report_rejected(found)
