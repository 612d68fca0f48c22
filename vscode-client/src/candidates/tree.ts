// The tree of a repository's candidates: batches, groups in order, candidates, their files.
import * as path from "node:path";
import type { BatchEntry, CandidateCluster, CandidateEntry, CandidatesDocument, FileEntry } from "../protocol";
import { count, plain } from "../text";
import { type Status, WORDS, age, conflicts, joined, lines, placed, share, size, statusOf, verdict } from "./words";

/** The mark of a candidate: the worst that applies. */
export type Mark = "failed" | "broken" | "conflict" | "written" | "nothing" | "passed" | "none";

/** A row of the view: plain data, so that it can be tested without an editor. */
export interface Node {
  /** A batch has the candidates of one task, if there are several; a group those that say the same; `aside` what was set aside. */
  readonly kind: "batch" | "group" | "candidate" | "file" | "aside" | "hidden" | "rejected";
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** A paragraph each. */
  readonly tooltip: readonly string[];
  readonly children: readonly Node[];
  /** The id of the candidate; of a group, of its representative. */
  readonly candidate?: string;
  /** The document whose revision it is, where it is known for that one only. */
  readonly uri?: string | null;
  /** Of a candidate: how it is marked, and the properties that enable commands (`folder`, `given`, `revision`). */
  readonly mark?: Mark;
  readonly abilities?: readonly string[];
  /** Of a file: its absolute path in the target, and the path relative to the repository as the candidate has it. */
  readonly file?: string;
  readonly path?: string;
  readonly status?: Status;
}

/** The roots of the view; `now` in seconds since 1970. */
export function roots(result: CandidatesDocument, now: number): Node[] {
  const touching = touched(result);
  const batches = result.batches.map((batch) => batchNode(result, batch, touching, now));
  const only = batches.length === 1 ? batches[0] : undefined;
  const aside = result.set_aside.length === 0 ? [] : [asideNode(result)];
  return [...(only === undefined ? batches : only.children), ...aside];
}

/** How many candidates of a task change a file, by both. */
type Touching = ReadonlyMap<string, number>;

function touched({ ranking }: CandidatesDocument): Touching {
  const touching = new Map<string, number>();
  for (const { batch, files } of ranking) {
    for (const { path: file } of files) {
      const key = `${batch} ${file}`;
      touching.set(key, (touching.get(key) ?? 0) + 1);
    }
  }
  return touching;
}

function batchNode(result: CandidatesDocument, batch: BatchEntry, touching: Touching, now: number): Node {
  const all = batch.members.length;
  const children = result.clusters
    .flatMap((cluster, index) => {
      if (cluster.batch !== batch.number) {
        return [];
      }
      const works = result.ranking.filter((work) => work.cluster === index + 1);
      const nodes = works.map((work) => candidateNode(result, work, touching, now));
      return [groupNode(cluster, nodes, all, facts(result, cluster))];
    })
    .map((node, _at, nodes) => told(node, nodes));
  return {
    kind: "batch",
    id: `batch ${[...batch.members].sort().join(" ")}`,
    label: batch.task === null ? `Task ${batch.number}` : plain(batch.task, 60),
    description: count(all, "candidate"),
    tooltip: ["Candidates of one task: they change the same files, or their tool says so."],
    children,
  };
}

/** A group, or the candidate that is alone in it, with the facts that set it apart. */
function groupNode(cluster: CandidateCluster, children: readonly Node[], all: number, words: string): Node {
  const [first] = children;
  if (children.length === 1 && first !== undefined) {
    const more = { description: joined(first.description, words), tooltip: [...first.tooltip, words] };
    return words === "" ? first : { ...first, ...more };
  }
  const same = cluster.min_similarity === 1;
  const label = share(children.length, all, same);
  return {
    kind: "group",
    id: `group ${cluster.representative}`,
    candidate: cluster.representative,
    uri: null,
    label,
    description: words,
    tooltip: [
      `${label}: ${children.map((node) => node.label).join(", ")}`,
      ...(words === "" ? [] : [words]),
      ...(same ? [] : [`Similarity to the one that stands for them: ${cluster.min_similarity.toFixed(2)} or more`]),
    ],
    children,
  };
}

/** Put its names first in a group whose description is empty or equal to another one. */
function told(node: Node, nodes: readonly Node[]): Node {
  const alike = nodes.filter(({ label, description }) => label === node.label && description === node.description);
  if (node.kind === "candidate" || (alike.length === 1 && node.description !== "")) {
    return node;
  }
  const names = node.children.map(({ label }) => label).join(", ");
  return { ...node, description: joined(names, node.description) };
}

export function labelsOf({ ranking }: CandidatesDocument): Map<string, string> {
  return new Map(ranking.map(({ id, label }) => [id, label]));
}

/** The facts that set a group apart, in a line, with the members if they do not hold for all. */
function facts(result: CandidatesDocument, cluster: CandidateCluster): string {
  const names = labelsOf(result);
  return cluster.reasons
    .map(({ text, members }) =>
      members.length === cluster.members.length
        ? plain(text, 160)
        : `${plain(text, 160)} (${members.map((id) => plain(names.get(id) ?? id, 40)).join(", ")})`,
    )
    .join("; ");
}

function candidateNode(result: CandidatesDocument, work: CandidateEntry, touching: Touching, now: number): Node {
  const label = plain(work.label, 80);
  const branch = work.branch === null || label.includes(work.branch) ? "" : plain(work.branch, 60);
  const ageWords = age(work.made, now);
  return {
    kind: "candidate",
    id: `candidate ${work.id}`,
    candidate: work.id,
    label,
    description: joined(
      verdict(work.verdict),
      ...size(work),
      conflicts(work),
      work.syntax_errors ? "breaks the syntax" : "",
      work.being_written ? "still being written" : "",
      work.no_op ? "changes nothing" : "",
      branch,
      ageWords,
    ),
    tooltip: tooltip(result, work, ageWords),
    mark: markOf(work),
    abilities: [work.kind, ...(work.folder === null ? [] : ["folder"]), ...(result.given.includes(work.id) ? ["given"] : [])],
    uri: null,
    children: work.files.map((file) => fileNode(result, work, file, touching)),
  };
}

function tooltip(result: CandidatesDocument, work: CandidateEntry, made: string): string[] {
  const names = labelsOf(result);
  const same = work.identical.map((id) => plain(names.get(id) ?? id, 60));
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

export function markOf(work: CandidateEntry): Mark {
  const marks: readonly (readonly [boolean, Mark])[] = [
    [work.verdict === "failed", "failed"],
    [work.syntax_errors, "broken"],
    [work.conflicts.length > 0, "conflict"],
    [work.being_written, "written"],
    [work.no_op, "nothing"],
    [work.verdict === "passed", "passed"],
  ];
  return marks.find(([applies]) => applies)?.[1] ?? "none";
}

function fileNode(result: CandidatesDocument, work: CandidateEntry, file: FileEntry, touching: Touching): Node {
  const status = statusOf(file.status);
  const shown = plain(file.path, 300);
  const folder = path.posix.dirname(shown);
  const kind = file.kind === "code" ? "" : file.kind;
  const renamed = file.old_path === undefined ? "" : plain(`from ${file.old_path}`, 95);
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
    children: [],
  };
}

function asideNode(result: CandidatesDocument): Node {
  return {
    kind: "aside",
    id: "aside",
    label: "Set aside",
    description: `${result.set_aside.length}`,
    tooltip: ["They count in no number, group or order."],
    children: result.set_aside.map(({ id, label, state }) => ({
      kind: state === "hidden" ? "hidden" : "rejected",
      id: `aside ${id}`,
      candidate: id,
      label: plain(label, 80),
      description: state,
      tooltip: [plain(id, 200)],
      children: [],
    })),
  };
}
