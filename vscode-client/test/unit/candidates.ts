// The answer of `excise/candidates` for three candidates of one task, to be changed by each test.
import type { CandidateEntry, CandidateGroup, CandidatesDocument } from "../../src/protocol";

export function work(id: string, more: Partial<CandidateEntry> = {}): CandidateEntry {
  return {
    id,
    label: id.replace(/^\w+:/, ""),
    tool: null,
    task: 1,
    rank: 1,
    makers: 1,
    why: ["nobody else makes it"],
    ...{ broken: [], digest: "", similarity: 1, names: [], commit: null, base: null },
    verdict: null,
    no_op: false,
    syntax_errors: false,
    group: 1,
    representative: false,
    kind: "worktree",
    folder: `/home/mina/${id}`,
    branch: null,
    behind: 0,
    made: null,
    word: "identical",
    identical: [],
    being_written: false,
    conflicts: [],
    lines: { code: { files: 1, added: 3, deleted: 1 } },
    notes: [],
    files: [{ path: "src/a.py", kind: "code", status: "modified", added: 3, deleted: 1, facts: [] }],
    ...more,
  };
}

const FACTS = new Map([["worktree:ada", "adds no tests"], ["worktree:bo", "adds no tests"], ["branch:chen", "deletes 12 lines"]]);

/** A group, in which an edit is the candidates with the same code. */
function group(...edits: string[][]): CandidateGroup {
  const members = edits.flat();
  const [representative = ""] = members;
  const facts = new Set(members.flatMap((id) => FACTS.get(id) ?? []));
  return {
    ...{ members, representative, min_similarity: 1, words: members.map(() => "identical"), lines: ["+ x = 1"], where: [], names: [], passed: 0, failed: 0, undecided: 0 },
    edits: edits.map((own) => ({ members: own, words: own.map(() => "identical"), relation: "", line: "+ y" })),
    reasons: [...facts].map((text) => ({ kind: "tests", text, members: members.filter((id) => FACTS.get(id) === text) })),
  };
}

/** The entry of a task, in which each group is a list of edits. */
export function task(number: number, name: string | null, ...groups: string[][][]): CandidatesDocument["tasks"][number] {
  return { number, name, digest: "", members: groups.flat(2), groups: groups.map((edits) => group(...edits)), files: [] };
}

export function candidates(more: Partial<CandidatesDocument> = {}): CandidatesDocument {
  const ids = ["worktree:ada", "worktree:bo", "branch:chen"];
  return {
    repository: "/home/mina/shop",
    ...{ signature: "", digest: "", decided: {}, changed: [], origin: "", words: [], notes: [] },
    similarity: [],
    tasks: [task(1, null, [ids.slice(0, 2)], [ids.slice(2)])],
    candidates: [
      work("worktree:ada", { representative: true }),
      work("worktree:bo", { identical: ["worktree:ada"] }),
      work("branch:chen", { group: 2, kind: "branch", folder: null, branch: "chen" }),
    ],
    ...{ rejected: [], landed: [] },
    set_aside: [],
    bases: {},
    given: [],
    ...more,
  };
}
