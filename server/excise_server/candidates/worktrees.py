"""Whole candidates as changes of one commit: the report that everyone shows.

Each is a change set of one origin, over all its files, and scored by whole texts, each file by its
grammar: a pair has the number that ``excise compare`` gives for the same texts. The command and the
language server show the same report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from excise import CancelFlag, Ranked, ScoreMatrix
from excise.clustering import DISTANCE, LINKAGE
from excise.facts import CODE, EditFacts, code_facts
from excise.patches import Patch
from excise.ranking import INTENT
from excise_server.candidates.chosen import chosen_tasks
from excise_server.candidates.compared import compared
from excise_server.foundation.escape import visible
from excise_server.review.claims import Claim, own_code
from excise_server.review.groups import task_edits
from excise_server.review.hunks import ReviewedFile, review_files
from excise_server.review.ranked import RankedTask, rank_tasks
from excise_server.review.reasons import group_reasons
from excise_server.review.relations import CandidateRelation, Task
from excise_server.review.verdicts import NO_VERDICTS, Verdict, Verdicts, match_verdicts
from excise_server.sources.candidates import Candidates
from excise_server.wire.documents import GroupEdit, ReasonEntry


@dataclass(frozen=True, slots=True)
class Review:
    """Candidates of one target, compared: their similarities, tasks, order, groups and hunks.

    - ``patches``: the changes of each candidate, without the ignored files.
    - ``matrix``: their similarities, the word for each pair, and how much of the first one's edit
      the second one has at the same place; in the order of the candidates.
    - ``tasks``: the candidates of each task, ranked and grouped by themselves, the largest
      first.
    - ``other_tasks``: tasks that were not chosen.
    - ``files``: for each task, the files that it changes, hunk by hunk.
    - ``reasons``: for each task, what sets its groups apart, in the order of its clusters.
    - ``intent``: what the candidates are for, as in `excise.rank`.
    - ``edits``: for each task, in the order of its clusters, the lines that tell each, and who has
      the same code in it.
    - ``relations``: the pairs of candidates of two tasks that are not independent.
    """

    top: str
    candidates: Candidates
    patches: tuple[Patch, ...]
    matrix: ScoreMatrix
    tasks: tuple[RankedTask, ...]
    other_tasks: tuple[Task, ...] = ()
    verdicts: Verdicts = NO_VERDICTS
    files: tuple[tuple[ReviewedFile, ...], ...] = ()
    reasons: tuple[list[list[ReasonEntry]], ...] = ()
    intent: str = INTENT
    edits: tuple[list[tuple[list[str], list[GroupEdit]]], ...] = ()
    relations: tuple[CandidateRelation, ...] = ()

    @property
    def signature(self) -> str:
        """The signature of every score."""
        return self.matrix.signature

    @property
    def ranking(self) -> tuple[Ranked, ...]:
        """All candidates, task after task."""
        return tuple(ranked for task in self.tasks for ranked in task.ranking)


def _with_claims(facts: EditFacts, claims: Sequence[Claim]) -> EditFacts:
    """Return the facts about a candidate's code, with what is broken in its own head."""
    broken = [claim for claim in claims if claim.word == "broken"]
    return replace(
        facts,
        errors=tuple(claim.message for claim in broken),
        breaks_syntax=any(claim.is_syntax for claim in broken),
    )


def compare_candidates(
    top: str,
    candidates: Candidates,
    *,
    task: str = "",
    intent: str = INTENT,
    verdicts: Sequence[Verdict] = (),
    cancel: CancelFlag | None = None,
) -> Review:
    """Score, rank and cluster candidates that were read.

    Raises SourceError if no task has that name. Raises excise.errors.Cancelled if the flag is
    raised meanwhile.

    - ``task``: the only task to compare, by its number, its name or a candidate in it; empty for
      all.
    - ``intent``: as in `excise.rank`.
    - ``verdicts``: the results of checks on them: the first key of the order.
    - ``cancel``: a flag that is checked between two pairs.
    """
    judged = match_verdicts(verdicts, candidates.found)
    every = compared(candidates, cancel=cancel)
    candidates, chosen, others = chosen_tasks(candidates, every.tasks, task)
    found = {candidate.id for candidate in candidates.found}
    related = tuple(
        relation
        for relation in every.relations
        if not found.isdisjoint((relation.first, relation.second))
        and not any(
            {relation.first, relation.second} <= {*each.members} for each in (*chosen, *others)
        )
    )
    if others:  # without a vote, and without a part in any number
        every = compared(candidates, cancel=cancel, readings=every.matrix.readings)
    matrix, pairs, patches, kinds = every.matrix, every.reader.pairs, every.patches, every.kinds
    facts = {name: dict(own) for name, own in zip(matrix.ids, matrix.facts_by_path, strict=True)}
    for candidate, of_files in zip(candidates.found, kinds, strict=True):
        if candidate.conflicts:  # what its merge leaves of its code may be in no text of its own
            own = own_code(candidate, matrix.readings)
            facts[candidate.id].update(own)
            of_files.update({path: CODE for path in own if path not in of_files})
    of_code = map(code_facts, facts.values(), kinds)
    own_facts = tuple(
        _with_claims(own, every.claims[name]) for name, own in zip(matrix.ids, of_code, strict=True)
    )
    ranked = rank_tasks(
        matrix, chosen, threshold=DISTANCE, linkage=LINKAGE, level=judged.level,
        facts=own_facts, kinds=kinds, intent=intent,
    )  # fmt: skip
    every_file, reasons, edits = [], [], []
    for each in ranked:
        order = {one.index: place for place, one in enumerate(each.ranking)}
        by_rank = [sorted(cluster.members, key=order.__getitem__) for cluster in each.clusters]
        members = [candidates.found[index] for group in by_rank for index in group]
        files = review_files(members, cancel, matrix.readings, pairs)
        groups = [[matrix.ids[i] for i in group] for group in by_rank]
        edits.append(task_edits(matrix, by_rank, patches))
        broken = {one.id: one.broken for one in each.ranking}
        by_group = group_reasons(members, groups, files, broken, facts, every.reader.said)
        checked = [judged.of_group(group) for group in groups]
        every_file.append(files)
        for text, group, of_group in zip(checked, groups, by_group, strict=True):
            if text:
                entry = ReasonEntry(kind="checks", text=visible(text), members=group)
                of_group.insert(0, entry)
        reasons.append(by_group)
    return Review(
        top, candidates, patches, matrix, ranked, others, judged,
        tuple(every_file), tuple(reasons), intent, tuple(edits), related,
    )  # fmt: skip
