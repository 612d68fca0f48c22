// The document of `excise worktrees --json`, as far as it is shown.
import type { Rejection, ReportCluster } from "./lsp_ext";
import { count } from "./text";

/** The document of `excise worktrees --json` (docs/json.md), as far as it is used here. */
export interface WorktreesResult {
  readonly repository: string;
  readonly base: string;
  readonly revisions: readonly string[];
  readonly similarity: readonly (readonly number[])[];
  readonly clusters: readonly ReportCluster[];
  readonly ranking: readonly {
    readonly id: string;
    readonly rank: number;
    readonly agreement: number | null;
    readonly edit_size: number;
    readonly no_op: boolean;
    readonly syntax_errors: boolean;
    readonly cluster: number;
    readonly representative: boolean;
    readonly folder: string | null;
    readonly notes: readonly string[];
    readonly files: readonly {
      readonly path: string;
      readonly status: string;
      readonly added: number;
      readonly deleted: number;
      readonly facts: readonly string[];
    }[];
  }[];
  readonly unchanged: readonly string[];
  readonly rejected: readonly Rejection[];
}

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
