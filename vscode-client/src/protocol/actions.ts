// What is done to a document: applying, showing, comparing. Mirrors excise_server/lsp/protocol.py.
import type { ReportHunk } from "./reports";

export interface ApplyRevisionParams {
  readonly uri: string;
  readonly id: string;
  readonly version: number;
  readonly state?: number | null;
  readonly anyway?: boolean | null;
}

export interface ApplyVariantParams {
  readonly uri: string;
  readonly hunk: number;
  readonly variant: number;
  readonly version: number;
  readonly state?: number | null;
  readonly anyway?: boolean | null;
}

export interface ApplyResult {
  readonly applied: boolean;
  readonly reason: string;
}

export interface ShowHunkParams {
  readonly uri: string;
  readonly hunk: number;
}

export interface ShowHunkResult {
  readonly hunk: ReportHunk;
}

export interface CompareParams {
  readonly uri: string;
  readonly ids?: readonly string[] | null;
}

export interface Comparison {
  readonly original: string;
  readonly modified: string;
  readonly label: string;
}

export interface CompareResult {
  readonly changes: readonly Comparison[];
}

export interface RevisionContentParams {
  readonly uri: string;
  readonly id?: string | null;
}

export interface RevisionContentResult {
  readonly text: string;
}
