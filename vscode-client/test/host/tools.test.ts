/** What a language model in the editor may ask, called as the editor calls it. */
import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { api, file, origin, SCRATCH, suggestion } from "./helpers.js";

async function call(name: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
}

describe("the tools for language models", () => {
  it("are there, and say what they are for", () => {
    const ours = vscode.lm.tools.filter(({ tags }) => tags.includes("excise"));
    assert.deepEqual(ours.map(({ name }) => name).sort(), ["excise_candidates", "excise_review", "excise_submit"]);
    for (const { description } of ours) assert.ok(description.length > 100);
  });

  it("hand a text in as a candidate, and leave the file alone", async () => {
    const uri = file();
    const input = { path: uri.fsPath, text: suggestion("ada"), name: "a model" };
    const { id } = JSON.parse(await call("excise_submit", input)) as { id: string };
    const report = await (await api()).getReport(uri);
    assert.deepEqual(report?.revisions.map((revision) => [revision.id, revision.label]), [[id, "a model"]]);
    assert.equal(readFileSync(uri.fsPath, "utf8"), origin());
    assert.equal((await vscode.workspace.openTextDocument(uri)).isDirty, false);
  });

  it("refuse what is outside of the workspace, also behind a link, and what is too large", async () => {
    const text = suggestion("ada");
    const link = join(dirname(file().fsPath), "link");
    symlinkSync("/etc/passwd", link);
    for (const path of ["/etc/passwd", "../../../../../../etc/passwd", link, join(SCRATCH, "none.py"), ""]) {
      await assert.rejects(call("excise_submit", { path, text }), /is no file of this workspace/, path);
    }
    const large = { path: file().fsPath, text: "x".repeat(10_000_001) };
    await assert.rejects(call("excise_submit", large), /not added: skipped: 10 MB, limit 10 MB/);
  });

  it("say why there are no candidates where there is no repository", async () => {
    await assert.rejects(call("excise_candidates", {}), /repository/);
    await assert.rejects(call("excise_review", { path: "nothing.py" }), /repository/);
  });
});
