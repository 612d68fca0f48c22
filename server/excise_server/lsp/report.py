"""One document's review as data: the report, its hunks with decisions, the texts to compare."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams
from pygls.uris import from_fs_path

from excise import Hunk
from excise.text import normalise
from excise_server.editor.analysis import MAX_PAIRS, Analysis
from excise_server.editor.decisions import Decision, decisions_of, next_undecided
from excise_server.editor.document import Document, document_key, text_hash
from excise_server.editor.findings import names_of
from excise_server.lsp import protocol as p
from excise_server.lsp.actions import analysed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import SCHEME, Mapper, parse_uri, virtual_uri
from excise_server.report.review_parts import differing_tokens
from excise_server.report.words import disagree, words_of

__all__ = [
    "compare",
    "counters",
    "decide",
    "report",
    "review",
    "revision_content",
    "show_hunk",
    "text_document_content",
]


async def report(ls: ExciseServer, params: p.ReportParams) -> dict[str, Any]:
    """Wait for the newest version, and report on it (a `ReportResult`).

    With many revisions, the report takes megabytes. It is composed in a thread, from values that no
    longer change.
    """
    await ls.restarted(params.uri)
    await ls.gatherer.newest(params.uri)
    analysis, state = await ls.newest(params.uri), ls.publisher.state_of(params.uri)
    if analysis is None:
        raise _unknown()
    key = document_key(params.uri)
    files = {name: file.path for name, file in ls.gatherer.files(key).items()}
    notes = ls.gatherer.notes(key)
    comparison, ids = analysis.comparison, analysis.snapshot.ids
    mapper = Mapper(analysis.snapshot.shown, ls.encoding)

    def build() -> dict[str, Any]:
        result = p.ReportResult(
            version=analysis.snapshot.version,
            state=state,
            signature=comparison.signature,
            revisions=_revisions(analysis, files, notes),
            similarity=comparison.matrix.values.tolist(),
            words=words_of(comparison.matrix),
            clusters=[
                p.ReportCluster(
                    [ids[member] for member in cluster.members],
                    ids[cluster.representative],
                    cluster.min_similarity,
                )
                for cluster in comparison.clusters
            ],
            intent=analysis.snapshot.intent,
            disagree=disagree(comparison.ranking),
            hunks=[
                _report_hunk(analysis, index, mapper.exact(*lines))
                for index, lines in enumerate(analysis.lines)
            ],
        )
        return ls.protocol.unstructured(result)

    return await asyncio.to_thread(build)


def _revisions(
    analysis: Analysis, files: Mapping[str, str], notes: Mapping[str, list[str]]
) -> list[p.ReportRevision]:
    comparison = analysis.comparison
    cluster_numbers = {
        member: number
        for number, cluster in enumerate(comparison.clusters, start=1)
        for member in cluster.members
    }
    ranking = {ranked.index: ranked for ranked in comparison.ranking}
    return [
        p.ReportRevision(
            id=revision.id,
            label=revision.label,
            rank=ranking[index].rank,
            cluster=cluster_numbers[index],
            no_op=comparison.matrix.no_ops[index],
            notes=[*comparison.notes[index], *notes.get(revision.id, ())],
            makers=ranking[index].makers,
            mean_similarity=ranking[index].mean_similarity,
            why=list(ranking[index].why),
            edit_size=ranking[index].edit_size,
            syntax_errors=ranking[index].syntax_errors,
            stub=ranking[index].stub,
            broken=list(ranking[index].broken),
            file=from_fs_path(files[revision.id]) if revision.id in files else None,
        )
        for index, revision in enumerate(analysis.snapshot.revisions)
    ]


def _report_hunk(analysis: Analysis, index: int, exact: t.Range) -> p.ReportHunk:
    hunk, numbers, ids = analysis.hunks[index], analysis.numbers[index], analysis.snapshot.ids
    mean: Any = numbers.mean
    return p.ReportHunk(
        range=exact,
        variants=_variants(hunk, ids),
        agree=hunk.agree,
        es=mean and mean.es,
        keep=mean and mean.keep,
        add=mean and mean.add,
        delete=mean and mean.delete,
        share=numbers.share,
        pairs=[
            p.PairScore(
                ids[pair.a],
                ids[pair.b],
                pair.numbers.es,
                pair.numbers.keep,
                pair.numbers.add,
                pair.numbers.delete,
                pair.share,
            )
            for pair in numbers.pairs[:MAX_PAIRS]
        ],
    )


def _variants(hunk: Hunk, ids: Sequence[str]) -> list[p.Variant]:
    return [p.Variant([ids[member] for member in v.members], v.text) for v in hunk.variants]


async def show_hunk(ls: ExciseServer, params: p.ShowHunkParams) -> p.ShowHunkResult:
    """Return a hunk as the report has it."""
    analysis = await _known(ls, params.uri)
    if not 0 <= params.hunk < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    exact = Mapper(analysis.snapshot.shown, ls.encoding).exact(*analysis.lines[params.hunk])
    return p.ShowHunkResult(_report_hunk(analysis, params.hunk, exact))


async def review(ls: ExciseServer, params: p.ReviewParams) -> p.ReviewResult:
    """Wait for the newest version of the document, and return its hunks and decisions."""
    await ls.gatherer.newest(params.uri)
    analysis, document = await ls.newest(params.uri), ls.session.find(params.uri)
    if analysis is None or document is None:
        raise _unknown()
    await ls.memory.written()
    decisions = decisions_of(analysis)
    decided = sum(decision.decided for decision in decisions)
    marks = await asyncio.to_thread(_marks, analysis) if params.marks else None
    return p.ReviewResult(
        version=analysis.snapshot.version,
        state=ls.publisher.state_of(params.uri),
        origin=text_hash(analysis.snapshot.origin),
        pinned=document.pinned is not None,
        signature=analysis.comparison.signature,
        decided=decided,
        undecided=len(decisions) - decided,
        next=next_undecided(decisions, params.after),
        candidates=_candidates(ls, document),
        hunks=_hunks(ls, analysis, decisions, marks),
    )


async def decide(ls: ExciseServer, params: p.DecideParams) -> p.DecideResult:
    """Record that a hunk keeps the origin's text, or undo that with ``decided: false``."""
    analysis = await analysed(ls, params)
    if not 0 <= params.hunk < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    hunk = analysis.hunks[params.hunk]
    ls.session.keep(params.uri, (hunk.lo, hunk.hi), kept=params.decided is not False)
    newest = await ls.newest(params.uri)
    await ls.memory.written()
    decided = sum(newest.decided) if newest is not None else 0
    return p.DecideResult(decided, len(newest.hunks) - decided if newest is not None else 0)


def _candidates(ls: ExciseServer, document: Document) -> list[p.ReviewCandidate]:
    notes = ls.gatherer.notes(document_key(document.uri))
    states = ls.session.choices.states
    return [
        p.ReviewCandidate(
            revision.id,
            revision.label,
            states.get(revision.id, "shown"),
            [*document.notes.get(revision.id, ()), *notes.get(revision.id, ())],
        )
        for revision in document.revisions.values()
    ]


def _hunks(
    ls: ExciseServer,
    analysis: Analysis,
    decisions: Sequence[Decision],
    marks: Sequence[list[p.HunkMarks]] | None,
) -> list[p.ReviewHunk]:
    mapper = Mapper(analysis.snapshot.shown, ls.encoding)
    return [
        p.ReviewHunk(
            lo=hunk.lo,
            hi=hunk.hi,
            range=mapper.exact(*lines),
            text=hunk.text,
            variants=_variants(hunk, analysis.snapshot.ids),
            decision=decision.kind,
            variant=decision.variant,
            decided=decision.decided,
            marks=None if marks is None else marks[index],
        )
        for index, (hunk, lines, decision) in enumerate(
            zip(analysis.hunks, analysis.lines, decisions, strict=True)
        )
    ]


def _marks(analysis: Analysis) -> list[list[p.HunkMarks]]:
    """Return for each hunk and variant what differs from the origin's text."""

    def marked(origin: str, text: str) -> p.HunkMarks:
        missing, gained = (set(), set()) if origin == text else differing_tokens(origin, text)
        return p.HunkMarks(list(map(list, sorted(missing))), list(map(list, sorted(gained))))

    return [[marked(hunk.text, v.text) for v in hunk.variants] for hunk in analysis.hunks]


async def compare(ls: ExciseServer, params: p.CompareParams) -> p.CompareResult:
    """List the documents to show side by side: each revision with the origin, in rank order."""
    analysis = await _known(ls, params.uri)
    if not set(params.ids or ()) <= set(analysis.snapshot.ids):
        raise JsonRpcInvalidParams("unknown revision")
    uri, names = analysis.snapshot.uri_or_path, names_of(analysis.snapshot.revisions)
    return p.CompareResult(
        [
            p.Comparison(
                virtual_uri(uri, None),
                virtual_uri(uri, ranked.id),
                f"origin ↔ {names[ranked.index]}",
            )
            for ranked in analysis.comparison.ranking
            if params.ids is None or ranked.id in params.ids
        ]
    )


async def revision_content(
    ls: ExciseServer, params: p.RevisionContentParams
) -> p.RevisionContentResult:
    """Return the text of a revision, or of the origin."""
    analysis = await _known(ls, params.uri)
    if params.id is None:
        return p.RevisionContentResult(normalise(analysis.snapshot.origin))
    for revision in analysis.snapshot.revisions:
        if revision.id == params.id:
            return p.RevisionContentResult(normalise(revision.text))
    raise JsonRpcInvalidParams("unknown revision")


async def text_document_content(
    ls: ExciseServer, params: t.TextDocumentContentParams
) -> t.TextDocumentContentResult:
    """Return the text of one of our URIs, for clients that open such documents themselves."""
    if (parsed := parse_uri(params.uri)) is None:
        raise JsonRpcInvalidParams(f"no {SCHEME} URI of this server")
    content = await revision_content(ls, p.RevisionContentParams(*parsed))
    ls.publisher.refresher.opened(params.uri)
    return t.TextDocumentContentResult(content.text)


def counters(ls: ExciseServer, _params: p.CountersParams) -> p.CountersResult:
    """Return how much the workers have computed: typing parses and scores nothing."""
    return p.CountersResult(*ls.pool.work)


async def _known(ls: ExciseServer, uri: str) -> Analysis:
    if (analysis := await ls.newest(uri)) is None:
        raise _unknown()
    return analysis


def _unknown() -> JsonRpcInvalidParams:
    return JsonRpcInvalidParams("unknown document: neither open nor with revisions")
