"""Files beside the document, by glob."""

import os
import sys

import pytest
from tests.server.git_repository import reasons, texts

from excise_server.sources import beside as siblings
from excise_server.sources.collect import collect
from excise_server.sources.finding import Context
from excise_server.wire.sources import SourceSettings


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "a.py").write_text("saved\n")

    def asked(*globs, name="a.py", find=siblings.find_files, **settings):
        if globs:
            settings["files"] = globs
        folder = (str(tmp_path),)
        context = Context(str(tmp_path / name), folder, False, SourceSettings(**settings))
        return collect(context) if find is collect else find(context, None)

    return asked


def test_suggestions_of_the_default_glob(ask, tmp_path):
    for name in (
        "a.py.suggestion-2",
        "a.py.suggestion-1",
        "b.py.suggestion-1",
        "a.py.bak",
        "xa.py",
    ):
        (tmp_path / name).write_text(name)
    found = ask()
    assert list(texts(found)) == ["file:a.py.suggestion-1", "file:a.py.suggestion-2"]
    assert found.revisions[0].label == "suggestion-1"
    assert (found.origin, found.refused) == (None, ())
    assert {watch.pattern for watch in found.watch} == {
        "a.py.suggestion-*",
        "a.py.orig",
        "a.py.rej",
    }


def test_orig_is_the_origin_and_rej_is_no_revision(ask, tmp_path):
    (tmp_path / "a.py.orig").write_text("before\n")
    (tmp_path / "a.py.rej").write_text("@@ -1 +1 @@\n")
    found = ask()
    assert (found.origin.text, found.origin.kind) == ("before\n", "orig")
    assert reasons(found) == {"file:a.py.rej": "rejected hunks, not a revision"}
    assert ask(find=collect).origin.text == "before\n"
    chosen = ask(origin="head", find=collect)
    assert reasons(chosen)["file:a.py.orig"] == "an origin, but the setting chooses head"
    assert chosen.origin is None
    (tmp_path / "b.py.orig").write_text("x\n")
    assert reasons(ask("*.orig"))["file:b.py.orig"] == "the origin of another file"


@pytest.mark.parametrize("style", ["|||||||\n0\n", ""])
def test_what_mergetool_leaves_is_no_origin(ask, tmp_path, style):
    (tmp_path / "a.py.orig").write_text(f"<<<<<<< a\n1\n{style}=======\n2\n>>>>>>> b\n")
    found = ask()
    assert found.origin is None
    assert reasons(found)["file:a.py.orig"].startswith("it contains conflict markers")


def test_variables_and_folders(ask, tmp_path):
    (tmp_path / "alt").mkdir()
    (tmp_path / "alt" / "a.py").write_text("alt\n")
    (tmp_path / "a.claude.py").write_text("c\n")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.py").write_text("h\n")
    found = ask("*/${file}", "${stem}.*${extension}", ".hidden/${file}")
    assert texts(found) == {
        "file:.hidden/a.py": "h\n",
        "file:a.claude.py": "c\n",
        "file:alt/a.py": "alt\n",
    }
    assert "file:.hidden/a.py" not in texts(ask("*/${file}"))


def test_the_document_itself_is_no_revision(ask):
    assert ask("*", "./a.py").revisions == ()


@pytest.mark.parametrize(
    ("glob", "reason"),
    [
        ("../*", "it leads out of the document's folder"),
        ("x/../../*", "it leads out of the document's folder"),
        ("/etc/*", "an absolute path: a glob starts at the document's folder"),
        ("C:/x", "an absolute path: a glob starts at the document's folder"),
        ("**/*", "** is not supported here: name the folder"),
        ("${home}/*", "no variable 'home'"),
    ],
)
def test_globs_that_are_refused(ask, tmp_path, glob, reason):
    (tmp_path / "a.py.suggestion-1").write_text("1\n")
    found = ask(glob, "${file}.suggestion-*")
    assert reasons(found) == {f"files:{glob}": reason}
    assert list(texts(found)) == ["file:a.py.suggestion-1"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
def test_files_that_are_refused(ask, tmp_path):
    (tmp_path / "a.py.1").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "a.py.2")
    (tmp_path / "a.py.3").write_bytes(b"a\0b")
    (tmp_path / "a.py.4").touch()
    os.truncate(tmp_path / "a.py.4", 62_000_000)
    (tmp_path / "a.py.5").write_bytes(b"\xff\xff")
    (tmp_path / "a.py.6").mkdir()
    (tmp_path / "a.py.7").write_text("good\n")
    (tmp_path / "out").symlink_to("/etc")
    found = ask("${file}.*", "out/passwd", "none/*")
    assert texts(found) == {"file:a.py.7": "good\n"}
    assert reasons(found) == {
        "file:a.py.1": "outside the workspace folders",
        "file:a.py.2": "it is a named pipe",
        "file:a.py.3": "binary: NUL character at offset 1",
        "file:a.py.4": "62.0 MB, limit 10 MB",
        "file:a.py.5": "not utf-8: byte 0xff at offset 0",
        "file:a.py.6": "it is a directory",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")
def test_names_that_look_like_globs_or_are_no_text(ask, tmp_path):
    for name in ("a[1]*.py", "a1x.py", "-rf.py"):
        (tmp_path / name).write_text("saved\n")
        (tmp_path / f"{name}.suggestion-1").write_text(f"{name}\n")
    assert texts(ask(name="a[1]*.py")) == {"file:a[1]*.py.suggestion-1": "a[1]*.py\n"}
    assert texts(ask(name="-rf.py")) == {"file:-rf.py.suggestion-1": "-rf.py\n"}
    assert ask(name="a[1]*.py").watch[0].pattern == "a[[]1][*].py.suggestion-*"
    try:
        (tmp_path / os.fsdecode(b"a.py.suggestion-\xff\n\x1b")).write_text("odd\n")
    except OSError:
        pytest.skip("this file system wants UTF-8 names")
    (name,) = texts(ask())
    assert name == "file:a.py.suggestion-\\xff\n\x1b"
    assert name.encode()


def test_the_number_of_files_is_limited(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(siblings, "MAX_FILES", 2)
    for name in "123":
        (tmp_path / f"a.py.suggestion-{name}").write_text(name)
    found = ask()
    assert len(found.revisions) == 2
    assert reasons(found) == {"files": "only the first 2 of 3 are taken"}
