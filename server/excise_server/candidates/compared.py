"""Whole candidates, compared: their changes, their similarities, and which belong to one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from excise import CancelFlag, ChangeSet, ScoreMatrix
from excise.patches import IGNORED, FilePair, Patch
from excise.patches.features import compared as counted_files
from excise.preparation import Readings
from excise.reading import PARSER_SECONDS
from excise_server.foundation.changes import patch_files
from excise_server.foundation.escape import shown_name, visible
from excise_server.foundation.inputs import first_few
from excise_server.review.candidate import Candidate
from excise_server.review.claims import Claim, given_twice, own_claims
from excise_server.review.hunks import change_set
from excise_server.review.kinds import kind_of
from excise_server.review.relations import (
    CandidateReader,
    CandidateRelation,
    Task,
    relations,
    tasks_of,
)
from excise_server.sources.candidates import Candidates


@dataclass(frozen=True, slots=True)
class Compared:
    """Candidates of one target, compared as wholes: each file by its grammar.

    - ``reader``: what it read of them, for more questions.
    - ``patches``: the files that each is said to change, without the ignored ones.
    - ``matrix``: their similarities, with all notes about each.
    - ``kinds``: what each file that a candidate changes is for, by path.
    - ``relations``: the pairs that are not independent.
    - ``tasks``: their tasks, the largest first.
    - ``claims``: what is said of each by itself, by id.
    """

    reader: CandidateReader
    patches: tuple[Patch, ...]
    matrix: ScoreMatrix
    kinds: tuple[dict[str, str], ...]
    relations: tuple[CandidateRelation, ...]
    tasks: tuple[Task, ...]
    claims: dict[str, tuple[Claim, ...]]


@dataclass(frozen=True, slots=True)
class CandidateEdits:
    """What candidates change, as the matrix takes it, by their ids.

    - ``pairs``: the files that each changes.
    - ``said``: what is said of that, and ``patches`` the same without the ignored files.
    - ``notes``: what is not compared, and what their sources say.
    - ``origin``: the texts that they change, by path.
    """

    pairs: dict[str, tuple[FilePair, ...]] = field(default_factory=dict)
    said: dict[str, tuple[FilePair, ...]] = field(default_factory=dict)
    patches: dict[str, Patch] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)


def edits_of(found: Sequence[Candidate]) -> CandidateEdits:
    """Return what candidates of one target change, without the ignored files."""
    edits = CandidateEdits()
    for candidate in found:
        complete = Patch(patch_files(candidate.old, candidate.new))
        counted, left_out = counted_files(complete, IGNORED)
        known = {pair.path for pair in counted}
        paths = [visible(path) for path in complete.paths if path not in known]
        also = [f"ignored: {first_few(paths)}"] if paths else []
        also += [f"merged beyond git: read {shown_name(path)}" for path in candidate.beyond_git]
        edits.notes[candidate.id] = [*candidate.notes, *left_out, *also]
        edits.pairs[candidate.id] = complete.files
        said = edits.said[candidate.id] = candidate.said(complete.files)
        edits.patches[candidate.id] = Patch(counted_files(Patch(said), IGNORED)[0])
        texts, edits.change_sets[candidate.id] = change_set(
            candidate.old, candidate.new, counted, candidate.kind_of
        )
        edits.origin.update(texts)
    return edits


def compared(
    candidates: Candidates,
    *,
    cancel: CancelFlag | None = None,
    readings: Readings | None = None,
) -> Compared:
    """Compare candidates that were read.

    Raises excise.errors.Cancelled if the flag is raised meanwhile.

    - ``cancel``: A flag that is checked between two pairs.
    - ``readings``: those of another matrix with some of the same texts.
    """
    edits, matrix, kinds = scored(candidates, cancel=cancel, readings=readings)
    reader = CandidateReader(edits.pairs, edits.said, matrix.readings)
    claims = {
        c.id: (
            *own_claims(c, matrix.readings, candidates.builtins), *given_twice(c, reader.names)
        )
        for c in candidates.found
    }  # fmt: skip
    unread = [
        [claim.message for claim in claims[name] if claim.word != "broken"] for name in matrix.ids
    ]
    of_ids = zip(matrix.notes, unread, strict=True)
    matrix = replace(matrix, notes=tuple((*notes, *own) for notes, own in of_ids))
    related = relations(candidates.found, matrix, reader, cancel)
    return Compared(
        reader, tuple(edits.patches.values()), matrix, kinds, related,
        tasks_of(candidates.found, related),
        claims,
    )  # fmt: skip


def scored(
    candidates: Candidates,
    *,
    cancel: CancelFlag | None = None,
    readings: Readings | None = None,
) -> tuple[CandidateEdits, ScoreMatrix, tuple[dict[str, str], ...]]:
    """Return what candidates change, their matrix and the kinds of their files, as in `compared`.

    That costs a tenth of all.
    """
    edits = edits_of(candidates.found)
    # The whole texts are compared, each file by its grammar.
    matrix = ScoreMatrix.from_change_sets(
        edits.origin, edits.change_sets, cancel=cancel, timeout=PARSER_SECONDS, readings=readings
    )
    kinds = tuple(
        {path: kind if path in own.facets else _counted(path) for path, kind in of_files.items()}
        for own, of_files in zip(edits.change_sets.values(), matrix.kinds, strict=True)
    )
    of_texts = zip(edits.notes.values(), matrix.notes, strict=True)
    matrix = replace(matrix, notes=tuple((*own, *map(visible, more)) for own, more in of_texts))
    return edits, matrix, kinds


def _counted(path: str) -> str:
    """Return what a file is for that is compared as code: generated files are not counted so."""
    return "generated" if kind_of(path) == "generated" else "code"
