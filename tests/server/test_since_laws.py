"""What `review/since.py` promises of any texts, whatever lines repeat."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from excise.patches import FilePair, Patch
from excise.patches.blocks import hunks_between
from excise.text import raw_lines
from excise_server.foundation.changes import Side, differing_lines
from excise_server.review.candidate import Candidate
from excise_server.review.replayed import replay_files
from excise_server.review.since import (
    CONFLICT,
    DROPPED,
    NEW,
    SAME,
    changes_since,
    patches_since,
)

FEW = st.lists(st.sampled_from(["a\n", "b\n", "}\n", "\n", "c\n"]), max_size=14)
KEPT = 40
"""Lines that no two places have in common, so that the text law holds between edits."""


def version(base: str, text: str) -> Candidate:
    sides = Side("100644", base.encode()), Side("100644", text.encode())
    changed = {} if base == text else {"a.py": sides}
    return Candidate(
        "c", "", "", "",
        old={path: pair[0] for path, pair in changed.items()},
        new={path: pair[1] for path, pair in changed.items()},
    )  # fmt: skip


def moved(old: Candidate, target: str) -> Candidate:
    files = replay_files(old.old, old.new, {"a.py": Side("100644", target.encode())}, {})
    return Candidate(
        "c", "", "", "", old=files.old, new=files.new,
        conflicts=files.conflicts, disputed=files.disputed,
    )  # fmt: skip


def edited(lines: list[str], edits: dict[int, list[str]]) -> list[str]:
    return [line for place, own in enumerate(lines) for line in edits.get(place, [own])]


PLACES = st.sets(st.integers(1, KEPT // 4 - 2), max_size=6)
TEXTS = st.lists(st.sampled_from(["x\n", "y\n", "}\n", "z\n"]), min_size=1, max_size=3)


@given(PLACES, PLACES, st.data())
def test_drift_elsewhere_is_no_change_and_a_planted_edit_is_that_hunk(own, others, data):
    lines = [f"line {number}\n" for number in range(KEPT)]
    edits = {place * 4: [f"own {place}\n", *data.draw(TEXTS)] for place in own}
    drift = {place * 4 + 2: [f"main {place}\n", *data.draw(TEXTS)] for place in others}
    base, target = "".join(lines), "".join(edited(lines, drift))
    old = moved(version(base, "".join(edited(lines, edits))), target)
    new = version(target, "".join(edited(lines, edits | drift)))
    counts = changes_since(old, new).counts
    assert set(counts) <= {SAME}
    assert counts[SAME] == len(own)
    if own:
        place = data.draw(st.sampled_from(sorted(own)))
        planted = edits | {place * 4: [*edits[place * 4], "planted\n"]}
        since = changes_since(old, version(target, "".join(edited(lines, planted | drift))))
        assert +since.counts == +Counter({SAME: len(own) - 1, "changed": 1})
        ((hunk,),) = (file.hunks for file in since.files if file.hunks)
        assert [line for line in hunk.lines if line[:1] in "+-"] == ["+planted"]


@given(FEW, FEW, FEW)
def test_the_hunks_make_the_newer_version_of_the_older_one(base, old, new):
    texts = ["".join(lines) for lines in (base, old, new)]
    since = changes_since(version(texts[0], texts[1]), version(texts[0], texts[2]))
    assert set(since.counts) <= {SAME, "changed", NEW, DROPPED}
    assert bool(set(since.counts) - {SAME}) == (old != new)
    hunks = [hunk for file in since.files for hunk in file.hunks]
    result, position = list[str](), 0
    for hunk in hunks:
        assert position <= hunk.old[0]
        result += [*old[position : hunk.old[0]], *new[slice(*hunk.new)]]
        position = hunk.old[1]
    assert result + old[position:] == new
    own = [line for hunk in hunks for line in hunk.lines]
    assert sum(line[:1] == "+" for line in own) == sum(
        a_hi - a_lo for _, _, a_lo, a_hi in differing_lines(old, new)
    )
    git = patch_of(texts[1], texts[2]).files
    shown = sum(len(hunk.lines) for pair in git for hunk in pair.hunks)
    assert len(own) <= shown


@given(FEW, FEW, FEW)
def test_equal_results_are_the_same_whatever_the_base_did(base, target, own):
    since = changes_since(
        version("".join(target), "".join(own)), version("".join(target), "".join(own))
    )
    assert set(since.counts) <= {SAME}
    old = moved(version("".join(base), "".join(own)), "".join(target))
    counts = changes_since(old, Candidate("c", "", "", "", old=old.old, new=old.new)).counts
    assert set(counts) <= {SAME, CONFLICT}


def patch_of(old: str, new: str, path: str = "a.py") -> Patch:
    spans = list(differing_lines(raw_lines(old), raw_lines(new)))
    hunks = tuple(hunks_between(old.encode(), new.encode(), spans))
    return Patch((FilePair(path, path, hunks),) if hunks else ())


@given(PLACES, PLACES, st.data())
def test_patches_say_without_a_tree_what_files_say(own, others, data):
    lines = [f"line {number}\n" for number in range(KEPT)]
    edits = {place * 4: [f"own {place}\n", *data.draw(TEXTS)] for place in own}
    drift = {place * 4 + 2: [f"main {place}\n"] for place in others}
    target = edited(lines, drift)
    old = patch_of("".join(lines), "".join(edited(lines, edits)))
    new = patch_of("".join(target), "".join(edited(lines, edits | drift)))
    counts = patches_since(old, new).counts
    assert set(counts) <= {SAME}
    assert bool(counts) == bool(own)
    if own:
        place = data.draw(st.sampled_from(sorted(own)))
        dropped = {at: text for at, text in edits.items() if at != place * 4}
        later = patch_of("".join(target), "".join(edited(lines, dropped | drift)))
        expected = +Counter({SAME: len(own) - 1, DROPPED: 1})
        assert patches_since(old, later).counts == expected
