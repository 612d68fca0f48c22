"""textDocument/codeAction: take a variant of the hunk under the cursor, or the file of a candidate.

No action is preferred: the order is advice, and we do not promise that any candidate is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lsprotocol import types as t

from excise import Variant
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import BlockedError, LineEdit, buffer_lines, replacing, restate
from excise_server.editor.titles import candidate_title, variant_title
from excise_server.editor.wording import names_of
from excise_server.lsp import protocol
from excise_server.lsp.apply import Choice, choice_command
from excise_server.lsp.checking import refusals
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard_actions import SOURCE_KINDS, standard_actions
from excise_server.lsp.to_proto import SOURCE, Mapper
from excise_server.lsp.workspace_edit import workspace_edit

__all__ = ["KINDS", "code_action"]

MAX_VARIANTS = 10
"""Most variants of one hunk in the menu."""

MAX_EDITS = 20
"""Most files of candidates whose edits are sent with their actions; the others send a command."""

_FIX = t.CodeActionKind.QuickFix.value
_VARIANT = "refactor.rewrite.excise.variant"
_CANDIDATE = "refactor.rewrite.excise.candidate"
KINDS = [_FIX, _VARIANT, _CANDIDATE, *SOURCE_KINDS]

Action = t.CodeAction | t.Command


async def code_action(ls: ExciseServer, params: t.CodeActionParams) -> list[Action] | None:
    """Offer the variants and candidates to take at a range, or None if the document is not open."""
    uri = params.text_document.uri
    analysis = await ls.to_show(uri)
    if analysis is None or analysis.snapshot.version is None:
        return None
    menu = _Menu(ls, analysis, params)
    actions = list(menu.actions())
    checked = await refusals(ls, analysis, [edits for _, edits, _ in menu.edited])
    for (action, _, choice), refusal in zip(menu.edited, checked, strict=True):
        if refusal is not None:  # the command says what is wrong
            action.edit, action.command = None, choice_command(ls, action.title, choice)
    return actions or None


class _Menu:
    """The actions at one range."""

    def __init__(self, ls: ExciseServer, analysis: Analysis, params: t.CodeActionParams) -> None:
        self._ls, self._analysis, self._params = ls, analysis, params
        self._uri, self._version = params.text_document.uri, analysis.snapshot.version or 0
        self._lines, self._names = buffer_lines(analysis), names_of(analysis.snapshot.revisions)
        self._state = ls.publisher.state_of(self._uri)
        text_document = ls.client_capabilities.text_document
        can = text_document.code_action if text_document else None
        self._literals = bool(can and can.code_action_literal_support)
        self._disabled = bool(can and can.disabled_support)
        resolved = can.resolve_support.properties if can and can.resolve_support else ()
        self.edited: list[tuple[t.CodeAction, list[LineEdit], Choice]] = []
        self._lazy = bool(can and can.data_support and "edit" in resolved)

    def actions(self) -> Iterator[Action]:
        """Yield the variants of the hunks, the files of candidates, and what can be shown."""
        under = self._under() if self._wanted(_FIX) or self._wanted(_VARIANT) else []
        for index in under:
            for number, variant in enumerate(self._variants(index)[:MAX_VARIANTS]):
                yield from self._variant(index, number, variant, several=len(under) > 1)
        if self._wanted(_CANDIDATE):
            yield from self._candidates()
        if not self._ls.settings.client_commands:
            for title, kind, command, argument in standard_actions(
                self._ls, self._analysis, self._uri
            ):
                if self._wanted(kind):
                    run = t.Command(title, command, arguments=[argument])
                    yield t.CodeAction(title, kind, command=run) if self._literals else run

    def _under(self) -> list[int]:
        mapper = Mapper(self._analysis.snapshot.buffer or "", self._ls.encoding)
        start, end = self._params.range.start.line, self._params.range.end.line
        shown = [mapper.visible(*lines) for lines in self._analysis.lines]
        return [
            index for index, r in enumerate(shown) if r.start.line <= end and start <= r.end.line
        ]

    def _wanted(self, kind: str) -> bool:
        only = self._params.context.only
        words = [word.value if isinstance(word, t.CodeActionKind) else word for word in only or ()]
        return only is None or any(
            word in ("", kind) or kind.startswith(f"{word}.") for word in words
        )

    def _variants(self, index: int) -> tuple[Variant, ...]:
        return self._analysis.hunks[index].hunk.variants

    def _variant(
        self, index: int, number: int, variant: Variant, *, several: bool
    ) -> Iterator[Action]:
        """Yield the actions that take a variant: fixes of the hunk's mark, if fixes are wanted."""
        marks = [d for d in self._params.context.diagnostics if _is_of(d, index)]
        is_fix = self._wanted(_FIX) and bool(marks or not self._wanted(_VARIANT))
        yield from self._action(
            variant_title(self._analysis, self._names, index, variant, number=several),
            _FIX if is_fix else _VARIANT,
            lambda: replacing(self._analysis, self._lines, index, variant.text),
            protocol.ApplyVariantParams(self._uri, index, number, self._version, self._state),
            marks if is_fix else [],
        )

    def _candidates(self) -> Iterator[Action]:
        """Yield an action for each candidate with changes."""
        for number, ranked in enumerate(self._analysis.comparison.ranking):
            index = ranked.index
            params = protocol.ApplyRevisionParams(self._uri, ranked.id, self._version, self._state)
            title = candidate_title(self._analysis, self._names, index)
            if not self._lazy and number < MAX_EDITS:
                edits_of = lambda index=index: restate(self._analysis, self._lines, index)  # noqa: E731
                yield from self._action(title, _CANDIDATE, edits_of, params, [])
            elif not ranked.no_op and index != self._analysis.snapshot.own:
                make = self._unresolved if self._lazy else self._command
                yield make(title, _CANDIDATE, params)

    def _action(
        self,
        title: str,
        kind: str,
        edits_of: Callable[[], list[LineEdit]],
        params: Choice,
        fixed: list[t.Diagnostic],
    ) -> Iterator[Action]:
        """Yield the action: nothing if it would change nothing, disabled if it must not."""
        try:
            edits = edits_of()
        except BlockedError as error:
            if self._literals and self._disabled:
                yield t.CodeAction(title, kind, disabled=t.CodeActionDisabled(str(error)))
            else:  # the command reports the reason
                yield self._command(f"{title} (blocked: show why)", kind, params)
            return
        if not edits:
            return
        if not self._literals:
            yield self._command(title, kind, params)
        elif self._lazy:
            action = self._unresolved(title, kind, params)
            action.diagnostics = fixed or None
            yield action
        else:
            can, encoding = self._ls.client_capabilities, self._ls.encoding
            edit = workspace_edit(self._analysis, edits, title, encoding, can)
            action = t.CodeAction(title, kind, diagnostics=fixed or None, edit=edit)
            self.edited.append((action, edits, params))
            yield action

    def _unresolved(self, title: str, kind: str, params: Choice) -> t.CodeAction:
        data = {"method": _method(params), "params": self._ls.protocol.unstructured(params)}
        return t.CodeAction(title, kind, data=data)

    def _command(self, title: str, kind: str, params: Choice) -> Action:
        command = choice_command(self._ls, title, params)
        return t.CodeAction(title, kind, command=command) if self._literals else command


def _method(params: Choice) -> str:
    is_variant = isinstance(params, protocol.ApplyVariantParams)
    return protocol.APPLY_VARIANT if is_variant else protocol.APPLY_REVISION


def _is_of(diagnostic: t.Diagnostic, index: int) -> bool:
    data = diagnostic.data
    return (
        diagnostic.source == SOURCE
        and diagnostic.code == "hunk"
        and isinstance(data, dict)
        and data.get("index") == index
    )
