"""What maintainers are really sent: cut, huge, packed, nested, lying, hostile."""

import gzip
import io
import os
import re
import zipfile
from pathlib import Path

import pytest
from tests.server.command import excise
from tests.server.test_cli_patches import AGAIN, COVER, FROM, ONE, OTHER, mail

BOX = COVER + ONE + OTHER + AGAIN


def grouped(*arguments, code=0, stdin=""):
    ran = excise("cluster", *arguments, "--format", "json", stdin=stdin)
    assert ran.code == code, ran.err
    return ran.json


def reasons(found):
    return {rejected["id"]: rejected["reason"] for rejected in found["rejected"]}


def test_a_queue_over_the_limit_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("excise_server.queue.reading.MAX_QUEUE", 400)
    (tmp_path / "all.mbox").write_text(BOX)
    (tmp_path / "one.patch").write_text(ONE)
    assert reasons(grouped(str(tmp_path), code=1)) == {"all.mbox": "over the limit of 0 MB"}


@pytest.mark.slow
def test_a_zip_bomb_is_not_opened(tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.patch", bytes(50_000_000))
    for name in ("bomb.zip", "bomb.patch", "bomb.mbox"):
        (tmp_path / name).write_bytes(packed.getvalue())
    (tmp_path / "bomb.patch.gz").write_bytes(gzip.compress(bytes(50_000_000)))
    (tmp_path / "one.patch").write_text(ONE)
    (tmp_path / "wide.patch").write_bytes(ONE.encode("utf-16"))
    found = grouped(str(tmp_path), code=1)
    why, wide = "binary: it contains NUL characters", "line 1: the text is UTF-16: save it as UTF-8"
    assert reasons(found) == {"bomb.mbox": why, "bomb.patch": why, "wide.patch": wide}
    assert len(found["patches"]) == 1
    attached = (
        f"{FROM}Subject: see attached\nMIME-Version: 1.0\n"
        "Content-Type: application/zip; name=x.zip\nContent-Transfer-Encoding: base64\n\nUEsDBA==\n"
    )
    assert grouped("-", stdin=attached + ONE)["covers"][0]["subject"] == "see attached"


def test_paths_with_newlines_and_control_characters(tmp_path):
    name = r'"a/x\n\033[31my\t\"\\.c"'
    diff = f"diff --git {name} {name.replace('a/', 'b/')}\nold mode 100644\nnew mode 100755\n"
    diff += f"--- {name}\n+++ {name.replace('a/', 'b/')}\n@@ -1 +1 @@\n-a\n+b\n"
    page = tmp_path / "r.html"
    odd = f"{FROM}Subject: odd\n\n---\n{diff}-- \n2\n"
    found = grouped("-", stdin=odd)
    assert excise("cluster", "-", "--format", "html", "-o", str(page), stdin=odd).code == 0
    assert found["patches"][0]["files"] == ['x\n\x1b[31my\t"\\.c']
    assert "\x1b" not in page.read_text()
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a\n\x1b[1mb.patch").write_text(ONE)
    for option in ("-v",), ("-v", "--format", "markdown"):
        ran = excise("cluster", str(folder), *option)
        assert "\x1b" not in ran.out
        shown = ran.out.replace("\\\\", "\\").replace("\\[", "[").replace("\\.", ".")
        assert "a\\n\\x1b[1mb.patch" in shown.replace("\n", "")


def test_undecodable_names(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.patch"
    Path(os.fsdecode(path)).write_text(ONE)
    page = tmp_path / "r.html"
    ran = excise("cluster", str(tmp_path), "--format", "html", "-o", str(page))
    assert ran.code == 0, ran.err
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert excise("cluster", str(tmp_path), "--format", "markdown").code == 0


@pytest.mark.parametrize("option", [(), ("-v",), ("--format", "markdown"), ("--format", "json")])
def test_hostile_headers_are_inert(option):
    evil = "<script>alert(1)</script>\x1b]0;owned\x07\u202e"
    sent = mail(f"[PATCH] {evil}", "a", "b", author=f"{evil} <x@y>", more=f"Date: {evil}\n")
    ran = excise("cluster", "-", *option, stdin=sent * 2)
    assert ran.code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out)
    assert ("\\<script" if "markdown" in option else "<script>") in ran.out


def test_what_else_lies_in_a_folder(tmp_path):
    os.mkfifo(tmp_path / "pipe.patch")
    (tmp_path / "gone.patch").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / ".hidden.patch").write_text(OTHER)
    (tmp_path / "one.patch").write_text(ONE)
    found = grouped(str(tmp_path), code=1)
    assert [entry["id"] for entry in found["patches"]] == ["one.patch"]
    assert reasons(found) == {
        "gone.patch": "a link to a file that does not exist",
        "pipe.patch": "it is not a regular file",
    }
