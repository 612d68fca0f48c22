"""``excise cluster``: revisions that say the same, and one that stands for them."""

from __future__ import annotations

import click

import excise
from excise.clustering import DISTANCE, LINKAGE, LINKAGES
from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import Choices, shared_options
from excise_server.cli.progress import progress
from excise_server.cli.streams import console
from excise_server.report.documents import cluster_document, json_text

__all__ = ["command"]


@click.command("cluster", short_help="Group the revisions of a file that say the same.")
@click.option(
    "--origin", metavar="FILE", required=True, help="The file before any edit; - as for matrix."
)
@click.argument("revisions", nargs=-1, metavar="REVISION...")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=DISTANCE,
    show_default=True,
    help="Distance 1 - similarity from which clusters are no longer merged.",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    default=LINKAGE,
    show_default=True,
    help="Distance of two clusters: of all pairs on average, the farthest, the nearest.",
)
@shared_options
def command(
    choices: Choices, *, origin: str, revisions: tuple[str, ...], threshold: float, linkage: str
) -> int:
    """Group the REVISIONs of a file that say the same; each group has a representative.

    A revision that cannot be read is named as rejected, and the others are grouped without it.
    """
    found = read_set(origin, revisions, choices)
    matrix = similarities(found, choices)
    with progress("Clustering"):
        clusters = excise.cluster(matrix, threshold=threshold, linkage=linkage)
    if choices.json:
        document = cluster_document(matrix, clusters, found, threshold=threshold, linkage=linkage)
        print(json_text(document))
    else:
        from excise_server.report.tables import cluster_table, notes_about, signature_text

        table = cluster_table(matrix, clusters)
        about = notes_about(matrix, found)
        console().print(table, *about, signature_text(matrix.signature), sep="\n")
    return report_rejected(found)
