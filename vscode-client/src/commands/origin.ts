// Which text the revisions are compared with.
import * as vscode from "vscode";
import { SECTION } from "../config";
import { type Parts, documentOf } from "./context";

const ORIGINS: Record<string, string> = {
  saved: "the saved file",
  head: "the file at HEAD",
  index: "the file in the index",
};

/** Choose it; what fits the revisions of this document better than the setting is marked. */
export async function chooseOrigin(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  await parts.supervisor.ensure();
  const offers = (await parts.reports.sources(uri))?.offers ?? [];
  const section = vscode.workspace.getConfiguration(SECTION);
  const now = section.get("origin");
  const items = Object.entries(ORIGINS).map(([value, label]) => ({
    value,
    label,
    description: [
      ...(value === now ? ["as it is now"] : []),
      ...(offers.includes(value) ? ["what the revisions were made from"] : []),
    ].join(" · "),
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Compare revisions with" });
  if (chosen !== undefined && chosen.value !== now) {
    const folders = vscode.workspace.workspaceFolders ?? [];
    await section.update("origin", chosen.value, folders.length === 0);
  }
}
