// Files of candidates as separate read-only documents, for comparisons.
import * as vscode from "vscode";
import type { Parts } from "../parts";
import { type Content, putTogether } from "./apply";

const SCHEME = "excise-candidate";

interface Address {
  readonly folder: string;
  readonly candidate: string;
  readonly path: string;
  readonly side: "old" | "new";
}

export class Contents implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly known = new Map<string, string>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly parts: Parts) {
    parts.subscriptions.push(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.known.delete(uri.toString())),
      this.changed,
    );
  }

  /** The document of a file of a candidate, or of the origin that it changes. */
  put(folder: vscode.Uri, candidate: string, content: Content, side: "old" | "new"): vscode.Uri {
    const address: Address = { folder: folder.toString(), candidate, path: content.path, side };
    const there = vscode.Uri.parse(side === "old" ? content.old_uri : content.uri);
    const uri = there.with({ scheme: SCHEME, query: JSON.stringify(address) });
    this.known.set(uri.toString(), textOf(content, side));
    this.changed.fire(uri);
    return uri;
  }

  /** The server is asked for documents that were not put here, as after a window was reloaded. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const text = this.known.get(uri.toString());
    if (text !== undefined) {
      return text;
    }
    const { folder, candidate, path, side } = JSON.parse(uri.query) as Address;
    const choices = [{ candidate, path, conflicts: true }];
    const { contents } = await putTogether(this.parts.supervisor, vscode.Uri.parse(folder), choices);
    const content = contents.find((entry) => entry.path === path);
    return content === undefined ? "" : textOf(content, side);
  }
}

function textOf(content: Content, side: "old" | "new"): string {
  const data = content[side];
  if (data === null) {
    return "";
  }
  const bytes = Buffer.from(data, "base64");
  return content.is_text ? bytes.toString("utf8").replace(/^\ufeff/, "") : `(${bytes.length} bytes that are not text)\n`;
}
