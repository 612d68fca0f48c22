"""docs/editors.md, where no editor runs it: it parses, and starts what it says it starts."""

import json
import re
import shlex
import tomllib

import pytest
from tests.e2e.interop import sessions

TEXT = sessions.DOCUMENT.read_text(encoding="utf-8")
COMMAND = shlex.split(re.search(r"```sh\n(.*)\n```", TEXT)[1])


def test_json_and_toml_parse_and_start_the_server():
    code = json.loads(sessions.documented("VS Code", "json"))
    assert code
    assert code.keys() <= settings_of_the_extension()
    helix = tomllib.loads(sessions.documented("Helix", "toml"))["language-server"]["excise"]
    assert [helix["command"], *helix["args"]] == COMMAND
    kate = json.loads(sessions.documented("Kate", "json"))
    assert kate["servers"]["python"]["command"] == COMMAND
    sublime = json.loads(sessions.documented("Sublime Text", "json"))
    assert sublime["clients"]["excise"]["command"] == COMMAND


def settings_of_the_extension() -> set[str]:
    manifest = json.loads((sessions.ROOT / "vscode-client/package.json").read_text("utf-8"))
    parts = manifest["contributes"]["configuration"]
    return {name for part in parts for name in part["properties"]}


@pytest.mark.parametrize("heading", ["Neovim", "Emacs", "Vim with ALE"])
def test_what_is_said_to_be_run_has_a_test(heading: str):
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    name = re.search(r"\*\*Run\*\* with .*?, by `(tests/e2e/interop/\w+\.py)`", section)[1]
    assert f'sessions.documented("{heading}", ' in (sessions.ROOT / name).read_text("utf-8")
