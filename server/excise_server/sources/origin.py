"""The origin that the user chose: the saved file, HEAD's or the index's."""

from __future__ import annotations

import os
from typing import Literal

from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes, text_of
from excise_server.git.repository import AbsentError, Repository
from excise_server.sources.finding import Context, Found, OriginText, Refused, watch_file
from excise_server.sources.opening import opened

__all__ = ["find"]


def find(context: Context, repository: Repository | SourceError | None = None) -> Found:
    """Find the origin of the setting ``saved``, ``head`` or ``index``, or why there is none."""
    try:
        match context.settings.origin:
            case "saved" if not os.path.lexists(context.document):
                origin = OriginText("", "saved", "no file yet")
                return Found(origin=origin, watch=(watch_file(context.document),))
            case "saved":
                text = text_of(read_bytes(context.document, context.folders))
                origin = OriginText(text, "saved", "saved file")
                return Found(origin=origin, watch=(watch_file(context.document),))
            case "head" | "index" as choice:
                repository = opened(context, repository)
                if repository is None:
                    raise SourceError("not in a git repository")
                return _from_git(repository, choice)
    except SourceError as error:
        return Found(refused=(Refused("origin", error.reason, error.hint),))


def _from_git(repository: Repository, choice: Literal["head", "index"]) -> Found:
    watch = tuple(watch_file(os.path.join(repository.git_dir, name)) for name in ("HEAD", "index"))
    head = repository.head() if choice == "head" else ""
    if head is None:
        return Found(refused=(Refused("origin", "no commit yet"),), watch=watch)
    try:
        text = text_of(repository.blob(f"{head or ':0'}:{repository.path}").data)
    except AbsentError:
        where = "HEAD" if choice == "head" else "the index"
        return Found(refused=(Refused("origin", f"the file is not in {where}"),), watch=watch)
    label = f"HEAD {head[:10]}" if head else "index"
    return Found(origin=OriginText(text, choice, label), watch=watch)
