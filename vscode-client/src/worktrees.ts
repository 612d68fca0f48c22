// The documents of `excise worktrees --json` and `excise/candidates` (docs/json.md), as far as they are shown.
import type { Rejection, ReportCluster } from "./protocol";

/** Lines of the files of one kind. */
export interface Lines {
  readonly files: number;
  readonly added: number;
  readonly deleted: number;
}

/** A file that a candidate changes. */
export interface ChangedFile {
  readonly path: string;
  /** `code`, `tests`, `docs` or `generated`. */
  readonly kind: string;
  /** `modified`, `created`, `deleted` or `renamed`. */
  readonly status: string;
  readonly added: number;
  readonly deleted: number;
  readonly facts: readonly string[];
}

export interface WorktreesResult {
  readonly repository: string;
  readonly base: string;
  readonly candidates: readonly string[];
  readonly similarity: readonly (readonly number[])[];
  readonly clusters: readonly (ReportCluster & {
    readonly batch: number;
    readonly reasons: readonly { readonly text: string; readonly members: readonly string[] }[];
  })[];
  readonly batches: readonly {
    readonly number: number;
    readonly task: string | null;
    readonly members: readonly string[];
  }[];
  readonly ranking: readonly {
    readonly id: string;
    readonly label: string;
    readonly tool: string | null;
    readonly batch: number;
    /** Null: it is alone in its batch. */
    readonly rank: number | null;
    readonly makers: number;
    /** The facts that give it its rank. */
    readonly why: readonly string[];
    readonly edit_size: number;
    readonly verdict: string | null;
    readonly no_op: boolean;
    readonly syntax_errors: boolean;
    readonly cluster: number;
    readonly representative: boolean;
    readonly kind: string;
    readonly folder: string | null;
    readonly branch: string | null;
    readonly behind: number;
    /** Seconds since 1970. */
    readonly made: number | null;
    readonly identical: readonly string[];
    readonly being_written: boolean;
    readonly conflicts: readonly { readonly path: string; readonly reason: string }[];
    readonly lines: Readonly<Record<string, Lines>>;
    readonly notes: readonly string[];
    readonly files: readonly ChangedFile[];
  }[];
  readonly unchanged: readonly string[];
  readonly landed: readonly string[];
  readonly rejected: readonly Rejection[];
}

/** The answer of `excise/candidates`: the same, with the decisions about candidates. */
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
