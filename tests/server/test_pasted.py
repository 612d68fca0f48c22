"""What somebody pastes: versions of a document, and what is none."""

import pytest

from excise_server.foundation.inputs import SourceError
from excise_server.sources.pasted import pasted

ORIGIN = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8)).rstrip() + "\n"
CHANGED = ORIGIN.replace("x + 2", "x - 2")
DIFF = """--- a/app.py
+++ b/app.py
@@ -9,3 +9,3 @@
 def f2(x):
-    return x + 2
+    return x - 2
\x20
"""
HALF = CHANGED[: CHANGED.index("def f5")]


def fenced(text: str, language: str = "", mark: str = "```") -> str:
    return f"Here is the file:\n\n{mark}{language}\n{text}{mark}\n\nIt is shorter now.\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CHANGED, "file"),
        (CHANGED.replace("\n", "\r\n"), "file"),
        (CHANGED.removesuffix("\n"), "file"),
        (fenced(CHANGED, "python"), "fence"),
        (fenced(CHANGED, mark="~~~~"), "fence"),
        (fenced(CHANGED, "py").replace("\n", "\r\n"), "fence"),
        (DIFF, "patch"),
        (DIFF.replace("@@ -9,3 +9,3 @@", "@@ -9,3 +9,3 @@ def f1(x):"), "patch"),
        (fenced(DIFF, "diff"), "patch"),
        (DIFF.replace("app.py", "other.py"), "patch"),
        (f"From: Ada <a@b.c>\nSubject: Subtract\n\nText\n\n{DIFF}", "patch"),
    ],
)
def test_what_is_a_version_of_the_document(text: str, kind: str):
    made = pasted(ORIGIN, text, "/w/app.py")
    assert (made.kind, made.text) == (kind, CHANGED)


def test_the_subject_of_a_mail_is_the_label():
    mail = f"From: Ada <a@b.c>\nSubject: [PATCH] Subtract\n\nText\n\n{DIFF}"
    assert "Subtract" in pasted(ORIGIN, mail, "/w/app.py").label


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("def f2(x):\n    return x - 2\n", "piece"),
        (fenced("def f2(x):\n    return x - 2\n"), "piece"),
        ("What a nice day it is.\n" * 20, "another text"),
        (fenced(CHANGED) + fenced(CHANGED), "2 fenced blocks"),
        (HALF + "# ... rest of the file unchanged ...\n", "omitted"),
        (HALF + "// ...\n", "omitted"),
        (HALF + "    # existing code...\n", "omitted"),
        (CHANGED + "/* … other functions stay */\n", "omitted"),
        (DIFF.replace("x + 2", "x + 9"), "app.py"),
        ("x\x00y", "NUL"),
    ],
)
def test_what_is_none_is_refused_with_the_reason(text: str, reason: str):
    with pytest.raises(SourceError, match=reason):
        pasted(ORIGIN, text, "/w/app.py")


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
