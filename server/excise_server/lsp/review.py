"""One document's review: the marks, hovers and lenses at its lines, and the same as data.

For clients that want it (`standardNavigation`), hunks are symbols, and variants implementations.
That is off by default, because it would clutter the outline of a language's own server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams
from pygls.uris import from_fs_path

from excise import Hunk
from excise.text import normalise, raw_lines
from excise_server.editor.analysis import (
    Analysis,
    Decision,
    decisions_of,
    next_undecided,
    texts_seen,
)
from excise_server.editor.document import ReviewedDocument, document_key, text_hash
from excise_server.editor.findings import (
    MAX_HUNKS,
    Block,
    Code,
    Line,
    Table,
    explain_file,
    explain_hunk,
    file_title,
    hunk_words,
    names_of,
    outcome_words,
    unit_words,
)
from excise_server.editor.places import LineMap
from excise_server.foundation.escape import printable
from excise_server.foundation.files import read_bytes, text_of
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.actions import analysed, hunk_of
from excise_server.lsp.candidates import note_decided, sources_of
from excise_server.lsp.disk import local_path
from excise_server.lsp.publishing import Outcome
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import SHOW_COMMAND
from excise_server.lsp.to_proto import SCHEME, Mapper, hunks_at, parse_uri, virtual_uri
from excise_server.report.markdown import fenced, inert
from excise_server.report.page import differing_tokens
from excise_server.report.words import disagree, place_words, words_of
from excise_server.review.heads import heads_of_hunk, qualified
from excise_server.wire import lsp as p
from excise_server.wire.documents import GroupEntry, ReviewVariantEntry

OPTIONS = t.DiagnosticOptions(
    identifier="excise", inter_file_dependencies=False, workspace_diagnostics=False
)


async def diagnostic(
    ls: ExciseServer, params: t.DocumentDiagnosticParams
) -> t.RelatedFullDocumentDiagnosticReport | t.RelatedUnchangedDocumentDiagnosticReport:
    """Wait for the sources and the scores, and return the diagnostics, none without scores.

    The pause after a keystroke is not cut short: a client asks after each.
    """
    uri = params.text_document.uri
    await ls.gatherer.newest(uri)
    items, result_id = await ls.diagnostics(uri)
    if result_id is not None and result_id == params.previous_result_id:
        return t.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return t.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


async def hover(ls: ExciseServer, params: t.HoverParams) -> t.Hover | None:
    """Explain the hunk at the position, or return None if there is none."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return None
    line = params.position.line
    under = hunks_at(analysis, Mapper(analysis.snapshot.shown, ls.encoding), line, line)
    blocks = [block for index, _ in under for block in explain_hunk(analysis, index)]
    if line == 0:
        blocks += explain_file(analysis)
    if not blocks:
        return None
    return t.Hover(_content(ls, blocks), under[0][1] if under else None)


def _content(ls: ExciseServer, blocks: list[Block]) -> t.MarkupContent:
    """Return the explanation in the client's preferred format, or else as plain text."""
    formats = ls.can("text_document.hover.content_format") or [t.MarkupKind.PlainText]
    if formats[0] == t.MarkupKind.Markdown:
        return t.MarkupContent(t.MarkupKind.Markdown, as_markdown(blocks))
    return t.MarkupContent(t.MarkupKind.PlainText, as_plain(blocks))


async def code_lens(ls: ExciseServer, params: t.CodeLensParams) -> list[t.CodeLens] | None:
    """Return one lens for the file and one per undecided hunk, or none without revisions."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return None
    snapshot = analysis.snapshot
    mapper = Mapper(snapshot.shown, ls.encoding)
    key, lenses = document_key(uri), list[t.CodeLens]()
    names, count = names_of(snapshot.revisions), len(snapshot.texts)
    if not ls.typed.holds(key, top := mapper.visible(0, 1)):
        lenses.append(_lens(ls, top, file_title(analysis, names), {"uri": uri}))
    undecided = [index for index, decided in enumerate(analysis.decided) if not decided]
    for index in undecided[:MAX_HUNKS]:
        argument, shown = {"uri": uri, "hunk": index}, mapper.visible(*analysis.lines[index])
        if ls.typed.holds(key, t.Range(shown.start, shown.start)):
            continue
        title = hunk_words(analysis.hunks[index], count, names)
        lenses.append(_lens(ls, shown, title, argument))
    return lenses


def _lens(ls: ExciseServer, shown: t.Range, title: str, argument: dict[str, object]) -> t.CodeLens:
    """Return a lens on one line: with the client's own command, or ours that shows a page."""
    command = ls.settings.client_commands.get(SHOW_COMMAND, SHOW_COMMAND)
    line = t.Range(shown.start, shown.start)
    return t.CodeLens(line, t.Command(title, command, arguments=[argument]))


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks)


def as_plain(blocks: Sequence[Block]) -> str:
    """Return the blocks as plain text, tables in columns."""
    return "\n\n".join(_plain(block) for block in blocks)


def _markdown(block: Block) -> str:
    match block:
        case Line(text):
            return inert(text)
        case Table(head, rows):
            lines = [head, tuple("---" for _ in head), *rows]
            cells = [
                lines[1] if row is lines[1] else [inert(cell) for cell in row] for row in lines
            ]
            return "\n".join(f"| {' | '.join(row)} |" for row in cells)
        case Code(lines, language):
            return fenced(lines, language)


def _plain(block: Block) -> str:
    match block:
        case Line(text):
            return printable(text)
        case Table(head, rows):
            lines = [[printable(cell) for cell in row] for row in (head, *rows)]
            widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
            return "\n".join(
                "  ".join(
                    cell.ljust(width) for cell, width in zip(row, widths, strict=True)
                ).rstrip()
                for row in lines
            )
        case Code(lines, _):
            return "\n".join(f"    {line}" for line in lines)


MAX_PLACES = 50
"""Most locations in one answer."""


async def implementation(
    ls: ExciseServer, params: t.ImplementationParams
) -> list[t.Location] | None:
    """Return the lines of the hunk under the cursor in each candidate that changes it."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return None
    mapper, line = Mapper(analysis.snapshot.shown, ls.encoding), params.position.line
    changing = [
        (member, analysis.hunks[index].spans[member])
        for index, _ in hunks_at(analysis, mapper, line, line)
        for variant in analysis.hunks[index].variants
        if variant.text != analysis.hunks[index].text
        for member in variant.members
        if member != analysis.snapshot.own
    ]
    files = {name: file.path for name, file in ls.gatherer.files(document_key(uri)).items()}
    try:
        places = await asyncio.to_thread(_places, ls, analysis, changing[:MAX_PLACES], files)
    except OSError as error:
        raise RequestFailed(f"the page cannot be written: {error.strerror}") from error
    return places or None


async def document_symbol(
    ls: ExciseServer, params: t.DocumentSymbolParams
) -> list[t.DocumentSymbol] | list[t.SymbolInformation] | None:
    """Return the hunks of a document, in its order."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return None
    mapper = Mapper(analysis.snapshot.shown, ls.encoding)
    names = names_of(analysis.snapshot.revisions)
    count, kind = len(analysis.snapshot.texts), t.SymbolKind.Event
    symbols = [
        (hunk_words(hunk, count, names), mapper.visible(*lines), decided)
        for hunk, lines, decided in zip(
            analysis.hunks, analysis.lines, analysis.decided, strict=True
        )
    ]
    if ls.can("text_document.document_symbol.hierarchical_document_symbol_support"):
        return [
            t.DocumentSymbol(name, kind, where, where, "decided" if decided else "undecided")
            for name, where, decided in symbols
        ]
    return [t.SymbolInformation(t.Location(uri, w), name, kind) for name, w, _ in symbols]


def workspace_symbol(
    ls: ExciseServer, params: t.WorkspaceSymbolParams
) -> list[t.SymbolInformation] | None:
    """Return the candidates of open documents, each at its first change."""
    symbols: dict[str, t.SymbolInformation] = {}
    for uri in ls.session.open_uris():
        outcome = ls.publisher.outcome(document_key(uri))
        if not isinstance(outcome, Outcome):
            continue
        analysis = outcome.analysis
        mapper = Mapper(analysis.snapshot.shown, ls.encoding)
        names = names_of(analysis.snapshot.revisions)
        for index, identity in enumerate(analysis.snapshot.ids):
            name = names[index]
            name = name if name in identity else f"{name} ({identity})"
            if params.query.casefold() not in name.casefold() or index == analysis.snapshot.own:
                continue
            where = t.Location(uri, mapper.visible(*_first_change(analysis, index)))
            symbols.setdefault(identity, t.SymbolInformation(where, name, t.SymbolKind.Package))
    return list(symbols.values()) or None


NAVIGATION: dict[str, Callable[..., Any]] = {
    t.TEXT_DOCUMENT_IMPLEMENTATION: implementation,
    t.TEXT_DOCUMENT_DOCUMENT_SYMBOL: document_symbol,
    t.WORKSPACE_SYMBOL: workspace_symbol,
}


def _first_change(analysis: Analysis, candidate: int) -> tuple[int, int]:
    """Return the lines of the first hunk that a candidate changes, or else the first line."""
    for hunk, lines in zip(analysis.hunks, analysis.lines, strict=True):
        if any(candidate in v.members and v.text != hunk.text for v in hunk.variants):
            return lines
    return 0, 1


def _places(
    ls: ExciseServer,
    analysis: Analysis,
    changing: Sequence[tuple[int, tuple[int, int]]],
    files: dict[str, str],
) -> list[t.Location]:
    """Return the locations of lines in the candidates' own files or else in pages, in a thread."""
    snapshot, names = analysis.snapshot, names_of(analysis.snapshot.revisions)
    document = (local_path(snapshot.uri_or_path) or snapshot.uri_or_path).rpartition("/")[2]
    places = []
    for member, (lo, hi) in changing:
        revision = snapshot.revisions[member]
        text, path = normalise(revision.text), files.get(revision.id)
        if path is None or (own_text := _text_of(path)) is None:
            about, name = f"{revision.id} {snapshot.uri_or_path}", f"{names[member]}-{document}"
            path = ls.pages.write(about, name, text)
        elif own_text != text:  # it was replayed from its base
            lo, hi = LineMap.of_texts(text, own_text).span(lo, hi)
            text = own_text
        where = Mapper(text, ls.encoding).visible(lo, hi)
        places.append(t.Location(from_fs_path(path) or "", where))
    return places


def _text_of(path: str) -> str | None:
    """Return the text of a file that a source found just before, if it is still there."""
    try:
        return normalise(text_of(read_bytes(path, [path.rpartition("/")[0]])))
    except SourceError:
        return None


# --- the review as data: the report, hunks with decisions, texts to compare ---


async def report(ls: ExciseServer, params: p.DocumentParams) -> dict[str, Any]:
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
            words=words_of(comparison.matrix.ids, comparison.matrix.word),
            clusters=[
                GroupEntry(
                    members=[ids[member] for member in cluster.members],
                    representative=ids[cluster.representative],
                    min_similarity=cluster.min_similarity,
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
                ids[pair.a], ids[pair.b], pair.es, pair.keep, pair.add, pair.delete, pair.share
            )
            for pair in numbers.pairs
        ],
    )


def _variants(hunk: Hunk, ids: Sequence[str]) -> list[ReviewVariantEntry]:
    return [
        ReviewVariantEntry(ids=[ids[member] for member in v.members], text=v.text)
        for v in hunk.variants
    ]


async def review(ls: ExciseServer, params: p.ReviewParams) -> p.ReviewResult:
    """Wait for the newest version of the document, and return its hunks and decisions."""
    gathered = await ls.gatherer.newest(params.uri)
    analysis, document = await ls.newest(params.uri), ls.session.find(params.uri)
    if analysis is None or document is None:
        raise _unknown()
    await ls.memory.written()
    compared_with, sources = sources_of(ls, document, gathered)
    decisions = decisions_of(analysis)
    decided = sum(decision.decided for decision in decisions)
    marks = await asyncio.to_thread(_marks, analysis) if params.marks else None
    problems = await ls.mix_problems(params.uri, analysis)
    mapper = Mapper(analysis.snapshot.shown, ls.encoding)
    return p.ReviewResult(
        version=analysis.snapshot.version,
        state=ls.publisher.state_of(params.uri),
        origin=text_hash(analysis.snapshot.origin),
        origin_uri=virtual_uri(analysis.snapshot.uri_or_path, None),
        compared_with=compared_with,
        sources=sources,
        pinned=document.pinned is not None,
        signature=analysis.comparison.signature,
        decided=decided,
        undecided=len(decisions) - decided,
        next=next_undecided(decisions, params.after),
        candidates=_candidates(ls, document),
        hunks=_hunks(ls, analysis, decisions, marks),
        problems=[
            p.ReviewProblem(mapper.visible(b.line, b.line + 1), b.message, b.hunk) for b in problems
        ],
    )


async def decide(ls: ExciseServer, params: p.DecideParams) -> p.DecideResult:
    """Record that hunks keep the origin's text, or undo that with ``decided: false``.

    Of a candidate that was taken, these are the hunks that it leaves alone and its rivals change.

    Raises JsonRpcInvalidParams if neither a hunk nor a candidate of the document is named.
    """
    analysis = await analysed(ls, params)
    ids, is_kept = analysis.snapshot.ids, params.decided is not False
    hunks = [hunk_of(analysis, params.hunk)] if params.hunk is not None else []
    if params.hunk is None:
        if params.candidate not in ids:
            raise JsonRpcInvalidParams("name a hunk, or a candidate of the document")
        rivals = {*(ids if params.among is None else params.among)} - {params.candidate}
        hunks = [
            hunk
            for hunk in analysis.hunks
            if all(v.text == hunk.text or {ids[m] for m in v.members} <= rivals
                   for v in hunk.variants)
        ]  # fmt: skip
    for hunk in hunks:
        ls.session.keep(params.uri, (hunk.lo, hunk.hi), texts_seen(hunk) if is_kept else None)
    if is_kept and params.hunk is not None:
        others = (v.members for v in hunks[0].variants if v.text != hunks[0].text)
        note_decided(ls, params.uri, [ids[member] for members in others for member in members])
    newest = await ls.newest(params.uri)
    await ls.memory.written()
    decided = sum(newest.decided) if newest is not None else 0
    return p.DecideResult(decided, len(newest.hunks) - decided if newest is not None else 0)


def _candidates(ls: ExciseServer, document: ReviewedDocument) -> list[p.ReviewCandidate]:
    notes = ls.gatherer.notes(document_key(document.uri))
    states = ls.session.choices.states
    names = names_of([known.revision for known in document.revisions.values()])
    return [
        p.ReviewCandidate(
            identity,
            virtual_uri(document.uri, identity),
            known.revision.label,
            name,
            states.get(identity, "shown"),
            [*known.notes, *notes.get(identity, ())],
        )
        for (identity, known), name in zip(document.revisions.items(), names, strict=True)
    ]


def _hunks(
    ls: ExciseServer,
    analysis: Analysis,
    decisions: Sequence[Decision],
    marks: Sequence[list[p.HunkMarks]] | None,
) -> list[p.ReviewHunk]:
    mapper = Mapper(analysis.snapshot.shown, ls.encoding)
    names, count = names_of(analysis.snapshot.revisions), len(analysis.snapshot.texts)
    lines = raw_lines(normalise(analysis.snapshot.origin))
    heads = [
        heads_of_hunk(lines, hunk.lo, [hunk.text, *(v.text for v in hunk.variants)])
        for hunk in analysis.hunks
    ]
    return [
        p.ReviewHunk(
            lo=hunk.lo,
            hi=hunk.hi,
            range=mapper.exact(*shown),
            text=hunk.text,
            variants=_variants(hunk, analysis.snapshot.ids),
            where=place_words(hunk.lo, hunk.hi),
            function=printable(qualified(heads[index])),
            head=heads[index][-1].line if heads[index] else None,
            words=hunk_words(hunk, count, names),
            decision=decision.kind,
            variant=decision.variant,
            decided=decision.decided,
            outcome=outcome_words(hunk, decision, names),
            marks=None if marks is None else marks[index],
            units=[
                p.VariantUnit([*unit.hunks], unit_words(unit)) if unit else p.VariantUnit([], "")
                for unit in (analysis.unit(index, v) for v in range(len(hunk.variants)))
            ],
        )
        for index, (hunk, shown, decision) in enumerate(
            zip(analysis.hunks, analysis.lines, decisions, strict=True)
        )
    ]


def _marks(analysis: Analysis) -> list[list[p.HunkMarks]]:
    """Return for each hunk and variant what differs from the origin's text."""

    def marked(origin: str, text: str) -> p.HunkMarks:
        missing, gained = (set(), set()) if origin == text else differing_tokens(origin, text)
        return p.HunkMarks(list(map(list, sorted(missing))), list(map(list, sorted(gained))))

    return [[marked(hunk.text, v.text) for v in hunk.variants] for hunk in analysis.hunks]


async def text_document_content(
    ls: ExciseServer, params: t.TextDocumentContentParams
) -> t.TextDocumentContentResult:
    """Return the text of one of our URIs, for clients that open such documents themselves."""
    if (parsed := parse_uri(params.uri)) is None:
        raise JsonRpcInvalidParams(f"no {SCHEME} URI of this server")
    uri, identity = parsed
    if (analysis := await ls.newest(uri)) is None:
        raise _unknown()
    texts = {revision.id: revision.text for revision in analysis.snapshot.revisions}
    if identity is not None and identity not in texts:
        raise JsonRpcInvalidParams("unknown revision")
    ls.publisher.refresher.opened(params.uri)
    text = analysis.snapshot.origin if identity is None else texts[identity]
    return t.TextDocumentContentResult(normalise(text))


def _unknown() -> JsonRpcInvalidParams:
    return JsonRpcInvalidParams("unknown document: neither open nor with revisions")
