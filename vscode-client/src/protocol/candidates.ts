// Whole candidates, and what is decided about them. Mirrors excise_server/lsp/protocol.py.
import type { Rejection } from "./revisions";

export interface WorktreesParams {
  readonly uri: string;
  readonly branches?: readonly string[] | null;
  readonly base?: string | null;
  readonly intent?: string | null;
}

export interface CandidatesParams {
  readonly uri: string;
  readonly branches?: readonly string[] | null;
  readonly batch?: string | null;
  readonly intent?: string | null;
}

export interface ChangeText {
  readonly path: string;
  readonly text?: string | null;
  readonly status?: string | null;
  readonly oldPath?: string | null;
  readonly base?: string | null;
}

export interface CandidateText {
  readonly id: string;
  readonly changes: readonly ChangeText[];
  readonly label?: string | null;
  readonly base?: string | null;
}

export interface AddCandidatesParams {
  readonly candidates: readonly CandidateText[];
  readonly folder?: string | null;
}

export interface AddCandidatesResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly Rejection[];
}

export interface RemoveCandidatesParams {
  readonly ids: readonly string[];
}

export interface RemoveCandidatesResult {
  readonly removed: readonly string[];
  readonly unknown: readonly string[];
}

export interface HideParams {
  readonly ids: readonly string[];
  readonly hidden?: boolean | null;
}

export interface RejectParams {
  readonly ids: readonly string[];
  readonly rejected?: boolean | null;
}

export interface SetAsideResult {
  readonly hidden: readonly string[];
  readonly rejected: readonly string[];
}

export interface SetBaseParams {
  readonly uri: string;
  readonly id: string;
  readonly base?: string | null;
}

export interface SetBaseResult {
  readonly commit: string | null;
}

export interface TakeChoice {
  readonly candidate: string;
  readonly path?: string | null;
  readonly hunk?: string | null;
  readonly conflicts?: boolean | null;
}

export interface TakeParams {
  readonly uri: string;
  readonly choices: readonly TakeChoice[];
  readonly digest?: string | null;
  readonly anyway?: boolean | null;
}
