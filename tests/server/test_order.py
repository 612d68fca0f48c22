"""One order by every door: commands, the language server and the tools for agents."""

import pytest
from tests.server.command import excise
from tests.server.edited_worktrees import client_of, edited_worktrees
from tests.server.git_repository import Repo, needs_git
from tests.server.raw_client import RawClient
from tests.server.test_mcp import content, served

pytestmark = [pytest.mark.slow, needs_git]

LINES = [f"LIMIT_{number} = 1" for number in range(300)]
LINES[100] = "def total(orders):\n    return sum(order.price * order.count for order in orders)"
ORIGIN = "\n".join(LINES) + "\n"
OLD = "    return sum(order.price * order.count for order in orders)"
FIX = """\
    result = 0
    for order in orders:
        if order.count <= 0 or order.is_cancelled:
            continue
        price = order.price * order.count
        if order.discount is not None:
            price -= price * order.discount / 100
        result += round(price + order.shipping, 2)
    return result"""
FIXES = ("ada", "bo", "cy", "dee")
INVALID_PARAMS = -32602


@pytest.fixture
def repo(tmp_path, monkeypatch) -> Repo:
    """Four candidates make the identical fix, and one a wrong edit of two tokens."""
    edits = dict.fromkeys(FIXES, (OLD, FIX))
    edits["wrong"] = (OLD, OLD.replace("order.price *", "order.price +"))
    return edited_worktrees(tmp_path, monkeypatch, edits, a__py=ORIGIN)


def names(ids):
    return [name.rpartition(":")[2] for name in ids]


def test_agents_get_the_same_order_with_its_reasons(repo: Repo):
    listed, fix, unknown = served(
        repo.path,
        ("list_candidates", {}),
        ("list_candidates", {"intent": "fix"}),
        ("review", {"intent": "feature"}),
    )
    for answer, intent in ((listed, "change"), (fix, "fix")):
        found = content(answer)
        (task,) = found["tasks"]
        assert (found["intent"], task["disagree"]) == (intent, False)
        assert names(c["id"] for c in task["candidates"]) == [*FIXES, "wrong"]
        says = [c["says"].partition(";")[0] == "4 of 5 make this edit" for c in task["candidates"]]
        assert says == [True] * 4 + [False]
    assert unknown.is_error
    assert "'fix' or 'change'" in unknown.content[0].text


def test_editors_get_the_same_order(repo: Repo):
    uri = (repo.path / "a.py").as_uri()
    with client_of(repo) as client:
        client.open(uri, ORIGIN)
        fixed = ORIGIN.replace(OLD, FIX)
        client.add(uri, {"wrong": ORIGIN.replace("LIMIT_270 = 1", "LIMIT_270 = 2")})
        client.add(uri, {**dict.fromkeys(FIXES, fixed), "dee": fixed + "# as asked\n"})
        report = client.call("excise/report", {"uri": uri})
        mine = {name: [] for name in (*FIXES, "wrong")}
        for revision in report["revisions"]:
            if revision["id"] in mine:
                mine[revision["id"]] = revision["rank"], *revision["why"][:1]
        count = len(report["revisions"])
        makers = sum(name != "wrong" for name in names(r["id"] for r in report["revisions"]))
        assert mine["wrong"][0] > max(mine[name][0] for name in FIXES)
        assert {mine[name][1] for name in FIXES} == {f"{makers} of {count} make this edit"}
        assert "wrong" not in report["clusters"][0]["members"]
        assert (report["intent"], report["disagree"]) == ("change", False)
        for intent in (None, "fix"):
            params = {"uri": repo.path.as_uri(), "intent": intent}
            found = client.call("excise/candidates", params)
            assert found["intent"] == (intent or "change")
            assert names(entry["id"] for entry in found["candidates"])[-1] == "wrong"
        params = {"uri": repo.path.as_uri(), "intent": "feature"}
        refused = client.refused("excise/candidates", params)
        assert refused["code"] == INVALID_PARAMS
        assert "fix or change" in refused["message"]


def test_where_nobody_agrees_every_door_says_so(tmp_path, monkeypatch):
    edits = {"ada": ("= 1", "= 2"), "bo": ("= 1", "= int(1)"), "cy": ("a = 1", "b = 1\na = b")}
    repo = edited_worktrees(tmp_path, monkeypatch, edits, a__py="a = 1\n")
    monkeypatch.chdir(repo.path)
    for said in ((), ("--intent", "fix")):
        assert "They disagree: read, or run. Nothing was run: --run" in excise("review", *said).out
    ranked = excise("compare", "a.py", *(str(tmp_path / name / "a.py") for name in edits)).out
    assert "they disagree: read each, or run excise review --run 'COMMAND'" in ranked
    assert excise("review", "--format", "json").json["tasks"][0]["disagree"]
    checked = excise("review", "--run", "true").out
    assert "disagree" not in checked
    (listed,) = served(repo.path, ("list_candidates", {}))
    assert content(listed)["tasks"][0]["disagree"]


def test_the_intent_of_an_editor_s_settings_orders_its_documents():
    near = "a = abs(1)\nprint(a)\n"
    texts = {"small": "a = 2\n", "near": near, "too": near.replace("(a)", "(-a)")}
    first = {}
    for intent in ("fix", "change", "feature"):
        with RawClient() as client:
            client.initialize(initializationOptions={"intent": intent})
            client.open("untitled:a.py", "a = 1\n", language="python")
            client.add("untitled:a.py", texts)
            report = client.call("excise/report", {"uri": "untitled:a.py"})
            best = min(report["revisions"], key=lambda revision: revision["rank"])
            first[intent] = report["intent"], best["id"]
            assert client.exit() == 0
            assert any("intent must be one of fix, change" in line for line in client.log) == (
                intent == "feature"
            )
    assert first["fix"] == ("fix", "small")
    assert first["change"] == first["feature"]
    assert first["change"][0] == "change"
    assert first["change"][1] != "small"
