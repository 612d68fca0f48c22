/** What other extensions get: the exported API, used from outside. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import * as vscode from "vscode";
import type { NewRevision, Report } from "../../excise";
import { api, file, NAMES, origin, scored, show, suggestion, suggestions, until } from "./helpers.js";

describe("the exported API", () => {
  it("reports ranks, clusters, similarity and hunks", async () => {
    const document = await scored();
    const report = await (await api()).getReport(document.uri);
    assert.ok(report);
    assert.deepEqual(report.revisions.map(({ id }) => id), [...NAMES]);
    assert.equal(report.version, document.version);
    assert.equal(Math.min(...report.revisions.map(({ rank }) => rank)), 1);
    report.similarity.forEach((row, at) => {
      assert.equal(row.length, 5);
      assert.equal(row[at], 1);
    });
    assert.equal(report.clusters.flatMap(({ members }) => members).length, 5);
    assert.ok(report.hunks.some(({ variants }) => variants.length > 1));
    assert.match(report.signature, /^pes\|/);
  });

  it("tells of a newer report", async () => {
    const { onDidChangeReport } = await api();
    const told: string[] = [];
    const listening = onDidChangeReport(({ uri }) => told.push(uri.toString()));
    const document = await scored();
    await until(() => told.includes(document.uri.toString()), Boolean);
    listening.dispose();
  });

  it("is used by another extension, through its types alone", async () => {
    const uri = file();
    for (const id of ["ada", "bo"]) {
      const added = await vscode.commands.executeCommand("apiClient.push", uri, id, suggestion(id));
      assert.deepEqual(added, { accepted: [id], rejected: [] });
    }
    interface Answer {
      report: Report | undefined;
      changed: number;
    }
    const { report } = await until(
      async () => vscode.commands.executeCommand<Answer>("apiClient.report", uri),
      ({ changed }) => changed > 0,
    );
    assert.deepEqual(report?.revisions.map(({ id }) => id), ["ada", "bo"]);
    assert.match(report.revisions[0]?.label ?? "", /api-client/);
  });

  it("takes texts and edits, opened or not, and no patch", async () => {
    const uri = file();
    const text = origin();
    const end = text.split("\n").length;
    const edit = vscode.TextEdit.insert(new vscode.Position(end - 1, 0), "# by edits\n");
    const { addRevisions, getReport } = await api();
    const added = await addRevisions({
      uri,
      revisions: [
        { id: "text", text: `${text}# by text\n`, source: "a test" },
        { id: "edits", edits: [edit] },
        { id: "patch", patch: "--- a\n+++ b\n" } as unknown as NewRevision,
      ],
    });
    assert.deepEqual(added.accepted, ["text", "edits"]);
    assert.match(added.rejected[0]?.reason ?? "", /git apply/);
    const report = await getReport(uri);
    const variants = report?.hunks.flatMap((hunk) => hunk.variants.map((one) => one.text));
    for (const by of ["text", "edits"]) {
      assert.ok(variants?.some((one) => one.endsWith(`# by ${by}\n`)), JSON.stringify(variants));
    }
    assert.match(report?.revisions[0]?.label ?? "", /a test/);
  });

  it("says what is wrong with a document that is deleted", async () => {
    const uri = file();
    rmSync(uri.fsPath);
    const { addRevisions, getReport } = await api();
    await addRevisions({ uri, revisions: suggestions() });
    assert.equal(await getReport(uri), undefined);
  });

  it("serves an untitled document", async () => {
    const document = await vscode.workspace.openTextDocument({ content: origin(), language: "python" });
    await vscode.window.showTextDocument(document);
    const { addRevisions, getReport } = await api();
    const added = await addRevisions({ uri: document.uri, revisions: suggestions() });
    assert.deepEqual(added.accepted, [...NAMES]);
    assert.equal((await getReport(document.uri))?.revisions.length, 5);
  });

  it("compares what the editor shows of a file in UTF-16", async () => {
    const uri = file(Buffer.from(`\ufeff${origin()}`, "utf16le"));
    const document = await show(uri);
    assert.equal(document.getText(), origin(), "the editor decodes it");
    const { addRevisions, getReport } = await api();
    await addRevisions({ uri, revisions: [{ id: "same", text: origin() }, { id: "ada", text: suggestion("ada") }] });
    const report = await getReport(uri);
    assert.deepEqual(report?.revisions.map(({ noOp }) => noOp), [true, false]);
  });

  it("has nothing for a document that is no file, and says so by an absent report", async () => {
    const provider = { provideTextDocumentContent: () => origin() };
    const registered = vscode.workspace.registerTextDocumentContentProvider("virtual", provider);
    const document = await show(vscode.Uri.parse("virtual:/inventory.py"));
    const { addRevisions, getReport } = await api();
    await addRevisions({ uri: document.uri, revisions: suggestions() }).catch(() => undefined);
    assert.equal(await getReport(document.uri), undefined);
    registered.dispose();
  });
});
