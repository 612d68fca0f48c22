"""Candidates as change sets of the target: what the library compares."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from excise import ChangeSet
from excise.patches import FilePair
from excise.patches.features import facts_of
from excise_server.foundation.changes import LINK, SUBMODULE, Side

__all__ = ["change_set", "origin_texts"]

Files = Mapping[str, Side]


def change_set(old: Files, new: Files, pairs: Sequence[FilePair]) -> ChangeSet:
    """Return the change set of a candidate, made of the files that count.

    Parameters
    ----------
    old, new
        The target's files that it changes, before and after, by path.
    pairs
        The files that count, in pairs: a renamed file keeps the target's path.
    """
    texts, facts = {}, {}
    for pair in pairs:
        key = _key(pair, old, new)
        if pair.hunks:
            texts[key] = _text(new, pair.new)
        # Where only bytes differ, the same words need not mean the same bytes.
        data = new[pair.new].data if pair.new and pair.beside and not pair.hunks else b""
        facts[key] = (
            # Beside lines of code, other line ends or another encoding make no other edit.
            *facts_of(replace(pair, beside=()) if pair.hunks else pair),
            *([f"to {pair.new}"] if pair.moved else []),
            *([hashlib.sha256(data).hexdigest()] if data else []),
        )
    return ChangeSet(texts, facts)


def origin_texts(old: Files, new: Files, pairs: Sequence[FilePair]) -> dict[str, str]:
    """Return the target's texts that a candidate edits, under the paths of its change set."""
    return {
        _key(pair, old, new): _text(old, pair.old)
        for pair in pairs
        if pair.hunks and pair.old is not None
    }


def _key(pair: FilePair, old: Files, new: Files) -> str:
    """Name a file by its path in the target, without an extension to read it by if not a file."""
    path = pair.old or pair.path
    sides = [files.get(name or "") for files, name in ((old, pair.old), (new, pair.new))]
    special = any(side is not None and side.mode in (LINK, SUBMODULE) for side in sides)
    return f"{path}\0link" if special else path


def _text(files: Files, path: str | None) -> str:
    return (files[path].text or "") if path is not None else ""
