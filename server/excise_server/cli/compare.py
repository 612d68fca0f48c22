"""``excise compare``: revisions of one file in numbers: every pair, the order, what diverges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import click
from msgspec import UNSET, UnsetType

import excise
from excise.signature import check_measure
from excise.text import Revision, normalise
from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import (
    MeasureOptions,
    format_option,
    intent_option,
    measure_options,
    output_option,
)
from excise_server.cli.progress import progress
from excise_server.cli.streams import show
from excise_server.foundation.inputs import RevisionSet, SourceError
from excise_server.report.documents import (
    clusters_entry,
    compare_document,
    directed_entry,
    explained_entry,
)
from excise_server.wire.documents import ClustersEntry, CompareDocument, json_text


@click.command("compare")
@click.argument("origin")
@click.argument("revisions", nargs=-1, metavar="REVISION...")
@click.option("--explain", is_flag=True, help="Show where two revisions diverge, side by side.")
@click.option("--clusters", is_flag=True, help="Group the revisions that are alike.")
@intent_option
@measure_options
@format_option
@output_option
def command(
    choices: MeasureOptions,
    *,
    origin: str,
    revisions: tuple[str, ...],
    explain: bool,
    clusters: bool,
    intent: str,
    format: str,
    output: str | None,
) -> int:
    """Compare REVISIONs of the file ORIGIN: how alike each pair is, from 0 to 1, and their order.

    First in the order comes the edit that most revisions make: those with the same code, comments
    aside. Of edits that are made equally often, the first is what is nearest to all others, and of
    these the one with fewer tokens. With --intent fix, for a bug fix, only the number of tokens
    counts here. What is broken, or changes no code, comes last. The order is advice.

    With a directed measure, as the paper has it (--measure del:p), the last REVISION is a
    hypothesis, which is scored against those before it; of several references the best counts.

    ORIGIN may be -: a JSON document on standard input, {"origin", "language" or "path",
    "revisions": [{"id", "text"}]}. REVISIONs are then the ids of some of them, or all.
    """
    if explain and clusters:
        raise click.UsageError("choose one of --explain and --clusters.")
    if format in ("markdown", "html") and (explain or choices.is_directed):
        raise click.UsageError("what diverges is shown as --format text or json.")
    revision_set = read_set(origin, revisions, choices)
    if choices.is_directed and clusters:
        raise click.UsageError("--clusters needs a symmetric measure: drop del:p.")
    for rejected in revision_set.rejected if explain or choices.is_directed else ():
        raise SourceError(rejected.reason, name=rejected.id, hint=rejected.hint)
    if choices.is_directed:
        *references, hypothesis = revision_set.revisions
        if not references:
            raise click.UsageError("a directed measure takes ORIGIN REFERENCE.. HYPOTHESIS.")
        with progress("Scoring"):
            directed = excise.excision_score(
                origin=revision_set.origin,
                reference=[reference.text for reference in references],
                hypothesis=hypothesis.text,
                deletion=choices.options.deletion,
                language=choices.language or revision_set.language,
                path=revision_set.path,
                **choices.scoring,
            )
        check_measure(choices.parts, directed.signature)
        if format == "json":
            document = CompareDocument(
                signature=directed.signature,
                revisions=[revision.id for revision in revision_set.revisions],
                directed=directed_entry(directed),
                notes=revision_set.notes_by_id,
                rejected=[],
            )
            show(json_text(document), output)
        else:
            best = references[directed.reference or 0]
            _show_regions(directed, revision_set, (best, hypothesis), choices, output)
        return 0
    if explain and (number := len(revision_set.revisions)) != 2:
        raise click.UsageError(f"--explain shows two revisions, not {number}: name the two.")
    matrix = similarities(revision_set, choices)
    check_measure(choices.parts, matrix.signature)
    ranking = excise.rank(matrix, intent=intent)
    score: excise.Score | None = None
    if explain:
        a, b = revision_set.revisions
        with progress("Scoring"):
            score = excise.similarity(
                origin=revision_set.origin,
                a=a.text,
                b=b.text,
                language=choices.language or revision_set.language,
                path=revision_set.path,
                **choices.scoring,
            )
    groups: tuple[excise.Cluster, ...] = ()
    entry: ClustersEntry | UnsetType = UNSET
    if clusters or format == "html":
        with progress("Clustering"):
            groups = excise.cluster(matrix)
            entry = clusters_entry(matrix, groups, revision_set)
    if score is not None and format == "text":
        _show_regions(score, revision_set, revision_set.revisions, choices, output)
        return report_rejected(revision_set.rejected)
    document = compare_document(
        matrix, ranking, intent, revision_set, clusters=entry,
        explained=UNSET if score is None else explained_entry(score),
    )  # fmt: skip
    if format == "json":
        show(json_text(document), output)
        return report_rejected(revision_set.rejected)
    from excise_server.report import blocks
    from excise_server.report.compare import MOST_PAIRS, compare_blocks, hunk_of

    if format == "html":
        from excise_server.report.html_page import blocks_page

        show(blocks_page(compare_blocks(document, hunk=hunk_of(matrix))), output)
    elif format == "markdown":
        show(blocks.markdown(compare_blocks(document), 1 << 30, ""), output)
    else:
        show(partial(blocks.terminal, compare_blocks(document, most=MOST_PAIRS)), output)
    return report_rejected(revision_set.rejected)


def _show_regions(
    score: excise.Score,
    revision_set: RevisionSet,
    pair: Sequence[Revision],
    choices: MeasureOptions,
    output: str | None,
) -> None:
    from excise_server.report.blocks import terminal
    from excise_server.report.regions import ColumnTitles, pair_blocks

    directed = choices.is_directed
    columns = ("origin", *(("reference", "hypothesis") if directed else ("A", "B")))
    a, b = pair
    texts = normalise(revision_set.origin), normalise(a.text), normalise(b.text)
    kept = choices.options.comments == "keep"
    names = ColumnTitles(columns, texts if kept else None, choices.options.deletion)
    notes = [f"{name}: {note}" for name, note in revision_set.notes]
    ids = (revision_set.name, a.id, b.id)
    title = "score" if directed else "similarity"
    show(partial(terminal, pair_blocks(score, names, ids, title, notes)), output)
