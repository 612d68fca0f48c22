"""Texts that end a process where a parser gets them, or hold one for hours: every door survives."""

import json

import pytest
from tests.server.command import spawn
from tests.server.raw_client import RawClient

pytestmark = pytest.mark.slow

DEEP = "safely (it nests too deeply)"
WIDE = "safely (a character above U+FFFF"
EVIL = [
    ("yaml", "a: 1\n", "- " * 254, DEEP),
    ("md", "a\n", "> " * 255, DEEP),
    ("md", "a\n", "1" + chr(0x100000), WIDE),
]


def written(tmp_path, extension, text, evil, reason):
    contents = {"a": text, "b": text + "b\n", "evil": evil, "c": text + "c\n"}
    paths = {name: tmp_path / f"{name}.{extension}" for name in contents}
    for name, path in paths.items():
        path.write_text(contents[name], encoding="utf-8")
    return {name: str(path) for name, path in paths.items()}, reason


@pytest.mark.parametrize("evil", EVIL, ids=lambda evil: f"{evil[0]}-{evil[2][:6]!a}")
def test_the_order_ends_with_an_answer_and_a_note(tmp_path, evil):
    paths, reason = written(tmp_path, *evil)
    ran = spawn("compare", *paths.values(), "--format", "json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert {entry["id"] for entry in found["ranking"]} == set(paths.values()) - {paths["a"]}
    assert reason in found["notes"][paths["evil"]][0]
    assert all(reason not in note for note in found["notes"].get(paths["b"], []))


@pytest.mark.parametrize(("extension", "text", "evil", "reason"), EVIL)
def test_an_evil_file_beside_a_document_costs_its_pairs_the_grammar(
    tmp_path, extension, text, evil, reason
):
    document = tmp_path / f"a.{extension}"
    document.write_text(text)
    for name, content in {"b": text + "b\n", "c": evil, "d": text + "d\n"}.items():
        beside = document.with_name(f"{document.name}.suggestion-{name}")
        beside.write_text(content, encoding="utf-8")
    with RawClient() as client:
        client.initialize(workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
        client.open(uri := document.as_uri(), text, language="")
        client.call("excise/review", {"uri": uri})
        found = client.call("excise/report", {"uri": uri})
        notes = {revision["id"][-1]: revision["notes"] for revision in found["revisions"]}
        assert reason in notes["c"][0]
        assert all(reason not in note for note in (*notes["b"], *notes["d"]))
        assert "+lexical|" in found["signature"]
        # Typing on leaves the evil file where it is, and the server alive.
        end = {"line": 1, "character": 0}
        client.change(uri, 2, {"range": {"start": end, "end": end}, "text": "d\n"})
        assert len(client.call("excise/report", {"uri": uri})["revisions"]) == 3
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)
