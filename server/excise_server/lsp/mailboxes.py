"""Patches and mailboxes that are open in the editor, read and compared in a thread."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types as t

from excise import CancelFlag
from excise_server.editor.document import Document, document_key
from excise_server.editor.findings import Block
from excise_server.editor.session import Session
from excise_server.lsp.scheduler import Scheduler
from excise_server.lsp.to_proto import Mapper

if TYPE_CHECKING:  # most sessions never open one, and the mail reader takes long to load
    from excise_server.editor.mailbox import Mailbox

__all__ = ["Mailboxes", "explained", "is_mailbox", "titles"]

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
    """The open mailboxes by key, compared.

    Parameters
    ----------
    session : Session
        The session whose buffers are read.
    """

    def __init__(self, session: Session) -> None:
        """Start with no mailbox and no thread, which the first one starts."""
        self._session = session
        self._open: set[str] = set()
        self._known: dict[str, Mailbox] = {}
        self.scheduler: Scheduler[str, Mailbox] = Scheduler(
            mint=self._mint, work=_compare, deliver=self._deliver, name="excise-mailboxes"
        )

    def opened(self, uri: str, language: str | None) -> None:
        """Read a document, if it is one of these."""
        if is_mailbox(uri, language):
            self._open.add(document_key(uri))
            self.changed(uri)

    def changed(self, uri: str) -> None:
        """Read a document again, or forget it if it is closed."""
        if (key := document_key(uri)) in self._open:
            self.scheduler.changed(key)

    async def newest(self, uri: str) -> Mailbox | None:
        """Return the mailbox of a document's current text, or None if it is not a mailbox."""
        key = document_key(uri)
        if key not in self._open:
            return None
        await self.scheduler.settled(key)
        return self._known.get(key)

    def _mint(self, key: str) -> str | None:
        document: Document | None = self._session.by_key(key)
        if document is None or document.buffer is None:
            self._open.discard(key)
            self._known.pop(key, None)
            return None
        return document.buffer.text()

    def _deliver(self, key: str, _text: str, outcome: Mailbox | Exception) -> None:
        if isinstance(outcome, Exception):
            logger.error("comparing patches failed", exc_info=outcome)
            self._known.pop(key, None)
        else:
            self._known[key] = outcome


def titles(mailbox: Mailbox, mapper: Mapper) -> list[tuple[t.Range, str]]:
    """Return the range and title of a lens for each message, on its first line."""
    from excise_server.editor.mailbox import title

    texts = ((message, title(mailbox, message)) for message in mailbox.messages)
    return [(mapper.visible(m.line - 1, m.line), text) for m, text in texts if text]


def explained(mailbox: Mailbox, line: int) -> list[Block]:
    """Return the explanation of the message that a line belongs to."""
    from excise_server.editor.mailbox import explain

    message = mailbox.at(line)
    return explain(mailbox, message) if message is not None else []


def _compare(text: str, cancel: CancelFlag) -> Mailbox:
    from excise_server.editor.mailbox import read_mailbox

    cancel.check()
    return read_mailbox(text)
