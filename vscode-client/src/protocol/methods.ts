// The custom methods. Mirrors excise_server/lsp/protocol.py.
import type { TakeResult } from "../take/document";
import type { CandidatesResult, WorktreesResult } from "../worktrees";
import type {
  ApplyResult,
  ApplyRevisionParams,
  ApplyVariantParams,
  CompareParams,
  CompareResult,
  RevisionContentParams,
  RevisionContentResult,
  ShowHunkParams,
  ShowHunkResult,
} from "./actions";
import type {
  AddCandidatesParams,
  AddCandidatesResult,
  CandidatesParams,
  HideParams,
  RejectParams,
  RemoveCandidatesParams,
  RemoveCandidatesResult,
  SetAsideResult,
  SetBaseParams,
  SetBaseResult,
  TakeParams,
  WorktreesParams,
} from "./candidates";
import type { CountersParams, CountersResult, ReportParams, ReportResult } from "./reports";
import type {
  DecideParams,
  DecideResult,
  ReviewParams,
  ReviewResult,
  StartAgainParams,
  StartAgainResult,
} from "./review";
import type {
  AddRevisionsParams,
  AddRevisionsResult,
  AddTextParams,
  AddTextResult,
  ListRevisionsParams,
  ListRevisionsResult,
  ReadPatchParams,
  ReadPatchResult,
  RemoveRevisionsParams,
  RemoveRevisionsResult,
} from "./revisions";
import type { SourcesParams, SourcesResult } from "./sources";

/** Params and result of each request. */
export interface Methods {
  "excise/addRevisions": [AddRevisionsParams, AddRevisionsResult];
  "excise/addText": [AddTextParams, AddTextResult];
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
  "excise/take": [TakeParams, TakeResult];
  "excise/counters": [CountersParams, CountersResult];
}

/** Notification of the server, with {@link DidChangeReportParams}. */
export const DID_CHANGE_REPORT = "excise/didChangeReport";
