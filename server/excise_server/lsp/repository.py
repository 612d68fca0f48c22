"""The repository that a request is about: one of the workspace, if that is trusted."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pygls.exceptions import JsonRpcInvalidParams

from excise.errors import OptionError
from excise.ranking import check_intent
from excise_server.foundation.escape import printable
from excise_server.foundation.paths import inside
from excise_server.lsp.disk import local_path
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer

__all__ = ["Place", "intent_of", "place_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in a repository, and the workspace folders that limit reading."""

    folder: str
    folders: list[str]

    @property
    def name(self) -> str:
        """The name of the folder for people."""
        return printable(os.path.basename(self.folder))


def place_of(ls: ExciseServer, uri: str) -> Place:
    """Return the folder of a URI, or of the file that it names.

    Raises
    ------
    JsonRpcInvalidParams
        If it is not inside of a workspace folder.
    RequestFailed
        If the workspace is not trusted.
    """
    path, folders = local_path(uri), ls.folders()
    if path is None or not inside(path, folders):
        raise JsonRpcInvalidParams("not a file or folder of the workspace")
    if not ls.gatherer.choices.trusted:
        raise RequestFailed("the workspace is not trusted: git is not started")
    folder = os.path.realpath(path)
    return Place(folder if os.path.isdir(folder) else os.path.dirname(folder), folders)


def intent_of(ls: ExciseServer, named: str | None) -> str:
    """Return the intent of a request, or that of the settings.

    Raises
    ------
    JsonRpcInvalidParams
        If there is no such intent.
    """
    intent = ls.settings.intent if named is None else named
    try:
        check_intent(intent)
    except OptionError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    return intent
