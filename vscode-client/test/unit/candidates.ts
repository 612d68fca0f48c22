// The answer of `excise/candidates` for three candidates of one task, to be changed by each test.
import type { CandidateCluster, CandidateEntry, CandidatesDocument } from "../../src/protocol";

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
    cluster: 1,
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

/** The entry of a task, in which each family is a list of edits, and an edit its candidates. */
export function task(number: number, name: string | null, ...families: string[][][]): CandidatesDocument["tasks"][number] {
  const edit = (members: string[]): CandidatesDocument["tasks"][number]["families"][number]["edits"][number] => ({ members, words: members.map(() => "identical"), relation: "", line: "+ y" });
  return { number, name, digest: "", members: families.flat(2), families: families.map((edits) => ({ lines: ["+ x = 1"], where: [], names: [], edits: edits.map(edit) })), files: [] };
}

export function cluster(members: string[], facts: string[] = []): CandidateCluster {
  const reasons = facts.map((text) => ({ kind: "tests", text, members }));
  const [representative = ""] = members;
  const words = members.map(() => "identical");
  return { task: 1, members, representative, min_similarity: 1, reasons, words, passed: 0, failed: 0, undecided: 0 };
}

export function candidates(more: Partial<CandidatesDocument> = {}): CandidatesDocument {
  const ids = ["worktree:ada", "worktree:bo", "branch:chen"];
  return {
    repository: "/home/mina/shop",
    ...{ signature: "", digest: "", decided: {}, changed: [], origin: "", words: [], notes: [] },
    similarity: [],
    clusters: [cluster(ids.slice(0, 2), ["adds no tests"]), cluster(["branch:chen"], ["deletes 12 lines"])],
    tasks: [task(1, null, [ids.slice(0, 2)], [ids.slice(2)])],
    candidates: [
      work("worktree:ada", { representative: true }),
      work("worktree:bo", { identical: ["worktree:ada"] }),
      work("branch:chen", { cluster: 2, kind: "branch", folder: null, branch: "chen" }),
    ],
    ...{ rejected: [], landed: [] },
    set_aside: [],
    bases: {},
    given: [],
    ...more,
  };
}
