// The document of `excise worktrees --json`, as far as it is shown.
import type { WorktreesResult } from "./lsp_ext";
import { count } from "./text";

export type Work = WorktreesResult["ranking"][number];

/** The worktrees in rank order. */
export function works(result: WorktreesResult): readonly Work[] {
  return [...result.ranking].sort((a, b) => a.rank - b.rank);
}

/** "3 in 2 clusters, 1 unchanged, 1 refused". */
export function summary({ ranking, clusters, unchanged, rejected }: WorktreesResult): string {
  const parts = [`${ranking.length} in ${count(clusters.length, "cluster")}`];
  if (unchanged.length > 0) {
    parts.push(`${unchanged.length} unchanged`);
  }
  if (rejected.length > 0) {
    parts.push(`${rejected.length} refused`);
  }
  return parts.join(", ");
}
