// Where revisions come from. Mirrors excise_server/lsp/protocol.py.

export interface SourcesParams {
  readonly uri: string;
}

export interface SourceOrigin {
  readonly kind: string;
  readonly label: string;
}

export interface FoundRevision {
  readonly id: string;
  readonly label: string;
  readonly notes: readonly string[];
}

export interface Refusal {
  readonly id: string;
  readonly reason: string;
  readonly hint: string;
}

export interface SourceReport {
  readonly name: string;
  readonly found: readonly FoundRevision[];
  readonly unchanged: readonly string[];
  readonly refused: readonly Refusal[];
}

export interface SourcesResult {
  readonly origin: SourceOrigin | null;
  readonly offers: readonly string[];
  readonly sources: readonly SourceReport[];
}
