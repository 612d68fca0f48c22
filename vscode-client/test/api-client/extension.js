// Another extension, which knows of this one what excise.d.ts says.
// @ts-check
const vscode = require("vscode");

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  /** @type {vscode.Extension<import("../../excise").ExciseApi> | undefined} */
  const excise = vscode.extensions.getExtension("excise.excise");
  if (excise === undefined) {
    throw new Error("Excise is not installed");
  }
  const api = await excise.activate();
  /** @type {string[]} */
  const changed = [];
  context.subscriptions.push(
    api.onDidChangeReport(({ uri }) => changed.push(uri.toString())),
    // What an agent does when it has an answer.
    vscode.commands.registerCommand("apiClient.push", async (uri, id, text) =>
      api.addRevisions({ uri, revisions: [{ id, text, source: "api-client" }] }),
    ),
    vscode.commands.registerCommand("apiClient.report", async (uri) => ({
      report: await api.getReport(uri),
      changed: changed.filter((one) => one === uri.toString()).length,
    })),
  );
}

module.exports = { activate };
