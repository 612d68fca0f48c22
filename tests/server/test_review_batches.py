"""Which candidates belong to one task: cases, and laws."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise_server.review.batches import TOGETHER_SECONDS, Batch, Member, batches
from excise_server.review.kinds import kind_of


def together(*candidates):
    return [batch.members for batch in batches(candidates)]


def test_candidates_that_share_code_are_one_batch():
    found = batches(
        [
            Member("a", ("src/x.py", "src/y.py")),
            Member("b", ("src/x.py",)),
            Member("c", ("src/y.py", "src/x.py")),
            Member("d", ("src/z.py",)),
        ]
    )
    assert found == (
        Batch(("a", "b", "c"), shared=("src/x.py", "src/y.py")),
        Batch(("d",)),
    )


def test_a_chain_of_shared_code_is_one_batch():
    a, b, c = Member("a", ("x.c",)), Member("b", ("x.c", "y.c")), Member("c", ("y.c",))
    assert together(a, b, c) == [("a", "b", "c")]


@pytest.mark.parametrize("path", ["tests/test_x.py", "CHANGELOG.md", "uv.lock", "docs/index.rst"])
def test_tests_docs_and_lock_files_connect_no_code(path):
    assert together(Member("a", ("x.c", path)), Member("b", ("y.c", path))) == [("a",), ("b",)]


@pytest.mark.parametrize("path", ["tests/test_x.py", "CHANGELOG.md", "uv.lock"])
def test_candidates_without_code_are_connected_by_what_they_have(path):
    code = Member("c", ("x.c", path))
    assert together(Member("a", (path,)), Member("b", (path,)), code) == [("a", "b"), ("c",)]


def test_two_tasks_started_in_one_minute_are_two_batches():
    first = [Member(f"a{i}", ("x.c",), base="0", made=i) for i in range(3)]
    second = [Member(f"b{i}", ("y.c",), base="0", made=i) for i in range(2)]
    assert together(*first, *second) == [("a0", "a1", "a2"), ("b0", "b1")]


def test_one_each_of_two_tasks_started_in_one_minute_are_two_batches():
    a, b = Member("a", ("x.c",), base="0", made=0), Member("b", ("y.c",), base="0", made=1)
    assert together(a, b) == [("a",), ("b",)]


PAIR = [Member("a", ("x.c",), base="0", made=1000), Member("b", ("x.c",), base="0", made=2000)]


@pytest.mark.parametrize(
    ("base", "made", "is_attached"),
    [
        ("0", 1000 - TOGETHER_SECONDS, True),
        ("0", 2000 + TOGETHER_SECONDS, True),
        ("0", 1000 - TOGETHER_SECONDS - 1, False),
        ("0", 2000 + TOGETHER_SECONDS + 1, False),
        ("1", 1000, False),
        ("0", None, False),
        ("", 1000, False),
    ],
)
def test_who_stands_alone_is_attached_by_base_and_time(base, made, is_attached):
    found = batches([*PAIR, Member("c", ("z.c",), base=base, made=made)])
    assert ("c" in found[0].attached) == is_attached
    assert len(found) == (1 if is_attached else 2)


def test_who_could_be_attached_to_two_batches_stays_alone():
    other = [replace(member, id=f"{member.id}2", paths=("y.c",)) for member in PAIR]
    lone = Member("c", ("z.c",), base="0", made=1000)
    assert together(*PAIR, *other, lone) == [("a", "b"), ("a2", "b2"), ("c",)]


def test_known_tasks_stay_apart_on_the_same_code():
    members = [
        Member(f"{task}{i}", ("x.c",), tool="emdash", task=task) for task in "pq" for i in "12"
    ]
    assert [(b.task, b.members) for b in batches(members)] == [
        ("p", ("p1", "p2")),
        ("q", ("q1", "q2")),
    ]


def test_a_group_goes_before_the_task_and_needs_no_code_in_common():
    a = Member("a", ("x.c",), group="g", tool="Kilo", task="p")
    b = Member("b", ("y.c",), group="g", tool="Kilo", task="q")
    assert together(a, b) == [("a", "b")]


def test_tasks_of_one_name_in_two_tools_are_two():
    a, b = Member("a", tool="emdash", task="fix"), Member("b", tool="vibe-kanban", task="fix")
    assert together(a, b) == [("a",), ("b",)]


def test_other_candidates_join_the_one_known_task_whose_code_they_touch():
    known = Member("k", ("x.c",), tool="emdash", task="p")
    other = Member("l", ("y.c",), tool="emdash", task="q")
    assert together(known, Member("a", ("x.c",))) == [("a", "k")]
    assert together(known, other, Member("a", ("x.c", "y.c"))) == [("a",), ("k",), ("l",)]


def test_nothing_is_no_batch_and_an_empty_candidate_is_one():
    assert batches([]) == ()
    assert batches([Member("a")]) == (Batch(("a",)),)


def test_one_id_for_two_candidates_is_refused():
    with pytest.raises(ValueError, match="one id"):
        batches([Member("a"), Member("a", ("x.c",))])


PATHS = st.sampled_from(["w.c", "x.c", "y.c", "z.c", "tests/t.c", "docs/d.md", "uv.lock"])
MEMBER = st.builds(
    Member,
    id=st.text(max_size=3),
    paths=st.lists(PATHS, max_size=3, unique=True).map(tuple),
    base=st.sampled_from(["", "0", "1"]),
    made=st.none() | st.integers(0, 2000),
    group=st.sampled_from(["", "", "", "g"]),
    tool=st.sampled_from(["", "emdash"]),
    task=st.sampled_from(["", "", "", "p", "q"]),
)
REVIEW = st.lists(MEMBER, max_size=10, unique_by=lambda member: member.id)


def key(member):
    return (member.tool, member.group or member.task, bool(member.group))


def is_known(member):
    return bool(member.group or member.task)


def code(member):
    return {path for path in member.paths if kind_of(path) == "code"}


@given(REVIEW)
def test_every_candidate_is_in_one_batch(members):
    ids = [name for batch in batches(members) for name in batch.members]
    assert sorted(ids) == sorted(member.id for member in members)


@given(REVIEW, st.randoms())
def test_batches_do_not_depend_on_the_order(members, random):
    assert batches(random.sample(members, len(members))) == batches(members)


@given(REVIEW)
def test_known_tasks_are_together_and_never_two_in_one_batch(members):
    batch_of = {name: batch for batch in batches(members) for name in batch.members}
    known = [member for member in members if is_known(member)]
    for one in known:
        assert batch_of[one.id].task == (one.group or one.task)
        for other in known:
            assert (key(one) == key(other)) == (batch_of[one.id] is batch_of[other.id])


@given(REVIEW)
def test_unknown_candidates_that_share_code_are_together(members):
    batch_of = {name: batch for batch in batches(members) for name in batch.members}
    unknown = [member for member in members if not is_known(member)]
    for one in unknown:
        for other in unknown:
            if code(one) & code(other):
                assert batch_of[one.id] is batch_of[other.id]


@given(REVIEW)
def test_base_and_time_attach_only_who_stands_alone_without_them(members):
    timeless = {batch.members for batch in batches(replace(m, made=None) for m in members)}
    for batch in batches(members):
        rest = tuple(name for name in batch.members if name not in batch.attached)
        assert rest in timeless
        assert all((name,) in timeless for name in batch.attached)
        assert not batch.attached or (len(rest) > 1 and not batch.task)


@given(REVIEW)
def test_batches_alone_are_batches_again(members):
    by_id = {member.id: member for member in members}
    for batch in batches(members):
        if not batch.attached:
            assert together(*(by_id[name] for name in batch.members)) == [batch.members]


@given(REVIEW, st.sampled_from(["tests/t.c", "docs/d.md", "uv.lock"]))
def test_a_test_or_page_beside_code_changes_no_batch(members, path):
    more = [replace(m, paths=tuple({*m.paths, path})) if code(m) else m for m in members]
    assert batches(more) == batches(members)
