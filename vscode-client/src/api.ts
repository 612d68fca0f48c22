// The API for other extensions; excise.d.ts is its contract.
import * as vscode from "vscode";
import type { ExciseApi, Report } from "../excise";
import type { ReportResult } from "./protocol";
import type { Reports } from "./reports";
import type { Revisions } from "./revisions";

/** The API, and the objects to dispose of with it. */
export function createApi(reports: Reports, revisions: Revisions): [ExciseApi, vscode.Disposable] {
  const changed = new vscode.EventEmitter<{ uri: vscode.Uri }>();
  const listening = reports.onDidChange((uri) => changed.fire({ uri }));
  const api: ExciseApi = {
    version: 1,
    addRevisions: (request) => revisions.push(request),
    getReport: async (uri) => {
      const { report } = await reports.fresh(uri);
      return report === undefined || report.revisions.length === 0 ? undefined : shown(report);
    },
    onDidChangeReport: changed.event,
  };
  return [api, vscode.Disposable.from(listening, changed)];
}

/** The report in the documented shape, as a copy, so that nothing can be changed through it. */
function shown(report: ReportResult): Report {
  const { version, signature, revisions, similarity, hunks } = structuredClone(report);
  const clusters = report.clusters.map(({ members, representative, min_similarity }) => ({
    members: [...members],
    representative,
    minSimilarity: min_similarity,
  }));
  return { version, signature, revisions, similarity, clusters, hunks };
}
