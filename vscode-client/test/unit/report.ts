// A report with three revisions in two clusters, to be changed by each test.
import type { ReportHunk, ReportResult, ReportRevision } from "../../src/protocol";

export function revision(id: string, more: Partial<ReportRevision> = {}): ReportRevision {
  const shown = { label: id.replace(/^\w+:/, ""), rank: 1, cluster: 1, noOp: false, notes: [], makers: 1, meanSimilarity: 0.5, why: ["nobody else makes it"], editSize: 3 };
  return { id, ...shown, syntaxErrors: false, broken: [], file: null, ...more };
}

export function hunk(line: number, variants: Record<string, string[]>): ReportHunk {
  const range = { start: { line, character: 0 }, end: { line: line + 1, character: 0 } };
  const scores = { es: 0.25, keep: null, add: 0.5, delete: 0, share: 0.4, pairs: [] };
  return {
    range,
    variants: Object.entries(variants).map(([text, ids]) => ({ text, ids })),
    agree: 2,
    ...scores,
  };
}

export function report(more: Partial<ReportResult> = {}): ReportResult {
  return {
    version: 1,
    state: 1,
    signature: "es|v:1",
    revisions: [revision("b", { rank: 2 }), revision("worktree:a"), revision("c", { rank: 3, cluster: 2 })],
    similarity: [
      [1, 0.8, 0.1],
      [0.8, 1, 0.2],
      [0.1, 0.2, 1],
    ],
    words: [
      ["identical", "overlaps", "different"],
      ["overlaps", "identical", "different"],
      ["different", "different", "identical"],
    ],
    clusters: [
      { members: ["b", "worktree:a"], representative: "worktree:a", min_similarity: 0.8 },
      { members: ["c"], representative: "c", min_similarity: 1 },
    ],
    hunks: [hunk(4, { "new\n": ["b", "worktree:a"], "old\n": ["c"] })],
    ...more,
  };
}
