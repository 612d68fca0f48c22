// Everything known of the revisions of one document. Mirrors excise_server/lsp/protocol.py.
import type { Range } from "vscode-languageclient";

export interface ReportParams {
  readonly uri: string;
}

export interface ReportRevision {
  readonly id: string;
  readonly label: string;
  readonly rank: number;
  readonly cluster: number;
  readonly noOp: boolean;
  readonly notes: readonly string[];
  readonly makers: number;
  readonly meanSimilarity: number | null;
  readonly why: readonly string[];
  readonly editSize: number;
  readonly syntaxErrors: boolean;
  readonly stub: boolean;
  readonly broken: readonly string[];
  readonly file: string | null;
}

export interface ReportCluster {
  readonly members: readonly string[];
  readonly representative: string;
  readonly min_similarity: number;
}

export interface Variant {
  readonly ids: readonly string[];
  readonly text: string;
}

export interface PairScore {
  readonly a: string;
  readonly b: string;
  readonly es: number;
  readonly keep: number | null;
  readonly add: number | null;
  readonly delete: number | null;
  readonly share: number;
}

export interface ReportHunk {
  readonly range: Range;
  readonly variants: readonly Variant[];
  readonly agree: number;
  readonly es: number | null;
  readonly keep: number | null;
  readonly add: number | null;
  readonly delete: number | null;
  readonly share: number;
  readonly pairs: readonly PairScore[];
}

export interface ReportResult {
  readonly version: number | null;
  readonly state: number;
  readonly signature: string;
  readonly revisions: readonly ReportRevision[];
  readonly similarity: readonly (readonly number[])[];
  readonly words: readonly (readonly string[])[];
  readonly clusters: readonly ReportCluster[];
  readonly intent: string;
  readonly disagree: boolean;
  readonly hunks: readonly ReportHunk[];
}

// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface CountersParams {
}

export interface CountersResult {
  readonly parses: number;
  readonly pairs: number;
}

export interface DidChangeReportParams {
  readonly uri: string;
  readonly version: number | null;
}
