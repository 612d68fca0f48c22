"""Commands for clients that know only the standard protocol.

None of them returns JSON, which nobody would read. Each shows a page (`pages`), does something, or
fails with an error and its reason, which every client shows.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise.text import normalise
from excise_server.editor.analysis import Analysis
from excise_server.editor.document import document_key
from excise_server.editor.page import hunk_heading, review_page
from excise_server.editor.wording import names_of
from excise_server.foundation.escape import printable
from excise_server.lsp.candidates import candidates
from excise_server.lsp.protocol import CandidatesParams, StartAgainParams
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.start_again import start_again
from excise_server.lsp.take_candidate import take_candidate
from excise_server.sources.finding import CHOICES

__all__ = [
    "OPEN_CANDIDATE",
    "OPEN_CANDIDATES",
    "OPEN_REVIEW",
    "PICK_ORIGIN",
    "RESTART_REVIEW",
    "STANDARD",
    "TAKE_CANDIDATE",
]

OPEN_CANDIDATES = "excise.standard.openCandidates"
OPEN_REVIEW = "excise.standard.openReview"
OPEN_CANDIDATE = "excise.standard.openCandidate"
PICK_ORIGIN = "excise.standard.pickOrigin"
RESTART_REVIEW = "excise.standard.restartReview"
TAKE_CANDIDATE = "excise.standard.takeCandidate"

Argument = dict[str, Any]
Command = Callable[[ExciseServer, Argument], Coroutine[Any, Any, None]]


async def open_candidates(ls: ExciseServer, argument: Argument) -> None:
    """Show all candidates of the repository that a file or folder is in."""
    from excise_server.report.candidates_markdown import candidates_page

    uri = _uri(argument)
    document = await candidates(ls, CandidatesParams(uri))
    await ls.pages.show("candidates", "candidates.md", candidates_page(document))


async def open_review(ls: ExciseServer, argument: Argument) -> None:
    """Show every hunk of a document with its variants, starting at one of them."""
    uri, hunk = _uri(argument), argument.get("hunk")
    analysis = await _analysed(ls, uri)
    page = review_page(analysis, _name(uri))
    line = 0
    if type(hunk) is int and 0 <= hunk < len(analysis.hunks):
        lines = page.split("\n")
        heading = hunk_heading(hunk)
        line = next(number for number, text in enumerate(lines) if text.startswith(heading))
    await ls.pages.show(f"review {uri}", f"review-of-{_name(uri)}.md", page, line)


async def open_candidate(ls: ExciseServer, argument: Argument) -> None:
    """Show a candidate's version of a document, in its own file if it has one, or the origin."""
    uri, identity = _uri(argument), argument.get("id")
    analysis = await _analysed(ls, uri)
    snapshot = analysis.snapshot
    if identity is None:
        await ls.pages.show(f"origin {uri}", f"origin-{_name(uri)}", normalise(snapshot.origin))
        return
    if identity not in snapshot.ids:
        raise JsonRpcInvalidParams("unknown candidate")
    file = ls.gatherer.files(document_key(uri)).get(identity)
    if file is not None and await asyncio.to_thread(os.path.isfile, file.path):
        await ls.pages.open(file.path)
        return
    index = snapshot.ids.index(identity)
    name = f"{names_of(snapshot.revisions)[index]}-{_name(uri)}"
    await ls.pages.show(f"{identity} {uri}", name, normalise(snapshot.revisions[index].text))


async def pick_origin(ls: ExciseServer, argument: Argument) -> None:
    """Compare all candidates with another text: the saved file, HEAD or the index."""
    origin = argument.get("origin")
    if origin not in CHOICES:
        raise JsonRpcInvalidParams(f"origin must be one of {', '.join(CHOICES)}")
    ls.pick_origin(origin)
    _say(ls, f"Candidates are compared with {ORIGINS[origin]} now.")


async def restart_review(ls: ExciseServer, argument: Argument) -> None:
    """Restart the review of a document from its current origin."""
    uri = _uri(argument)
    if not (await start_again(ls, StartAgainParams(uri))).started:
        raise RequestFailed(f"there is no review of {_name(uri)}")
    _say(ls, f"The review of {_name(uri)} starts again.")


ORIGINS = {"saved": "the saved file", "head": "HEAD", "index": "the index"}

STANDARD: dict[str, Command] = {
    OPEN_CANDIDATES: open_candidates,
    OPEN_REVIEW: open_review,
    OPEN_CANDIDATE: open_candidate,
    PICK_ORIGIN: pick_origin,
    RESTART_REVIEW: restart_review,
    TAKE_CANDIDATE: take_candidate,
}


def _uri(argument: Argument) -> str:
    uri = argument.get("uri")
    if not isinstance(uri, str):
        raise JsonRpcInvalidParams("the argument is an object with a `uri`")
    return uri


async def _analysed(ls: ExciseServer, uri: str) -> Analysis:
    await ls.gatherer.newest(uri)
    analysis = await ls.newest(uri)
    if analysis is None or not analysis.snapshot.revisions:
        raise RequestFailed(f"no candidate changes {_name(uri)}")
    return analysis


def _name(uri: str) -> str:
    """Return what people call a document."""
    return printable(os.path.basename(unquote(uri.partition("?")[0]))) or "document"


def _say(ls: ExciseServer, text: str) -> None:
    ls.window_show_message(t.ShowMessageParams(t.MessageType.Info, text))
