"""Code actions: take a variant of the hunk under the cursor, or the file of a candidate.

No action is preferred: the order is advice, and we do not promise that any candidate is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import msgspec
from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise import Hunk
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import LineEdit, buffer_lines, restate, taking
from excise_server.editor.findings import candidate_title, names_of, variant_title
from excise_server.foundation.inputs import SourceError
from excise_server.lsp.candidates import note_decided
from excise_server.lsp.edits import agreed, check_takes_edits, pick, refusals, workspace_edit
from excise_server.lsp.publishing import SOURCE
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import SHOW_COMMAND, SOURCE_KINDS, standard_actions
from excise_server.lsp.to_proto import Mapper, hunks_at
from excise_server.wire import lsp as p

MAX_ACTIONS = 8
"""Most entries of a menu, of which the last one leads to what does not fit.

A client that neither has code for us nor can ask its user has all of them in the menu.
"""

MAX_VARIANTS = 6
"""Most variants among them: the others, too, are behind the last one."""

MAX_EDITS = 20
"""Most files of candidates whose edits are sent with their actions; the others send a command."""

APPLY_COMMAND = p.APPLY.replace("/", ".")

MAX_CHOICES = 40
"""Most entries in the message that asks which of the others to do."""

MORE_TITLE = "More of the candidates..."


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
    leads_on = bool(ls.settings.client_commands or ls.can("window.show_message"))
    actions = list(islice(menu.actions(), MAX_ACTIONS + 1 if leads_on else None))
    if leads_on and len(actions) > MAX_ACTIONS:
        actions[MAX_ACTIONS - 1 :] = [menu.more(actions[MAX_ACTIONS - 1])]
    checked = await refusals(ls, analysis, [edits for _, edits, _ in menu.edited])
    for (action, _, choice), refusal in zip(menu.edited, checked, strict=True):
        if not isinstance(refusal, str):  # the command says what is wrong
            action.edit, action.command = None, choice_command(ls, action.title, choice)
    return actions or None


async def more(ls: ExciseServer, asked: p.ShowParams) -> t.Command | None:
    """Ask which of the actions to do that the menu has no place for, and return its command.

    Raises JsonRpcInvalidParams if the params are not those of the menu's last entry. Raises
    RequestFailed if the document or its candidates have changed since.
    """
    if asked.lines is None or len(asked.lines) != 2:
        raise JsonRpcInvalidParams("lines: the first and the last one of the menu")
    analysis = await ls.newest(asked.uri)
    if analysis is None or [analysis.snapshot.version, ls.publisher.state_of(asked.uri)] != [
        asked.version,
        asked.state,
    ]:
        raise RequestFailed("the document or its candidates have changed; open the menu again")
    first, last = asked.lines
    lines = t.Range(t.Position(first, 0), t.Position(last, 0))
    params = t.CodeActionParams(
        t.TextDocumentIdentifier(asked.uri), lines, t.CodeActionContext([], asked.only)
    )
    rest = islice(_Menu(ls, analysis, params, literals=False).actions(), MAX_ACTIONS - 1, None)
    commands = {action.title: action for action in islice(rest, MAX_CHOICES)}
    chosen = await pick(ls, "Excise: which one?", list(commands))
    command = None if chosen is None else commands[chosen]
    assert not isinstance(command, t.CodeAction)
    return command


class _Menu:
    """The actions at one range."""

    def __init__(
        self,
        ls: ExciseServer,
        analysis: Analysis,
        params: t.CodeActionParams,
        *,
        literals: bool = True,
    ) -> None:
        self._ls, self._analysis, self._params = ls, analysis, params
        self._uri, self._version = params.text_document.uri, analysis.snapshot.version or 0
        self._lines, self._names = buffer_lines(analysis), names_of(analysis.snapshot.revisions)
        only = params.context.only
        self._only = None if only is None else [getattr(word, "value", word) for word in only]
        self._state = ls.publisher.state_of(self._uri)
        can: t.CodeActionClientCapabilities | None = ls.can("text_document.code_action")
        self._literals = literals and bool(can and can.code_action_literal_support)
        self._disabled = bool(can and can.disabled_support)
        resolved = can.resolve_support.properties if can and can.resolve_support else ()
        self.edited: list[tuple[t.CodeAction, list[LineEdit], p.ApplyParams]] = []
        self._lazy = self._literals and bool(can and can.data_support and "edit" in resolved)

    def actions(self) -> Iterator[Action]:
        """Yield the variants of the hunks, the files of candidates, and what can be shown."""
        under: list[tuple[int, t.Range]] = []
        if self._wanted(_FIX) or self._wanted(_VARIANT):
            mapper, lines = (
                Mapper(self._analysis.snapshot.shown, self._ls.encoding),
                self._params.range,
            )
            under = hunks_at(self._analysis, mapper, lines.start.line, lines.end.line)
        variants = (
            action
            for index, _ in under
            for number in range(len(self._analysis.hunks[index].variants))
            for action in self._variant(index, number, several=len(under) > 1)
        )
        yield from islice(variants, MAX_VARIANTS)
        if self._wanted(_CANDIDATE):
            yield from self._candidates()
        yield from variants
        if not self._ls.settings.client_commands:
            for title, kind, command, argument in standard_actions(
                self._ls, self._analysis, self._uri
            ):
                if self._wanted(kind):
                    run = t.Command(title, command, arguments=[argument])
                    yield t.CodeAction(title, kind, command=run) if self._literals else run

    def more(self, first: Action) -> Action:
        """Return the last entry, which leads to that action and all after it.

        A client with code for us shows them by itself; others have their users choose.
        """
        name = self._ls.settings.client_commands.get(SHOW_COMMAND, SHOW_COMMAND)
        lines = [self._params.range.start.line, self._params.range.end.line]
        shown = p.ShowParams(
            self._uri, page="actions", lines=lines, version=self._version, state=self._state,
            only=self._only,
        )  # fmt: skip
        command = t.Command(MORE_TITLE, name, arguments=[msgspec.to_builtins(shown)])
        if isinstance(first, t.Command):
            return command
        return t.CodeAction(MORE_TITLE, first.kind, command=command)

    def _wanted(self, kind: str) -> bool:
        return self._only is None or any(
            word in ("", kind) or kind.startswith(f"{word}.") for word in self._only
        )

    def _variant(self, index: int, number: int, *, several: bool) -> Iterator[Action]:
        """Yield the actions that take a variant: fixes of the hunk's mark, if fixes are wanted.

        What belongs with others is taken with them, or by another action alone.
        """
        marks = [d for d in self._params.context.diagnostics if _is_of(d, index)]
        is_fix = self._wanted(_FIX) and bool(marks or not self._wanted(_VARIANT))
        analysis, choice = self._analysis, (index, number)
        for split in (False,) if analysis.unit(*choice) is None else (False, True):
            edits_of = partial(taking, analysis, self._lines, *choice, split=split)
            params = p.ApplyParams(
                self._uri, self._version, hunk=index, variant=number, state=self._state
            )
            yield from self._action(
                variant_title(analysis, self._names, *choice, several=several, split=split),
                _FIX if is_fix else _VARIANT,
                edits_of,
                msgspec.structs.replace(params, split=True) if split else params,
                marks if is_fix else [],
            )

    def _candidates(self) -> Iterator[Action]:
        """Yield an action for each candidate with changes."""
        for number, ranked in enumerate(self._analysis.comparison.ranking):
            index = ranked.index
            params = p.ApplyParams(self._uri, self._version, id=ranked.id, state=self._state)
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
        params: p.ApplyParams,
        fixed: list[t.Diagnostic],
    ) -> Iterator[Action]:
        """Yield the action: nothing if it would change nothing, disabled if it must not."""
        try:
            edits = edits_of()
        except SourceError as error:
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
            edit = workspace_edit(self._ls, self._analysis, edits, title)
            action = t.CodeAction(title, kind, diagnostics=fixed or None, edit=edit)
            self.edited.append((action, edits, params))
            yield action

    def _unresolved(self, title: str, kind: str, params: p.ApplyParams) -> t.CodeAction:
        data = {"method": p.APPLY, "params": self._ls.protocol.unstructured(params)}
        return t.CodeAction(title, kind, data=data)

    def _command(self, title: str, kind: str, params: p.ApplyParams) -> Action:
        command = choice_command(self._ls, title, params)
        return t.CodeAction(title, kind, command=command) if self._literals else command


def _is_of(diagnostic: t.Diagnostic, index: int) -> bool:
    data = diagnostic.data
    return (
        diagnostic.source == SOURCE
        and diagnostic.code == "hunk"
        and isinstance(data, dict)
        and data.get("index") == index
    )


async def code_action_resolve(ls: ExciseServer, action: t.CodeAction) -> t.CodeAction:
    """Return the action with its edit, or unchanged if it needs none.

    Raises RequestFailed if nothing is left to edit, or the user's edits are in the way.
    """
    data = action.data
    if data is None:
        return action
    if not isinstance(data, dict) or data.get("method") != p.APPLY:
        raise JsonRpcInvalidParams("not an action of this server")
    params = ls.protocol.params_of(p.APPLY, data.get("params"))
    assert isinstance(params, p.ApplyParams)
    try:
        _, action.edit, _ = await edit_of(ls, params)
    except RequestFailed as error:
        resolved = ls.can("text_document.code_action.resolve_support.properties")
        if error.data is None or "command" not in (resolved or ()):
            raise
        # The command says what is wrong, and asks whether to take it all the same.
        action.command = choice_command(ls, action.title, params)
        return action
    if action.edit is None:
        raise RequestFailed("the document already has this text")
    return action


async def apply_choice(ls: ExciseServer, params: p.ApplyParams) -> p.ApplyResult:
    """Make the client edit the document: put a variant into its hunk, or a whole candidate."""
    check_takes_edits(ls)
    try:
        title, edit, checked = await edit_of(ls, params)
    except RequestFailed as error:
        # A client with code for us asks by itself: it knows the error by its data.
        asks = not ls.settings.client_commands and error.data is not None
        if not (asks and await agreed(ls, f"{error.message}.")):
            raise
        title, edit, checked = await edit_of(ls, msgspec.structs.replace(params, anyway=True))
    if edit is None:
        return p.ApplyResult(applied=False, reason="it is applied already", checked="")
    if params.id is not None:
        ids = [params.id]
    else:
        analysis = await analysed(ls, params)
        hunk, variant = _variant_of(analysis, params)
        members = analysis.hunks[hunk].variants[variant].members
        ids = [analysis.snapshot.ids[member] for member in members]
    answer = await ls.workspace_apply_edit_async(t.ApplyWorkspaceEditParams(edit, title))
    if answer.applied:
        note_decided(ls, params.uri, ids)
    return p.ApplyResult(answer.applied, answer.failure_reason or "", checked)


async def edit_of(
    ls: ExciseServer, params: p.ApplyParams
) -> tuple[str, t.WorkspaceEdit | None, str]:
    """Return the title of a choice, its edit, or None if the buffer has it, and what was checked.

    Raises JsonRpcInvalidParams if the candidate, hunk or variant does not exist. Raises
    RequestFailed if the document or its candidates have changed since, the user's edits are in the
    way, or the document would lack a name or not parse; the last has data.
    """
    analysis = await analysed(ls, params)
    lines, names = buffer_lines(analysis), names_of(analysis.snapshot.revisions)
    try:
        if params.id is None:
            (hunk, variant), split = _variant_of(analysis, params), params.split is True
            title = variant_title(analysis, names, hunk, variant, split=split)
            edits = taking(analysis, lines, hunk, variant, split=split)
        else:
            if params.id not in analysis.snapshot.ids:
                raise JsonRpcInvalidParams("unknown candidate")
            index = analysis.snapshot.ids.index(params.id)
            title, edits = candidate_title(analysis, names, index), restate(analysis, lines, index)
    except SourceError as error:
        raise RequestFailed(str(error)) from error
    if not edits:
        return title, None, ""
    [checked] = [""] if params.anyway else await refusals(ls, analysis, [edits])
    if not isinstance(checked, str):
        raise checked
    return title, workspace_edit(ls, analysis, edits, title), checked


def choice_command(ls: ExciseServer, title: str, params: p.ApplyParams) -> t.Command:
    """Return the command that makes the server send the edit of a choice."""
    return t.Command(title, APPLY_COMMAND, arguments=[ls.protocol.unstructured(params)])


def _variant_of(analysis: Analysis, params: p.ApplyParams) -> tuple[int, int]:
    if params.hunk is None or params.variant is None:
        raise JsonRpcInvalidParams("name a revision by its id, or a hunk and a variant")
    if not 0 <= params.variant < len(hunk_of(analysis, params.hunk).variants):
        raise JsonRpcInvalidParams("unknown variant")
    return params.hunk, params.variant


def hunk_of(analysis: Analysis, number: int) -> Hunk:
    """Return the hunk of a number in the report."""
    if not 0 <= number < len(analysis.hunks):
        raise JsonRpcInvalidParams("unknown hunk")
    return analysis.hunks[number]


async def analysed(ls: ExciseServer, params: p.ApplyParams | p.DecideParams) -> Analysis:
    """Return the analysis, if the document still has the version of the command."""
    analysis = await ls.newest(params.uri)
    if analysis is None or analysis.snapshot.version is None:
        raise RequestFailed("the document is not open")
    if params.version != analysis.snapshot.version:
        current, requested = analysis.snapshot.version, params.version
        raise RequestFailed(
            f"the document has changed (now version {current}; "
            f"this action was made for version {requested})"
        )
    if params.state is not None and params.state != ls.publisher.state_of(params.uri):
        raise RequestFailed("the candidates have changed meanwhile")
    return analysis
