"""Every task is ranked and grouped by itself: cases, and laws."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise.facts import EditFacts
from excise.ranking import rank
from excise_server.candidates.chosen import chosen_tasks
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.ranked import chosen_task, rank_tasks
from excise_server.review.relations import Task
from excise_server.sources.candidates import Candidates


@dataclass(frozen=True)
class Review:
    """What is known of the candidates of a review."""

    ids: tuple[str, ...]
    values: np.ndarray
    edited: tuple[dict[str, int], ...]
    kinds: tuple[dict[str, str], ...]
    notes: tuple[tuple[str, ...], ...] = ()
    no_ops: tuple[bool, ...] = ()
    unchanged: tuple[bool, ...] = ()
    facts_beside: tuple[dict[str, tuple[str, ...]], ...] = ()
    codes: tuple[str, ...] = ()
    facts: tuple[EditFacts, ...] = ()
    digests: tuple[str, ...] = ()
    codes_up_to_names: tuple[str, ...] = ()


def review(values, sizes, codes=None, kinds=None):
    count = len(sizes)
    nobody = (False,) * count
    ids = tuple(f"c{i:02}" for i in range(count))
    return Review(
        ids=ids,
        values=values,
        edited=tuple({"a": size} for size in sizes),
        kinds=tuple({"a": kind} for kind in kinds or ["code"] * count),
        notes=((),) * count,
        no_ops=nobody,
        unchanged=nobody,
        facts_beside=({},) * count,
        codes=tuple(codes or ids),
        facts=(EditFacts(),) * count,
        digests=ids,
        codes_up_to_names=tuple(codes or ids),
    )


def ranked(compared, *tasks):
    return rank_tasks(compared, tasks, threshold=0.5, linkage="average")


@st.composite
def reviews(draw):
    count = draw(st.integers(1, 8))
    values = np.eye(count)
    for i in range(count):
        for j in range(i):
            values[i, j] = values[j, i] = draw(st.sampled_from([0, 0.2, 0.5, 0.9, 1]))
    sizes = draw(st.lists(st.integers(0, 50), min_size=count, max_size=count))
    kinds = [draw(st.sampled_from(["code", "code", "tests", "docs"])) for _ in sizes]
    return review(values, sizes, [draw(st.sampled_from("abcd")) for _ in sizes], kinds)


@given(reviews(), st.integers(0, 8))
def test_candidates_of_other_tasks_have_no_vote(compared, cut):
    """The ranking and groups of a task are those of a review that has no other candidate."""
    cut = min(cut, len(compared.ids))
    parts = [part for part in (range(cut), range(cut, len(compared.ids))) if part]
    result = ranked(compared, *(Task(tuple(compared.ids[i] for i in part)) for part in parts))
    for part, task in zip(parts, result, strict=True):
        alone = review(
            compared.values[part][:, part],
            [compared.edited[i]["a"] for i in part],
            [compared.codes[i] for i in part],
            [compared.kinds[i]["a"] for i in part],
        )
        alone = replace(alone, ids=tuple(compared.ids[i] for i in part))
        expected = [replace(r, index=part[r.index]) for r in rank(alone)]
        assert list(task.ranking) == expected
        [again] = ranked(alone, Task(alone.ids))
        assert [tuple(part[i] for i in c.members) for c in again.clusters] == [
            c.members for c in task.clusters
        ]
        assert sorted(i for c in task.clusters for i in c.members) == list(part)


@given(reviews())
def test_groups_come_in_the_order_of_their_best_candidates(compared):
    [task] = ranked(compared, Task(compared.ids))
    place = {entry.index: place for place, entry in enumerate(task.ranking)}
    best = [min(place[i] for i in cluster.members) for cluster in task.clusters]
    assert best == sorted(best)
    assert best[0] == 0


@given(reviews())
def test_who_changes_no_code_changes_nothing_for_those_who_do(compared):
    """Neither their order nor their groups, and they are in no group of theirs."""
    coded = [i for i, own in enumerate(compared.kinds) if own["a"] == "code"]
    if not coded:
        return
    [task] = ranked(compared, Task(compared.ids))
    [alone] = ranked(compared, Task(tuple(compared.ids[i] for i in coded)))
    place = {entry.index: entry.rank for entry in task.ranking}
    assert [place[entry.index] for entry in alone.ranking] == [e.rank for e in alone.ranking]
    assert task.clusters[: len(alone.clusters)] == alone.clusters
    assert all(
        set(coded).isdisjoint(cluster.members) for cluster in task.clusters[len(alone.clusters) :]
    )
    assert [e.why for e in task.ranking if e.index not in coded] == [
        (f"changes {compared.kinds[e.index]['a']} only",)
        for e in task.ranking
        if e.index not in coded
    ]


@given(reviews(), st.data())
def test_verdicts_stand_before_all_and_ties_stay_as_they_are(compared, data):
    levels = {name: data.draw(st.integers(0, 2)) for name in compared.ids}
    plain, judged = (
        rank_tasks(
            compared,
            [Task(compared.ids)],
            threshold=0.5,
            linkage="average",
            level=level,
        )[0].ranking
        for level in (lambda name: 0, levels.__getitem__)
    )
    place = {entry.id: entry.rank for entry in plain}
    keys = [(levels[entry.id], place[entry.id]) for entry in judged]
    assert keys == sorted(keys)
    assert [entry.rank for entry in judged] == [1 + keys.index(key) for key in keys]


def test_a_task_of_one_is_not_ranked():
    one, two = ranked(review(np.eye(3), [1, 2, 3]), Task(("c00", "c02")), Task(("c01",)))
    assert one.is_ranked
    assert not two.is_ranked
    assert two.ranking[0].mean_similarity is None


@pytest.mark.parametrize(
    ("name", "number"),
    [("1", 1), ("2", 2), ("login", 2), ("a", 1), ("worktree:d", 3), ("3", 3), ("0", None),
     ("4", None), ("\u0663", None), ("", None), ("e", None), ("fix-t", None),
     ("three", None), ("fix-tw", 1), ("fix-one", 1)],
)  # fmt: skip
def test_a_task_is_chosen_by_number_task_or_candidate(name, number):
    tasks = (
        Task(("worktree:a", "worktree:b")), Task(("worktree:c",), name="login"),
        Task(("worktree:d",)),
    )  # fmt: skip
    candidates = [
        Candidate(name, "", "", "", (name,), label=label)
        for name, label in (
            ("worktree:a", "fix-one"), ("worktree:b", "fix-two"), ("worktree:c", "c"),
            ("worktree:d", "fix-three"),
        )
    ]  # fmt: skip
    chosen = chosen_task(tasks, name, candidates)
    assert chosen == (None if number is None else tasks[number - 1])


def test_tasks_that_are_said_to_be_one_are_one():
    found = tuple(Candidate(f"worktree:{name}", "", "", "", (name,), label=name) for name in "abcd")
    tasks = (
        Task(("worktree:a", "worktree:b")), Task(("worktree:c",), name="login"),
        Task(("worktree:d",)),
    )  # fmt: skip
    for names in ("a,c", "1, login", "c,b", "2,1,1"):
        chosen, own, others = chosen_tasks(Candidates("", found), tasks, names)
        assert chosen.found == found[:3]
        assert [(task.members, task.name) for task in own] == [
            (("worktree:a", "worktree:b", "worktree:c"), "")
        ]
        assert others == tasks[2:]
    for names, wrong in (("a,x", "x"), ("x,y", "x"), ("a,", ""), (",", "")):
        with pytest.raises(SourceError, match=f"no task is called {wrong}"):
            chosen_tasks(Candidates("", found), tasks, names)
