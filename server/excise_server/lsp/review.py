"""excise/review, excise/decide: the hunks of a document, decided and undecided."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pygls.exceptions import JsonRpcInvalidParams

from excise_server.editor.analysis import Analysis
from excise_server.editor.decisions import Decision, decisions_of, next_undecided
from excise_server.editor.document import Document, document_key, text_hash
from excise_server.lsp.apply import analysed
from excise_server.lsp.protocol import (
    DecideParams,
    DecideResult,
    HunkMarks,
    ReviewCandidate,
    ReviewHunk,
    ReviewParams,
    ReviewResult,
    Variant,
)
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper
from excise_server.report.review_parts import differing_tokens

__all__ = ["decide", "review"]


async def review(ls: ExciseServer, params: ReviewParams) -> ReviewResult:
    """Wait for the newest version of the document, and return its hunks and decisions."""
    await ls.gatherer.newest(params.uri)
    analysis = await ls.newest(params.uri)
    document = ls.session.find(params.uri)
    if analysis is None or document is None:
        raise JsonRpcInvalidParams("unknown document: neither open nor with revisions")
    await ls.memory.written()
    decisions = decisions_of(analysis)
    decided = sum(decision.decided for decision in decisions)
    marks = await asyncio.to_thread(_marks, analysis) if params.marks else None
    return ReviewResult(
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


async def decide(ls: ExciseServer, params: DecideParams) -> DecideResult:
    """Record that a hunk keeps the origin's text, or undo that with ``decided: false``."""
    analysis = await analysed(ls, params)
    if not 0 <= params.hunk < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    hunk = analysis.hunks[params.hunk].hunk
    ls.session.keep(params.uri, (hunk.lo, hunk.hi), kept=params.decided is not False)
    newest = await ls.newest(params.uri)
    await ls.memory.written()
    decided = sum(newest.decided) if newest is not None else 0
    return DecideResult(decided, len(newest.hunks) - decided if newest is not None else 0)


def _candidates(ls: ExciseServer, document: Document) -> list[ReviewCandidate]:
    notes = ls.gatherer.notes(document_key(document.uri))
    states = ls.session.choices.states
    return [
        ReviewCandidate(
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
    decisions: tuple[Decision, ...],
    marks: Sequence[list[HunkMarks]] | None,
) -> list[ReviewHunk]:
    snapshot, ids = analysis.snapshot, analysis.comparison.matrix.ids
    text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
    mapper = Mapper(text, ls.encoding)
    return [
        ReviewHunk(
            lo=scores.hunk.lo,
            hi=scores.hunk.hi,
            range=mapper.exact(*lines),
            text=scores.hunk.text,
            variants=[
                Variant([ids[member] for member in variant.members], variant.text)
                for variant in scores.hunk.variants
            ],
            decision=decision.kind,
            variant=decision.variant,
            decided=decision.decided,
            marks=None if marks is None else marks[index],
        )
        for index, (scores, lines, decision) in enumerate(
            zip(analysis.hunks, analysis.lines, decisions, strict=True)
        )
    ]


def _marks(analysis: Analysis) -> list[list[HunkMarks]]:
    """Return for each hunk and variant what differs from the origin's text."""
    return [
        [_marked(scores.hunk.text, variant.text) for variant in scores.hunk.variants]
        for scores in analysis.hunks
    ]


def _marked(origin: str, text: str) -> HunkMarks:
    missing, gained = ([], []) if origin == text else map(sorted, differing_tokens(origin, text))
    return HunkMarks([list(span) for span in missing], [list(span) for span in gained])
