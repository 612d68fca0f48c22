/** What the user of one document sees and does, through the editor's own interfaces. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import * as vscode from "vscode";
import { findings, NAMES, origin, place, scored, suggestion, until } from "./helpers.js";

type Actions = vscode.CodeAction[];

async function actionsAt(document: vscode.TextDocument): Promise<Actions> {
  const at = new vscode.Range(place(document), place(document));
  return vscode.commands.executeCommand<Actions>(
    "vscode.executeCodeActionProvider",
    document.uri,
    at,
    undefined,
    50, // resolved
  );
}

function taken(argument: object): Thenable<boolean | undefined> {
  return vscode.commands.executeCommand("excise.takeVariant", argument);
}

async function apply(action: vscode.CodeAction): Promise<void> {
  if (action.edit) assert.ok(await vscode.workspace.applyEdit(action.edit));
  if (action.command) {
    await vscode.commands.executeCommand(action.command.command, ...((action.command.arguments ?? []) as unknown[]));
  }
}

describe("a document with five revisions", () => {
  it("has one diagnostic for the file and one for each hunk", async () => {
    const document = await scored();
    const [first, ...hunks] = findings(document.uri).sort((a, b) => a.range.start.compareTo(b.range.start));
    assert.match(first?.message ?? "", /^5 candidates in /);
    assert.equal(first?.range.start.line, 0);
    assert.ok(hunks.length > 0);
    for (const found of hunks) assert.match(found.message, /ES \d\.\d\d$/);
    const here = hunks.filter(({ range }) => range.contains(place(document)));
    assert.equal(here.length, 1);
    assert.equal(here[0]?.severity, vscode.DiagnosticSeverity.Information);
  });

  it("explains the hunk under the cursor, in Markdown that runs nothing", async () => {
    const document = await scored();
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      "vscode.executeHoverProvider",
      document.uri,
      place(document),
    );
    const parts = hovers.flatMap(({ contents }) => contents) as vscode.MarkdownString[];
    const ours = parts.filter(({ value }) => value.includes("of 5 change this, each in its own way"));
    assert.equal(ours.length, 1);
    for (const name of NAMES) assert.match(ours[0]?.value ?? "", new RegExp(`\\b${name}\\b`));
    assert.ok(!ours[0]?.isTrusted && !ours[0]?.supportHtml);
    assert.doesNotMatch(ours[0]?.value ?? "", /command:/);
  });

  it("takes a variant by a link of the hover, which is ours alone", async () => {
    const document = await scored();
    const links = async (): Promise<vscode.MarkdownString[]> => {
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
        "vscode.executeHoverProvider",
        document.uri,
        place(document),
      );
      const parts = hovers.flatMap(({ contents }) => contents) as vscode.MarkdownString[];
      return parts.filter(({ isTrusted }) => isTrusted !== undefined && isTrusted !== false);
    };
    const [ours] = await until(links, (found) => found.length === 1);
    assert.deepEqual(ours?.isTrusted, { enabledCommands: ["excise.takeVariant", "excise.openHunks"] });
    const link = /\[Take\]\(command:excise\.takeVariant\?([^)]+)\)/.exec(ours.value);
    const query = link?.[1];
    assert.ok(query);
    const [argument] = JSON.parse(decodeURIComponent(query)) as [Record<string, unknown>];
    assert.deepEqual(Object.keys(argument).sort(), ["hunk", "state", "uri", "variant"]);
    assert.equal(await taken({ ...argument, state: -1 }), undefined);
    assert.equal(document.getText(), origin());
    assert.equal(await taken(argument), true);
    await until(() => document.getText(), (text) => text !== origin());
    await vscode.commands.executeCommand("undo");
    await until(() => document.getText(), (text) => text === origin());
  });

  it("has lenses whose commands exist in the editor", async () => {
    const document = await scored();
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      "vscode.executeCodeLensProvider",
      document.uri,
      50,
    );
    const shown = lenses.flatMap(({ command }) => (command ? [command] : []));
    assert.ok(shown.some(({ title }) => title.startsWith("5 candidates in 4 groups")), JSON.stringify(shown));
    assert.ok(shown.some(({ title }) => title.includes('of 5 change this, each in its own way')));
    const known = new Set(await vscode.commands.getCommands());
    for (const { command } of shown) assert.ok(known.has(command), command);
  });

  it("has no lenses while its hunk editor is open", async () => {
    const document = await scored();
    const lenses = async (): Promise<number> => {
      const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        "vscode.executeCodeLensProvider",
        document.uri,
      );
      return found.length;
    };
    assert.ok((await lenses()) > 0);
    await vscode.commands.executeCommand("excise.openHunks", document.uri);
    await until(lenses, (number) => number === 0);
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    await until(lenses, (number) => number > 0);
  });

  it("takes a whole revision by an action, exactly, and undo brings the origin back", async () => {
    const document = await scored();
    const action = (await actionsAt(document)).find(({ title }) => /^Take this file from dana\b/.test(title));
    assert.ok(action);
    await apply(action);
    await until(() => document.getText(), (text) => text === suggestion("dana"));
    await vscode.commands.executeCommand("undo");
    await until(() => document.getText(), (text) => text === origin());
  });

  it("takes one variant of one hunk by an action", async () => {
    const document = await scored();
    const fixes = (await actionsAt(document)).filter(({ title }) => /^Take the lines of .* here/.test(title));
    assert.ok(fixes.length > 1);
    const [fix] = fixes;
    assert.equal(fix?.kind?.value, "quickfix");
    await apply(fix);
    await until(() => document.getText(), (text) => text !== origin());
    await vscode.commands.executeCommand("undo");
    await until(() => document.getText(), (text) => text === origin());
  });

  it("refuses what was asked of an older version, and leaves what the user typed", async () => {
    const document = await scored();
    const seen = { uri: document.uri.toString(), id: "ada", version: document.version };
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(document.lineCount - 1, 0), "# typed meanwhile\n");
    assert.ok(await vscode.workspace.applyEdit(edit));
    const typed = document.getText();
    await assert.rejects(async () => vscode.commands.executeCommand("excise.applyRevision", seen));
    assert.equal(document.getText(), typed);
  });

  it("follows a file that another program edits, and takes a candidate beside that edit", async () => {
    const document = await scored();
    writeFileSync(document.uri.fsPath, `# by another program\n${origin()}`);
    // What the editor does by itself, where it is told of changes on the disk.
    await vscode.commands.executeCommand("workbench.action.files.revert");
    await until(() => document.lineAt(0).text, (line) => line === "# by another program");
    await until(() => findings(document.uri).filter(({ range }) => range.contains(place(document))).length, (count) => count === 1);
    const node = { kind: "candidate", uri: document.uri.toString(), candidate: "ada" };
    assert.equal(await vscode.commands.executeCommand("excise.takeCandidate", node), true);
    assert.equal(document.getText(), `# by another program\n${suggestion("ada")}`);
  });
});
