// The revisions that were sent to the server and removed, to restore them after a crash.
import type { RevisionText } from "./protocol";

export interface Standing {
  readonly uri: string;
  readonly revisions: readonly RevisionText[];
  /** Ids that the user removed: a source may find them again. */
  readonly removed: readonly string[];
}

interface Entry {
  readonly revisions: Map<string, RevisionText>;
  readonly removed: Set<string>;
}

export class Ledger {
  private readonly documents = new Map<string, Entry>();

  added(uri: string, revisions: readonly RevisionText[], accepted: readonly string[]): void {
    const entry = this.entry(uri);
    const acceptedIds = new Set(accepted);
    for (const revision of revisions.filter(({ id }) => acceptedIds.has(id))) {
      // A replaced id keeps its place in the server's order, as it does in a Map.
      entry.revisions.set(revision.id, revision);
      entry.removed.delete(revision.id);
    }
  }

  removed(uri: string, ids: readonly string[]): void {
    const entry = this.entry(uri);
    for (const id of ids) {
      entry.revisions.delete(id);
      entry.removed.add(id);
    }
  }

  /** Sources are asked again when a closed document is opened, so removed revisions may return. */
  closed(uri: string): void {
    this.documents.get(uri)?.removed.clear();
  }

  standings(): Standing[] {
    return [...this.documents].map(([uri, { revisions, removed }]) => ({
      uri,
      revisions: [...revisions.values()],
      removed: [...removed],
    }));
  }

  get size(): number {
    return [...this.documents.values()].reduce((sum, { revisions }) => sum + revisions.size, 0);
  }

  private entry(uri: string): Entry {
    const entry = this.documents.get(uri) ?? { revisions: new Map<string, RevisionText>(), removed: new Set<string>() };
    this.documents.set(uri, entry);
    return entry;
  }
}
