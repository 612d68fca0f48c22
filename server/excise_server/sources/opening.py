"""The repository of a document, for the sources that ask git."""

from __future__ import annotations

import os
from dataclasses import replace

from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import contained
from excise_server.git.command import NoRepositoryError
from excise_server.git.repository import Repository, open_folder
from excise_server.sources.finding import Context

__all__ = ["open_repository", "opened"]


def open_repository(context: Context) -> Repository | None:
    """Return the repository of a document, or None if it is in no repository.

    Raises
    ------
    SourceError
        If the workspace is not trusted, the document is outside, git refuses the repository, or
        the repository and the working tree do not name each other.
    """
    _, document = contained(context.document, context.folders)
    if not context.trusted:
        raise SourceError("git is never started in a workspace that is not trusted")
    try:
        repository = open_folder(os.path.dirname(document), context.folders)
    except NoRepositoryError:
        return None
    path = os.path.relpath(document, repository.top).replace(os.sep, "/")
    if path.startswith("../"):
        raise SourceError("the repository is not used: its working tree is elsewhere")
    return replace(repository, path=path)


def opened(context: Context, repository: Repository | SourceError | None) -> Repository | None:
    """Return the repository that a caller opened before, or open it, unless that failed before.

    Raises
    ------
    SourceError
        As `open_repository`.
    """
    if isinstance(repository, SourceError):
        raise repository
    return repository or open_repository(context)
