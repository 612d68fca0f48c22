/** What a language model in the editor may ask, called as the editor calls it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { api, file, origin, SCRATCH, suggestion, until } from "./helpers.js";

async function call(name: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
}

describe("the tools for language models", () => {
  it("are there, and say what they are for", () => {
    const ours = vscode.lm.tools.filter(({ tags }) => tags.includes("excise"));
    assert.deepEqual(ours.map(({ name }) => name).sort(), ["excise_candidates", "excise_keep", "excise_review", "excise_since", "excise_submit"]);
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
    await assert.rejects(call("excise_since", { candidate: "ada" }), /repository/);
    await assert.rejects(call("excise_keep", {}), /repository/);
  });

  it("keep the working tree as a candidate, say what changed in it since, and list what the user adds", async () => {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: folder, encoding: "utf8" });
    const path = join(folder, "inventory.py");
    git("init", "--quiet");
    try {
      for (const pair of [["user.name", "Excise"], ["user.email", "excise@example.com"]]) git("config", ...pair);
      git("add", ".");
      git("commit", "--quiet", "--message", "The stock");
      await assert.rejects(call("excise_keep", { name: "empty" }), /nothing to keep/);
      const kept = async (name: string): Promise<unknown> => {
        writeFileSync(path, suggestion(name));
        const answer: unknown = JSON.parse(await call("excise_keep", { name }));
        git("checkout", "--quiet", ".");
        return answer;
      };
      assert.deepEqual(await kept("ada"), { id: "ref:kept/ada", files: ["inventory.py"], notes: [] });
      await kept("bo");
      assert.equal(readFileSync(path, "utf8"), origin());
      const { candidates } = JSON.parse(await call("excise_candidates", {})) as { candidates: { id: string; label: string }[] };
      const own = candidates.filter(({ id }) => id.startsWith("ref:kept/"));
      assert.deepEqual(own.map(({ label }) => label).sort(), ["ada", "bo"]);
      assert.match(await call("excise_review", { path: "inventory.py" }), /ref:kept\/bo/);
      assert.match(await call("excise_since", { candidate: "bo", old: "refs/excise/kept/ada" }), /inventory\.py/);
      await assert.rejects(call("excise_since", { candidate: "nobody" }), /nobody/);

      writeFileSync(path, suggestion("dana"));
      git("update-ref", "refs/pull/12/head", git("stash", "create").trim());
      git("checkout", "--quiet", ".");
      for (const from of ["#12", "#13"]) await vscode.commands.executeCommand("excise.addCandidate", { way: "git", from });
      const copy = join(SCRATCH, "copy");
      mkdirSync(join(copy, "new"), { recursive: true });
      writeFileSync(join(copy, "inventory.py"), suggestion("chen"));
      writeFileSync(join(copy, "new", "more.py"), "MORE = 1\n");
      writeFileSync(join(copy, "new", "more.bin"), "\0");
      await vscode.commands.executeCommand("excise.addCandidate", { way: "folder", from: vscode.Uri.file(copy) });
      const listed = async (): Promise<Record<string, string[]>> => {
        const answer = JSON.parse(await call("excise_candidates", {})) as { candidates: { id: string; files: string[] }[] };
        return Object.fromEntries(answer.candidates.map((candidate) => [candidate.id, candidate.files]));
      };
      const all = await until(listed, (found) => "ref:pull/12" in found);
      assert.deepEqual(all["folder:copy"]?.sort(), ["inventory.py", "new/more.py"]);
    } finally {
      rmSync(join(folder, ".git"), { recursive: true, force: true });
      writeFileSync(path, origin());
    }
  });
});
