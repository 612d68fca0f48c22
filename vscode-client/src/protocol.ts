// Written by `make schema` from the records of the server, as far as they are read here.
import type { Range } from "vscode-languageclient";

export interface ApplyResult { readonly applied: boolean; readonly reason: string; readonly checked: string }
export interface Base { readonly version?: number | null; readonly hash?: string | null }
export interface CandidateEntry {
  readonly id: string;
  readonly label: string;
  readonly tool: string | null;
  readonly task: number;
  readonly rank: number | null;
  readonly makers: number;
  readonly why: readonly string[];
  readonly verdict: string | null;
  readonly no_op: boolean;
  readonly broken: readonly string[];
  readonly syntax_errors: boolean;
  readonly group: number;
  readonly representative: boolean;
  readonly similarity: number;
  readonly word: string;
  readonly names: readonly string[];
  readonly kind: string;
  readonly folder: string | null;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly base: string | null;
  readonly behind: number;
  readonly made: number | null;
  readonly digest: string;
  readonly identical: readonly string[];
  readonly being_written: boolean;
  readonly conflicts: readonly { readonly path: string; readonly kind: string; readonly reason: string }[];
  readonly lines: Readonly<Record<string, LinesEntry>>;
  readonly files: readonly FileEntry[];
  readonly notes: readonly string[];
}
export interface CandidateGroup extends GroupEntry {
  readonly words: readonly string[];
  readonly reasons: readonly { readonly kind: string; readonly text: string; readonly members: readonly string[] }[];
  readonly passed: number;
  readonly failed: number;
  readonly undecided: number;
  readonly lines: readonly string[];
  readonly edits: readonly GroupEdit[];
  readonly where: readonly { readonly path: string; readonly function: string }[];
  readonly names: readonly string[];
}
export interface CandidatesDocument {
  readonly signature: string;
  readonly repository: string;
  readonly origin: string;
  readonly digest: string;
  readonly tasks: readonly TaskEntry[];
  readonly candidates: readonly CandidateEntry[];
  readonly similarity: readonly (readonly number[])[];
  readonly words: readonly (readonly string[])[];
  readonly landed: readonly { readonly id: string; readonly label: string; readonly commit: string | null; readonly words: string }[];
  readonly notes: readonly string[];
  readonly rejected: readonly RejectedEntry[];
  readonly set_aside: readonly { readonly id: string; readonly label: string; readonly state: string; readonly digest: string }[];
  readonly changed: readonly string[];
  readonly decided: Readonly<Record<string, string>>;
  readonly bases: Readonly<Record<string, string>>;
  readonly given: readonly string[];
}
export interface ContentEntry {
  readonly path: string;
  readonly old_path: string;
  readonly status: string;
  readonly old_mode: string | null;
  readonly mode: string | null;
  readonly old: string | null;
  readonly new: string | null;
  readonly is_text: boolean;
}
export interface DidChangeReportParams { readonly uri: string; readonly version: number | null }
export interface FileChangeEntry {
  readonly id: string;
  readonly status: string;
  readonly path: string | null;
  readonly mode: string | null;
  readonly facts: readonly string[];
  readonly conflict: string | null;
}
export interface FileEntry {
  readonly path: string;
  readonly kind: string;
  readonly status: string;
  readonly added: number;
  readonly deleted: number;
  readonly facts: readonly string[];
  readonly old_path?: string;
}
export interface FinishDocument {
  readonly repository: string;
  readonly branch: string;
  readonly origin: string;
  readonly digest: string;
  readonly taken: readonly { readonly candidate: string; readonly label: string; readonly whole: boolean }[];
  readonly files: readonly string[];
  readonly others: readonly string[];
  readonly subject: string;
  readonly message: string;
  readonly worktrees: readonly FinishedWorktreeEntry[];
  readonly obstacle: string;
  readonly notes: readonly string[];
}
export interface FinishResult {
  readonly plan: FinishDocument;
  readonly check: { readonly command: string; readonly reason: string; readonly output: readonly string[] } | null;
  readonly commit: string | null;
  readonly removed: readonly string[];
  readonly kept: readonly RejectedEntry[];
}
export interface FinishedWorktreeEntry {
  readonly id: string;
  readonly label: string;
  readonly folder: string;
  readonly obstacle: string;
  readonly also: readonly string[];
  readonly state: string;
}
export interface GroupEdit {
  readonly members: readonly string[];
  readonly words: readonly string[];
  readonly relation: string;
  readonly line: string;
}
export interface GroupEntry { readonly members: readonly string[]; readonly representative: string; readonly min_similarity: number }
export interface LandedDocument {
  readonly repository: string;
  readonly origin: string;
  readonly digest: string;
  readonly parts: readonly { readonly candidate: string; readonly path: string; readonly hunk: string | null }[];
  readonly units: readonly TakenUnitEntry[];
  readonly files: readonly { readonly path: string; readonly old_path: string; readonly status: string }[];
  readonly written: boolean;
  readonly undo: string | null;
  readonly notes: readonly string[];
  readonly landed: readonly { readonly id: string; readonly label: string }[];
  readonly left_out: readonly { readonly id: string; readonly label: string }[];
  readonly undecided: readonly (readonly { readonly id: string; readonly label: string }[])[];
  readonly branch: string | null;
  readonly rejected: readonly RejectedEntry[];
  readonly page: string;
  readonly contents: readonly ContentEntry[];
}
export interface LinesEntry { readonly files: number; readonly added: number; readonly deleted: number }
export interface RejectedEntry { readonly id: string; readonly reason: string }
export interface ReportHunk {
  readonly range: Range;
  readonly variants: readonly { readonly ids: readonly string[]; readonly text: string }[];
  readonly agree: number;
  readonly es: number | null;
  readonly keep: number | null;
  readonly add: number | null;
  readonly delete: number | null;
  readonly share: number;
}
export interface ReportResult {
  readonly version: number | null;
  readonly state: number;
  readonly signature: string;
  readonly revisions: readonly ReportRevision[];
  readonly similarity: readonly (readonly number[])[];
  readonly words: readonly (readonly string[])[];
  readonly clusters: readonly GroupEntry[];
  readonly hunks: readonly ReportHunk[];
}
export interface ReportRevision {
  readonly id: string;
  readonly label: string;
  readonly rank: number;
  readonly cluster: number;
  readonly noOp: boolean;
  readonly notes: readonly string[];
  readonly makers: number;
  readonly why: readonly string[];
  readonly editSize: number;
  readonly syntaxErrors: boolean;
  readonly broken: readonly string[];
  readonly file: string | null;
}
export interface ReviewCandidate {
  readonly id: string;
  readonly uri: string;
  readonly label: string;
  readonly name: string;
  readonly state: string;
  readonly notes: readonly string[];
}
export interface ReviewFileEntry {
  readonly path: string;
  readonly kind: string;
  readonly created: boolean;
  readonly mode: string | null;
  readonly text: string | null;
  readonly changes: readonly FileChangeEntry[];
  readonly hunks: readonly ReviewHunkEntry[];
}
export interface ReviewHunk {
  readonly lo: number;
  readonly hi: number;
  readonly range: Range;
  readonly text: string;
  readonly variants: readonly { readonly ids: readonly string[]; readonly text: string }[];
  readonly where: string;
  readonly function: string;
  readonly head: number | null;
  readonly words: string;
  readonly decision: string;
  readonly variant: number | null;
  readonly decided: boolean;
  readonly outcome: string;
  readonly marks: readonly { readonly lost: readonly (readonly number[])[]; readonly own: readonly (readonly number[])[] }[] | null;
  readonly units: readonly { readonly hunks: readonly number[]; readonly words: string }[];
}
export interface ReviewHunkEntry {
  readonly name: string;
  readonly lo: number;
  readonly hi: number;
  readonly function: string;
  readonly head: { readonly line: number; readonly text: string } | null;
  readonly before: string;
  readonly origin: string;
  readonly after: string;
  readonly variants: readonly { readonly ids: readonly string[]; readonly text: string }[];
}
export interface ReviewResult {
  readonly version: number | null;
  readonly state: number;
  readonly origin: string;
  readonly originUri: string;
  readonly comparedWith: { readonly kind: string; readonly label: string } | null;
  readonly sources: readonly SourceReport[];
  readonly signature: string;
  readonly decided: number;
  readonly undecided: number;
  readonly next: number | null;
  readonly candidates: readonly ReviewCandidate[];
  readonly hunks: readonly ReviewHunk[];
  readonly problems: readonly { readonly range: Range; readonly message: string; readonly hunk: number | null }[];
}
export interface RevisionText { readonly id: string; readonly text: string; readonly label?: string | null }
export interface SetCandidatesResult {
  readonly hidden: readonly string[];
  readonly rejected: readonly string[];
  readonly commit: string | null;
}
export interface SinceAnswer {
  readonly repository: string | null;
  readonly summary: string;
  readonly old: { readonly name: string; readonly commit: string | null; readonly base: string | null };
  readonly new: { readonly name: string; readonly commit: string | null; readonly base: string | null };
  readonly hunks: Readonly<Record<string, number>>;
  readonly files: readonly SinceFileEntry[];
  readonly notes: readonly string[];
  readonly page: string;
}
export interface SinceFileEntry {
  readonly path: string;
  readonly facts: readonly { readonly status: string; readonly text: string }[];
  readonly hunks: readonly SinceHunkEntry[];
}
export interface SinceHunkEntry {
  readonly status: string;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly heading: string;
  readonly old: string;
  readonly new: string;
  readonly lines: readonly string[];
}
export interface SourceReport {
  readonly name: string;
  readonly found: readonly { readonly id: string; readonly label: string; readonly notes: readonly string[] }[];
  readonly refused: readonly { readonly id: string; readonly reason: string }[];
}
export interface TakeChoice {
  readonly candidate: string;
  readonly path?: string | null;
  readonly hunk?: string | null;
  readonly conflicts?: boolean | null;
}
export interface TakenDocument {
  readonly repository: string;
  readonly origin: string;
  readonly digest: string;
  readonly parts: readonly { readonly candidate: string; readonly path: string; readonly hunk: string | null }[];
  readonly units: readonly TakenUnitEntry[];
  readonly files: readonly { readonly path: string; readonly old_path: string; readonly status: string }[];
  readonly written: boolean;
  readonly undo: string | null;
  readonly notes: readonly string[];
  readonly contents: readonly ContentEntry[];
  readonly refusal: { readonly message: string } | null;
}
export interface TakenUnitEntry {
  readonly candidate: string;
  readonly path: string;
  readonly hunks: readonly string[];
  readonly chosen: readonly string[];
  readonly names: readonly string[];
  readonly whole: boolean;
}
export interface TaskEntry {
  readonly number: number;
  readonly name: string | null;
  readonly members: readonly string[];
  readonly digest: string;
  readonly groups: readonly CandidateGroup[];
  readonly files: readonly ReviewFileEntry[];
}

/** Params and result of each request. */
export interface Methods {
  "excise/addRevisions": [{ uri: string; revisions: readonly RevisionText[]; base?: Base | null }, { readonly accepted: readonly string[]; readonly rejected: readonly RejectedEntry[] }];
  "excise/removeCandidates": [{ ids: readonly string[]; uri?: string | null }, { readonly removed: readonly string[]; readonly unknown: readonly string[] }];
  "excise/candidates": [{ uri: string; git?: readonly string[] | null; patches?: readonly string[] | null; only?: readonly string[] | null; onto?: string | null; base?: readonly string[] | null; issue?: string | null; verdicts?: readonly string[] | null; task?: string | null; path?: readonly string[] | null; intent?: string | null }, CandidatesDocument];
  "excise/report": [{ uri: string }, ReportResult];
  "excise/review": [{ uri: string; after?: number | null; marks?: boolean | null }, ReviewResult];
  "excise/decide": [{ uri: string; version: number; hunk?: number | null; state?: number | null; decided?: boolean | null; candidate?: string | null; among?: readonly string[] | null }, { readonly decided: number; readonly undecided: number }];
  "excise/setCandidates": [{ ids: readonly string[]; state?: "shown" | "hidden" | "rejected" | null; base?: string | null; uri?: string | null }, SetCandidatesResult];
  "excise/apply": [{ uri: string; version: number; id?: string | null; hunk?: number | null; variant?: number | null; state?: number | null; anyway?: boolean | null; split?: boolean | null }, ApplyResult];
  "excise/take": [{ uri: string; choices: readonly TakeChoice[]; digest?: string | null; issue?: string | null; anyway?: boolean | null; split?: boolean | null; apply?: boolean | null }, TakenDocument];
  "excise/startAgain": [{ uri: string; origin?: "saved" | "head" | "index" | null }, { readonly started: boolean }];
  "excise/since": [{ uri: string; old?: string | null; new?: string | null; onto?: string | null; path?: readonly string[] | null }, SinceAnswer];
  "excise/land": [{ uri: string; git?: readonly string[] | null; patches?: readonly string[] | null; only?: readonly string[] | null; onto?: string | null; base?: readonly string[] | null; issue?: string | null; verdicts?: readonly string[] | null; task?: string | null; candidates?: readonly string[] | null; anyway?: boolean | null }, LandedDocument];
  "excise/finish": [{ uri: string; digest?: string | null; subject?: string | null; run?: string | null; write?: boolean | null; remove?: readonly string[] | null; agreed?: readonly string[] | null }, FinishResult];
}

export const DID_CHANGE_REPORT = "excise/didChangeReport";
