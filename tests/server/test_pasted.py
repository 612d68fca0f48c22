"""What somebody pastes, picks or pushes: versions of a document, patches of it, and neither."""

from __future__ import annotations

import base64
import quopri

import pytest
from tests.server.raw_client import serving

from excise.patches import PatchError
from excise_server.foundation.inputs import SourceError
from excise_server.sources.pasted import pasted, patched

ORIGIN = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8)).rstrip() + "\n"
EDITED = ORIGIN.replace("x + 2", "x - 2")
EDIT = """--- a/app.py
+++ b/app.py
@@ -9,3 +9,3 @@
 def f2(x):
-    return x + 2
+    return x - 2
\x20
"""
HALF = EDITED[: EDITED.index("def f5")]


def fenced(text: str, language: str = "", mark: str = "```") -> str:
    return f"Here is the file:\n\n{mark}{language}\n{text}{mark}\n\nIt is shorter now.\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (EDITED, "file"),
        (EDITED.replace("\n", "\r\n"), "file"),
        (EDITED.removesuffix("\n"), "file"),
        (fenced(EDITED, "python"), "fence"),
        (fenced(EDITED, mark="~~~~"), "fence"),
        (fenced(EDITED, "py").replace("\n", "\r\n"), "fence"),
        (EDIT, "patch"),
        (EDIT.replace("@@ -9,3 +9,3 @@", "@@ -9,3 +9,3 @@ def f1(x):"), "patch"),
        (fenced(EDIT, "diff"), "patch"),
        (EDIT.replace("app.py", "other.py"), "patch"),
        (f"From: Ada <a@b.c>\nSubject: Subtract\n\nText\n\n{EDIT}", "patch"),
    ],
)
def test_what_is_a_version_of_the_document(text: str, kind: str):
    made = pasted(ORIGIN, text, "/w/app.py")
    assert (made.kind, made.text) == (kind, EDITED)


def test_the_subject_of_a_mail_is_the_label():
    mail = f"From: Ada <a@b.c>\nSubject: [PATCH] Subtract\n\nText\n\n{EDIT}"
    assert "Subtract" in pasted(ORIGIN, mail, "/w/app.py").label


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("def f2(x):\n    return x - 2\n", "piece"),
        (fenced("def f2(x):\n    return x - 2\n"), "piece"),
        ("What a nice day it is.\n" * 20, "another text"),
        (fenced(EDITED) + fenced(EDITED), "2 fenced blocks"),
        ("def f2(x):\n    return x - 2\n# ... existing code ...\n", "line 3 stands for omitted"),
        (HALF.replace("x + 4", "x - 4") + "// ...\n", "its line 'return x - 4' is not in the doc"),
        ("# ...\n" + HALF.replace("f0", "g0"), "its line 'def g0.x.:' is not in the document"),
        (HALF + "# ...\n" + HALF, "its line 'def f0.x.:' is not in the document"),  # not again
        (EDIT.replace("x + 2", "x + 9"), "app.py"),
        ("x\x00y", "NUL"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(text: str, reason: str):
    with pytest.raises(SourceError, match=reason):
        pasted(ORIGIN, text, "/w/app.py")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (HALF + "# ... rest of the file unchanged ...\n", ["1 to 18"]),
        (HALF + "// ...\n", ["1 to 18"]),
        (fenced(HALF + "    # existing code...\n", "py"), ["1 to 18"]),
        (EDITED + "/* … other functions stay */\n", ["1 to 30"]),
        ("# ... existing code ...\n\n" + EDITED[EDITED.index("def f2") :], ["9 to 30"]),
        ("def f2(x):\n    return x - 2\n\n\ndef f3(x):\n", ["9 to 13"]),
        ("\n\ndef f2(x):\n    return x - 2\n\n\ndef f3(x):", ["9 to 13"]),
        (
            "def f0(x):\n# ...\n    return x + 1\n\n\ndef f2(x):\n    return x - 2\n\n\n"
            "def f3(x):\n    # ... unchanged\ndef f7(x):\n",
            ["1 to 1", "6 to 13", "29 to 29"],
        ),
    ],
)
def test_pieces_are_placed_by_the_lines_at_their_ends(text: str, lines: list[str]):
    made = pasted(ORIGIN, text, "/w/app.py")
    assert (made.kind, made.text) == ("piece", EDITED)
    assert list(made.notes) == [f"placed at lines {numbers}" for numbers in lines]


def test_an_end_that_is_at_two_places_is_told_apart_by_the_lines_inside_or_refused():
    origin = "".join(f"int f{n}(int x)\n{{\n\treturn x;\n}}\n" for n in range(9))
    with pytest.raises(SourceError, match=r"its line '}' may be line 12 or 16 of the document"):
        pasted(origin, "// ...\nint f2(int x)\n{\n\treturn -x;\n}\n", "a.c")
    wider = "// ...\nint f2(int x)\n{\n\treturn -x;\n}\nint f3(int x)\n{\n"
    made = pasted(origin, wider, "a.c")
    assert made.text.splitlines()[10] == "\treturn -x;"
    assert len(made.text) == len(origin) + 1
    same = "x = 1\n" * 20_000
    with pytest.raises(SourceError, match=r"may be line 1 or 2 of"):
        pasted(same + "y\n" + same, "# ...\n" + same, "a.py")


def test_a_document_without_a_line_end_at_its_end():
    origin = ORIGIN.removesuffix("\n")
    for piece in ("# ...\ndef f1(x):", "def f1(x):\n# ...", f"# ...\n{origin[-16:]}"):
        assert pasted(origin, piece, "a.py").text == origin


def test_dots_that_the_document_has_itself_stand_for_nothing():
    origin = ORIGIN + "# ... other things\n"
    assert pasted(origin, origin.replace("x + 2", "x - 2"), "a.py").kind == "file"


def test_markdown_with_fences_of_its_own_is_a_file():
    fence = "```sh\nmake\nmake test\nmake docs\nmake dist\n```\n"
    for fences in ("", "```sh\nmake\n```\n", fence, fence * 2):
        origin = f"# Title\n\nSome words.\n\n- one\n- two\n- three\n{fences}\n- four\n"
        edited = origin.replace("one", "1")
        made = pasted(origin, edited, "a.md")
        assert (made.kind, made.text) == ("file", edited)
    answer = f"Here it is:\n\n~~~~md\n{edited}~~~~\n"
    assert pasted(origin, answer, "a.md").text == edited


# --- patches ---

TEXT = "one\ntwo\nthree\nfour\n"
DIFF = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n three\n four\n"
CHANGED = "one\n2\nthree\nfour\n"
SECOND = "--- a/src/a.py\n+++ b/src/a.py\n@@ -2,3 +2,3 @@\n 2\n three\n-four\n+4\n"
HEAD = "From: A <a@b>\nSubject: [PATCH {}] x\n"
FROM = "From 0123456789 Mon Sep 17 00:00:00 2001\n"
ATTACHED = (
    HEAD.format("1/1") + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhi\n--b\n"
    "Content-Type: application/octet-stream; name=x.patch\nContent-Transfer-Encoding: base64\n"
    "Content-Disposition: attachment; filename=x.patch\n\n"
    + base64.encodebytes(DIFF.encode()).decode()
    + "--b--\n"
)


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        (DIFF, CHANGED),
        (DIFF.removesuffix("\n"), CHANGED),
        (f"Here it is:\n\n{DIFF}\nThat is all.\n", CHANGED),
        (DIFF.replace("\n", "\r\n"), CHANGED),
        (ATTACHED, CHANGED),
        (ATTACHED.replace("\n", "\r\n"), CHANGED),
        (FROM + HEAD.format("1/2") + "\n" + DIFF + "\n" + FROM.replace(":00 2001", " 2001")
         + HEAD.format("2/2") + "\n" + SECOND, "one\n2\nthree\n4\n"),
        (DIFF + SECOND, "one\n2\nthree\n4\n"),
        ("--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+new\n", "new\n"),
        ("rename from b.py\n".join(["diff --git a/b.py b/a.py\n", "rename to a.py\n"])
         + DIFF.replace("a/src/a.py", "a/b.py").replace("b/src/a.py", "b/a.py"), CHANGED),
        ("--- a/a.py\n+++ b/a.py\n@@ -3 +3 @@\n-three\n+3\n", "one\ntwo\n3\nfour\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_a_patch_makes_of_a_text(patch, result, ending):
    assert patched(TEXT.replace("\n", ending), patch, "/w/src/a.py").text == result


@pytest.mark.parametrize("encoding", ["", "8bit", "quoted-printable", "base64"])
def test_the_charset_of_a_mail_counts_only_where_it_is_encoded(encoding):
    """The editor has decoded what it shows, so that the header is right about the rest alone."""
    diff = DIFF.replace("+2", "+zwölf")
    body = {
        "quoted-printable": quopri.encodestring(diff.encode("latin-1")).decode("ascii"),
        "base64": base64.encodebytes(diff.encode("latin-1")).decode("ascii"),
    }.get(encoding, diff)
    head = HEAD.format("1/1") + "Content-Type: text/plain; charset=iso-8859-1\n"
    head += f"Content-Transfer-Encoding: {encoding}\n" * bool(encoding)
    assert patched(TEXT, head + "\n" + body, "/w/a.py").text == CHANGED.replace("2", "zwölf")
    part = (
        f"Content-Type: text/x-patch; charset=iso-8859-1\nContent-Transfer-Encoding: {encoding}\n"
    )
    mixed = "From: a@b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
    mail = f"{mixed}{part}\n{body}\n--b--\n"
    assert patched(TEXT, mail, "/w/a.py").text == CHANGED.replace("2", "zwölf")


def test_the_part_for_the_document_is_taken_out_of_many():
    other = DIFF.replace("src/a.py", "lib/a.py").replace("+2", "+zwei")
    assert patched(TEXT, DIFF + other, "/w/src/a.py").text == CHANGED
    assert patched(TEXT, other + DIFF, "/w/lib/a.py").text == "one\nzwei\nthree\nfour\n"
    assert patched(TEXT, DIFF, "/w/elsewhere.txt").text == CHANGED  # its only file
    with pytest.raises(SourceError, match=r"several files called a\.py"):
        patched(TEXT, DIFF + other, "/w/a.py")
    with pytest.raises(SourceError, match=r"it does not change b\.py"):
        patched(TEXT, DIFF + other, "/w/b.py")


def test_the_subject_and_what_to_know():
    assert patched(TEXT, ATTACHED, "/w/a.py").label == "[PATCH 1/1] x"
    long = "0\n" * 9 + TEXT + "0\n"
    moved = DIFF.replace("-1,4 +1,4", "-8,4 +8,4") + " 0\n"
    assert patched(long, moved.replace(",4 ", ",5 "), "/w/a.py").notes == (
        "hunk 1 applied 2 lines further down than it says",
    )
    up = moved.replace("-8,4 +8,4", "-11,5 +11,5")
    assert patched(long, up, "a.py").notes == ("hunk 1 applied 1 line further up than it says",)


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("hello", "no unified diff"),
        ("", "an empty message"),
        (DIFF.replace(" three\n", ""), "src/a.py: the hunk ends 1 lines short of its count"),
        (DIFF.replace("4 @@", "3 @@"), "src/a.py: the hunk ends 1 lines short of its count"),
        (DIFF.replace("two", "TWO"), "line 3: src/a.py: hunk 1 does not apply: line 2 has another"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "x: the patch is binary"),
        ("--- a/x\n+++ /dev/null\n@@ -1,4 +0,0 @@\n-one\n-two\n-three\n-four\n", "it deletes the"),
        ("diff --git a/x b/x\nindex 1..2 120000\n" + DIFF[28:], "a link or a submodule"),
        ("diff --cc x\n@@@ -1 -1 +1 @@@\n", "a combined diff"),
        ("--- a/x\n+++ b/x\n@@ -9,0 +10 @@\n+x\n", "after line 9, but the file has 4"),
        (f"{HEAD}Content-Transfer-Encoding: base64\n\n!!! none *\n", "not valid base64"),
        ("a\0b", "NUL"),
        ("\ud800", "lone surrogate"),
        ("x" * 10_000_001, "limit 10 MB"),
    ],
)
def test_what_is_refused(patch, reason):
    with pytest.raises((SourceError, PatchError)) as caught:
        patched(TEXT, patch, "/w/a.py")
    assert reason in str(caught.value)


# --- over the wire -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_document_that_is_open_one_on_disk_and_one_that_is_unknown(tmp_path):
    with serving(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}]) as client:
        uri = "untitled:a.py"
        client.open(uri, TEXT)
        answer = client.call("excise/readPatch", {"uri": uri, "patch": ATTACHED})
        assert answer == {"text": CHANGED, "label": "[PATCH 1/1] x", "notes": []}
        assert client.call("excise/listRevisions", {"uri": uri})["revisions"] == []
        client.add(uri, {"a": answer["text"]})
        again = client.call(
            "excise/readPatch", {"uri": uri, "patch": SECOND.replace(" 2\n", " two\n")}
        )
        assert again["text"] == "one\ntwo\nthree\n4\n"  # of the origin, not of a revision

        (tmp_path / "a.py").write_text(TEXT)
        on_disk = (tmp_path / "a.py").as_uri()
        assert client.call("excise/readPatch", {"uri": on_disk, "patch": DIFF})["text"] == CHANGED

        wrong = {
            "uri": uri,
            "patch": DIFF.replace("two", "t\x1b[31mwo").replace("src/", "\x1b[1m/"),
        }
        error = client.refused("excise/readPatch", wrong)
        assert (error["code"], "\x1b" in error["message"]) == (-32803, False)
        assert "line 2 has another text" in error["message"]
        for unknown in ("untitled:b.py", (tmp_path / "none.py").as_uri(), "file:///etc/hostname"):
            error = client.refused("excise/readPatch", {"uri": unknown, "patch": DIFF})
            assert error["code"] == -32803
        for bad in ({}, {"uri": uri}, {"uri": uri, "patch": None}, {"uri": uri, "patch": 7}):
            assert client.refused("excise/readPatch", bad)["code"] == -32602
