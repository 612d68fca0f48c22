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


async def opened(client: LanguageClient, revisions: dict[str, str]) -> None:
    document = t.TextDocumentItem(URI, "python", 1, ORIGIN)
    client.text_document_did_open(t.DidOpenTextDocumentParams(document))
    records = [{"id": name, "text": text} for name, text in revisions.items()]
    added = await asked(client, "excise/addRevisions", revisions=records)
    assert added.accepted == list(revisions)


async def asked(client: LanguageClient, method: str, **params: object):
    return await client.protocol.send_request_async(method, {"uri": URI, **params})


@pytest.mark.asyncio
async def test_revisions_become_diagnostics_and_hovers_until_they_go(client: LanguageClient):
    await opened(client, REVISIONS)
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
    where = t.Range(t.Position(1, 0), t.Position(1, 13))
    assert places[1].range == where
    assert (places[1].data["compared"], places[1].data["diverging"]) == (5, 9)
    pair = {"a": "gpt", "b": "claude", "es": 1.0, "share": 1.0, "word": "identical"}
    assert pair in places[1].data["pairs"]

    document = t.TextDocumentIdentifier(URI)
    hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(1, 3)))
    assert (hover.range, hover.contents.kind) == (where, t.MarkupKind.Markdown)
    assert "```python\n    x = a - b\n```" in hover.contents.value
    beside = t.HoverParams(document, t.Position(2, 0))
    assert await client.text_document_hover_async(beside) is None

    await asked(client, "excise/removeCandidates", ids=list(REVISIONS))
    await client.wait_for_notification(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert not client.diagnostics[URI]
    hover = await client.text_document_hover_async(t.HoverParams(document, t.Position(1, 3)))
    assert hover is None


@pytest.mark.asyncio
async def test_edits_and_saving_move_the_lines_alone(client: LanguageClient):
    await opened(client, {"gpt": A})
    top = t.Range(t.Position(0, 0), t.Position(0, 0))
    client.text_document_did_change(
        t.DidChangeTextDocumentParams(
            t.VersionedTextDocumentIdentifier(version=2, uri=URI),
            [t.TextDocumentContentChangePartial(range=top, text="# new\n")],
        )
    )
    report = await asked(client, "excise/report")
    assert [r.id for r in report.revisions] == ["gpt"]
    assert (report.version, report.hunks[0].range.start.line) == (2, 2)
    assert "    x = a - b\n" in [v.text for v in report.hunks[0].variants]

    client.text_document_did_save(t.DidSaveTextDocumentParams(t.TextDocumentIdentifier(URI)))
    report = await asked(client, "excise/report")
    assert [(r.range.start.line, r.range.end.line) for r in report.hunks] == [(2, 3)]


@pytest.mark.asyncio
async def test_commands_do_what_the_requests_do(client: LanguageClient):
    await opened(client, {})

    async def run(command: str, **argument: object):
        params = t.ExecuteCommandParams(f"excise.{command}", [{"uri": URI, **argument}])
        return await client.workspace_execute_command_async(params)

    revision = {"id": "a", "text": A, "label": "Ann"}
    assert (await run("addRevisions", revisions=[revision]))["accepted"] == ["a"]
    assert [r.label for r in (await asked(client, "excise/report")).revisions] == ["Ann"]
