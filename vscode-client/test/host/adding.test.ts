/** What the user adds by hand: what git has under a name, and a folder that began as a copy. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { api, origin, SCRATCH, show, suggestion, until } from "./helpers.js";

describe("the command Add Candidate", () => {
  it("adds what git has under a name, and the files of a folder that differ here", async () => {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: folder, encoding: "utf8" });
    const path = join(folder, "inventory.py");
    git("init", "--quiet");
    try {
      for (const pair of [["user.name", "Excise"], ["user.email", "excise@example.com"]]) git("config", ...pair);
      git("add", ".");
      git("commit", "--quiet", "--message", "The stock");
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
      const listed = async (name: string): Promise<string[]> => {
        const report = await (await api()).getReport(vscode.Uri.file(join(folder, name)));
        return report?.revisions.map(({ id }) => id) ?? [];
      };
      await show(vscode.Uri.file(path));
      const all = await until(() => listed("inventory.py"), (ids) => ids.includes("ref:pull/12"));
      assert.ok(all.includes("folder:copy"), all.join());
      assert.deepEqual(await listed("new/more.py"), [], "there is nothing to compare it with");
    } finally {
      rmSync(join(folder, ".git"), { recursive: true, force: true });
      writeFileSync(path, origin());
    }
  });
});
