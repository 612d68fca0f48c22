"""A whole session over pytest-lsp: what an editor sees when revisions of a file arrive.

The words and numbers are expected by the archives of tests/cases/editor.
"""

import sys

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

pytestmark = pytest.mark.slow

URI = "file:///nowhere/app.py"
ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
A = ORIGIN.replace("a + b", "a - b")
BOTH = A.replace("a * 2", "a * 3")
REVISIONS = {"gpt": A, "claude": A, "llama": BOTH, "same": ORIGIN, "other": "import os\n" + ORIGIN}


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[sys.executable, "-m", "excise_server", "--stdio"])
)
async def client(lsp_client: LanguageClient):
    # VS Code takes registrations; the client of pytest-lsp has no handler of its own.
    lsp_client.feature(t.CLIENT_REGISTER_CAPABILITY)(lambda _params: None)
    lsp_client.feature(t.WORKSPACE_CODE_LENS_REFRESH)(lambda _params: None)
    await lsp_client.initialize_session(
        t.InitializeParams(capabilities=client_capabilities("visual-studio-code"))
    )
    yield
    await lsp_client.shutdown_session()


def open_document(client: LanguageClient, text: str = ORIGIN) -> None:
    client.text_document_did_open(
        t.DidOpenTextDocumentParams(t.TextDocumentItem(URI, "python", 1, text))
    )


async def add(client: LanguageClient, revisions: dict[str, str]) -> list[str]:
    records = [{"id": name, "text": text} for name, text in revisions.items()]
    params = {"uri": URI, "revisions": records}
    return (await client.protocol.send_request_async("excise/addRevisions", params)).accepted


@pytest.mark.asyncio
async def test_revisions_become_diagnostics(client: LanguageClient):
    open_document(client)
    assert await add(client, REVISIONS) == list(REVISIONS)
    await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    file, *places = client.diagnostics[URI]

    assert {d.source for d in client.diagnostics[URI]} == {"excise"}
    assert {d.severity for d in client.diagnostics[URI]} == {t.DiagnosticSeverity.Information}
    assert file.range == t.Range(t.Position(0, 0), t.Position(0, 12))
    assert file.data["ids"] == list(REVISIONS)
    assert len(file.data["similarity"]) == 5
    assert len(file.related_information) == 3
    assert {r.location.uri for r in file.related_information} == {URI}

    assert [d.range.start.line for d in places] == [0, 1, 6]
    assert places[1].range == t.Range(t.Position(1, 0), t.Position(1, 13))
    assert (places[1].data["compared"], places[1].data["diverging"]) == (5, 9)
    assert {"a": "gpt", "b": "claude", "es": 1.0, "share": 1.0, "word": "same"} in places[1].data[
        "pairs"
    ]


@pytest.mark.asyncio
async def test_a_hover_is_markdown_where_it_is_taken(client: LanguageClient):
    open_document(client)
    await add(client, REVISIONS)
    position = t.TextDocumentPositionParams(t.TextDocumentIdentifier(URI), t.Position(1, 3))
    hover = await client.text_document_hover_async(
        t.HoverParams(position.text_document, position.position)
    )
    assert hover.range == t.Range(t.Position(1, 0), t.Position(1, 13))
    assert hover.contents.kind == t.MarkupKind.Markdown
    assert "```python\n    x = a - b\n```" in hover.contents.value


@pytest.mark.asyncio
async def test_no_hover_where_nothing_diverges(client: LanguageClient):
    open_document(client)
    params = t.HoverParams(t.TextDocumentIdentifier(URI), t.Position(2, 0))
    assert await client.text_document_hover_async(params) is None
    await add(client, REVISIONS)
    assert await client.text_document_hover_async(params) is None


@pytest.mark.asyncio
async def test_edits_and_saving_move_the_lines_alone(client: LanguageClient):
    open_document(client)
    await add(client, {"gpt": A})
    top = t.Range(t.Position(0, 0), t.Position(0, 0))
    client.text_document_did_change(
        t.DidChangeTextDocumentParams(
            t.VersionedTextDocumentIdentifier(version=2, uri=URI),
            [t.TextDocumentContentChangePartial(range=top, text="# new\n")],
        )
    )
    report = await client.protocol.send_request_async("excise/report", {"uri": URI})
    assert [r.id for r in report.revisions] == ["gpt"]
    assert (report.version, report.hunks[0].range.start.line) == (2, 2)
    assert "    x = a - b\n" in [v.text for v in report.hunks[0].variants]

    client.text_document_did_save(t.DidSaveTextDocumentParams(t.TextDocumentIdentifier(URI)))
    report = await client.protocol.send_request_async("excise/report", {"uri": URI})
    assert [(r.range.start.line, r.range.end.line) for r in report.hunks] == [(2, 3)]


@pytest.mark.asyncio
async def test_commands_do_what_the_requests_do(client: LanguageClient):
    open_document(client)

    async def run(command: str, argument: object):
        return await client.workspace_execute_command_async(
            t.ExecuteCommandParams(command, [argument])
        )

    added = await run(
        "excise.addRevisions", {"uri": URI, "revisions": [{"id": "a", "text": A, "label": "Ann"}]}
    )
    assert added["accepted"] == ["a"]
    listed = await run("excise.listRevisions", {"uri": URI})
    assert listed["revisions"] == [{"id": "a", "label": "Ann"}]
    assert (await run("excise.report", {"uri": URI}))["revisions"][0]["label"] == "Ann"
    removed = await run("excise.removeRevisions", {"uri": URI, "ids": ["a", "b"]})
    assert removed == {"removed": ["a"], "unknown": ["b"]}


@pytest.mark.asyncio
async def test_removing_the_last_revision_clears_the_diagnostics(client: LanguageClient):
    open_document(client)
    await add(client, {"a": A})
    await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert client.diagnostics[URI]
    params = {"uri": URI, "ids": ["a"]}
    await client.protocol.send_request_async("excise/removeRevisions", params)
    await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert not client.diagnostics[URI]
