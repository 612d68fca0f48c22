// The server itself: installing, restarting, and the log with what a bug report needs.
import * as vscode from "vscode";
import { SECTION, settings } from "../config";
import { opened } from "../documents";
import type { Parts } from "../parts";

/** Start the server anew; "install": make the extension's own environment for it first, if the user agrees. */
export async function restartServer(parts: Parts, argument?: unknown): Promise<void> {
  if (argument !== "install" || (await parts.bootstrap.install())) {
    await parts.supervisor.restart();
  }
}

/** Show the log, with what a report needs: versions, settings, state and sources, but no text of any document. Return the same. */
export async function showLogs(parts: Parts): Promise<string> {
  parts.log.show(true);
  const { supervisor, current, context } = parts;
  const { connection } = supervisor;
  const manifest = context.extension.packageJSON as { version?: string };
  const section = vscode.workspace.getConfiguration(SECTION);
  const lines = [
    `extension: ${String(manifest.version)}`,
    `editor: ${vscode.env.appName} ${vscode.version} (${vscode.env.remoteName ?? "local"}, ${process.platform}-${process.arch}, Node ${process.version})`,
    `workspace: ${vscode.workspace.isTrusted ? "trusted" : "not trusted"}, ${vscode.workspace.workspaceFolders?.length ?? 0} folder(s)`,
    `server: ${supervisor.state}`,
    ...(connection === undefined
      ? []
      : [
          `version: ${connection.server.version}, from ${connection.server.origin}`,
          `command: ${[connection.server.command, ...connection.server.args].join(" ")}`,
          `process id: ${String(connection.process.pid)}`,
        ]),
    `candidates kept for a new server: ${[...supervisor.ledger.documents.values()].reduce((sum, { revisions }) => sum + revisions.size, 0)}`,
    `settings: ${JSON.stringify({ ...settings(), origin: section.get("origin"), sources: section.get("sources"), diagnostics: section.get("diagnostics") })}`,
    ...(await documentLines(parts, current.uri)),
  ];
  const text = lines.join("\n");
  parts.log.info(`debug information\n${text}`);
  return text;
}

async function documentLines(parts: Parts, uri: vscode.Uri | undefined): Promise<string[]> {
  if (uri === undefined || parts.supervisor.connection === undefined) {
    return [];
  }
  const document = opened(uri);
  const lines = [`document: ${uri.toString()} (version ${document?.version ?? "none"}, ${document?.languageId ?? "not open"})`];
  const { result: report, problem } = await parts.reports.get(uri);
  if (problem !== "") {
    return [...lines, `no report: ${problem}`];
  }
  const { result: review } = await parts.reviews.get(uri);
  return [
    ...lines,
    `report: ${report?.revisions.length ?? 0} candidates, ${report?.hunks.length ?? 0} hunks, ${report?.signature ?? "none"}`,
    `compared with: ${review?.comparedWith?.label ?? "nothing"}`,
    `sources: ${JSON.stringify(review?.sources ?? [])}`,
  ];
}
