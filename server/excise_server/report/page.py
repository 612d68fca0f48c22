"""What the views of a review share: its blocks, the lines of a hunk, and who has what. Pure.

The overview has a block for each group, and in it a line for those of each code. Below it, or by
themselves, stand hunks: lines that a variant shares with the reference are named, not repeated.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import basename
from string import ascii_uppercase

import excise
from excise.agreement import IDENTICAL, NAMES
from excise.lexical import tokenise
from excise.text import raw_lines
from excise_server.foundation.changes import differing_lines
from excise_server.foundation.escape import printable, shortened, shortened_beside
from excise_server.foundation.inputs import first_few
from excise_server.report.blocks import Marks, ShownLine
from excise_server.report.words import (
    LONGEST_LINE,
    THERE,
    level_words,
    order_words,
    plural,
    relation_lines,
)
from excise_server.review.verdicts import TELLS_NOBODY
from excise_server.wire import documents as d

# --- the overview --------------------------------------------------------------------------------

NOTHING = "No candidate changes anything: there is nothing to review."

MOST_PLACES = 3
"""Most files, places or names that a line of the overview has."""

_LONGEST_LABEL = 120
_LONGEST_ARGUMENT = 40
_LONGEST_FACT = 160
_COUNTED = " make this edit"
_IGNORED = "ignored: "
_BESIDE = ("conflict", "bytes", "deletes", "unread-names")
_OF_CODE = ("broken", "no-code", "comments-only")


@dataclass(frozen=True, slots=True)
class EditLine:
    """Candidates of a group with the same code, and what they alone have.

    - ``facts``: what is said of each.
    - ``says``: "2 the same code", "1".
    - ``line``: a changed line that no others of the group have, if that tells what differs.
    """

    ids: tuple[str, ...]
    facts: tuple[str, ...]
    says: str
    line: str


@dataclass(frozen=True, slots=True)
class GroupBlock:
    """A group as every page shows it: who, where, the lines that tell, and what differs.

    - ``edits``: its edits; those of one candidate each, without a line of their own, are one.
    - ``about``: what all have in common, what members differ in, and what running them said.
    """

    letter: str
    head: str
    where: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    edits: tuple[EditLine, ...]
    about: tuple[str, ...]
    size: int

    def telling(self, most: int) -> tuple[str, ...]:
        """Return so many of the lines that tell; of only one, what is added says most."""
        if most > 1:
            return self.lines[:most]
        added = (line for line in self.lines if line.startswith("+"))
        return tuple([next(added, line) for line in self.lines[:1]])


def letter(index: int) -> str:
    """Return how a group is called on a page.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    more, last = divmod(index, len(ascii_uppercase))
    return (letter(more - 1) if more else "") + ascii_uppercase[last]


class Page:
    """A review as every view shows it.

    - ``options``: what the next command needs to find the same candidates, as it is typed.
    """

    def __init__(
        self, document: d.ReviewDocument, *, verbose: bool = False, options: str = ""
    ) -> None:
        self.document, self.verbose = document, verbose
        self._options = f" {options}" if options else ""
        self.entries = {entry.id: entry for entry in document.candidates}
        self.labels = {
            entry.id: shortened(printable(entry.label), _LONGEST_LABEL)
            for entry in document.candidates
        }
        groups = (group for task in document.tasks for group in task.groups)
        self._reasons = {name: group.reasons for group in groups for name in group.members}
        self.rivals = [task for task in document.tasks if len(task.members) > 1]
        self.alone = [task for task in document.tasks if len(task.members) == 1]

    @property
    def title(self) -> str:
        """How many candidates, tasks and groups there are."""
        tasks = self.document.tasks
        if not tasks:
            return NOTHING
        count = plural(len(self.entries), "candidate")
        if not self.rivals and len(tasks) > 1:
            nobody = "nobody competes; excise land says how they fit"
            return f"{count}, {plural(len(tasks), 'task')}: {nobody}"
        only = self.task_words(tasks[0]) if len(tasks) == 1 else ""
        groups = sum(len(task.groups) for task in tasks)
        several = f", {plural(groups, 'group')}" if self.rivals else ""
        return f"{count}, {plural(len(tasks), 'task')}{only}{several}"

    def task_words(self, task: d.TaskEntry) -> str:
        """Return the tool's name for a task and the issue that ties it, in brackets, or nothing."""
        names = [*([task.name] if task.name else [])]
        issues = dict.fromkeys(task.by_issue.values())
        names += [f"issue {issue.removeprefix('#')}" for issue in issues if issue != task.name]
        return f" ({', '.join(names)})" if names else ""

    def task_head(self, task: d.TaskEntry) -> str:
        """Return the heading of one of several tasks."""
        groups = plural(len(task.groups), "group")
        count = plural(len(task.members), "candidate")
        return f"Task {task.number}{self.task_words(task)}: {count}, {groups}"

    def blocks(self, task: d.TaskEntry) -> list[GroupBlock]:
        """Return the groups of a task, in their order."""
        return [self._block(letter(n), group) for n, group in enumerate(task.groups)]

    def _block(self, name: str, group: d.CandidateGroup) -> GroupBlock:
        members = group.members
        facts = {member: self.facts(self.entries[member]) for member in members}
        common = [f for f in facts[members[0]] if all(f in facts[m] for m in members)]
        common = common if len(members) > 1 else []
        differ = self._differ(group, members)
        shows_line = len(group.edits) > 1 and (self.verbose or not (group.names or group.places))
        edits: list[EditLine] = []
        for edit in group.edits:
            own = [
                ", ".join(fact for fact in facts[member] if fact not in common)
                for member in edit.members
            ]
            says = str(len(own))
            if len(own) > 1:
                same = all(word == IDENTICAL for word in edit.words)
                says += " identical" if same else " the same code"
            if edit.relation == NAMES:
                renamed = level_words("", edit.renamed, THERE).strip()
                says += f" the same up to names{' ' * bool(renamed)}{renamed}"
            is_told = edit.line in group.lines
            line = self._cut(edit.line) if shows_line and not is_told else ""
            last = edits[-1] if edits else None
            if (
                last
                and not line
                and not last.line
                and says == "1"
                and last.says[0] == "1"
                and (last.says in ("1", "1 each"))
            ):
                ids, every = (*last.ids, *edit.members), (*last.facts, *own)
                edits[-1] = EditLine(ids, every, "1 each", "")
            else:
                edits.append(EditLine(tuple(edit.members), tuple(own), says, line))
        head = plural(len(members), "candidate")
        about = [f"all: {', '.join(common)}"] if common else []
        if differ:
            about.append(f"differ in {differ}")
        where = tuple((place.path, place.function) for place in group.where)
        lines = tuple(map(self._cut, group.lines))
        return GroupBlock(name, head, where, lines, tuple(edits), tuple(about), len(members))

    def _cut(self, line: str) -> str:
        """Return a changed line, cut where it is long around what others of its hunk have not."""
        if len(line) <= LONGEST_LINE:
            return line
        beside: list[str] = []
        files = (file for task in self.document.tasks for file in task.files)
        for hunk in (hunk for file in files for hunk in file.hunks):
            texts = [hunk.origin, *(variant.text for variant in hunk.variants)]
            rows = [row.strip() for text in texts for row in text.split("\n")]
            if line[2:] in rows:
                beside += [row for row in rows if row != line[2:]]
        return shortened_beside(line, [line[:2] + row for row in beside], LONGEST_LINE)

    def _differ(self, group: d.CandidateGroup, members: Sequence[str]) -> str:
        """Say what the members of a group differ in, but for the lines of each.

        That only some have tests or docs, say, is told beside their names.
        """
        if len(group.edits) == 1 and len(group.edits[0].members) == 1:
            return ""
        paths = {place.rpartition("#")[0] for place in group.places}
        places = [f"#{p.rpartition('#')[2]}" if len(paths) == 1 else p for p in group.places]
        parts = [
            f"{what} ({_few(some)})" for what, some in (("names", group.names), ("place", places))
            if some
        ]  # fmt: skip
        parts += ["comments"] * group.comments
        kinds = [{file.kind for file in self.entries[member].files} for member in members]
        told = {kind for kind in group.facets if 0 < sum(kind in own for own in kinds) < len(kinds)}
        return ", ".join([*parts, *(kind for kind in group.facets if kind not in told)])

    def facts(self, entry: d.CandidateEntry) -> list[str]:
        """Return what is said of a candidate: what decides its place, and what it does besides."""
        facts = [why for why in entry.why if not why.endswith(_COUNTED)]
        facts = facts[:1] if entry.broken else facts
        said = {*_BESIDE, *(() if entry.no_op or entry.stub or entry.broken else _OF_CODE)}
        said -= {"unread-names"} if entry.stub else set()
        reasons = self._reasons[entry.id]
        facts += [r.text for r in reasons if r.kind in said and entry.id in r.members]
        facts += [check_words(check) for check in entry.checks]
        facts += ["still being written"] * entry.being_written
        if entry.uncommitted and self.verbose:
            facts.append(f"{plural(entry.uncommitted, 'file')} uncommitted")
        changed = [(file.status, file.path) for file in entry.files if file.kind == "code"]
        for status, verb in (("deleted", "deletes"), ("created", "adds")):
            paths = [path for each, path in changed if each == status]
            # What is all that a candidate does is told by where it is.
            if paths and len(changed) > 1:
                facts.append(f"{verb} {_few(paths)}")
        if entry.lines["code"].files:
            for kind in ("tests", "docs", "scratch", "generated"):
                paths = [file.path for file in entry.files if file.kind == kind]
                if paths and kind == "docs" and len(paths) <= 2:
                    facts += [basename(path) for path in paths]
                elif paths:
                    facts.append(f"leaves {_few(paths)}" if kind == "scratch" else kind)
        return list(dict.fromkeys(shortened(fact, _LONGEST_FACT) for fact in facts))

    def single(self, task: d.TaskEntry) -> GroupBlock:
        """Return the candidate that is alone in its task."""
        [block] = self.blocks(task)
        return block

    def details(self) -> Iterator[str]:
        """Yield what only a long page has: how each candidate is called, its place, its size."""
        for entry in self.document.candidates:
            parts = [entry.id]
            parts += [f"rank {entry.rank}"] if entry.rank else []
            parts += [
                f"{kind} +{of.added:,} -{of.deleted:,}"
                for kind, of in entry.lines.items()
                if of.files
            ]
            parts.append(f"{entry.edit_size:,} tokens, group {letter(entry.group - 1)}")
            parts += [f"branch {entry.branch}"] if entry.branch else []
            parts += [f"behind {entry.behind:,}"] if entry.behind else []
            notes = [note for note in entry.notes if note not in parts]
            yield f"{self.labels[entry.id]}: {'; '.join([*parts, *notes])}"
        document = self.document
        if self.rivals:
            checks = "candidates that pass first; " * any(e.verdict for e in document.candidates)
            yield f"order: {checks}{order_words(document.intent)}"
        how = f"{document.linkage} linkage, distance {document.threshold:g}"
        yield f"groups: {sum(len(task.groups) for task in document.tasks):,}, {how}"
        yield from (f"note: {note}" for note in document.notes)
        yield f"origin {document.origin}, digest {document.digest}"
        yield document.signature

    def between_tasks(self) -> list[str]:
        """Return what candidates of different tasks are to each other."""
        return list(relation_lines(self.document.relations, self.labels))

    def left_out(self) -> list[tuple[str, list[str]]]:
        """Return who was not looked at, and why."""
        document = self.document
        unknown = [f"verdicts on {name}" for name in document.unknown_verdicts]
        rows = [
            ("landed", [f"{one.label} ({one.words})" for one in document.landed]),
            ("unchanged", list(map(_end, document.unchanged))),
            ("of other tasks", [_end(name) for names in document.other_tasks for name in names]),
            (
                "left out",
                [
                    f"{name} ({rejected.reason})"
                    for name, rejected in zip(
                        rejected_names([r.id for r in document.rejected]),
                        document.rejected,
                        strict=True,
                    )
                ],
            ),
            ("of nobody here", unknown),
        ]
        return [(why, [printable(name) for name in names]) for why, names in rows if names]

    def not_looked_at(self) -> str:
        """Say in one line who and what was not looked at, and how many notes there are.

        That a check tells nobody apart comes first: verdicts beside names would mislead.
        """
        parts = [
            f"{len(names):,} {why}"
            if len(names) > MOST_PLACES or why == "left out"
            else first_few([shortened(name, 80) for name in names])
            if why == "landed"
            else f"{first_few([shortened(name, 40) for name in names])} ({why})"
            for why, names in self.left_out()
        ]
        notes = dict.fromkeys(self.document.notes)
        for entry in self.document.candidates:
            conflicts = {f"{conflict.path}: {conflict.reason}" for conflict in entry.conflicts}
            notes |= dict.fromkeys(note for note in entry.notes if note not in conflicts)
        ignored = [note for note in notes if note.startswith(_IGNORED)]
        parts += [f"{shortened(note.removeprefix(_IGNORED), 60)} (ignored)" for note in ignored[:1]]
        about = [f"Not looked at: {', '.join(parts)}"] if parts else []
        told = [note for note in notes if note.endswith(TELLS_NOBODY)]
        if count := len(notes) - len(ignored[:1]) - len(told):
            about.append(plural(count, "note"))
        more = [f"{'; '.join(about)}: -v"] if about else []
        return " ".join([*(f"{note}." for note in told), *more])

    def next(self) -> list[str]:
        """Say what was not run, and what to do next: sentences and commands."""
        if not self.document.candidates:
            return []
        # The first, or one with the same code that the target takes and that also adds tests.
        first = self.document.candidates[0]
        edits = [edit for task in self.document.tasks for of in task.groups for edit in of.edits]
        same = next(edit.members for edit in edits if first.id in edit.members)
        equal = [
            entry
            for entry in (first, *map(self.entries.__getitem__, same))
            if (entry.verdict, entry.broken) == (first.verdict, first.broken)
        ]
        clean = [entry for entry in equal if not entry.conflicts] or equal
        tests = (e for e in clean if any(file.kind == "tests" for file in e.files))
        label = printable(next(tests, clean[0]).label)
        name = shlex.quote(label) if len(label) <= _LONGEST_ARGUMENT else "NAME"
        ran = any(entry.checks for entry in self.document.candidates)
        ran = ran or any(note.endswith(TELLS_NOBODY) for note in self.document.notes)
        differ = not ran and any(task.disagree for task in self.rivals)
        parts = ["They disagree: read, or run."] if differ else []
        parts += [] if ran else ["Nothing was run: --run COMMAND runs your tests on each."]
        words = f"{self._options} {name}"
        return [*parts, f"excise review{words},", f"excise take{words}"]

    def outcomes(self, task: d.TaskEntry) -> list[str]:
        """Say what checks and runs told of the members of a task, each outcome once."""
        who: dict[str, list[str]] = {}
        for member in task.members:
            entry = self.entries[member]
            if told := "; ".join(map(check_words, entry.checks)):
                who.setdefault(told, []).append(self.labels[member])
        return [f"{first_few(labels, 12)}: {told}" for told, labels in who.items()]

    def hunks(self, task: d.TaskEntry, against: str = "") -> HunkView:
        """Return the view of a task's hunks, against a candidate's text, or the origin's."""
        members = set(task.members)
        labels = {name: label for name, label in self.labels.items() if name in members}
        return HunkView(labels, against, is_whole=self.verbose)


def check_words(check: d.CheckEntry) -> str:
    """Return the result of a check."""
    verb = {True: "passes", False: "fails", None: "no verdict on"}[check.passed]
    reason = f": {shortened(printable(check.reason), 80)}" if check.reason else ""
    return f"{verb} {shortened(printable(check.check), 60)}{reason}"


def rejected_names(ids: Sequence[str]) -> list[str]:
    """Return what those that were left out are called: the last part of a path, if it is unique.

    Only ids that contain a path are longer than a name.

    >>> rejected_names(["worktree:/home/ada/shop-bo", "branch:x"])
    ['shop-bo', 'branch:x']
    """
    ends = [identity.rpartition("/")[2] for identity in ids]
    return [
        end if ":/" in identity and end and ends.count(end) == 1 else identity
        for identity, end in zip(ids, ends, strict=True)
    ]


def _few(names: Sequence[str]) -> str:
    return ", ".join(
        [*(shortened(n, 60) for n in names[:MOST_PLACES]), *["…"] * (len(names) > MOST_PLACES)]
    )


def _end(identity: str) -> str:
    return identity.partition(":")[2] or identity


# --- hunks ---------------------------------------------------------------------------------------

ORIGIN = ""
"""The id of the origin, which is not a candidate."""

MAX_LINES = 400
"""Most lines of one text of a hunk that is shown completely."""

_EDGE = 10
"""The number of lines shown at the start and at the end of a longer text."""

MAX_MARKED = 200_000
"""Most characters of a reference and a variant together whose differing tokens are marked."""

_SHORT = 2
"""Most lines in common that are repeated, because naming them would take as much room."""

Spans = frozenset[tuple[int, int]]


def _compared(reference: str, text: str, first: int) -> tuple[list[ShownLine], Spans, set[int]]:
    """Return a variant compared with the reference, and the tokens and lines that it lacks."""
    old, new = raw_lines(reference), raw_lines(text)
    missing, gained = differing_tokens(reference, text)
    every = _lines("+", text, gained, 0)
    shown: list[ShownLine] = []
    position = before = 0
    lost = set[int]()
    for o_lo, o_hi, a_lo, a_hi in differing_lines(old, new):
        shown += _common(every[position:a_lo], before, first)
        shown += every[a_lo:a_hi]
        lost.update(range(o_lo, o_hi))
        position, before = a_hi, o_hi
    shown += _common(every[position : len(new)], before, first)
    if old and new and old[-1].endswith("\n") != new[-1].endswith("\n"):
        ending = "with" if new[-1].endswith("\n") else "without"
        shown.append(ShownLine("\\", f"{ending} a line end at the end of the file"))
    return shown, missing, lost


def _common(lines: Sequence[ShownLine], before: int, first: int) -> Iterator[ShownLine]:
    """Yield lines in common with the reference, the first of them after so many of its lines."""
    if len(lines) <= _SHORT:
        for index, line in enumerate(lines):
            yield ShownLine(" ", line.text, first + before + index if first else 0)
    elif first:
        yield ShownLine("=", f"{first + before}-{first + before + len(lines) - 1}")
    else:
        yield ShownLine("=", f"{len(lines)} lines")


def _lines(sign: str, text: str, spans: Spans, first: int) -> list[ShownLine]:
    """Return the lines of a text, with the characters in the spans marked."""
    ordered = sorted(spans)
    lines, start, position = [], 0, 0
    for number, line in enumerate(raw_lines(text)):
        stop = start + len(line)
        marks = []
        while position < len(ordered) and ordered[position][0] < stop:
            marks.append((ordered[position][0] - start, ordered[position][1] - start))
            position += 1
        shown = line.removesuffix("\n")
        lines.append(ShownLine(sign, shown, first + number if first else 0, _partial(shown, marks)))
        start = stop
    return lines


def _partial(line: str, marks: Sequence[tuple[int, int]]) -> Marks:
    """Join marks that are separated only by blanks, or return none if they cover the whole line."""
    joined: list[tuple[int, int]] = []
    for lo, hi in marks:
        if joined and not line[joined[-1][1] : lo].strip():
            joined[-1] = joined[-1][0], hi
        else:
            joined.append((lo, hi))
    outside = "".join(
        line[lo:hi]
        for lo, hi in zip([0, *(hi for _, hi in joined)], [*(lo for lo, _ in joined), len(line)],
                          strict=True)
    )  # fmt: skip
    return tuple(joined) if outside.strip() else ()


def differing_tokens(reference: str, text: str) -> tuple[Spans, Spans]:
    """Return the spans of tokens that the other text lacks: in the reference, and in the text."""
    if not reference or not text or len(reference) + len(text) > MAX_MARKED:
        return frozenset(), frozenset()
    old, new = tokenise(reference), tokenise(text)
    lost: set[tuple[int, int]] = set()
    gained: set[tuple[int, int]] = set()
    for edit in excise.align(reference, text).edits:
        lost.update(zip(old.starts[edit.o_lo : edit.o_hi], old.ends[edit.o_lo : edit.o_hi],
                        strict=True))  # fmt: skip
        gained.update(zip(new.starts[edit.a_lo : edit.a_hi], new.ends[edit.a_lo : edit.a_hi],
                          strict=True))  # fmt: skip
    return frozenset(lost), frozenset(gained)


class HunkView:
    """Hunks as every view shows them: their lines, and the words for who has what.

    - ``labels``: by id, everyone who might have changed them, in the order of the page.
    - ``against``: the id of the candidate to compare texts with, or `ORIGIN`.
    - ``is_whole``: whether to show everything: generated files and long texts, too.
    """

    def __init__(self, labels: Mapping[str, str], against: str, *, is_whole: bool) -> None:
        self.labels, self.against, self.is_whole = labels, against, is_whole

    def each(self, ids: Sequence[str]) -> list[str]:
        """Return the labels of some candidates, in the order of the table, without the origin."""
        chosen = set(ids)
        return [label for identity, label in self.labels.items() if identity in chosen]

    def share(self, ids: Sequence[str]) -> str:
        """Say how many these are: ``2 of 5``, ``all 5``, or nothing of a single candidate."""
        count, everyone = sum(identity != ORIGIN for identity in ids), len(self.labels)
        if count == everyone:
            return {1: "", 2: "both"}.get(everyone, f"all {everyone:,}")
        return f"{count:,} of {everyone:,}"

    def file_head(self, file: d.ReviewFileEntry) -> str:
        """Say what a file is for, and how many do what with it."""
        kind = "" if file.kind == "code" else f" ({file.kind})"
        if len(self.labels) == 1:
            return f"{kind}: new file" if file.created else kind
        share = self.share([change.id for change in file.changes])
        verbs = {"create" if change.status == "created" else "change" for change in file.changes}
        verb = verbs.pop() if len(verbs) == 1 else "change"
        several = "" if len(file.changes) > 1 else "s"
        return f"{kind}: {share} {verb}{several} it"

    def file_facts(self, file: d.ReviewFileEntry) -> list[tuple[str, list[str]]]:
        """Return the changes other than text: a sentence, and the labels of its candidates."""
        ids_by_fact: dict[str, list[str]] = defaultdict(list)
        for change in file.changes:
            for fact in _facts(change):
                ids_by_fact[fact].append(change.id)
        for fact, ids in slot_facts(file.slots):
            ids_by_fact[fact] += ids
        return [(fact, self.each(ids)) for fact, ids in ids_by_fact.items()]

    def is_folded(self, file: d.ReviewFileEntry) -> bool:
        """Whether a file is generated, and its hunks are only counted."""
        return file.kind == "generated" and not self.is_whole

    def deleted_lines(self, file: d.ReviewFileEntry) -> list[ShownLine]:
        """Return the lines of a file that some delete."""
        return [
            ShownLine("-", line.removesuffix("\n"), number)
            for number, line in enumerate(raw_lines(file.text or ""), start=1)
        ]

    def folded(self, lines: Sequence[ShownLine]) -> Iterator[ShownLine | int]:
        """Yield the lines of a text, or the first, the last and a count of those between."""
        hidden = len(lines) - 2 * _EDGE
        if len(lines) <= MAX_LINES or self.is_whole:
            yield from lines
            return
        yield from lines[:_EDGE]
        yield hidden
        yield from lines[-_EDGE:]

    def parts(
        self, hunk: d.ReviewHunkEntry
    ) -> Iterator[tuple[str, Sequence[str], Sequence[ShownLine]]]:
        """Yield the texts of a hunk: words for who has one, their ids, and its lines.

        First come the lines above, and the head of the function, then the text that all others are
        compared with: that of the candidate that was chosen, if it has another one than the origin.
        It has no lines if all others only add some. The last one has the lines below as well.
        """
        texts = [((ORIGIN, *hunk.unchanged), hunk.origin)]
        texts += [(tuple(variant.ids), variant.text) for variant in hunk.variants]
        chosen = next((index for index, (ids, _) in enumerate(texts) if self.against in ids), 0)
        ids, reference = texts.pop(chosen)
        first = hunk.lo + 1 if chosen == 0 else 0
        compared = [_compared(reference, text, first) for _, text in texts]
        marks = frozenset(span for _, missing, _ in compared for span in missing)
        lost = {index for _, _, lines in compared for index in lines}
        above = _lines(" ", hunk.before, frozenset(), hunk.lo + 1 - len(raw_lines(hunk.before)))
        if hunk.head is not None:
            above.insert(0, ShownLine(" ", hunk.head.text, hunk.head.line))
        yield "", (), above
        shown = [
            line if index in lost else ShownLine(" ", line.text, line.number)
            for index, line in enumerate(_lines("-", reference, marks, first))
        ]
        who = ids if chosen else ()
        yield self.share(who) if who else "", who, shown if lost or not compared else ()
        below = _lines(" ", hunk.after, frozenset(), hunk.hi + 1)
        for number, ((ids, _), (lines, _, _)) in enumerate(zip(texts, compared, strict=True), 1):
            words = share = self.share(ids)
            if ids[0] == ORIGIN:
                verb = "leaves" if len(ids) == 2 else "leave"
                words = f"the origin, {share} {verb} it" if ids[1:] else "origin"
            elif not lines:
                words = f"{share} delete{'' if len(ids) > 1 else 's'} it".strip()
            yield words, ids if words else (), [*lines, *(below if number == len(texts) else ())]

    def leaving(self, hunk: d.ReviewHunkEntry) -> tuple[str, Sequence[str]]:
        """Return words for who has the origin's lines, if those are shown first, and their ids.

        Words without ids name them all: the others.
        """
        unchanged = hunk.unchanged
        if not unchanged or any(self.against in variant.ids for variant in hunk.variants):
            return "", ()
        verb = "leave" if len(unchanged) > 1 else "leaves"
        if len(unchanged) + sum(len(variant.ids) for variant in hunk.variants) < len(self.labels):
            return f"{self.share(unchanged)} {verb} it", unchanged
        who = f"{len(unchanged):,}" if len(unchanged) > 1 else "one"
        return f"the other {who} {verb} it", ()


def slot_facts(slots: Sequence[d.SlotEntry]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield which hunks are one decision, and which belong together, each with its candidates.

    >>> unit = d.UnitEntry(hunks=["3", "9+"], names=["x"])
    >>> variant = d.SlotVariantEntry(ids=["ada"], units=[unit])
    >>> list(slot_facts([d.SlotEntry(hunks=["3", "9+"], variants=[variant])]))
    [('2 hunks that belong together: 3, 9+ (x)', ['ada'])]
    """
    for slot in slots:
        if len(slot.variants) > 1:
            ways = f"one decision, made in {len(slot.variants):,} ways"
            everyone = [identity for variant in slot.variants for identity in variant.ids]
            yield f"{ways}: {first_few(slot.hunks, 12)}", everyone
        for variant in slot.variants:
            for unit in variant.units:
                if len(unit.hunks) > 1:
                    names = f" ({first_few(unit.names)})" if unit.names else ""
                    count = f"{len(unit.hunks):,} hunks that belong together"
                    yield f"{count}: {first_few(unit.hunks, 12)}{names}", variant.ids


def _facts(change: d.FileChangeEntry) -> Iterator[str]:
    if change.status == "deleted":
        yield "deletes the file"
    elif change.status == "renamed":
        yield f"renames it to {change.path}"
    for fact in change.facts:
        if fact == "binary":
            yield f"binary, SHA-256 {(change.binary or 'of nothing')[:12]}"
        elif fact not in ("created", "deleted") and not fact.startswith("rename from "):
            yield fact
    if change.conflict:
        yield f"conflict: {change.conflict}"
