"""textDocument/codeAction: apply a revision, or what it has in the hunks under the cursor.

No action is preferred: the order is advice, and we do not promise that any revision is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from lsprotocol import types as t

from excise import Variant
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import BlockedError, LineEdit, buffer_lines, replacing, restate
from excise_server.editor.wording import listed, names_of, share_of
from excise_server.lsp import protocol
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import SOURCE, Mapper
from excise_server.lsp.workspace_edit import workspace_edit

__all__ = ["code_action", "revision_title", "variant_title"]

MAX_REVISIONS = 5
"""Most revisions in the menu; the others are applied by `excise.applyRevision`."""

MAX_VARIANTS = 10
"""Most variants of one hunk in the menu."""

Action = t.CodeAction | t.Command


async def code_action(ls: ExciseServer, params: t.CodeActionParams) -> list[Action] | None:
    """Offer what can be applied at a range; nothing for a document that is not open."""
    uri = params.text_document.uri
    analysis = await ls.to_show(uri)
    if analysis is None or analysis.snapshot.version is None or not analysis.hunks:
        return None
    return list(_Menu(ls, analysis, params).actions()) or None


def variant_title(analysis: Analysis, index: int, variant: Variant, *, number: bool = False) -> str:
    """Return "Take the lines of gpt, claude here (2 of 5)"."""
    names, count = names_of(analysis.snapshot.revisions), len(analysis.snapshot.texts)
    who = listed(names[at] for at in variant.members)
    share = f" ({share_of(variant.members, count)})" if count > 1 else ""
    where = f"in hunk {index + 1}" if number else "here"
    if variant.text == analysis.hunks[index].hunk.text:
        return f"Take the origin's lines {where}, as {who}{share}"
    return f"Take the lines of {who} {where}{share}"


def revision_title(analysis: Analysis, at: int) -> str:
    """Return "Take this file from gpt (in a group of 2)" of a candidate, by its index."""
    size = next(len(c.members) for c in analysis.comparison.clusters if at in c.members)
    group = f" (in a group of {size})" if size > 1 else ""
    return f"Take this file from {names_of(analysis.snapshot.revisions)[at]}{group}"


class _Menu:
    """The actions at one range."""

    def __init__(self, ls: ExciseServer, analysis: Analysis, params: t.CodeActionParams) -> None:
        self._ls, self._analysis, self._params = ls, analysis, params
        self._lines = buffer_lines(analysis)
        self._state = ls.publisher.state_of(params.text_document.uri)
        text_document = ls.client_capabilities.text_document
        can = text_document.code_action if text_document else None
        self._literals = bool(can and can.code_action_literal_support)
        self._disabled = bool(can and can.disabled_support)

    def actions(self) -> Iterator[Action]:
        """Yield the variants of the hunks, then the revisions."""
        under = self._under()
        for index in under if self._wanted(t.CodeActionKind.QuickFix) else ():
            for number, variant in enumerate(self._variants(index)[:MAX_VARIANTS]):
                yield from self._variant(index, number, variant, several=len(under) > 1)
        first = self._params.range.start.line == 0
        if (under or first) and self._wanted(t.CodeActionKind.RefactorRewrite):
            yield from self._revisions()

    def _under(self) -> list[int]:
        mapper = Mapper(self._analysis.snapshot.buffer or "", self._ls.encoding)
        start, end = self._params.range.start.line, self._params.range.end.line
        shown = [mapper.visible(*lines) for lines in self._analysis.lines]
        return [at for at, r in enumerate(shown) if r.start.line <= end and start <= r.end.line]

    def _wanted(self, kind: t.CodeActionKind) -> bool:
        only = self._params.context.only
        words = [word.value if isinstance(word, t.CodeActionKind) else word for word in only or ()]
        return only is None or any(
            word in ("", kind.value) or kind.value.startswith(f"{word}.") for word in words
        )

    def _variants(self, index: int) -> tuple[Variant, ...]:
        return self._analysis.hunks[index].hunk.variants

    def _variant(
        self, index: int, number: int, variant: Variant, *, several: bool
    ) -> Iterator[Action]:
        uri, version = self._params.text_document.uri, self._analysis.snapshot.version or 0
        yield from self._action(
            variant_title(self._analysis, index, variant, number=several),
            t.CodeActionKind.QuickFix,
            lambda: replacing(self._analysis, self._lines, index, variant.text),
            protocol.ApplyVariantParams(uri, index, number, version, self._state),
            [d for d in self._params.context.diagnostics if _is_of(d, index)],
        )

    def _revisions(self) -> Iterator[Action]:
        uri, version = self._params.text_document.uri, self._analysis.snapshot.version or 0
        offered = 0
        for ranked in self._analysis.comparison.ranking:
            at = ranked.index
            for action in self._action(
                revision_title(self._analysis, at),
                t.CodeActionKind.RefactorRewrite,
                lambda at=at: restate(self._analysis, self._lines, at),  # type: ignore[misc]
                protocol.ApplyRevisionParams(uri, ranked.id, version, self._state),
                [],
            ):
                yield action
                offered += 1
            if offered == MAX_REVISIONS:
                return

    def _action(
        self,
        title: str,
        kind: t.CodeActionKind,
        edits_of: Callable[[], list[LineEdit]],
        params: Any,  # noqa: ANN401 the params of either command
        fixed: list[t.Diagnostic],
    ) -> Iterator[Action]:
        """Yield the action: nothing if it would change nothing, disabled if it must not."""
        try:
            edits = edits_of()
        except BlockedError as error:
            if self._literals and self._disabled:
                disabled = t.CodeActionDisabled(str(error))
                yield t.CodeAction(title, kind, disabled=disabled)
            return
        if not edits:
            return
        if not self._literals:
            applies = isinstance(params, protocol.ApplyVariantParams)
            method = protocol.APPLY_VARIANT if applies else protocol.APPLY_REVISION
            argument = self._ls.protocol.unstructured(params)
            yield t.Command(title, method.replace("/", "."), arguments=[argument])
            return
        capabilities = self._ls.client_capabilities
        edit = workspace_edit(self._analysis, edits, title, self._ls.encoding, capabilities)
        yield t.CodeAction(title, kind, diagnostics=fixed or None, edit=edit)


def _is_of(diagnostic: t.Diagnostic, index: int) -> bool:
    data = diagnostic.data
    return (
        diagnostic.source == SOURCE
        and diagnostic.code == "hunk"
        and isinstance(data, dict)
        and data.get("index") == index
    )
