// The nodes of the view of candidates: plain data, so that they can be tested without an editor.
import type { Status } from "./status";

interface Shown {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** A paragraph each. */
  readonly tooltip: readonly string[];
}

/** The candidates of one task, if there are several tasks. */
export interface BatchNode extends Shown {
  readonly kind: "batch";
  readonly children: readonly (GroupNode | CandidateNode)[];
}

/** Candidates that say the same. */
export interface GroupNode extends Shown {
  readonly kind: "group";
  /** The id of their representative. */
  readonly candidate: string;
  /** The document whose revisions they are, or null for candidates of the repository. */
  readonly uri: string | null;
  readonly children: readonly CandidateNode[];
}

/** The mark of a candidate: the worst that applies. */
export type Mark = "failed" | "broken" | "conflict" | "written" | "nothing" | "passed" | "none";

export interface CandidateNode extends Shown {
  readonly kind: "candidate";
  readonly candidate: string;
  readonly mark: Mark;
  /** Properties that enable commands: `folder`, `given`, `file` (known for one document only). */
  readonly abilities: readonly string[];
  /** The document that it is a revision of, where it is known for that one only. */
  readonly uri: string | null;
  readonly children: readonly FileNode[];
}

export interface FileNode extends Shown {
  readonly kind: "file";
  readonly candidate: string;
  /** The absolute path of the file in the target. */
  readonly file: string;
  /** Relative to the repository, as the candidate has it. */
  readonly path: string;
  readonly status: Status;
}

/** Candidates that were set aside, at the end. */
export interface AsideNode extends Shown {
  readonly kind: "aside";
  readonly children: readonly AsideEntry[];
}

export interface AsideEntry extends Shown {
  readonly kind: "hidden" | "rejected";
  readonly candidate: string;
}

export type Node = BatchNode | GroupNode | CandidateNode | FileNode | AsideNode | AsideEntry;
