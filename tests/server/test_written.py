"""Paths of a hostile repository, and what is in the way: nothing outside of the tree is written."""

from __future__ import annotations

import os

import pytest

from excise_server.candidates.written import write_files
from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import SourceError
from excise_server.review.git_patch import FileEdit

OUTSIDE = [
    "../x", "a/../../x", "/x", "a//x", "./x", "", ".git/hooks/post-checkout", ".GIT/config",
    "a/.git/x", ".git /x", ".git./x", "GIT~1/x", "a\0b",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_or_into_the_repository_is_refused(tmp_path, path):
    top = tmp_path / "top"
    (top / ".git" / "hooks").mkdir(parents=True)
    edits = [
        FileEdit("fine", "fine", None, Side("100644", b"1")),
        FileEdit(path, path, None, Side("100755", b"#!/bin/sh\n")),
    ]
    with pytest.raises(SourceError):
        write_files(str(top), edits, tmp_path / "undo.patch")
    files = [os.path.join(folder, name) for folder, _, names in os.walk(tmp_path) for name in names]
    assert files == []


def test_folders_are_made_and_removed_with_their_only_file(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "b").write_text("b")
    (tmp_path / "gone" / "deep").mkdir(parents=True)
    (tmp_path / "gone" / "deep" / "a").write_text("a")
    edits = [
        FileEdit("gone/deep/a", "gone/deep/a", Side("100644", b"a"), None),
        FileEdit("new/deep/c", "kept/b", Side("100644", b"b"), Side("100755", b"c")),
    ]
    written = write_files(str(tmp_path), edits, tmp_path / "undo" / "x.patch")
    assert len(written) == 2
    assert not (tmp_path / "gone").exists()
    assert not (tmp_path / "kept").exists()
    assert (tmp_path / "new" / "deep" / "c").read_text() == "c"
    assert os.access(tmp_path / "new" / "deep" / "c", os.X_OK)


def test_a_link_is_replaced_and_never_followed(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    (tmp_path / "secret").write_text("secret")
    (top / "link").symlink_to("../secret")
    old = Side("120000", b"../secret")
    edit = FileEdit("link", "link", old, Side("120000", b"other"))
    write_files(str(top), [edit], tmp_path / "one.patch")
    assert os.readlink(top / "link") == "other"
    as_file = FileEdit("link", "link", Side("120000", b"other"), Side("100644", b"text"))
    write_files(str(top), [as_file], tmp_path / "two.patch")
    assert not (top / "link").is_symlink()
    assert (top / "link").read_text() == "text"
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_way_back_that_cannot_be_saved_stops_everything(tmp_path):
    edit = FileEdit("a", "a", None, Side("100644", b"1"))
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="undo patch"):
        write_files(str(tmp_path), [edit], tmp_path / "file" / "undo.patch")
    assert not (tmp_path / "a").exists()
