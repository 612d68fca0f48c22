// The panel of the similarity picture: one for each document.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { comparePair } from "../commands/compare";
import { type Parts, documentOf, reportOf } from "../commands/context";
import { nameOf } from "../names";
import { message, reason } from "../text";
import { html } from "./html";
import { type Chosen, picture } from "./picture";

const panels = new Map<string, vscode.WebviewPanel>();

/** Show the picture of a document's revisions, or bring it to the front. */
export async function showSimilarity(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  await reportOf(parts, uri);
  const key = uri.toString();
  const there = panels.get(key);
  if (there !== undefined) {
    there.reveal();
    return;
  }
  const media = vscode.Uri.joinPath(parts.context.extensionUri, "media");
  const dist = vscode.Uri.joinPath(parts.context.extensionUri, "dist");
  const column = vscode.ViewColumn.Active;
  const panel = vscode.window.createWebviewPanel("excise.similarity", "Similarity", column, {
    enableScripts: true,
    localResourceRoots: [media, dist],
    retainContextWhenHidden: false,
  });
  panels.set(key, panel);
  panel.iconPath = {
    light: vscode.Uri.joinPath(media, "excise-light.svg"),
    dark: vscode.Uri.joinPath(media, "excise-dark.svg"),
  };
  const listening = vscode.Disposable.from(
    parts.reports.inDetail(uri),
    panel.webview.onDidReceiveMessage((chosen: unknown) => void answer(parts, uri, panel, chosen)),
    parts.reports.onDidChange((changed) => {
      if (changed.toString() === key) {
        void send(parts, uri, panel);
      }
    }),
  );
  panel.onDidDispose(() => {
    panels.delete(key);
    listening.dispose();
  });
  const { webview } = panel;
  webview.html = html({
    nonce: randomBytes(24).toString("base64url"),
    cspSource: webview.cspSource,
    script: webview.asWebviewUri(vscode.Uri.joinPath(dist, "heatmap.js")).toString(),
    style: webview.asWebviewUri(vscode.Uri.joinPath(media, "heatmap.css")).toString(),
  });
}

async function send(parts: Parts, uri: vscode.Uri, panel: vscode.WebviewPanel): Promise<void> {
  const { report } = await parts.reports.get(uri);
  if (report !== undefined) {
    const names = await parts.reviews.names(uri);
    await panel.webview.postMessage(picture(uri.path, report, (id) => names.get(id) ?? nameOf(id)));
  }
}

async function answer(parts: Parts, uri: vscode.Uri, panel: vscode.WebviewPanel, chosen: unknown): Promise<void> {
  const { type, a, b } = chosen as Partial<Chosen>;
  if (type === "ready") {
    await send(parts, uri, panel);
  } else if (type === "compare" && typeof a === "string" && typeof b === "string") {
    try {
      await comparePair(parts, uri, a, b);
    } catch (error) {
      void vscode.window.showWarningMessage(`Excise: ${message(reason(error))}`);
    }
  }
}
