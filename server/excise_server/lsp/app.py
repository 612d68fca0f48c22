"""The language server: which method is handled where, how a session starts, and its streams.

Reading order: the table, then any handler, `server.py` for how they work together, `rpc.py` for the
answers to wrong requests. A session has one pair of streams: standard input and output, or a local
socket.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from excise import __version__
from excise_server.foundation.escape import source_text
from excise_server.lsp import actions, candidates, documents, edits, finishing, review, standard
from excise_server.lsp.rpc import BadFrame, Outbox, frames
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.settings import SECTION, merged
from excise_server.lsp.to_proto import SCHEME
from excise_server.wire import lsp as p

logger = logging.getLogger(__name__)

# --- the beginning of a session, and its settings ---


def initialize(ls: ExciseServer, params: t.InitializeParams) -> None:
    """Read the options, and offer to be asked for diagnostics if that replaces sending them."""
    ls.on_client(params.process_id)
    ls.initial_options = params.initialization_options
    ls.configure(params.initialization_options)
    if ls.publisher.refresher.pulls:
        # Only then: Neovim would ask as well, and show both answers and sent diagnostics.
        ls.feature(t.TEXT_DOCUMENT_DIAGNOSTIC, review.OPTIONS)(review.diagnostic)
    if ls.settings.standard_navigation:
        for method, handler in review.NAVIGATION.items():
            ls.feature(method)(handler)


def initialized(ls: ExciseServer, _params: t.InitializedParams) -> None:
    """Load numpy and the grammars in the worker, and register and ask for what can change."""
    ls.warm_up()
    ls.spawn(ls.memory.ready())
    content = t.TextDocumentContentRegistrationOptions(schemes=[SCHEME])
    _register(
        ls,
        "text_document_content",
        t.Registration("excise-content", t.WORKSPACE_TEXT_DOCUMENT_CONTENT, content),
        "revisions cannot be opened as documents",
    )
    section = t.DidChangeConfigurationRegistrationOptions(section=SECTION)
    _register(
        ls,
        "did_change_configuration",
        t.Registration("excise-configuration", t.WORKSPACE_DID_CHANGE_CONFIGURATION, section),
        "changes of the configuration will not be noticed",
    )
    ls.spawn(_ask(ls))


def _register(ls: ExciseServer, capability: str, registration: t.Registration, failed: str) -> None:
    if ls.can(f"workspace.{capability}.dynamic_registration"):
        request = ls.client_register_capability_async(t.RegistrationParams([registration]))
        ls.ask(request, failed, logging.WARNING)


def did_change_configuration(ls: ExciseServer, params: t.DidChangeConfigurationParams) -> None:
    """Take the section as it is now: ask for it where the client answers, else read what came."""
    if ls.can("workspace.configuration"):
        ls.spawn(_ask(ls))
    elif isinstance(params.settings, dict):
        ls.configure(merged(ls.initial_options, params.settings.get(SECTION)))


async def _ask(ls: ExciseServer) -> None:
    """Ask a client that supports it. Unset options keep their values from `initialize`."""
    if not ls.can("workspace.configuration"):
        return
    request = t.ConfigurationParams([t.ConfigurationItem(section=SECTION)])
    try:
        answers = await ls.workspace_configuration_async(request)
    except JsonRpcException as error:
        logger.warning("no configuration: %s", error)
        return
    ls.configure(merged(ls.initial_options, answers[0] if answers else None))


# --- the table ---


async def show(ls: ExciseServer, params: p.ShowParams) -> None:
    """Show a page, or do what the user picks of the actions that a menu has no place for."""
    if params.page != "actions":
        await standard.show_page(ls, params)
    elif (command := await actions.more(ls, params)) is not None:
        picked = t.ExecuteCommandParams(command.command, list(command.arguments or []))
        await standard.executor(CUSTOM)(ls, picked)


# Handlers that are plain functions run at once, in the order of the messages, and may change the
# session. Coroutines wait for an analysis and only read; the client can cancel them.
CUSTOM: dict[str, Callable[..., Any]] = {
    "excise/addRevisions": candidates.add_revisions,
    "excise/addCandidates": candidates.add_candidates,
    "excise/removeCandidates": candidates.remove_candidates,
    "excise/candidates": candidates.candidates,
    "excise/report": review.report,
    "excise/review": review.review,
    "excise/decide": review.decide,
    "excise/setCandidates": candidates.set_candidates,
    p.APPLY: actions.apply_choice,
    p.TAKE: edits.take,
    p.START_AGAIN: candidates.start_again,
    "excise/since": candidates.since,
    "excise/land": edits.land,
    "excise/finish": finishing.finish,
    p.SHOW: show,
}
HANDLERS: dict[str, Callable[..., Any]] = {
    t.INITIALIZE: initialize,
    t.INITIALIZED: initialized,
    t.TEXT_DOCUMENT_DID_OPEN: documents.did_open,
    t.TEXT_DOCUMENT_DID_CHANGE: documents.did_change,
    t.TEXT_DOCUMENT_DID_SAVE: documents.did_save,
    t.TEXT_DOCUMENT_DID_CLOSE: documents.did_close,
    t.TEXT_DOCUMENT_HOVER: review.hover,
    t.TEXT_DOCUMENT_CODE_ACTION: actions.code_action,
    t.CODE_ACTION_RESOLVE: actions.code_action_resolve,
    t.TEXT_DOCUMENT_CODE_LENS: review.code_lens,
    t.WORKSPACE_TEXT_DOCUMENT_CONTENT: review.text_document_content,
    t.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration,
    t.WORKSPACE_DID_CHANGE_WATCHED_FILES: documents.did_change_watched_files,
    t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: documents.did_change_workspace_folders,
    t.WORKSPACE_EXECUTE_COMMAND: standard.executor(CUSTOM),
    **CUSTOM,
}
OPTIONS: dict[str, Any] = {
    t.TEXT_DOCUMENT_DID_SAVE: t.SaveOptions(include_text=False),
    t.TEXT_DOCUMENT_CODE_ACTION: t.CodeActionOptions(actions.KINDS, resolve_provider=True),
}


def create_server() -> ExciseServer:
    """Return a server for one session."""
    server = ExciseServer(__version__)
    for method, handler in HANDLERS.items():
        server.feature(method, OPTIONS.get(method))(handler)
    for command, method in p.COMMANDS.items():
        server.command(command)(CUSTOM[method])
    return server


# --- the streams of a session ---

HOST = "127.0.0.1"
_PATIENCE = 0.2
"""Seconds that the exit waits for work that was told to stop."""

_SWITCH = 0.0005
"""Seconds after which the worker lets the loop run: a keystroke needs the interpreter some ten
times, and would wait for each of them ten times as long (Python's own choice is 5 ms)."""


def serve_stdio() -> NoReturn:
    """Serve a client on standard input and output, and end the process with its exit code.

    From here on everything else that writes to standard output, C code included, writes to
    standard error: one stray line would end the session.
    """
    _log_to_stderr()
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr

    def write_all(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(sink, view) :]

    _leave(_serve(create_server(), lambda size: os.read(source, size), write_all))


def serve_tcp(port: int) -> NoReturn:
    """Do the same for the first client on a port of this machine (0: any) that knows the token.

    Every program on this machine can connect, and so can every page in a browser. So the client
    must send the printed token in the options of `initialize`.
    """
    _log_to_stderr()
    token = secrets.token_urlsafe(16)
    with socket.create_server((HOST, port), backlog=1) as listener:
        place = f"{HOST}:{listener.getsockname()[1]}"
        print(f"listening on {place}, token {token}", file=sys.stderr, flush=True)
        while not (caller := _Caller(listener.accept()[0])).knows(token):
            print("refused a connection without the token", file=sys.stderr, flush=True)
            caller.connection.close()
    # The listener is closed: a second client would get the first one's answers.
    with caller.connection as connection:
        code = _serve(create_server(), caller.receive, connection.sendall)
    _leave(code)


def _serve(
    server: ExciseServer, receive: Callable[[int], bytes], send: Callable[[bytes], object]
) -> int:
    sys.setswitchinterval(_SWITCH)
    gc.freeze()
    gc.enable()
    outbox = Outbox(send)
    server.protocol.set_writer(outbox)
    try:
        code = asyncio.run(_session(server, receive))
    except KeyboardInterrupt:
        code = 130
    outbox.close()
    server.close(_PATIENCE)
    return code


def _leave(code: int) -> NoReturn:
    """End the process at once.

    A thread inside a parser cannot be stopped, and freeing the scores of many revisions object by
    object takes most of a second. The client need not wait for either.
    """
    sys.stderr.flush()
    os._exit(code)


async def _session(server: ExciseServer, receive: Callable[[int], bytes]) -> int:
    """Hand each message to the protocol until `exit` or the end of the stream."""
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[int] = loop.create_future()

    def finish(code: int) -> None:
        if not finished.done():
            finished.set_result(code)

    def pump() -> None:
        try:
            for frame in frames(receive):
                loop.call_soon_threadsafe(server.protocol.receive, frame)
        except OSError as error:
            logger.info("the client's stream broke: %s", error)
        except RuntimeError:
            return  # the loop has ended
        loop.call_soon_threadsafe(finish, 1)  # without `exit`: the client has vanished

    server.protocol.on_exit = finish
    server.on_client = lambda process: _watch_process(process, partial(finish, 1))
    threading.Thread(target=pump, name="excise-reader", daemon=True).start()
    try:
        return await finished
    finally:
        # The loop ends when its threads have ended, and some of them wait for workers.
        server.pool.close()


_CALLER_SECONDS, _CALLER_BYTES = 10.0, 1 << 20
"""The seconds in which a caller's first message must arrive."""


class _Caller:
    """A connection. The session receives again what the handshake has read from it."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._received = bytearray()
        self._end = time.monotonic() + _CALLER_SECONDS

    def knows(self, token: str) -> bool:
        """Whether the first message is `initialize` with the token."""
        with suppress(OSError):
            first = next(frames(self._receive_first, strict=True), None)
            self.connection.settimeout(None)
            return first is not None and _has_token(first, token)
        return False

    def receive(self, size: int) -> bytes:
        """Receive what the session reads, from the first byte on."""
        if not self._received:
            return self.connection.recv(size)
        earlier = bytes(self._received)
        self._received.clear()
        return earlier

    def _receive_first(self, size: int) -> bytes:
        # However slowly the bytes arrive.
        self.connection.settimeout(max(0.001, self._end - time.monotonic()))
        chunk = self.connection.recv(size)
        self._received += chunk
        if len(self._received) > _CALLER_BYTES:
            raise OSError("the first message is too long")
        return chunk


def _has_token(frame: bytes, token: str) -> bool:
    if isinstance(frame, BadFrame):
        return False
    try:
        message = json.loads(frame)
        token_sent = message["params"]["initializationOptions"]["token"]
        return message["method"] == t.INITIALIZE and secrets.compare_digest(
            token_sent.encode(), token.encode()
        )
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return False


_LOOK_SECONDS = 3.0
"""Seconds between two checks, if the system does not tell that a process has ended."""


def _watch_process(process: int | None, ended: Callable[[], None]) -> None:
    """Call a function on the loop when a process ends.

    A process that does not exist at the start is not watched: the client may be in another
    container, where its number means another process.
    """
    if process is None or process <= 0 or not _is_there(process):
        return
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process)
    except (AttributeError, OSError):
        _look_again(loop, process, ended)
        return

    def tell() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended()

    loop.add_reader(descriptor, tell)


def _look_again(loop: asyncio.AbstractEventLoop, process: int, ended: Callable[[], None]) -> None:
    if _is_there(process):
        loop.call_later(_LOOK_SECONDS, _look_again, loop, process, ended)
    else:
        ended()


def _is_there(process: int) -> bool:
    if os.name == "nt":  # signal 0 would end it there
        return False
    with suppress(PermissionError):  # it exists, and is another user's
        try:
            os.kill(process, 0)
        except (ProcessLookupError, OverflowError):
            return False
    return True


class _Escaping(logging.Formatter):
    """Keeps control characters of clients and files from the terminal that shows the log."""

    def format(self, record: logging.LogRecord) -> str:
        return source_text(super().format(record))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Escaping("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
