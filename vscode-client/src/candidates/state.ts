// The state of a view that has nothing to show, each with its own text and remedy.
import type { State as ServerState } from "../supervisor";

export interface Circumstances {
  readonly server: ServerState;
  readonly trusted: boolean;
  /** Schemes of the workspace folders, or none if no folder is open. */
  readonly folders: readonly string[];
  /** What is in view: a document that can be compared, a notebook, something else or nothing. */
  readonly document: "source" | "notebook" | "other" | "none";
  /** The repository is being looked at. */
  readonly searching: boolean;
  /** The document is being read and compared. */
  readonly indexing: boolean;
  /** Why the candidates of the repository are not known, or empty if they are or nobody asked. */
  readonly refusal: string;
  /** How many candidates there are to show. */
  readonly count: number;
}

export function viewState(at: Circumstances): string {
  if (at.server === "missing" || at.server === "failed") {
    return at.server;
  }
  if (at.count > 0) {
    return "shown";
  }
  if (at.folders.length > 0 && at.folders.every((scheme) => scheme !== "file")) {
    return "virtual";
  }
  if (at.server === "starting" || at.server === "idle") {
    return at.server;
  }
  if (at.searching || at.indexing) {
    return at.searching ? "searching" : "indexing";
  }
  if (at.document === "notebook") {
    return "notebook";
  }
  if (at.folders.length === 0 && at.document === "none") {
    return "empty";
  }
  if (!at.trusted) {
    return "untrusted";
  }
  return at.refusal === "" ? "nothing" : "refused";
}
