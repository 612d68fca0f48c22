// The API for other extensions; excise.d.ts is its contract.
import * as vscode from "vscode";
import type { ExciseApi } from "../excise";
import type { Parts } from "./parts";

export function apiOf({ reports, revisions, subscriptions }: Parts): ExciseApi {
  const changed = new vscode.EventEmitter<{ uri: vscode.Uri }>();
  subscriptions.push(changed, reports.onDidChange((uri) => changed.fire({ uri })));
  return {
    version: 1,
    addRevisions: (request) => revisions.push(request),
    getReport: async (uri) => {
      const { result } = await reports.fresh(uri);
      if (result === undefined || result.revisions.length === 0) {
        return undefined;
      }
      // A copy, so that nothing can be changed through it.
      const { version, signature, revisions, similarity, hunks, clusters } = structuredClone(result);
      const named = clusters.map(({ min_similarity, ...cluster }) => ({ ...cluster, minSimilarity: min_similarity }));
      return { version, signature, revisions, similarity, clusters: named, hunks };
    },
    onDidChangeReport: changed.event,
  };
}
