// The document of `excise worktrees --json`, as far as it is shown.
import type { Rejection, ReportCluster } from "./protocol";
import { count } from "./text";

/** The document of `excise worktrees --json` (docs/json.md), as far as it is used here. */
export interface WorktreesResult {
  readonly repository: string;
  readonly base: string;
  readonly candidates: readonly string[];
  readonly similarity: readonly (readonly number[])[];
  readonly clusters: readonly ReportCluster[];
  readonly batches: readonly { readonly number: number; readonly members: readonly string[] }[];
  readonly ranking: readonly {
    readonly id: string;
    readonly label: string;
    readonly batch: number;
    /** Null: it is alone in its batch. */
    readonly rank: number | null;
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

/** The answer of `excise/candidates`: the same, and what was decided about candidates. */
export interface CandidatesResult extends WorktreesResult {
  readonly set_aside: readonly {
    readonly id: string;
    readonly label: string;
    readonly state: "hidden" | "rejected";
    readonly digest: string;
  }[];
  readonly bases: Readonly<Record<string, string>>;
  readonly given: readonly string[];
}

export type Work = WorktreesResult["ranking"][number];

/** The worktrees, batch after batch, and inside a batch in rank order. */
export function works(result: WorktreesResult): readonly Work[] {
  return result.ranking;
}

/** "3 in 2 clusters, 1 unchanged, 1 refused". */
export function summary({ ranking, batches, clusters, unchanged, rejected }: WorktreesResult): string {
  const parts = [`${ranking.length} in ${count(clusters.length, "cluster")}`];
  if (batches.length > 1) {
    parts.push(`${batches.length} tasks`);
  }
  if (unchanged.length > 0) {
    parts.push(`${unchanged.length} unchanged`);
  }
  if (rejected.length > 0) {
    parts.push(`${rejected.length} refused`);
  }
  return parts.join(", ");
}
