"""What only bytes tell: encodings, line ends, marks; each taken as it is, and said."""

import os
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.byte_laws import candidate_of, some_file
from tests.server.command import excise, one_line
from tests.server.git_repository import make, needs_git

import excise as library
from excise_server.foundation.changes import SUBMODULE, Side, changed_file
from excise_server.foundation.file_bytes import ByteLines, text_of_bytes
from excise_server.foundation.inputs import SourceError
from excise_server.git.worktree import checked_out_commit
from excise_server.review.composing import edited_beside
from excise_server.review.hunks import change_set, review_files
from excise_server.review.merged_bytes import merged_bytes
from excise_server.review.replayed import REWROTE
from excise_server.review.taking import Choice, take

CAFE = b"caf\xc3\xa9 = 1\nx = 2\n"
DOS = b"one\r\ntwo\r\nthree\r\n"
UNIX = b"one\ntwo\nthree\n"


def side(data, mode="100644"):
    return Side(mode, data)


def proposed(name, base, new, now=None, path="a.txt"):
    """A candidate that makes a file of its base, maybe on a target that went on."""
    target = {} if now is None else {path: side(now)}
    return candidate_of(name, {path: side(base)}, {path: side(new)}, target)


def taken(candidate, *hunks, path="a.txt"):
    choices = [Choice(candidate.id, path, hunk) for hunk in hunks] or [Choice(candidate.id)]
    (file,) = take([[candidate]], choices).files
    return file.new.data


def facts(old, new):
    pair = changed_file("a.txt", side(old), "a.txt", side(new))
    return () if pair is None else pair.facts


ENCODINGS = {
    "a byte of latin-1 into utf-8": (CAFE, CAFE + b'y = "\xe9"\n'),
    "utf-8 into latin-1": (b"caf\xe9\nx\n", b"caf\xe9\nx\ny = \xc3\xa9\n"),
    "latin-1 to utf-8": (b"caf\xe9\nx\n", b"caf\xc3\xa9\nx\n"),
    "utf-8 to latin-1": (CAFE, b"caf\xe9 = 1\nx = 2\n"),
    "utf-8 to utf-16": ("é\nx\n".encode(), "é\nx\ny\n".encode("utf-16")),
    "utf-16 to utf-8": ("é\nx\n".encode("utf-16"), "é\nx\ny\n".encode()),
    "inside utf-16": ("é\nx\n".encode("utf-16"), "é\nX\ny\n".encode("utf-16")),
    "utf-16 without a mark": ("a\nb\n".encode("utf-16-le"), "a\nc\n".encode("utf-16-le")),
    "utf-32": ("a\nb\n".encode("utf-32"), "a\nc\n".encode("utf-32")),
    "mixed": (b"\xc3\xa9\n\xe9\nx\n", b"\xc3\xa9\n\xe9\nx\n\xe8 \xc3\xa8\n"),
    "a mark": (UNIX, b"\xef\xbb\xbf" + UNIX),
    "a mark alone": (b"\xef\xbb\xbf", b""),
    "no mark": (b"\xef\xbb\xbf" + CAFE, CAFE),
    "CRLF to LF": (DOS, UNIX),
    "LF to CRLF": (UNIX, DOS),
    "lone CR": (b"a\rb\rc\r", b"a\rB\rc\r"),
    "lone CR to LF": (b"a\rb\rc\r", b"a\nB\nc\n"),
    "mixed line ends": (b"a\r\nb\nc\r", b"a\r\nB\nc\rd\n"),
    "no last line end": (b"a\nb", b"a\nb\nc"),
    "a last line end": (b"a\nb", b"a\nb\n"),
    "NUL": (b"a\0b\n", b"a\0c\n"),
    "text to binary": (UNIX, b"\0"),
    "invisible": (UNIX, UNIX + "\u202e\u200b\U000e0041\n".encode()),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_candidate_is_taken_as_its_bytes(name):
    old, new = ENCODINGS[name]
    candidate = proposed("ada", old, new)
    assert taken(candidate) == new
    assert edited_beside(side(old), side(new), side(old)).data == new
    both = [candidate, proposed("bo", old, new)]
    assert both[0].digest == both[1].digest
    (file,) = take([both], [Choice(each.id) for each in both]).files
    assert file.new.data == new
    (reviewed,) = review_files(both)
    assert reviewed.changes[0].pair.facts or reviewed.hunks


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a byte of latin-1 into utf-8", ("adds a byte that is not UTF-8",)),
        ("utf-8 into latin-1", ("adds lines in utf-8 to a file in latin-1",)),
        ("latin-1 to utf-8", ("only converts the file from latin-1 to utf-8",)),
        ("utf-8 to latin-1", ("only converts the file from utf-8 to latin-1",)),
        ("utf-8 to utf-16", ("converts the file from utf-8 to utf-16",)),
        ("utf-16 to utf-8", ("converts the file from utf-16 to utf-8",)),
        ("inside utf-16", ()),
        ("utf-16 without a mark", ("binary",)),
        ("mixed", ("adds 3 bytes that are not UTF-8",)),
        ("a mark", ("only adds a byte order mark",)),
        ("a mark alone", ("only removes the byte order mark",)),
        ("no mark", ("only removes the byte order mark",)),
        ("CRLF to LF", ("only converts line ends from CRLF to LF",)),
        ("LF to CRLF", ("only converts line ends from LF to CRLF",)),
        ("lone CR to LF", ("converts line ends from CR to LF",)),
        ("NUL", ("binary",)),
        ("invisible", (
            "has 3 invisible characters in added lines: 1 bidi control, 1 zero-width character,"
            " 1 tag character",
        )),
    ],
)  # fmt: skip
def test_what_only_bytes_tell_is_a_fact(name, expected):
    assert facts(*ENCODINGS[name]) == expected


def test_a_line_that_is_not_utf8_changes_the_reading_of_no_other():
    (file,) = review_files([proposed("ada", CAFE, CAFE + b'y = "\xe9"\n')])
    (hunk,) = file.hunks
    assert (hunk.lo, hunk.hi, hunk.variants[0].text) == (2, 2, 'y = "é"\n')


def test_invisible_characters_that_were_there_are_not_added():
    old = "a\u200bb\nc\n".encode()
    assert facts(old, old + b"d\n") == ()
    assert facts(b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n") == ()
    moved = "c\na\u200bb\n".encode()
    assert facts(old, moved) == ()


def test_two_that_convert_alike_are_the_same_and_other_bytes_are_not():
    sets = []
    for new in (DOS, DOS, b"one\rtwo\rthree\r", b"one\r\ntwo\nthree\r\n", b"one\ntwo\r\nthree\r\n"):
        candidate = proposed("ada", UNIX, new)
        pair = changed_file("a.txt", side(UNIX), "a.txt", side(new))
        sets.append(change_set(candidate.old, candidate.new, [pair])[1])
    matrix = library.ScoreMatrix.from_change_sets({}, dict(zip("abcde", sets, strict=True)))
    assert matrix.values[0].tolist() == [1, 1, 0, 0, 0]
    assert matrix.values[3].tolist() == [0, 0, 0, 1, 0]


# --- hunks, and who converts -----------------------------------------------------------------


def test_a_hunk_of_a_candidate_that_converts_is_taken_without_the_conversion():
    new = UNIX.replace(b"two", b"TWO")
    assert taken(proposed("ada", DOS, new), (1, 2)) == DOS.replace(b"two", b"TWO")
    assert taken(proposed("ada", UNIX, new.replace(b"\n", b"\r\n")), (1, 2)) == new
    latin, utf8 = "é\nb\nc\n".encode("latin-1"), "é\nè\nc\n".encode()
    assert taken(proposed("ada", latin, utf8), (1, 2)) == "é\nè\nc\n".encode("latin-1")


def test_a_hunk_that_the_targets_encoding_cannot_hold_is_refused_by_name():
    candidate = proposed("ada", "é\nb\n".encode("latin-1"), "é\n€\n".encode())
    with pytest.raises(SourceError, match=r"a\.txt#2 of ada: .*latin-1, has no '\\u20ac'"):
        taken(candidate, (1, 2))
    assert taken(candidate) == "é\n€\n".encode()


def test_a_hunk_of_utf16_is_refused_by_name():
    candidate = proposed("ada", *ENCODINGS["inside utf-16"])
    with pytest.raises(SourceError, match=r"a\.txt#2-3 of ada.* line by line") as refused:
        taken(candidate, (1, 3))
    assert refused.value.hint == "take the whole file"
    other = proposed("bo", ENCODINGS["inside utf-16"][0], "é\nY\n".encode("utf-16"))
    with pytest.raises(SourceError, match="two choices conflict"):
        take([[candidate, other]], [Choice(candidate.id), Choice(other.id)])


def test_what_converts_a_file_overlaps_with_hunks_of_others():
    converts = proposed("ada", UNIX, DOS)
    edits = proposed("bo", UNIX, UNIX.replace(b"two", b"TWO"))
    with pytest.raises(SourceError, match=r"the line ends or encoding of a\.txt#1-3 of ada"):
        take([[converts, edits]], [Choice(converts.id), Choice(edits.id)])


@pytest.mark.parametrize(
    ("base", "origin", "revision", "merged"),
    [
        (UNIX, DOS, UNIX.replace(b"two", b"TWO"), DOS.replace(b"two", b"TWO")),
        (UNIX, b"zero\n" + UNIX, DOS, b"zero\r\n" + DOS),
        (UNIX, b"zero\n" + UNIX, b"\xef\xbb\xbf" + UNIX, b"\xef\xbb\xbfzero\n" + UNIX),
        (CAFE, b"zero\n" + CAFE, CAFE + b"\xe9\n", b"zero\n" + CAFE + b"\xe9\n"),
        (b"\xe9\na\n", b"\xe9\na\n\xe8\n", "é\na\n".encode(), "é\na\nè\n".encode()),
        (b"a\n", b"a\nb", b"a\r\n", b"a\r\nb"),
        (b"a\nb", b"c\na\nb", b"a\nb\nd", b"c\na\nb\nd"),
        (b"a\rb\rc\r", b"a\rb\rc\rd\r", b"A\rb\rc\r", b"A\rb\rc\rd\r"),
        (b"a\n", b"a\nb\n", b"\0a\n", None),
        (b"a\n", b"a\nb\n", "a\n".encode("utf-16"), None),
    ],
)
def test_a_candidate_is_merged_with_drift_byte_by_byte(base, origin, revision, merged):
    candidate = proposed("ada", base, revision, origin)
    if merged is None:
        assert candidate.conflicts == {"a.txt": REWROTE}
        assert candidate.new["a.txt"].data == revision
    else:
        assert candidate.conflicts == {}
        assert candidate.new["a.txt"].data == merged


def test_an_encoding_that_drift_cannot_hold_is_a_conflict():
    candidate = proposed("ada", "é\na\n".encode(), b"\xe9\na\n", "é\na\n€\n".encode())
    assert candidate.conflicts == {"a.txt": REWROTE}


@given(st.randoms(use_true_random=False), st.lists(st.binary(max_size=8), min_size=3, max_size=3))
def test_merged_bytes_have_the_merged_text(choice, extra):
    """What is merged as bytes reads as what is merged as texts, unless line ends run together."""
    base = some_file(choice)
    sides = [side((base if choice.random() < 0.6 else some_file(choice)) + data) for data in extra]
    lines = [known.lines for known in sides]
    text = text_of_bytes(sides[0].data)
    if any(known is None or b"\r" in known.end for known in lines) or text is None:
        return
    if any(b"\r" in known.data for known in sides):
        return
    try:
        merged = merged_bytes(*sides)
    except SourceError:
        return
    expected = library.replay(*(known.text for known in sides))
    assert merged is not None
    encodings = {known.encoding for known in lines} - {"ascii"}
    if len(encodings) < 2 and "mixed" not in encodings:
        assert text_of_bytes(merged.data) == expected.text
    assert merged.conflicts == expected.conflicts


@given(st.randoms(use_true_random=False))
def test_there_are_as_many_lines_of_bytes_as_of_text(choice):
    data = some_file(choice)
    lines = ByteLines.of(data)
    if lines is not None:
        assert lines.mark + b"".join(lines.lines) == data
        text = text_of_bytes(data)
        assert text is not None
        assert len(lines.lines) == len(library.Text(text).lines)


def test_the_users_line_ends_and_bytes_stay_beside_a_hunk():
    new = UNIX.replace(b"two", b"TWO")
    assert edited_beside(side(UNIX), side(new), side(DOS)).data == DOS.replace(b"two", b"TWO")
    mine = b"one\r\ntwo\r\nthree\r\nmine\n\xe9\r"
    assert edited_beside(side(UNIX), side(new), side(mine)).data == mine.replace(b"two", b"TWO")
    with pytest.raises(SourceError, match="no lines to merge"):
        edited_beside(side(UNIX), side(new), side(UNIX.decode().encode("utf-16")))


# --- submodules ----------------------------------------------------------------------------------

COMMITS = ["a" * 40, "a1" + "b" * 38, "c" * 40]


def link(commit):
    return Side(SUBMODULE, f"Subproject commit {commit}\n".encode(), commit)


def test_a_submodule_that_moves_is_a_fact_and_a_patch_for_git():
    old = {"lib": link(COMMITS[0])}
    candidate = candidate_of("ada", old, {"lib": link(COMMITS[2])})
    (file,) = review_files([candidate])
    assert file.changes[0].pair.facts == ("moves submodule lib from aaaaaaa to ccccccc",)
    (edit,) = take([[candidate]], [Choice(candidate.id)]).files
    assert edit.new == link(COMMITS[2])
    with pytest.raises(SourceError, match="take the whole file"):
        take([[candidate]], [Choice(candidate.id, "lib", (0, 1))])


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        (side(b"x\n"), link(COMMITS[1]), "makes lib a submodule at a1bbbbb"),
        (link(COMMITS[1]), side(b"x\n"), "removes submodule lib at a1bbbbb"),
        (None, link(COMMITS[1]), "makes lib a submodule at a1bbbbb"),
        (link(COMMITS[1]), None, "removes submodule lib at a1bbbbb"),
    ],
)
def test_a_submodule_that_becomes_a_file_and_back(old, new, fact):
    candidate = candidate_of("ada", {"lib": old} if old else {}, {"lib": new} if new else {})
    (file,) = review_files([candidate])
    assert file.changes[0].pair.facts[-1] == fact
    (edit,) = take([[candidate]], [Choice(candidate.id)]).files
    assert edit.new == new


def test_commits_are_shown_with_so_many_digits_that_they_differ():
    near = COMMITS[0][:-1] + "b"
    pair = changed_file("lib", link(COMMITS[0]), "lib", link(near))
    assert pair.facts == (f"moves submodule lib from {COMMITS[0]} to {near}",)
    assert changed_file("lib", link(near), "lib", replace(link(near))) is None


@pytest.fixture
def checkout(tmp_path):
    """The folder of a submodule, and the repository that it belongs to."""
    folder, inner = tmp_path / "top" / "lib", tmp_path / "top" / ".git" / "modules" / "lib"
    folder.mkdir(parents=True)
    (inner / "refs" / "heads").mkdir(parents=True)
    (folder / ".git").write_text("gitdir: ../.git/modules/lib\n")
    (inner / "HEAD").write_text("ref: refs/heads/main\n")
    (inner / "refs" / "heads" / "main").write_text(f"{COMMITS[0]}\n")
    return folder, inner


def commit_at(folder):
    return checked_out_commit(str(folder), [str(folder.parent), str(folder.parent / ".git")])


def test_the_commit_of_a_submodule_is_that_of_its_head(checkout):
    folder, inner = checkout
    assert commit_at(folder) == COMMITS[0]
    (inner / "refs" / "heads" / "main").unlink()
    packed = f"# pack-refs with: peeled\n{COMMITS[1]} refs/heads/main\n^{COMMITS[2]}\n"
    (inner / "packed-refs").write_text(packed)
    assert commit_at(folder) == COMMITS[1]
    (inner / "HEAD").write_text(f"{COMMITS[2]}\n")
    assert commit_at(folder) == COMMITS[2]
    (folder / ".git").unlink()
    assert commit_at(folder) == ""
    inner.rename(folder / ".git")
    assert commit_at(folder) == COMMITS[2]


def replaced(path, make_other):
    path.unlink()
    make_other(path)


HOSTILE = {
    "leads out": lambda f, i: (f / ".git").write_text("gitdir: /etc\n"),
    "leads out by dots": lambda f, i: (f / ".git").write_text("gitdir: ../../../elsewhere\n"),
    "a link": lambda f, i: replaced(f / ".git", lambda p: p.symlink_to("/etc")),
    "a link to itself": lambda f, i: replaced(f / ".git", lambda p: p.symlink_to(".git")),
    "a FIFO": lambda f, i: replaced(f / ".git", os.mkfifo),
    "huge": lambda f, i: (f / ".git").write_text("gitdir: " + "x" * 100_000),
    "empty": lambda f, i: (f / ".git").write_text(""),
    "NUL": lambda f, i: (f / ".git").write_text("gitdir: a\0b\n"),
    "HEAD is a FIFO": lambda f, i: replaced(i / "HEAD", os.mkfifo),
    "HEAD leads out": lambda f, i: replaced(i / "HEAD", lambda p: p.symlink_to("/etc/hostname")),
    "HEAD is a loop": lambda f, i: (i / "refs/heads/main").write_text("ref: refs/heads/main\n"),
    "HEAD names a file": lambda f, i: (i / "HEAD").write_text("ref: refs/../../../../etc/passwd\n"),
    "HEAD is absolute": lambda f, i: (i / "HEAD").write_text("ref: /etc/passwd\n"),
    "a ref leads out": lambda f, i: replaced(
        i / "refs/heads/main", lambda p: p.symlink_to("/etc/hostname")
    ),
    "unborn": lambda f, i: (i / "refs/heads/main").unlink(),
    "reftable": lambda f, i: (i / "HEAD").write_text("ref: refs/heads/.invalid\n"),
    "no commit": lambda f, i: (i / "refs/heads/main").write_text("g" * 40),
    "a folder as a ref": lambda f, i: (
        (i / "refs/heads/main").unlink(), (i / "refs/heads/main").mkdir()
    ),
    "of a worktree": lambda f, i: (i / "commondir").write_text("..\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_submodule_is_refused_and_nothing_else_is_read(checkout, name):
    folder, inner = checkout
    HOSTILE[name](folder, inner)
    with pytest.raises(SourceError, match=r"^its |link|pipe|bytes|directory|outside"):
        commit_at(folder)


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    inner = make(tmp_path, monkeypatch, "inner")
    inner.commit(f="1\n")
    inner.commit(f="2\n")
    repo = make(tmp_path, monkeypatch)
    repo.git("submodule", "--quiet", "add", inner.path, "lib")
    repo.commit("first", a__txt=CAFE, unix__txt=UNIX)
    return repo


def worktree(repo, name, *, lib=""):
    path = repo.path.parent / name
    repo.git("worktree", "add", "--quiet", "-b", name, path)
    if lib:
        repo.git("submodule", "--quiet", "update", "--init", cwd=path)
        repo.git("checkout", "--quiet", lib, cwd=path / "lib")
    return path


@needs_git
@pytest.mark.slow
def test_worktrees_whose_submodule_points_elsewhere_are_compared(repo):
    for name, at in (("ada", "HEAD~1"), ("bo", "HEAD~1"), ("chen", "HEAD")):
        worktree(repo, name, lib=at)
    found = excise("review", "--repo", str(repo.path), "--format", "json").json
    assert found["unchanged"] == ["worktree:chen"]
    assert found["similarity"] == [[1, 1], [1, 1]]
    old, new = (
        repo.head(":lib")[:7],
        repo.git("rev-parse", "HEAD~1", cwd=repo.path / "lib").decode(),
    )
    for entry in found["candidates"]:
        assert entry["files"][0]["facts"] == [f"moves submodule lib from {old} to {new[:7]}"]
    assert found["candidates"][0]["digest"] == found["candidates"][1]["digest"]
    before = repo.git("status", "--porcelain")
    patch = excise("take", "--repo", str(repo.path), "ada").out
    (repo.path.parent / "ada.patch").write_text(patch)
    again = excise(
        "review",
        "--repo",
        str(repo.path),
        "--patches",
        repo.path.parent / "ada.patch",
        "--format",
        "json",
    )
    entries = {entry["id"]: entry for entry in again.json["candidates"]}
    (by_patch,) = (entry for name, entry in entries.items() if name.startswith("patch:"))
    assert by_patch["identical"] == ["worktree:ada", "worktree:bo"]
    assert by_patch["digest"] == entries["worktree:ada"]["digest"]
    repo.git("apply", "--index", stdin=patch.encode())
    assert repo.head(":lib") == new.strip()
    repo.git("reset", "--quiet", "--hard")
    refused = excise("take", "--repo", str(repo.path), "ada", "--write")
    one_line(refused, "lib: it is a submodule", f"git -C lib checkout {new.strip()}")
    assert repo.git("status", "--porcelain") == before


@needs_git
@pytest.mark.slow
def test_a_submodule_that_cannot_be_read_is_said_and_never_unchanged(repo):
    ada = worktree(repo, "ada", lib="HEAD~1")
    (ada / "lib" / ".git").unlink()
    os.mkfifo(ada / "lib" / ".git")
    bo = worktree(repo, "bo")
    (bo / "lib").rmdir()
    (bo / "lib").write_text("a file\n")
    chen = worktree(repo, "chen")
    (chen / "lib").rmdir()
    found = excise("review", "--repo", str(repo.path), "--format", "json").json
    assert "worktree:ada" not in found["unchanged"]
    assert any(
        "lib: it is a named pipe, not compared" in str(entry) for entry in found["candidates"]
    )
    facts_of = {entry["id"]: entry["files"] for entry in found["candidates"]}
    assert facts_of["worktree:bo"][0]["facts"][0] == "mode 160000 to 100644"
    assert facts_of["worktree:chen"][0]["facts"][0] == "deleted"


@needs_git
@pytest.mark.slow
def test_what_only_converts_is_shown_and_taken_by_the_command(repo):
    for name, file, data in (
        ("ada", "a.txt", CAFE + b'y = "\xe9"\n'),
        ("bo", "a.txt", b"caf\xe9 = 1\nx = 2\n"),
        ("chen", "unix.txt", DOS),
    ):
        (worktree(repo, name) / file).write_bytes(data)
    shown = excise("review", "--repo", str(repo.path), "-v").out
    assert "ada (adds a byte that is not UTF-8" in shown
    assert re.search(r"^bo \(.*only converts the file from utf-8 to latin-1 \(a.txt\)", shown, re.M)
    assert re.search(r"^chen \(.*only converts line ends from LF to CRLF", shown, re.M)
    page = excise("review", "--repo", str(repo.path), "-v", "--format", "markdown").out
    assert "only converts line ends from LF to CRLF" in page
    ran = excise("take", "--repo", str(repo.path), "ada", "chen", "--write")
    assert ran.code == 0, ran.err
    assert (repo.path / "a.txt").read_bytes() == CAFE + b'y = "\xe9"\n'
    assert (repo.path / "unix.txt").read_bytes() == DOS
