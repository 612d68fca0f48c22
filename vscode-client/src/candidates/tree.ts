// The tree of a repository's candidates: batches, groups in order, candidates, their files.
import * as path from "node:path";
import { plain } from "../text";
import type { CandidatesResult, ChangedFile, Work } from "../worktrees";
import type { AsideNode, BatchNode, CandidateNode, FileNode, GroupNode, Mark, Node } from "./nodes";
import { WORDS, statusOf } from "./status";
import { age, conflicts, joined, lines, placed, share, size, verdict } from "./words";

/** The roots of the view; `now` in seconds since 1970. */
export function roots(result: CandidatesResult, now: number): Node[] {
  const touching = touched(result);
  const batches = result.batches.map((batch) => batchNode(result, batch, touching, now));
  const only = batches.length === 1 ? batches[0] : undefined;
  const aside = asideNode(result);
  return [...(only === undefined ? batches : only.children), ...(aside === undefined ? [] : [aside])];
}

/** How many candidates of a task change a file, by both. */
type Touching = ReadonlyMap<string, number>;

function touched({ ranking }: CandidatesResult): Touching {
  const touching = new Map<string, number>();
  for (const { batch, files } of ranking) {
    for (const { path: file } of files) {
      const key = `${batch} ${file}`;
      touching.set(key, (touching.get(key) ?? 0) + 1);
    }
  }
  return touching;
}

function batchNode(
  result: CandidatesResult,
  batch: CandidatesResult["batches"][number],
  touching: Touching,
  now: number,
): BatchNode {
  const all = batch.members.length;
  const children = result.clusters
    .map((cluster, index) => ({ cluster, number: index + 1 }))
    .filter(({ cluster }) => cluster.batch === batch.number)
    .map(({ cluster, number }) => {
      const works = result.ranking.filter((work) => work.cluster === number);
      const nodes = works.map((work) => candidateNode(result, work, touching, now));
      const [first] = nodes;
      return nodes.length === 1 && first !== undefined
        ? alone(first, facts(result, cluster))
        : groupNode(result, cluster, nodes, all);
    })
    .map((node, _at, nodes) => told(node, nodes));
  return {
    kind: "batch",
    id: `batch ${[...batch.members].sort().join(" ")}`,
    label: batch.task === null ? `Task ${batch.number}` : plain(batch.task, 60),
    description: all === 1 ? "1 candidate" : `${all} candidates`,
    tooltip: ["Candidates of one task: they change the same files, or their tool says so."],
    children,
  };
}

function groupNode(
  result: CandidatesResult,
  cluster: CandidatesResult["clusters"][number],
  children: readonly CandidateNode[],
  all: number,
): GroupNode {
  const description = facts(result, cluster);
  const same = cluster.min_similarity === 1;
  return {
    kind: "group",
    id: `group ${cluster.representative}`,
    candidate: cluster.representative,
    uri: null,
    label: share(children.length, all, same),
    description,
    tooltip: [
      `${share(children.length, all, same)}: ${children.map(({ label }) => label).join(", ")}`,
      ...(description === "" ? [] : [description]),
      ...(same ? [] : [`Similarity to the one that stands for them: ${cluster.min_similarity.toFixed(2)} or more`]),
    ],
    children,
  };
}

/** Put its names first in a group whose description is empty or equal to another one. */
function told(node: GroupNode | CandidateNode, nodes: readonly (GroupNode | CandidateNode)[]): GroupNode | CandidateNode {
  const alike = nodes.filter(({ label, description }) => label === node.label && description === node.description);
  if (node.kind === "candidate" || (alike.length === 1 && node.description !== "")) {
    return node;
  }
  const names = node.children.map(({ label }) => label).join(", ");
  return { ...node, description: joined(names, node.description) };
}

/** The facts that set a group apart, in a line, with the members if they do not hold for all. */
function facts(result: CandidatesResult, cluster: CandidatesResult["clusters"][number]): string {
  const labels = new Map(result.ranking.map(({ id, label }) => [id, label]));
  return cluster.reasons
    .map(({ text, members }) =>
      members.length === cluster.members.length
        ? plain(text, 160)
        : `${plain(text, 160)} (${members.map((id) => plain(labels.get(id) ?? id, 40)).join(", ")})`,
    )
    .join("; ");
}

/** A candidate that is alone in its group, with the description of the group. */
function alone(node: CandidateNode, words: string): CandidateNode {
  return words === ""
    ? node
    : { ...node, description: joined(node.description, words), tooltip: [...node.tooltip, words] };
}

function candidateNode(result: CandidatesResult, work: Work, touching: Touching, now: number): CandidateNode {
  const label = plain(work.label, 80);
  const branch = work.branch === null || label.includes(work.branch) ? "" : plain(work.branch, 60);
  const ageWords = age(work.made, now);
  const parts = [
    verdict(work.verdict),
    ...size(work),
    conflicts(work),
    work.syntax_errors ? "breaks the syntax" : "",
    work.being_written ? "still being written" : "",
    work.no_op ? "changes nothing" : "",
    branch,
    ageWords,
  ];
  return {
    kind: "candidate",
    id: `candidate ${work.id}`,
    candidate: work.id,
    label,
    description: joined(...parts),
    tooltip: tooltip(result, work, ageWords),
    mark: markOf(work),
    abilities: [work.kind, ...(work.folder === null ? [] : ["folder"]), ...(result.given.includes(work.id) ? ["given"] : [])],
    uri: null,
    children: work.files.map((file) => fileNode(result, work, file, touching)),
  };
}

function tooltip(result: CandidatesResult, work: Work, made: string): string[] {
  const labels = new Map(result.ranking.map(({ id, label }) => [id, label]));
  const same = work.identical.map((id) => plain(labels.get(id) ?? id, 60));
  const set = result.bases[work.id];
  return [
    joined(plain(work.label, 200), work.tool === null ? "" : `made by ${plain(work.tool, 40)}`, made),
    ...(work.rank === null ? [] : [placed(work.rank, work.why)]),
    ...(work.branch === null ? [] : [`Branch: ${plain(work.branch, 200)}`]),
    ...(work.folder === null ? [] : [`Folder: ${plain(work.folder, 300)}`]),
    ...(work.behind === 0 ? [] : [`Started ${work.behind} ${work.behind === 1 ? "commit" : "commits"} ago; compared as if made now`]),
    ...(set === undefined ? [] : [`Its base was set to ${plain(set, 12)}`]),
    ...(same.length === 0 ? [] : [`Exactly the same as ${same.join(", ")}`]),
    ...work.conflicts.map((conflict) => `Conflict in ${plain(conflict.path, 100)}: ${plain(conflict.reason, 200)}`),
    ...work.notes.map((note) => plain(note, 300)),
  ];
}

export function markOf(work: Work): Mark {
  if (work.verdict === "failed") {
    return "failed";
  }
  if (work.syntax_errors) {
    return "broken";
  }
  if (work.conflicts.length > 0) {
    return "conflict";
  }
  if (work.being_written) {
    return "written";
  }
  if (work.no_op) {
    return "nothing";
  }
  return work.verdict === "passed" ? "passed" : "none";
}

function fileNode(result: CandidatesResult, work: Work, file: ChangedFile, touching: Touching): FileNode {
  const status = statusOf(file.status);
  const shown = plain(file.path, 300);
  const folder = path.posix.dirname(shown);
  const kind = file.kind === "code" ? "" : file.kind;
  const renamed = status === "R" ? file.facts.map((fact) => plain(fact, 100).replace(/^rename from/, "from"))[0] ?? "" : "";
  const only = touching.get(`${work.batch} ${file.path}`) === 1 && result.batches.some(({ number, members }) => number === work.batch && members.length > 1);
  return {
    kind: "file",
    id: `file ${work.id} ${file.path}`,
    candidate: work.id,
    file: path.join(result.repository, file.path),
    path: file.path,
    status,
    label: path.posix.basename(shown),
    description: joined(lines(file), renamed, kind, only ? "only here" : "", folder === "." ? "" : folder),
    tooltip: [
      `${shown}: ${WORDS[status]}${only ? `; only ${plain(work.label, 60)} touches this file` : ""}`,
      ...file.facts.map((fact) => plain(fact, 200)),
    ],
  };
}

function asideNode(result: CandidatesResult): AsideNode | undefined {
  if (result.set_aside.length === 0) {
    return undefined;
  }
  return {
    kind: "aside",
    id: "aside",
    label: "Set aside",
    description: `${result.set_aside.length}`,
    tooltip: ["They count in no number, group or order."],
    children: result.set_aside.map(({ id, label, state }) => ({
      kind: state,
      id: `aside ${id}`,
      candidate: id,
      label: plain(label, 80),
      description: state,
      tooltip: [plain(id, 200)],
    })),
  };
}
