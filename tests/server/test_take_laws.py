"""Laws of taking, over random texts: bytes, line ends, mixes; and what git makes of the patch."""

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.server import byte_laws
from tests.server.git_repository import GIT, needs_git
from tests.server.tree import build, snapshot

from excise.patches import apply as apply_patch
from excise.patches import parse
from excise.text import normalise
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.review.git_patch import FileEdit, git_patch
from excise_server.review.hunks import review_files
from excise_server.review.taking import Choice, take

LINES = st.sampled_from(["a", "b", "c", "", "  d", "é"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def raw_texts(draw, ends=ENDS):
    lines = draw(st.lists(st.tuples(LINES, ends), max_size=9))
    text = "".join(line + end for line, end in lines)
    return text + draw(st.sampled_from(["", "z"]))


@st.composite
def edits(draw, count=2):
    """An origin and revisions of it, made by a few edits each; texts are normalised."""
    origin = draw(raw_texts())
    lines = normalise(origin).split("\n")
    revisions = []
    for _ in range(count):
        own = list(lines)
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(own)))
            own[at : at + draw(st.integers(0, 2))] = draw(st.lists(LINES, max_size=2))
        revisions.append("\n".join(own))
    return origin, revisions


def candidate(name, origin, text, path="f.txt"):
    return Candidate(
        f"worktree:{name}", f"/{name}", "", "", label=name,
        old={path: Side("100644", origin.encode())},
        new={path: Side("100644", text.encode())},
    )  # fmt: skip


def taken_text(candidates, choices, origin):
    result = take([candidates], choices)
    assert len(result.files) < 2
    return normalise(result.files[0].new.data.decode() if result.files else origin)


SEEDS = st.integers(0, 1 << 40)


@settings(max_examples=4 * settings.default.max_examples)
@given(SEEDS)
def test_a_candidate_taken_from_its_own_base_is_its_bytes(seed):
    byte_laws.clean(seed)


@settings(max_examples=4 * settings.default.max_examples)
@given(SEEDS)
def test_no_byte_outside_the_hunks_changes(seed):
    byte_laws.drifted(seed)


@given(edits())
def test_every_hunk_of_a_review_is_all_of_a_candidate_in_any_order(known):
    origin, texts = known
    both = [candidate(name, origin, text) for name, text in zip("ab", texts, strict=True)]
    for one, text in zip(both, texts, strict=True):
        choices = [
            Choice(one.id, file.path, (hunk.lo, hunk.hi))
            for file in review_files(both)
            for hunk in file.hunks
            if any(one.id in ids for ids, _ in file.variants(hunk))
        ]
        assert taken_text(both, choices, origin) == text
        assert taken_text(both, choices[::-1], origin) == text


@given(edits())
def test_a_mix_is_refused_or_does_both(known):
    """Whoever is asked first, the result is one; what both take apart is in it together."""
    origin, texts = known
    both = [candidate(name, origin, text) for name, text in zip("ab", texts, strict=True)]
    choices = [Choice(one.id) for one in both]
    mixes = []
    for ordered in (choices, choices[::-1]):
        try:
            mixes.append(taken_text(both, ordered, origin))
        except SourceError as error:
            mixes.append(None)
            reason = error.reason
    if None in mixes:
        assert mixes == [None, None]
        assert reason.count("f.txt#") == 2
        assert " of a" in reason
        assert " of b" in reason
        return
    mix, other = mixes
    assert mix == other
    if texts[0] == texts[1]:
        assert mix == texts[0]
    if texts[0] == normalise(origin):
        assert mix == texts[1]


@given(edits(1))
def test_our_own_reader_applies_the_patch(known):
    origin, (text,) = known
    before, after = normalise(origin).encode(), text.encode()
    edit = FileEdit("f.txt", "f.txt", Side("100644", before), Side("100644", after))
    if not edit.is_edit:
        assert git_patch([edit]) == b""
        return
    (pair,) = parse(git_patch([edit])).files
    assert apply_patch(pair, before).text == after


NAMES = ["f.txt", "a b", 'quo"te', "tab\there", "é/ü.txt", "bad\udce4name", "back\\slash", " x "]
DATA = st.one_of(
    st.binary(max_size=300),
    raw_texts().map(str.encode),
    st.sampled_from([b"", b"\0", b"a\r\nb", b"\r", b"no end", b"\xff\xfea\0", b"\\ No newline"]),
)


@needs_git
@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(DATA, DATA), min_size=1, max_size=8),
    st.lists(
        st.sampled_from(["edit", "create", "delete", "rename", "mode"]), min_size=8, max_size=8
    ),
)
def test_git_applies_the_patch_to_the_byte_and_back(tmp_path_factory, contents, kinds):
    top = tmp_path_factory.mktemp("tree")
    files = []
    for name, (old, new), kind in zip(NAMES, contents, kinds, strict=False):
        sides = Side("100644", old), Side("100755" if kind == "mode" else "100644", new)
        to = f"{name}.new" if kind == "rename" else name
        if kind == "create":
            files.append(FileEdit(name, name, None, sides[1]))
        elif kind == "delete":
            files.append(FileEdit(name, name, sides[0], None))
        else:
            files.append(FileEdit(to, name, *sides))
    build(top, ((file.old_path, file.old) for file in files))
    before = snapshot(top)
    if not any(file.is_edit for file in files):
        return
    patch = git_patch(files)
    git(top, "apply", "--whitespace=nowarn", stdin=patch)
    after = {path: (mode & 0o100, data) for path, (mode, data) in snapshot(top).items()}
    assert after == {
        file.path: (0o100 if file.new.mode == "100755" else 0, file.new.data)
        for file in files
        if file.new
    }
    git(top, "apply", "--reverse", "--whitespace=nowarn", stdin=patch)
    assert snapshot(top) == before


def git(top, *arguments, stdin):
    assert GIT is not None
    ran = subprocess.run(
        [GIT, *arguments], cwd=top, input=stdin, capture_output=True, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(top), "GIT_CEILING_DIRECTORIES": str(top.parent),
             "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"},
    )  # fmt: skip
    assert ran.returncode == 0, (ran.stderr, stdin)
