"""Worktrees and branches for programs: one document, for the command and the language server."""

from __future__ import annotations

from excise.patches import FilePair
from excise_server.report.documents import SCHEMA, Document
from excise_server.sources.candidates import Candidate
from excise_server.sources.paths import visible
from excise_server.worktrees import Worktrees

__all__ = ["file_status", "worktrees_document"]


def worktrees_document(found: Worktrees) -> Document:
    """Return the ranking, with what each changed; clusters, similarities, and who is left out."""
    candidates = found.candidates
    ids = [candidate.id for candidate in candidates.found]
    return {
        "schema": SCHEMA,
        "signature": found.signature,
        "basis": "origin",
        "threshold": found.threshold,
        "linkage": found.linkage,
        "repository": visible(found.top),
        "base": candidates.origin,
        "origin": candidates.origin,
        "revisions": ids,
        "similarity": [[float(value) for value in row] for row in found.values],
        "ranking": _ranking(found),
        "clusters": [
            {
                "members": [ids[at] for at in cluster.members],
                "representative": ids[cluster.representative],
                "min_similarity": cluster.min_similarity,
            }
            for cluster in found.clusters
        ],
        "unchanged": list(candidates.unchanged),
        "landed": list(candidates.landed),
        "notes": {
            **({"": list(candidates.notes)} if candidates.notes else {}),
            **{ranked.id: list(ranked.notes) for ranked in found.ranking if ranked.notes},
        },
        "rejected": [{"id": r.id, "reason": r.reason} for r in candidates.rejected],
    }


def file_status(pair: FilePair) -> str:
    """Return what happened to a file in one word."""
    if pair.moved:
        return "renamed"
    if pair.old is None:
        return "created"
    return "deleted" if pair.new is None else "modified"


def _ranking(found: Worktrees) -> list[Document]:
    places = {
        at: (place, cluster.representative)
        for place, cluster in enumerate(found.clusters, start=1)
        for at in cluster.members
    }
    return [
        {
            "id": ranked.id,
            "label": visible(found.candidates.found[ranked.index].label),
            "tool": found.candidates.found[ranked.index].tool or None,
            "rank": ranked.rank,
            "agreement": ranked.agreement,
            "edit_size": ranked.edit_size,
            "no_op": ranked.no_op,
            "syntax_errors": ranked.syntax_errors,
            "cluster": places[ranked.index][0],
            "representative": places[ranked.index][1] == ranked.index,
            "similarity": float(found.values[ranked.index, places[ranked.index][1]]),
            **_place(found.candidates.found[ranked.index]),
            "files": [_file(pair) for pair in found.patches[ranked.index].files],
            "notes": list(ranked.notes),
        }
        for ranked in found.ranking
    ]


def _place(candidate: Candidate) -> Document:
    return {
        "names": list(candidate.names),
        "kind": candidate.id.partition(":")[0],
        "folder": visible(candidate.folder) or None,
        "branch": visible(candidate.branch) or None,
        "commit": candidate.commit,
        "base": candidate.base,
        "behind": candidate.behind,
        "made": candidate.made,
        "digest": candidate.digest,
        "identical": list(candidate.identical),
        "being_written": candidate.is_written,
        "conflicts": [
            {"path": visible(path), "reason": reason}
            for path, reason in candidate.conflicts.items()
        ],
        "uncommitted": candidate.uncommitted,
    }


def _file(pair: FilePair) -> Document:
    return {
        "path": visible(pair.path),
        "status": file_status(pair),
        "added": pair.added,
        "deleted": pair.deleted,
        "facts": [visible(fact) for fact in pair.facts],
    }
