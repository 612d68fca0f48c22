// The review of one document, hunk after hunk. Mirrors excise_server/lsp/protocol.py.
import type { Range } from "vscode-languageclient";
import type { Variant } from "./reports";

export interface StartAgainParams {
  readonly uri: string;
}

export interface StartAgainResult {
  readonly started: boolean;
}

export interface ReviewParams {
  readonly uri: string;
  readonly after?: number | null;
  readonly marks?: boolean | null;
}

export interface ReviewCandidate {
  readonly id: string;
  readonly label: string;
  readonly state: string;
  readonly notes: readonly string[];
}

export interface HunkMarks {
  readonly lost: readonly (readonly number[])[];
  readonly own: readonly (readonly number[])[];
}

export interface ReviewHunk {
  readonly lo: number;
  readonly hi: number;
  readonly range: Range;
  readonly text: string;
  readonly variants: readonly Variant[];
  readonly decision: string;
  readonly variant: number | null;
  readonly decided: boolean;
  readonly marks: readonly HunkMarks[] | null;
}

export interface ReviewResult {
  readonly version: number | null;
  readonly state: number;
  readonly origin: string;
  readonly pinned: boolean;
  readonly signature: string;
  readonly decided: number;
  readonly undecided: number;
  readonly next: number | null;
  readonly candidates: readonly ReviewCandidate[];
  readonly hunks: readonly ReviewHunk[];
}

export interface DecideParams {
  readonly uri: string;
  readonly hunk: number;
  readonly version: number;
  readonly state?: number | null;
  readonly decided?: boolean | null;
}

export interface DecideResult {
  readonly decided: number;
  readonly undecided: number;
}
