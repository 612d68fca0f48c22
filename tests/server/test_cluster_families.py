"""``excise cluster`` where whole files are known: same code and families, as review has them."""

from __future__ import annotations

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
"""Two with the same code, one the same up to a name, one near them, and one of something else."""


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    place = tmp_path_factory.mktemp("families")
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


def families_of(document, named=lambda name: name):
    """The families with more than one patch, each by its edits, with the words in them."""
    return {
        frozenset(
            (frozenset(map(named, edit["members"])), edit["relation"]) for edit in family["edits"]
        )
        for family in document["families"]
        if sum(len(edit["members"]) for edit in family["edits"]) > 1
    }


EXPECTED = {
    frozenset(
        {
            (frozenset({"agent/ada", "agent/bo"}), ""),
            (frozenset({LONG}), "same up to names"),
            (frozenset({ARABIC}), ""),
        }
    )
}


def test_heads_have_the_families_of_review(repo):
    document = heads(repo, "--format", "json").json
    assert families_of(document) == EXPECTED
    bare = excise(
        "cluster", "--git", "agent/*", "--repo", str(repo.path.parent / "bare.git"),
        "--format", "json",
    )  # fmt: skip
    assert families_of(bare.json) == EXPECTED
    asked = ("review", "--git", "agent/*", "--repo", str(repo.path), "--issue", "negative totals")
    review = excise(*asked, "--format", "json").json
    names = {entry["id"]: entry["branch"] for entry in review["candidates"]}
    (task,) = [task for task in review["tasks"] if len(task["members"]) > 1]
    assert families_of(task, names.__getitem__) == EXPECTED
    same = {
        frozenset((pair["new"], pair["other"])): pair["same_edit"]["word"]
        for pair in document["pairs"]
        if pair["same_edit"]
    }
    labels = {name: place for place, entry in enumerate(review["candidates"])
              for name in [entry["branch"]]}  # fmt: skip
    words = review["words"]
    for a, b in ((a, b) for a, b in map(tuple, same) if same[frozenset((a, b))][:4] == "same"):
        assert words[labels[a]][labels[b]] == same[frozenset((a, b))]
    assert {"same code", "same up to names"} <= {*same.values()}


def test_mails_have_the_families_of_heads_where_they_apply(repo):
    alone = mails(repo, "--format", "json").json
    assert "families" not in alone
    assert "families need whole files: --repo DIR, if the patches apply to it" in alone["about"]
    for onto in ((), ("--onto", "main~1")):
        whole = mails(repo, "--repo", str(repo.path), *onto, "--format", "json").json
        names = {number_of(name): name for name in EDITS}
        assert families_of(whole, names.__getitem__) == EXPECTED
        # The same edit by its hunks and by its files has the same number.
        numbers = ("what", "where", "why")
        before, after = (
            {(p["new"], p["other"]): [p[key] for key in numbers] for p in document["pairs"]}
            for document in (alone, whole)
        )
        assert before == after
    state = ("--state", str(repo.path.parent / "queue.state"))
    kept = mails(repo, "--repo", str(repo.path), *state, "--format", "json").json
    assert families_of(kept, names.__getitem__) == EXPECTED


def test_a_page_has_a_line_for_each_family(repo):
    page = heads(repo).out
    assert "4 patches, 1 family, 3 edits: likely the same issue" in page
    lines = [line.strip() for line in page.split("\n")]
    assert "● agent/ada" in page
    assert {"same code: agent/bo", f"same up to names: {LONG}", f"near: {ARABIC}"} <= {*lines}
    for format in ("markdown", "html"):
        text = heads(repo, "--format", format).out
        assert "1 family, 3 edits" in text
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
        assert {"same code", "same up to names", "near"} <= {*told}


def test_what_does_not_apply_is_said_and_stays(repo, tmp_path):
    (tmp_path / "odd.patch").write_text(
        "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n-def sum_of(items):\n+def sums():\n x\n"
    )
    (tmp_path / "gone.patch").write_text("--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-a\n+b\n")
    ran = mails(repo, str(tmp_path), "--repo", str(repo.path), "--format", "json")
    assert ran.code == 0
    assert families_of(ran.json) != set()
    for name in ("odd.patch", "gone.patch"):
        (note,) = ran.json["notes"][name]
        assert note.startswith("no family: ")
    assert {"odd.patch", "gone.patch"} <= {entry["id"] for entry in ran.json["patches"]}


def test_commits_of_a_range_and_series_have_no_families(repo, tmp_path):
    ran = excise(
        "cluster", "--git", "main~1..agent/ada", "--repo", str(repo.path), "--format", "json"
    )
    assert ran.json["families"] == []
    assert any("commits of a range" in line for line in ran.json["about"])
    text = b"".join(
        b"From: Ada <a@x>\nSubject: [PATCH %d/2] part\nMessage-ID: <%d>\nIn-Reply-To: <1>\n\n%b\n"
        % (at, at, (repo.path.parent / "mails" / f"{at}.patch").read_bytes().split(b"---\n", 1)[1])
        for at in (1, 2)
    )
    (tmp_path / "series.mbox").write_bytes(
        b"From x\n" + text.replace(b"\nFrom: ", b"\nFrom x\nFrom: ")
    )
    ran = excise(
        "cluster", str(tmp_path / "series.mbox"), "--repo", str(repo.path), "--format", "json"
    )
    assert ran.json["families"] == []


def test_wrong_repositories(repo, tmp_path):
    one_line(mails(repo, "--repo", str(tmp_path)), "not in a git repository", "git repository")
    one_line(mails(repo, "--repo", str(repo.path), "--onto", "gone"), "unknown revision 'gone'")
    assert "--onto needs" in mails(repo, "--onto", "main").err
    empty = Repo(tmp_path / "empty", tmp_path / "home").init()
    one_line(mails(repo, "--repo", str(empty.path)), "no commits yet")


def test_bounds_are_said(repo, monkeypatch):
    """Too many that hang together are not looked at, and neither is what is beyond the first."""
    from excise_server.candidates import near

    monkeypatch.setattr(near, "MOST_MEMBERS", 3)
    document = heads(repo, "--format", "json").json
    assert document["families"] == []
    assert any("hang together" in line for line in document["about"])
    monkeypatch.setattr(near, "MOST_PATCHES", 2)
    document = heads(repo, "--format", "json").json
    assert "families: only the first 2 patches are looked at" in document["about"]
