"""Patches and mailboxes that are open in the editor, read and compared in a thread."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from excise_server.editor.document import document_key
from excise_server.editor.session import Session

if TYPE_CHECKING:  # most sessions never open one, and the mail reader takes long to load
    from excise_server.editor.mailbox import Mailbox


logger = logging.getLogger(__name__)

_ENDINGS = (".patch", ".diff", ".mbox", ".mbx", ".eml")
_LANGUAGES = {"diff", "mbox", "patch"}


def is_mailbox(uri: str, language: str | None) -> bool:
    """Tell whether a document is one, by its name or by what the client calls it.

    >>> is_mailbox("file:///x/a.PATCH", "plaintext"), is_mailbox("file:///x/a.c", "c")
    (True, False)
    """
    return uri.lower().endswith(_ENDINGS) or language in _LANGUAGES


class Mailboxes:
    """The open mailboxes, each compared when something asks for it: one text at a time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._compared: dict[str, tuple[str, asyncio.Future[Mailbox | None]] | None] = {}

    def opened(self, uri: str, language: str | None) -> None:
        """Note a document, if it is one of these."""
        if is_mailbox(uri, language):
            self._compared[document_key(uri)] = None

    def closed(self, uri: str) -> None:
        """Forget a document."""
        self._compared.pop(document_key(uri), None)

    async def newest(self, uri: str) -> Mailbox | None:
        """Return the mailbox of a document's current text, or None if it is not a mailbox."""
        key = document_key(uri)
        while (document := self._session.by_key(key)) is not None and key in self._compared:
            if document.buffer is None:
                break
            text, known = document.buffer.text(), self._compared[key]
            if known is not None and not known[1].done():
                await asyncio.wait([known[1]])  # the text may be another one by then
            elif known is not None and known[0] == text:
                return known[1].result()
            else:
                loop = asyncio.get_running_loop()
                self._compared[key] = text, loop.run_in_executor(None, _compare, text)
        return None


def _compare(text: str) -> Mailbox | None:
    from excise_server.editor.mailbox import read_mailbox

    try:
        return read_mailbox(text)
    except Exception:
        logger.exception("comparing patches failed")
        return None
