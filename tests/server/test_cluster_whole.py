"""``excise cluster`` where whole files are known: the words that review has."""

import io

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.server.command import excise, one_line
from tests.server.git_repository import Repo, needs_git

from excise_server.report.cluster import cluster_lines
from excise_server.wire.documents import ClusterDocument

pytestmark = [needs_git, pytest.mark.slow]

SHOP = """def total(items):
    subtotal = sum(items)
    return subtotal


def count(items):
    return len(items)
"""
LONG, ARABIC = "agent/" + "n" * 190, "agent/\u0625\u0635\u0644\u0627\u062d"
FIX = """if subtotal < 0 and not items.refunded:
        subtotal = items.floor(subtotal)
    items.note("below zero", subtotal, len(items))
    return max(subtotal, 0)"""
EDITS = {
    "agent/ada": SHOP.replace("return subtotal", FIX),
    "agent/bo": SHOP.replace(
        "return subtotal", FIX.replace("(subtotal, 0)", "(subtotal,  0)  # EUR")
    ),
    LONG: SHOP.replace("return subtotal", FIX.replace("return", "least =") + "\n    return least"),
    ARABIC: SHOP.replace("return subtotal", f"{FIX} + 0"),
    "agent/dana": SHOP.replace("return len(items)", "return sum(1 for item in items if item)"),
    "agent/docs": None,
}
"""Two with the same code, one the same up to a name, one like them, and one of something else."""


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    place = tmp_path_factory.mktemp("whole")
    patch = pytest.MonkeyPatch()
    made = Repo(place / "repo", place / "home").init()
    for name in ("GIT_CONFIG_GLOBAL", "HOME"):
        patch.setenv(name, made.env[name])
    base = made.commit("the start", shop__py=SHOP)
    (place / "mails").mkdir()
    for number, (name, text) in enumerate(EDITS.items()):
        made.git("checkout", "--quiet", "-b", name, base)
        files = {"README__md": "A shop.\n"} if text is None else {"shop__py": text}
        made.commit(f"total: never negative ({number})\n\nA refund is below zero.", **files)
        mail = made.git("format-patch", "--stdout", "-1", "HEAD")
        (place / "mails" / f"{number}.patch").write_bytes(mail)
    made.git("checkout", "--quiet", "main")
    made.git("branch", "agent/landed", made.commit("main moves on", other__py="x = 1\n" * 9))
    made.git("clone", "--quiet", "--bare", str(made.path), str(place / "bare.git"))
    made.git("fetch", "--quiet", str(made.path), "+refs/heads/*:refs/heads/*",
             cwd=place / "bare.git")  # fmt: skip
    yield made
    patch.undo()


def heads(repo, *arguments, **options):
    return excise("cluster", "--git", "agent/*", "--repo", str(repo.path), *arguments, **options)


def mails(repo, *arguments):
    return excise("cluster", str(repo.path.parent / "mails"), *arguments)


def number_of(name):
    """The name of a head's mail."""
    return f"{list(EDITS).index(name)}.patch"


def same_of(document, named=lambda name: name):
    """The pairs that are the same program, with the words."""
    return {
        (frozenset(map(named, (pair["new"], pair["other"]))), pair["same_edit"]["word"])
        for pair in document["pairs"]
        if pair["same_edit"] and pair["same_edit"]["word"].startswith("same ")
        and pair["same_edit"]["word"] != "same place"
    }  # fmt: skip


EXPECTED = {
    (frozenset({"agent/ada", "agent/bo"}), "same code"),
    (frozenset({"agent/ada", LONG}), "same up to names"),
    (frozenset({"agent/bo", LONG}), "same up to names"),
}


def test_heads_have_the_words_of_review(repo):
    document = heads(repo, "--format", "json").json
    assert same_of(document) == EXPECTED
    bare = str(repo.path.parent / "bare.git")
    found = excise("cluster", "--git", "agent/*", "--repo", bare, "--format", "json").json
    assert same_of(found) == EXPECTED
    asked = ("review", "--git", "agent/*", "--repo", str(repo.path), "--issue", "negative totals")
    review = excise(*asked, "--format", "json").json
    places = {entry["branch"]: at for at, entry in enumerate(review["candidates"])}
    for (a, b), word in EXPECTED:
        assert review["words"][places[a]][places[b]] == word


def test_mails_have_the_words_of_heads_where_they_apply(repo):
    alone = mails(repo, "--format", "json").json
    assert "same code needs whole files: --repo DIR, if the patches apply to it" in alone["about"]
    names = {number_of(name): name for name in EDITS}
    for onto in ((), ("--onto", "main~1")):
        whole = mails(repo, "--repo", str(repo.path), *onto, "--format", "json").json
        assert same_of(whole, names.__getitem__) == EXPECTED
        # The same edit by its hunks and by its files has the same number.
        numbers = ("what", "where", "why")
        before, after = (
            {(p["new"], p["other"]): [p[key] for key in numbers] for p in document["pairs"]}
            for document in (alone, whole)
        )
        assert before == after
    state = ("--state", str(repo.path.parent / "queue.state"))
    kept = mails(repo, "--repo", str(repo.path), *state, "--format", "json").json
    assert same_of(kept, names.__getitem__) == EXPECTED


def test_a_page_has_the_words(repo):
    page = heads(repo).out
    assert "● agent/ada" in page
    assert "same code: agent/bo" in page
    assert "same up to names" in page
    whole = heads(repo, "-v").out
    assert "what: changed words; where: changed places; why: messages" in whole


def test_a_narrow_page_has_a_line_for_each_word(repo):
    document = msgspec.convert(heads(repo, "--format", "json").json, ClusterDocument)
    for width in (40, 80):
        out = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
        for line in cluster_lines(document, out):
            out.print(line, soft_wrap=True)
        lines = out.file.getvalue().rstrip("\n").split("\n")
        assert max(map(cell_len, lines)) <= width
        told = [line.strip().partition(":")[0] for line in lines]
        assert {"same code", "same up to names"} <= {*told}


def test_what_does_not_apply_is_said_and_stays(repo, tmp_path):
    (tmp_path / "odd.patch").write_text(
        "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n-def sum_of(items):\n+def sums():\n x\n"
    )
    (tmp_path / "gone.patch").write_text("--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n")
    ran = mails(repo, str(tmp_path), "--repo", str(repo.path), "--format", "json")
    assert ran.code == 0
    assert same_of(ran.json) != set()
    for name in ("odd.patch", "gone.patch"):
        (note,) = ran.json["notes"][name]
        assert note.startswith("whole files not compared: ")
    assert {"odd.patch", "gone.patch"} <= {entry["id"] for entry in ran.json["patches"]}


def test_commits_of_a_range_are_not_compared(repo):
    ran = excise(
        "cluster", "--git", "main~1..agent/ada", "--repo", str(repo.path), "--format", "json"
    )
    assert any("commits of a range" in line for line in ran.json["about"])


def test_wrong_repositories(repo, tmp_path):
    one_line(mails(repo, "--repo", str(tmp_path)), "not in a git repository", "git repository")
    one_line(mails(repo, "--repo", str(repo.path), "--onto", "gone"), "unknown revision 'gone'")
    assert "--onto needs" in mails(repo, "--onto", "main").err
    empty = Repo(tmp_path / "empty", tmp_path / "home").init()
    one_line(mails(repo, "--repo", str(empty.path)), "no commits yet")


def test_bounds_are_said(repo, monkeypatch):
    """Too many that hang together are not looked at, and neither is what is beyond the first."""
    from excise_server.candidates import whole

    monkeypatch.setattr(whole, "MOST_MEMBERS", 3)
    document = heads(repo, "--format", "json").json
    assert same_of(document) == set()
    assert any("hang together" in line for line in document["about"])
    monkeypatch.setattr(whole, "MOST_PATCHES", 2)
    document = heads(repo, "--format", "json").json
    assert "same code: only the first 2 patches are looked at" in document["about"]
