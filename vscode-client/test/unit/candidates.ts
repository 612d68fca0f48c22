// The answer of `excise/candidates` for three candidates of one task, to be changed by each test.
import type { CandidatesResult, Work } from "../../src/worktrees";

export function work(id: string, more: Partial<Work> = {}): Work {
  return {
    id,
    label: id.replace(/^\w+:/, ""),
    tool: null,
    batch: 1,
    rank: 1,
    makers: 1,
    why: ["nobody else makes it"],
    edit_size: 3,
    verdict: null,
    no_op: false,
    syntax_errors: false,
    cluster: 1,
    representative: false,
    kind: "worktree",
    folder: `/home/mina/${id}`,
    branch: null,
    behind: 0,
    made: null,
    identical: [],
    being_written: false,
    conflicts: [],
    lines: { code: { files: 1, added: 3, deleted: 1 } },
    notes: [],
    files: [{ path: "src/a.py", kind: "code", status: "modified", added: 3, deleted: 1, facts: [] }],
    ...more,
  };
}

export function candidates(more: Partial<CandidatesResult> = {}): CandidatesResult {
  const ids = ["worktree:ada", "worktree:bo", "branch:chen"];
  const reason = (text: string, members: string[]): { text: string; members: string[] } => ({ text, members });
  return {
    repository: "/home/mina/shop",
    base: "c0ffee",
    candidates: ids,
    similarity: [],
    clusters: [
      { batch: 1, members: ids.slice(0, 2), representative: "worktree:ada", min_similarity: 1, reasons: [reason("adds no tests", ids.slice(0, 2))] },
      { batch: 1, members: ["branch:chen"], representative: "branch:chen", min_similarity: 1, reasons: [reason("deletes 12 lines", ["branch:chen"])] },
    ],
    batches: [{ number: 1, task: null, members: ids }],
    ranking: [
      work("worktree:ada", { representative: true }),
      work("worktree:bo", { identical: ["worktree:ada"] }),
      work("branch:chen", { cluster: 2, kind: "branch", folder: null, branch: "chen" }),
    ],
    unchanged: [],
    landed: [],
    rejected: [],
    set_aside: [],
    bases: {},
    given: [],
    ...more,
  };
}
