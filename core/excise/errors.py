"""The errors of the library: one small hierarchy, raised on misuse only.

Bad content (broken syntax, an unknown language) is never an error, but a note with the result.
"""

from __future__ import annotations

import sys


def extra_hint(extra: str) -> str:
    """Return how to install an extra of excise, whose name no package index knows."""
    return (
        f"install the extra '{extra}': pip install '.[{extra}]' in a clone of excise, "
        f"or pip install 'FILE.whl[{extra}]' with its wheel"
    )


class ExciseError(Exception):
    """Base of every error that the library raises on purpose."""


class MissingPackageError(ExciseError, ImportError):
    """A package that is needed for this is missing, or has a version that does not fit."""


class OptionError(ExciseError, ValueError):
    """An option has a value that the definition does not know."""


class ContentError(ExciseError, TypeError):
    """An argument is neither a text nor a sequence of tokens."""


class BinaryTextError(ExciseError, ValueError):
    """The bytes hold a NUL character: this is not text."""


class UndecodableTextError(ExciseError, ValueError):
    """The bytes do not decode. The message names the attempted encoding and the offset."""


class Cancelled(ExciseError):  # noqa: N818 (a state, as in asyncio, not a failure)
    """The caller's cancel flag was set while a kernel ran."""


class ParserStopped(Cancelled):
    """The flag was set while a parser ran: another attempt at the text may take as long."""


class Unparsable(ExciseError):  # noqa: N818 (a state of a text, which becomes a note)
    """The parser of a grammar cannot read a text, for the reason that the note gives.

    It raises the auditing event ``excise.unparsable`` with the reason: whoever keeps a result hears
    that it may be another one the next time.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        sys.audit("excise.unparsable", reason)
