"""A whole session over pytest-lsp: what an editor sees when revisions of a file arrive."""

import sys

import pytest
import pytest_lsp
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

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
    assert file.message.startswith("5 revisions, 4 clusters, 3 places, mean ES ")
    assert "#1 gpt: cluster 1, agreement" in file.message
    assert "ES 1.00 gpt / claude" in file.message
    assert len([line for line in file.message.split("\n") if line.startswith("ES ")]) == 10
    assert file.data["ids"] == list(REVISIONS)
    assert len(file.data["similarity"]) == 5
    assert len(file.related_information) == 3
    assert {r.location.uri for r in file.related_information} == {URI}

    assert [d.range.start.line for d in places] == [0, 1, 6]
    assert places[1].range == t.Range(t.Position(1, 0), t.Position(1, 13))
    assert places[1].message.startswith("3 of 5 revisions agree here, 2 variants, ES 0.")
    assert places[1].message.endswith(", 2 leave it as it is")
    assert (places[1].data["compared"], places[1].data["diverging"]) == (5, 9)
    assert {"a": "gpt", "b": "claude", "es": 1.0, "share": 1.0} in places[1].data["pairs"]


@pytest.mark.asyncio
async def test_the_hover_explains_a_place(client: LanguageClient):
    open_document(client)
    await add(client, REVISIONS)
    position = t.TextDocumentPositionParams(t.TextDocumentIdentifier(URI), t.Position(1, 3))
    hover = await client.text_document_hover_async(
        t.HoverParams(position.text_document, position.position)
    )
    assert hover.range == t.Range(t.Position(1, 0), t.Position(1, 13))
    assert hover.contents.kind == t.MarkupKind.Markdown
    text = hover.contents.value
    assert text.startswith("Place 2 of 3: 3 of 5 revisions agree here, 2 variants, ES 0.")
    assert "| variant | revisions | ES | keep | add | delete |" in text
    assert "| 1 | gpt, claude, llama | 0." in text
    assert "```python\n    x = a - b\n```" in text
    assert "Variant 2 is the origin's text" in text
    assert "| gpt | claude | 1.00 |" in text
    assert "pairs that do the same here: 1" in text


@pytest.mark.asyncio
async def test_the_hover_of_the_first_line_has_the_matrix(client: LanguageClient):
    open_document(client)
    await add(client, REVISIONS)
    params = t.HoverParams(t.TextDocumentIdentifier(URI), t.Position(0, 0))
    text = (await client.text_document_hover_async(params)).contents.value
    assert "| rank | revision | agreement | edit size | notes |" in text
    assert "| ES | gpt | claude |" in text
    assert "changes nothing" in text


@pytest.mark.asyncio
async def test_no_hover_where_nothing_diverges(client: LanguageClient):
    open_document(client)
    params = t.HoverParams(t.TextDocumentIdentifier(URI), t.Position(2, 0))
    assert await client.text_document_hover_async(params) is None
    await add(client, REVISIONS)
    assert await client.text_document_hover_async(params) is None


@pytest.mark.asyncio
async def test_the_report_has_everything(client: LanguageClient):
    open_document(client)
    await add(client, REVISIONS)
    report = await client.protocol.send_request_async("excise/report", {"uri": URI})
    assert report.version == 1
    assert report.signature.startswith(
        "es|gran:nested|lcs:star|del:f1|n:4|comments:keep|tok:python"
    )
    assert [r.id for r in report.revisions] == list(REVISIONS)
    assert [r.noOp for r in report.revisions] == [False, False, False, True, False]
    assert [r.rank for r in report.revisions][:2] == [1, 1]
    assert report.revisions[3].rank == 5
    assert report.similarity[0][1] == 1.0
    assert all(report.similarity[i][i] == 1.0 for i in range(5))
    assert report.clusters[0].members == ["gpt", "claude"]
    assert report.clusters[0].representative == "gpt"
    assert report.clusters[0].min_similarity == 1.0
    gap, line, _ = report.regions
    assert (gap.range.start.line, gap.range.end.line, gap.range.end.character) == (0, 0, 0)
    assert (line.range.start.line, line.range.end.line) == (1, 2)
    assert [(v.ids, v.text) for v in line.variants] == [
        (["gpt", "claude", "llama"], "    x = a - b\n"),
        (["same", "other"], "    x = a + b\n"),
    ]
    assert line.agree == 3
    assert gap.variants[1].text == "import os\n"


@pytest.mark.asyncio
async def test_edits_move_the_lines_and_saving_makes_the_origin(client: LanguageClient):
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
    assert [r.id for r in report.revisions] == ["gpt", "buffer"]
    assert (report.version, report.regions[1].range.start.line) == (2, 2)
    assert "    x = a - b\n" in [v.text for v in report.regions[1].variants]

    client.text_document_did_save(t.DidSaveTextDocumentParams(t.TextDocumentIdentifier(URI)))
    report = await client.protocol.send_request_async("excise/report", {"uri": URI})
    assert [(r.range.start.line, r.range.end.line) for r in report.regions] == [(0, 1), (2, 3)]
    assert report.regions[0].variants[0].text == ""


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
