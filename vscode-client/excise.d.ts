// What another extension gets from this one:
//
//   const excise = vscode.extensions.getExtension<ExciseApi>("excise.excise");
//   const api = await excise?.activate();
//   await api?.addRevisions({ uri, revisions: [{ id: "gpt", text }] });
//
// Under the same `version` members are only ever added.
import type { Event, TextEdit, Uri } from "vscode";

export interface ExciseApi {
  readonly version: 1;

  /**
   * Add revisions of a document, open or not; an id that it has is replaced. Starts the server.
   * Rejects only where there is no server; what is wrong with a revision stands in `rejected`.
   */
  addRevisions(request: AddRequest): Promise<AddResult>;

  /** The newest report of a document; undefined where it has none. Starts the server. */
  getReport(uri: Uri): Promise<Report | undefined>;

  /** A newer report of a document can be asked for. */
  readonly onDidChangeReport: Event<ReportChange>;
}

export interface AddRequest {
  readonly uri: Uri;
  readonly revisions: readonly NewRevision[];
  /** What the revisions were made from; if it does not match, all of them are rejected. */
  readonly base?: {
    /** The version of the open document. */
    readonly version?: number;
    /** SHA-256 of the saved text: without byte order mark, line ends as \n, in UTF-8; hexadecimal. */
    readonly hash?: string;
  };
}

/** A revision: its whole text, or what it changes. */
export type NewRevision = {
  /** 1 to 1000 characters, unique in the document. */
  readonly id: string;
  /** Shown beside the id. */
  readonly label?: string;
  /** Who made it, shown with the label. */
  readonly source?: string;
} & (
  | { readonly text: string }
  /** Edits of the document as it is open now. */
  | { readonly edits: readonly TextEdit[] }
);

export interface AddResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly { readonly id: string; readonly reason: string }[];
}

export interface ReportChange {
  readonly uri: Uri;
}

/** Scores of the revisions of a document; ranks and clusters count from 1. */
export interface Report {
  /** Version of the open document that it is about; null if it is not open. */
  readonly version: number | null;
  /** Every choice that could change a score. */
  readonly signature: string;
  readonly revisions: readonly ReportedRevision[];
  /** Pairwise scores in the order of `revisions`; symmetric, 1 on the diagonal. */
  readonly similarity: readonly (readonly number[])[];
  /** The largest first. */
  readonly clusters: readonly ReportedCluster[];
  /** Runs of lines that some revision changes, in the order of the text. */
  readonly hunks: readonly ReportedHunk[];
}

export interface ReportedRevision {
  readonly id: string;
  readonly label: string;
  /** Ties share a rank. The order is advice: it does not say what is right. */
  readonly rank: number;
  readonly cluster: number;
  /** Whether it is the saved text. */
  readonly noOp: boolean;
  readonly notes: readonly string[];
  /** How many make this edit, itself included. */
  readonly makers: number;
  /** The facts that give it its rank. */
  readonly why: readonly string[];
  /** Tokens deleted and inserted. */
  readonly editSize: number;
}

export interface ReportedCluster {
  readonly members: readonly string[];
  /** The member most similar to the others. */
  readonly representative: string;
  readonly minSimilarity: number;
}

export interface ReportedHunk {
  /** Zero-based lines and characters; what an edit replaces by a variant. */
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly variants: readonly { readonly ids: readonly string[]; readonly text: string }[];
  /** How many revisions share the first variant. */
  readonly agree: number;
  /** Mean score over all pairs; null without pairs. */
  readonly es: number | null;
  /** Its part of all that diverges between two revisions, 0 to 1. */
  readonly share: number;
}
