"""Conflicted files: stages of the index, and markers where there are none."""

import os
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.reference.budget import examples
from tests.server.git_repository import answer, changes, make, needs_git, notes, reasons, texts

from excise_server.foundation.inputs import SourceError
from excise_server.sources import conflicts
from excise_server.sources.collect import collect
from excise_server.sources.conflicts import parse_markers
from excise_server.sources.finding import Context
from excise_server.wire.sources import SourceSettings

pytestmark = [pytest.mark.slow, needs_git]

find = partial(answer, conflicts.find)

BASE = "start\nold\nend\n"


@pytest.fixture
def repo(tmp_path, monkeypatch):
    return make(tmp_path, monkeypatch, a__py=BASE)


def merge(repo, ours, theirs, style="merge"):
    """Merge two commits that conflict."""
    repo.git("checkout", "--quiet", "-b", "theirs")
    if theirs is None:
        repo.git("rm", "--quiet", "a.py")
        repo.commit()
    else:
        repo.commit(a__py=theirs)
    repo.git("checkout", "--quiet", "main")
    repo.commit(a__py=ours)
    repo.git("-c", f"merge.conflictStyle={style}", "merge", "theirs", check=False)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_the_index_holds_whole_files(repo, style):
    merge(repo, "start\nmine\nend\n", "start\nyours\nend\n", style)
    assert "<<<<<<<" in (repo.path / "a.py").read_text()
    found = find(repo.context())
    assert (found.origin.text, found.origin.kind) == (BASE, "stage")
    assert texts(found) == {
        "branch:main": "start\nmine\nend\n",
        "branch:theirs": "start\nyours\nend\n",
    }
    assert [r.label for r in found.revisions] == ["main@ours", "theirs@theirs"]
    assert [version.candidate.names for version in found.versions] == [
        ("branch:main", "conflict:ours"),
        ("branch:theirs", "conflict:theirs"),
    ]
    assert (found.refused, notes(found)) == ((), {})
    assert not found.origin.buffer_is_revision
    everything = collect(repo.context(origin="head"))
    assert everything.origin == found.origin
    assert texts(everything) == texts(found)  # the incoming branch counts once
    assert everything.unchanged == ()
    assert find(repo.context(conflicts=False)).revisions == ()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such file names")
@pytest.mark.parametrize("name", [":(top)a.py", "*", "-u", "a\nb"])
def test_a_conflict_in_a_file_of_a_strange_name(repo, name):
    repo.write(name, BASE)
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "theirs")
    repo.write(name, "yours\n")
    repo.commit(a__py="yours too\n")
    repo.git("checkout", "--quiet", "main")
    repo.write(name, "mine\n")
    repo.commit(a__py="mine too\n")
    repo.git("merge", "theirs", check=False)
    assert texts(find(repo.context(name))) == {"branch:main": "mine\n", "branch:theirs": "yours\n"}


def test_a_side_that_deleted_the_file(repo):
    merge(repo, "start\nmine\nend\n", None)
    found = find(repo.context())
    assert found.origin.text == BASE
    assert texts(found) == {"branch:main": "start\nmine\nend\n", "branch:theirs": ""}
    assert list(changes(found).values()) == ["edited", "deleted"]
    assert notes(found)["branch:theirs"] == ["it deletes the file"]
    everything = collect(repo.context())
    assert list(texts(everything)) == ["branch:main", "branch:theirs"]


def test_both_sides_added_the_file(repo):
    repo.git("checkout", "--quiet", "-b", "theirs")
    repo.commit(new__py="yours\n")
    repo.git("checkout", "--quiet", "main")
    repo.commit(new__py="mine\n")
    repo.git("merge", "theirs", check=False)
    found = find(repo.context("new.py"))
    assert (found.origin.text, found.origin.label) == ("", "neither side had the file")
    assert texts(found) == {"branch:main": "mine\n", "branch:theirs": "yours\n"}
    assert list(changes(found).values()) == ["created", "created"]


def test_a_conflict_of_links_is_refused(repo):
    os.symlink("a.py", repo.path / "l")
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "theirs")
    (repo.path / "l").unlink()
    os.symlink("b.py", repo.path / "l")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    (repo.path / "l").unlink()
    os.symlink("c.py", repo.path / "l")
    repo.commit()
    repo.git("merge", "theirs", check=False)
    (repo.path / "l").unlink()
    repo.write("l", "now a file\n")
    found = find(repo.context("l"))
    assert "is not a regular file (mode 120000)" in reasons(found)["conflict"]


def test_a_binary_or_huge_stage_is_refused_alone(repo):
    merge(repo, "start\nmine\nend\n", b"a\0b" * 9)
    found = find(repo.context())
    assert list(texts(found)) == ["branch:main"]
    assert reasons(found) == {"branch:theirs": "binary: NUL character at offset 1"}


def test_without_trust_the_markers_are_read(repo):
    merge(repo, "start\nmine\nend\n", "start\nyours\nend\n", "diff3")
    found = find(repo.context(trusted=False))
    assert (found.origin.text, found.origin.kind) == (BASE, "markers")
    assert texts(found) == {
        "conflict:ours": "start\nmine\nend\n",
        "conflict:theirs": "start\nyours\nend\n",
    }
    assert [r.label for r in found.revisions] == ["HEAD@ours", "theirs@theirs"]
    assert list(reasons(found)) == ["git"]
    assert found.versions[0].candidate.notes[0].startswith("from conflict markers")


def marked(tmp_path, text):
    path = tmp_path / "a.py"
    path.write_bytes(text.encode())
    return find(Context(str(path), (str(tmp_path),), False, SourceSettings()))


def test_the_merge_style_is_refused(tmp_path):
    found = marked(tmp_path, "a\n<<<<<<< X\nb\n=======\nc\n>>>>>>> Y\n")
    assert found.revisions == ()
    refused = found.refused[-1]
    assert (
        refused.reason
        == "conflict markers of the merge style at line 4: they do not contain the origin"
    )
    assert refused.hint == "git checkout --conflict=diff3 FILE writes them with the origin"


def test_a_file_without_markers_is_no_conflict(tmp_path):
    found = marked(tmp_path, "Title\n=======\n\n>>>>>>> quoted\n ||||||| \n")
    assert (found.origin, found.revisions) == (None, ())
    assert list(reasons(found)) == ["git"]


BLOCK = "<<<<<<< a\n1\n||||||| o\n0\n=======\n2\n>>>>>>> b\n"


@pytest.mark.parametrize(
    ("text", "origin", "first", "second"),
    [
        (BLOCK, "0\n", "1\n", "2\n"),
        (f"x\n{BLOCK}y\n{BLOCK}", "x\n0\ny\n0\n", "x\n1\ny\n1\n", "x\n2\ny\n2\n"),
        (BLOCK.replace("\n", "\r\n"), "0\r\n", "1\r\n", "2\r\n"),
        (BLOCK.removesuffix("\n"), "0\n", "1\n", "2\n"),
        ("<<<<<<<\n|||||||\n=======\n>>>>>>>\n", "", "", ""),
        (
            BLOCK.replace("<" * 7, "<" * 12)
            .replace("|" * 7, "|" * 12)
            .replace("=" * 7, "=" * 12)
            .replace(">" * 7, ">" * 12),
            "0\n",
            "1\n",
            "2\n",
        ),
        (
            BLOCK.replace("1\n", " <<<<<<< b\nx = '======='\n=======x\n>>>>>>>>\n"),
            "0\n",
            " <<<<<<< b\nx = '======='\n=======x\n>>>>>>>>\n",
            "2\n",
        ),
        (
            BLOCK.replace("0\n", "\x0c\x85\u2028======= \r0\n"),
            "\x0c\x85\u2028======= \r0\n",
            "1\n",
            "2\n",
        ),
    ],
    ids=["one", "two", "CRLF", "no last line end", "empty", "twelve", "inside lines", "rare ends"],
)
def test_markers(text, origin, first, second):
    found = parse_markers(text)
    assert (found.origin, found.first, found.second) == (origin, first, second)


def test_markers_inside_the_origin_are_its_own():
    nested = "<<<<<<<<< x\n1\n=========\n2\n>>>>>>>>> y\n"
    found = parse_markers(BLOCK.replace("0\n", nested))
    assert (found.origin, found.nested) == (nested, True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x\n<<<<<<< a\n1\n", "conflict markers: the block at line 2 is not closed"),
        (BLOCK.removesuffix(">>>>>>> b\n"), "conflict markers: the block at line 1 is not closed"),
        (BLOCK.replace("1\n", BLOCK), "conflict markers: line 2 opens a block inside another"),
        (BLOCK.replace("2\n", "|||||||\n"), "conflict markers: '|||||||' out of order at line 6"),
        (BLOCK.replace("=======\n", ""), "conflict markers: '>>>>>>>' out of order at line 6"),
        (BLOCK.replace("2\n", "=======\n"), "conflict markers: '=======' out of order at line 6"),
    ],
)
def test_markers_that_cannot_be_right(text, reason):
    with pytest.raises(SourceError) as caught:
        parse_markers(text)
    assert caught.value.reason == reason


def test_a_recursive_merge_with_two_bases(repo):
    """git writes longer markers into the virtual origin; they are content."""
    repo.git("checkout", "--quiet", "-b", "other")
    right = repo.commit(a__py="start\nright\nend\n")
    repo.git("checkout", "--quiet", "main")
    left = repo.commit(a__py="start\nleft\nend\n")
    for name, merged in (("main", right), ("other", left)):
        repo.git("checkout", "--quiet", name)
        repo.git("merge", merged, check=False)
        repo.commit(a__py=f"start\nmerged {name}\nend\n")
    repo.git("checkout", "--quiet", "main")
    repo.git("-c", "merge.conflictStyle=diff3", "merge", "other", check=False)
    stages = find(repo.context())
    found = find(repo.context(trusted=False))
    assert list(texts(found).values()) == list(texts(stages).values())
    assert found.origin.text == stages.origin.text
    assert "<<<<<<<<<" in found.origin.text
    said = notes(found)["conflict:ours"]
    assert any(note.startswith("the origin contains conflict markers") for note in said)


LINES = st.lists(st.sampled_from(["a", "b", "c", " =======", "<<<<<< x", "=======x", "", "\x0c"]))


@examples(40)
@given(LINES, LINES, LINES, st.sampled_from(["\n", "\r\n"]))
def test_what_git_merges_parses_to_what_it_merged(tmp_path_factory, base, ours, theirs, end):
    """`git merge-file` is the generator: where everything conflicts, both sides come back whole."""
    folder = tmp_path_factory.mktemp("m")
    whole = {
        name: "".join(f"{line}{end}" for line in lines)
        for name, lines in (("ours", ours), ("base", base), ("theirs", theirs))
    }
    for name, text in whole.items():
        (folder / name).write_bytes(text.encode())
    merged = merge_file(folder)
    assume(b"<<<<<<< " in merged)
    found = parse_markers(merged.decode())
    # Parts that merged by themselves stand outside of the markers, in all three texts. So what
    # comes back merges to the same file again.
    for name, text in (("ours", found.first), ("base", found.origin), ("theirs", found.second)):
        (folder / name).write_bytes(text.encode())
    assert merge_file(folder) == merged
    if merged.startswith(b"<<<<<<< ") and found.blocks == 1 and merged.rstrip().endswith(b"theirs"):
        assert (found.first, found.origin, found.second) == tuple(whole.values())


def merge_file(folder) -> bytes:
    ran = subprocess.run(
        ["git", "merge-file", "-p", "--diff3", "ours", "base", "theirs"],
        cwd=folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ran.stdout
