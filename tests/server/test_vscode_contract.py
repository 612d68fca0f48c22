"""The VS Code client's types of the server's answers are those of the server."""

import importlib.util
import re
from pathlib import Path

from excise_server.wire import lsp as p

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("client_types", ROOT / "tools/client_types.py")
client_types = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(client_types)


def test_the_client_has_the_types_of_the_records():
    said = client_types.client_types()
    assert client_types.FILE.read_text("utf-8") == said, "run: make schema"


def test_the_client_asks_only_what_the_server_answers():
    assert client_types.Client().asked - {p.DID_CHANGE_REPORT} <= p.METHODS.keys()


def test_params_are_complete_and_of_answers_what_is_read():
    text = client_types.FILE.read_text("utf-8")
    start = '"excise/removeCandidates": [{ ids: readonly string[]; uri?: string | null }, '
    assert start in text
    state = 'state?: "shown" | "hidden" | "rejected" | null; base?: string | null; '
    assert state in text
    assert "readonly range: Range;" in text
    assert "readonly lines: Readonly<Record<string, LinesEntry>>;" in text
    assert "readonly linkage" not in text


def test_the_client_has_none_of_the_servers_commands():
    """The language client registers those of the server; a second one keeps it from starting."""
    manifest = (ROOT / "vscode-client" / "package.json").read_text(encoding="utf-8")
    ours = set(re.findall(r'"command": "(excise[.\w]+)"', manifest))
    assert len(ours) > 10
    assert ours.isdisjoint(p.COMMANDS)
