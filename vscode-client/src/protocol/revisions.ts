// Adding, listing and removing the revisions of one document. Mirrors excise_server/lsp/protocol.py.

export interface Base {
  readonly version?: number | null;
  readonly hash?: string | null;
}

export interface RevisionText {
  readonly id: string;
  readonly text: string;
  readonly label?: string | null;
}

export interface AddRevisionsParams {
  readonly uri: string;
  readonly revisions: readonly RevisionText[];
  readonly base?: Base | null;
}

export interface Rejection {
  readonly id: string;
  readonly reason: string;
}

export interface AddRevisionsResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly Rejection[];
}

export interface AddTextParams {
  readonly uri: string;
  readonly text: string;
  readonly id?: string | null;
  readonly label?: string | null;
}

export interface AddTextResult {
  readonly id: string;
  readonly kind: string;
  readonly notes: readonly string[];
}

export interface ReadPatchParams {
  readonly uri: string;
  readonly patch: string;
}

export interface ReadPatchResult {
  readonly text: string;
  readonly label: string;
  readonly notes: readonly string[];
}

export interface RemoveRevisionsParams {
  readonly uri: string;
  readonly ids: readonly string[];
}

export interface RemoveRevisionsResult {
  readonly removed: readonly string[];
  readonly unknown: readonly string[];
}

export interface ListRevisionsParams {
  readonly uri: string;
}

export interface ListedRevision {
  readonly id: string;
  readonly label: string;
}

export interface ListRevisionsResult {
  readonly revisions: readonly ListedRevision[];
}
