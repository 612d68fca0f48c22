"""A review as Markdown and as a page: the same facts, inert, and links that lead somewhere."""

from __future__ import annotations

import re
from html import unescape

import pytest
from tests.server.test_review import BASE, GUARD, folders, of_folders

pytestmark = pytest.mark.slow

EVIL = "x = '</pre><script>alert(1)</script> ``` ````'  # \x1b[31m\u202e [a](command:b) #1\n"


@pytest.fixture
def options(tmp_path):
    texts = {
        "ada": BASE.replace(*GUARD) + EVIL,
        "bo <b>": BASE.replace(*GUARD),
        "chen": BASE.replace(*GUARD).replace("check(x)", "check(x, 1)", 1),
    }
    return folders(tmp_path, texts)


def test_the_page_has_no_script_asks_for_nothing_and_shows_what_is_there(options):
    html = of_folders(options, "--format", "html").out
    assert not re.search(r"<(script|img|iframe|object|link|form|base)\b", html)
    assert "default-src 'none'" in unescape(html)
    assert not re.search(r"\b(on\w+|style|src)=", html)
    assert "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "bo &lt;b&gt;" in html
    assert "bo <b>" not in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", html)
    assert 'name="viewport"' in html


def test_every_link_of_the_page_leads_to_an_id(options):
    html = of_folders(options, "--format", "html").out
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'href="#([^"]+)"', html)
    assert set(targets) <= set(ids)
    assert sum("-h" in target for target in targets) == 2 + 1 + 2
    assert sum("-c" in target for target in targets) == 3 + 1 + 1, "and back to the candidates"


def test_tokens_that_differ_are_marked(options):
    html = of_folders(options, "--format", "html").out
    assert "checked = check(x<mark>, 1</mark>)" in html
    against = of_folders(options, "--format", "html", "--against", "chen").out
    assert "checked = check(x<mark>, 1</mark>)" in against
    assert 'class="d"' in against


def test_what_all_agree_on_is_folded_and_there(options):
    html = of_folders(options, "--format", "html").out
    assert "all 3 make the same change (+2 -0)" in html
    assert html.count("<details") == 1
    assert "if checked is None" in html
    markdown = of_folders(options, "--format", "markdown").out
    assert "all 3 make the same change (+2 -0)" in markdown
    assert "if checked is None" not in markdown
    assert "if checked is None" in of_folders(options, "--format", "markdown", "--whole").out


def test_markdown_is_inert(options):
    markdown = of_folders(options, "--format", "markdown").out
    fences = re.findall(r"^(`{3,})(\w*)\n(.*?)\n\1$", markdown, re.MULTILINE | re.DOTALL)
    assert len(fences) >= 3
    ticks = [fence for fence, _, text in fences if "alert(1)" in text]
    assert [len(fence) for fence in ticks] == [5]
    outside = re.sub(r"^(`{3,})\w*\n.*?\n\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    assert "alert" not in outside
    assert "bo \\<b\\>" in outside
    assert not re.search(r"(?<![`\w.])#\d", outside), "no hunk is the number of an issue"
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", markdown)


def test_a_page_without_candidates(tmp_path):
    options = folders(tmp_path, {"idle": BASE})
    assert "nothing to review" in of_folders(options, "--format", "html").out
    assert "nothing to review" in of_folders(options, "--format", "markdown").out


def test_a_long_text_is_counted_and_deleted_files_are_there(tmp_path):
    options = folders(tmp_path, {"ada": BASE + "x = 1\n" * 5000, "bo": BASE})
    (tmp_path / "bo" / "a.py").unlink()
    for form in ("html", "markdown"):
        text = of_folders(options, "--format", form).out
        assert "4,980 more lines" in text
        assert "he file that they delete" in text
        assert len(text) < 60_000
