// Files of candidates as separate read-only documents, for comparisons.
import * as vscode from "vscode";
import type { Servers } from "../connection";
import { putTogether } from "./apply";
import type { Content } from "./document";

const SCHEME = "excise-candidate";

interface Address {
  readonly folder: string;
  readonly candidate: string;
  readonly path: string;
  readonly side: "old" | "new";
}

/** The document of a file of a candidate, or of the origin that it changes. */
export function contentUri(folder: vscode.Uri, candidate: string, content: Content, side: "old" | "new"): vscode.Uri {
  const address: Address = { folder: folder.toString(), candidate, path: content.path, side };
  const uri = vscode.Uri.parse(side === "old" ? content.old_uri : content.uri);
  return uri.with({ scheme: SCHEME, query: JSON.stringify(address) });
}

export class Contents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly known = new Map<string, string>();
  private readonly registered: vscode.Disposable;
  readonly onDidChange = this.changed.event;

  /** The server is asked for documents that were not put here, as after a window was reloaded. */
  constructor(private readonly supervisor: Servers) {
    this.registered = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.known.delete(uri.toString())),
      this.changed,
    );
  }

  put(uri: vscode.Uri, content: Content, side: "old" | "new"): vscode.Uri {
    this.known.set(uri.toString(), textOf(content, side));
    this.changed.fire(uri);
    return uri;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const text = this.known.get(uri.toString());
    if (text !== undefined) {
      return text;
    }
    const { folder, candidate, path, side } = JSON.parse(uri.query) as Address;
    const choices = [{ candidate, path, conflicts: true }];
    const { contents } = await putTogether(this.supervisor, vscode.Uri.parse(folder), choices);
    const content = contents.find((entry) => entry.path === path);
    return content === undefined ? "" : textOf(content, side);
  }

  dispose(): void {
    this.registered.dispose();
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
