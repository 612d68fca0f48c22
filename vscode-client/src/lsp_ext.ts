// The server's extensions of the protocol: a mirror of excise_server/lsp/protocol/, whose
// contract is docs/lsp-extensions.md. A test compares every interface here with both.
import type { Range } from "vscode-languageclient";
import type { CandidatesResult, WorktreesResult } from "./worktrees";

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

export interface ReadPatchParams {
  readonly uri: string;
  readonly patch: string;
}

export interface ReadPatchResult {
  readonly text: string;
  readonly label: string;
  readonly notes: readonly string[];
}

export interface StartAgainParams {
  readonly uri: string;
}

export interface StartAgainResult {
  readonly started: boolean;
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
  readonly agreement: number | null;
  readonly editSize: number;
  readonly score: number;
  readonly syntaxErrors: boolean;
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
  readonly hunks: readonly ReportHunk[];
}

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

export interface ApplyRevisionParams {
  readonly uri: string;
  readonly id: string;
  readonly version: number;
  readonly state?: number | null;
}

export interface ApplyVariantParams {
  readonly uri: string;
  readonly hunk: number;
  readonly variant: number;
  readonly version: number;
  readonly state?: number | null;
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

export interface WorktreesParams {
  readonly uri: string;
  readonly branches?: readonly string[] | null;
  readonly base?: string | null;
}

export interface CandidatesParams {
  readonly uri: string;
  readonly branches?: readonly string[] | null;
  readonly batch?: string | null;
}

export interface ChangeText {
  readonly path: string;
  readonly text?: string | null;
  readonly status?: string | null;
  readonly oldPath?: string | null;
  readonly base?: string | null;
}

export interface CandidateText {
  readonly id: string;
  readonly changes: readonly ChangeText[];
  readonly label?: string | null;
  readonly base?: string | null;
}

export interface AddCandidatesParams {
  readonly candidates: readonly CandidateText[];
  readonly folder?: string | null;
}

export interface AddCandidatesResult {
  readonly accepted: readonly string[];
  readonly rejected: readonly Rejection[];
}

export interface RemoveCandidatesParams {
  readonly ids: readonly string[];
}

export interface RemoveCandidatesResult {
  readonly removed: readonly string[];
  readonly unknown: readonly string[];
}

export interface HideParams {
  readonly ids: readonly string[];
  readonly hidden?: boolean | null;
}

export interface RejectParams {
  readonly ids: readonly string[];
  readonly rejected?: boolean | null;
}

export interface SetAsideResult {
  readonly hidden: readonly string[];
  readonly rejected: readonly string[];
}

export interface SetBaseParams {
  readonly uri: string;
  readonly id: string;
  readonly base?: string | null;
}

export interface SetBaseResult {
  readonly commit: string | null;
}

export interface ReviewParams {
  readonly uri: string;
  readonly after?: number | null;
}

export interface ReviewCandidate {
  readonly id: string;
  readonly label: string;
  readonly state: string;
  readonly notes: readonly string[];
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

/** Params and result of each request. */
export interface Methods {
  "excise/addRevisions": [AddRevisionsParams, AddRevisionsResult];
  "excise/readPatch": [ReadPatchParams, ReadPatchResult];
  "excise/removeRevisions": [RemoveRevisionsParams, RemoveRevisionsResult];
  "excise/startAgain": [StartAgainParams, StartAgainResult];
  "excise/listRevisions": [ListRevisionsParams, ListRevisionsResult];
  "excise/report": [ReportParams, ReportResult];
  "excise/sources": [SourcesParams, SourcesResult];
  "excise/applyRevision": [ApplyRevisionParams, ApplyResult];
  "excise/applyVariant": [ApplyVariantParams, ApplyResult];
  "excise/showHunk": [ShowHunkParams, ShowHunkResult];
  "excise/compare": [CompareParams, CompareResult];
  "excise/revisionContent": [RevisionContentParams, RevisionContentResult];
  "excise/worktrees": [WorktreesParams, WorktreesResult];
  "excise/candidates": [CandidatesParams, CandidatesResult];
  "excise/addCandidates": [AddCandidatesParams, AddCandidatesResult];
  "excise/removeCandidates": [RemoveCandidatesParams, RemoveCandidatesResult];
  "excise/review": [ReviewParams, ReviewResult];
  "excise/decide": [DecideParams, DecideResult];
  "excise/hide": [HideParams, SetAsideResult];
  "excise/reject": [RejectParams, SetAsideResult];
  "excise/setBase": [SetBaseParams, SetBaseResult];
  "excise/counters": [CountersParams, CountersResult];
}

/** Notification of the server, with {@link DidChangeReportParams}. */
export const DID_CHANGE_REPORT = "excise/didChangeReport";
