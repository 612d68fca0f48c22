"""Facts that distinguish groups of candidates or of revisions, one line each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from excise import Cluster, ScoreMatrix
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import RevisionSet, first_few
from excise_server.review.candidate import Candidate
from excise_server.review.hunks import review_files
from excise_server.review.reasons import group_reasons
from excise_server.wire.documents import ReasonEntry


def reasons_text(
    reasons: Sequence[ReasonEntry], members: Sequence[str], labels: Mapping[str, str]
) -> str:
    """Return the facts about a group as one line, with names where they apply only to some."""
    return "; ".join(
        reason.text
        if len(reason.members) == len(members)
        else f"{first_few([labels[name] for name in reason.members])}: {reason.text}"
        for reason in reasons
    )


_MODE = "100644"


def revision_reasons(
    matrix: ScoreMatrix, clusters: Sequence[Cluster], revision_set: RevisionSet
) -> list[list[ReasonEntry]]:
    """Return the facts about each group of revisions, in the order of the clusters."""
    path = os.path.basename(revision_set.path or revision_set.name) or "text"
    old = {path: Side(_MODE, revision_set.origin.encode(errors="replace"))}
    revisions = [
        Candidate(name, "", "", "", old=old, new={path: Side(_MODE, text.encode(errors="replace"))})
        for name, text in zip(matrix.ids, (r.text for r in revision_set.revisions), strict=True)
    ]
    groups = [[matrix.ids[member] for member in cluster.members] for cluster in clusters]
    broken = {name for name, is_so in zip(matrix.ids, matrix.syntax_errors, strict=True) if is_so}
    files = review_files(revisions)
    facts = {
        name: dict(zip((path,), by_path.values(), strict=False))
        for name, by_path in zip(matrix.ids, matrix.facts_by_path, strict=True)
    }
    return group_reasons(revisions, groups, files, broken, facts)


def reason_lines(
    clusters: Sequence[Cluster], ids: Sequence[str], reasons: Sequence[Sequence[ReasonEntry]]
) -> list[str]:
    """Return a line of facts for each group, empty where there are none."""
    labels = {name: name for name in ids}
    return [
        reasons_text(of_group, [ids[member] for member in cluster.members], labels)
        for cluster, of_group in zip(clusters, reasons, strict=True)
    ]
