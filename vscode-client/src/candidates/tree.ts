// The rows of the view "Candidates" as plain data, and the words about candidates and their files.
import * as path from "node:path";
import type { Uri } from "vscode";
import type { Parts } from "../parts";
import type { CandidateEntry, CandidatesDocument, FileEntry, GroupEntry, LinesEntry, ReportResult, ReportRevision } from "../protocol";
import { count, plain } from "../text";

/** The name of an icon of the editor, and its colour. */
export type Icon = readonly [string, string?];

/** A row of the view. */
export interface Node {
  /** A task has its candidates, if there are several tasks, or those of a group; a group those with the same code; `since` is what changed since the user looked; `aside` what was set aside. */
  readonly kind: "task" | "group" | "candidate" | "file" | "since" | "aside" | "hidden" | "rejected";
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** A paragraph each. */
  readonly tooltip: readonly string[];
  readonly children: readonly Node[];
  readonly icon?: Icon;
  /** The id of the candidate; of a group, of its representative. */
  readonly candidate?: string;
  /** The document whose revision it is, where it is known for that one only. */
  readonly uri?: string;
  /** Of a candidate: the properties that enable commands (`given`, `revision`). */
  readonly abilities?: readonly string[];
  /** Of a file: its absolute path in the target, the path relative to the repository as the candidate has it, and what is done to it. */
  readonly file?: string;
  readonly path?: string;
  readonly status?: string;
}

const BROKEN: Icon = ["warning", "list.warningForeground"];
const UNCHANGED: Icon = ["circle-slash", "disabledForeground"];
const USUAL: Icon = ["git-commit"];

/** The roots of a repository's candidates: tasks and groups in order, candidates, their files; `now` in seconds since 1970. */
export function roots(result: CandidatesDocument, now: number): Node[] {
  const labels = new Map(result.candidates.map(({ id, label }) => [id, label]));
  // How many candidates of a task change a file, by both.
  const touching = new Map<string, number>();
  for (const { task, files } of result.candidates) {
    files.forEach((file) => touching.set(`${task} ${file.path}`, (touching.get(`${task} ${file.path}`) ?? 0) + 1));
  }
  // Of those in a group its row says where they are.
  const alone = result.tasks.flatMap(({ groups }) => groups.filter(({ edits }) => edits.length < 2));
  const whereabouts = new Map(alone.flatMap(({ where, edits }) => edits.flatMap(({ members }) => members.map((id) => [id, placeOf(where[0])] as const))));
  const tasks = result.tasks.map((task): Node => {
    const { number, members, name } = task;
    const onlyHere = ({ path: file }: FileEntry): boolean => members.length > 1 && touching.get(`${number} ${file}`) === 1;
    const groups = groupsOf(result, task, labels, (work) => candidateNode(result, work, labels, whereabouts.get(work.id) ?? "", onlyHere, now));
    return {
      kind: "task",
      id: `task ${[...members].sort().join(" ")}`,
      label: name === null ? `Task ${number}` : plain(name, 60),
      description: count(members.length, "candidate"),
      tooltip: ["Candidates of one task: they change the same files, or their tool says so."],
      children: told(groups),
    };
  });
  const aside: Node = {
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
      icon: [state === "hidden" ? "eye-closed" : "close", "disabledForeground"],
      children: [],
    })),
  };
  const [first] = tasks;
  return [...(tasks.length === 1 && first !== undefined ? first.children : tasks), ...(aside.children.length === 0 ? [] : [aside])];
}

/** The groups of a task's candidates, and in each those with the same code together. */
function groupsOf(
  result: CandidatesDocument,
  { members: everyone, groups }: CandidatesDocument["tasks"][number],
  labels: ReadonlyMap<string, string>,
  nodeOf: (work: CandidateEntry) => Node,
): Node[] {
  const reasons = groups.flatMap((group) => group.reasons);
  /** The facts that set candidates apart, with their names if they do not hold for all. */
  const factsOf = (ids: readonly string[]): string[] =>
    reasons.flatMap(({ kind, text, members: some }) => {
      // The row of a candidate says "1 conflict", and its tooltip where.
      const own = ids.length === 1 && kind === "conflict" ? [] : some.filter((id) => ids.includes(id));
      const names = own.map((id) => plain(labels.get(id) ?? id, 40)).join(", ");
      return own.length === 0 ? [] : [own.length === ids.length ? plain(text, 160) : `${plain(text, 160)} (${names})`];
    });
  return groups.flatMap((group) => {
    const edits = group.edits.flatMap(({ members, words, relation, line }) => {
      const nodes = result.candidates.filter(({ id }) => members.includes(id)).map(nodeOf);
      const own = group.edits.length < 2 || line === "" ? "" : plain(line, 80);
      const facts = joined(own, plain(relation, 40), [...new Set(factsOf(members))].join("; "));
      return groupNode({ members, representative: members[0] ?? "", min_similarity: 1 }, words, nodes, everyone.length, facts);
    });
    const all = group.edits.reduce((sum, edit) => sum + edit.members.length, 0);
    return group.edits.length < 2 ? edits : [similarNode(all, told(edits), placeOf(group.where[0]), group.lines)];
  });
}

/** The groups of a document's revisions, without those that are known already. */
export function documentGroups(uri: string, report: ReportResult, known: ReadonlySet<string>): Node[] {
  const labels = report.revisions.map(({ label }) => label);
  const named = ({ id, label }: ReportRevision): string => (label === "" || labels.indexOf(label) < labels.lastIndexOf(label) ? id : label);
  const groups = report.clusters.flatMap((cluster) => {
    const revisions = report.revisions.filter(({ id }) => cluster.members.includes(id) && !known.has(id));
    const nodes = revisions.sort((a, b) => a.rank - b.rank).map((revision) => revisionNode(uri, revision, plain(named(revision), 60)));
    const place = (id: string): number => report.revisions.findIndex((revision) => revision.id === id);
    const row = report.words[place(cluster.representative)] ?? [];
    const words = revisions.map(({ id }) => row[place(id)] ?? "");
    return groupNode(cluster, words, nodes, report.revisions.length, "", uri);
  });
  return told(groups);
}

/** A group of similar edits, which are not the same for that: each is to be read. */
function similarNode(all: number, children: readonly Node[], place: string, lines: readonly string[]): Node {
  const id = `similar ${children.map((child) => child.id).join(" ")}`;
  const tooltip = ["Their edits are similar: read each. Most of them have:", ...lines.map((line) => plain(line, 160))];
  return { kind: "task", id, label: count(all, "candidate"), description: joined(place, "read each"), tooltip, icon: ["library"], children };
}

/** A group, or the candidate that is alone in it, with the facts that set it apart. */
function groupNode(
  cluster: GroupEntry,
  words: readonly string[],
  nodes: readonly Node[],
  all: number,
  facts: string,
  uri?: string,
): Node[] {
  const [first] = nodes;
  if (first === undefined || nodes.length === 1) {
    return nodes.map((node) => (facts === "" ? node : { ...node, description: joined(node.description, facts), tooltip: [...node.tooltip, facts] }));
  }
  const label = share(nodes.length, all, words);
  // The representative of a document's group may be one that the repository has: then it is not among these.
  const { candidate = "" } = nodes.find((node) => node.candidate === cluster.representative) ?? first;
  const tooltip = [
    `${label}: ${nodes.map((node) => node.label).join(", ")}`,
    ...(facts === "" ? [] : [facts]),
    ...(cluster.min_similarity === 1 ? [] : [`Similarity to the one that stands for them: ${cluster.min_similarity.toFixed(2)} or more`]),
  ];
  const more = uri === undefined ? {} : { uri };
  const id = `group ${uri ?? ""} ${candidate}`;
  return [{ kind: "group", id, candidate, ...more, label, description: facts, tooltip, icon: ["organization"], children: nodes }];
}

/** Put its names first in a group whose description is empty or equal to another one. */
function told(nodes: readonly Node[]): Node[] {
  return nodes.map((node) => {
    const alike = nodes.filter(({ label, description }) => label === node.label && description === node.description);
    if (node.kind === "candidate" || (alike.length === 1 && node.description !== "")) {
      return node;
    }
    const names = node.children.map(({ label }) => label).join(", ");
    return { ...node, description: joined(names, node.description) };
  });
}

function candidateNode(
  result: CandidatesDocument,
  work: CandidateEntry,
  labels: ReadonlyMap<string, string>,
  place: string,
  onlyHere: (file: FileEntry) => boolean,
  now: number,
): Node {
  const label = plain(work.label, 80);
  const made = age(work.made, now);
  const same = work.identical.map((id) => plain(labels.get(id) ?? id, 60));
  const set = result.bases[work.id];
  const decided = result.decided[work.id] ?? "";
  const changed = result.changed.includes(work.id);
  return {
    kind: "candidate",
    id: `candidate ${work.id}`,
    candidate: work.id,
    label,
    // What decides comes first: a narrow view cuts the rest.
    description: joined(
      decided,
      changed ? "changed since you looked" : "",
      [place, sizeAndState(work)].filter(Boolean).join(" "),
      work.syntax_errors ? "breaks the syntax" : work.broken.length > 0 ? "broken" : "",
      (work.lines["tests"]?.added ?? 0) > 0 ? "adds tests" : "",
      work.being_written ? "still being written" : "",
      work.no_op ? "changes nothing" : "",
    ),
    tooltip: [
      joined(plain(work.label, 200), work.tool === null ? "" : `made by ${plain(work.tool, 40)}`, made),
      ...(work.rank === null ? [] : [placed(work.rank, work.why)]),
      ...(work.branch === null ? [] : [`Branch: ${plain(work.branch, 200)}`]),
      ...(work.folder === null ? [] : [`Folder: ${plain(work.folder, 300)}`]),
      ...(work.behind === 0 ? [] : [`Started ${count(work.behind, "commit")} ago; compared as if made now`]),
      ...(set === undefined ? [] : [`Its base was set to ${plain(set, 12)}`]),
      ...(counted(work) === "" ? [] : [`Beside the code: ${counted(work)}`]),
      ...work.broken.map((why) => plain(why, 200)),
      ...(same.length === 0 ? [] : [`Exactly the same as ${same.join(", ")}`]),
      ...work.conflicts.map((conflict) => `Conflict in ${plain(conflict.path, 100)}: ${plain(conflict.reason, 200)}`),
      ...work.notes.map((note) => plain(note, 300)),
    ],
    icon: iconOf(work, decided),
    abilities: [work.kind, ...(result.given.includes(work.id) ? ["given"] : [])],
    children: [...(changed ? [sinceNode(work)] : []), ...work.files.map((file) => fileNode(result, work, file, onlyHere(file)))],
  };
}

/** The function, or else the file, in which a group's edits are. */
function placeOf(where: { readonly path: string; readonly function: string } | undefined): string {
  return where === undefined ? "" : plain(where.function === "" ? path.posix.basename(where.path) : (where.function.split(".").at(-1) ?? ""), 24);
}

function sinceNode({ id, label }: CandidateEntry): Node {
  const tooltip = [`What changed in ${plain(label, 60)} since you took or decided something of it, rebased or not.`];
  return { kind: "since", id: `since ${id}`, candidate: id, label: "Changed since you looked", description: "", tooltip, icon: ["history"], children: [] };
}

/** The icon of a candidate: what is decided of it, or the worst that applies. */
export function iconOf(work: CandidateEntry, decided = ""): Icon {
  const icons: readonly (readonly [boolean, Icon])[] = [
    [decided === "taken", ["pass-filled", "testing.iconPassed"]],
    [decided === "passed over", ["dash", "disabledForeground"]],
    [work.verdict === "failed", ["error", "list.errorForeground"]],
    [work.syntax_errors, BROKEN],
    [work.conflicts.length > 0, ["git-merge", "list.warningForeground"]],
    [work.being_written, ["sync"]],
    [work.no_op, UNCHANGED],
    [work.verdict === "passed", ["pass", "testing.iconPassed"]],
  ];
  return icons.find(([applies]) => applies)?.[1] ?? USUAL;
}

function fileNode(result: CandidatesDocument, work: CandidateEntry, file: FileEntry, onlyHere: boolean): Node {
  const shown = plain(file.path, 300);
  return {
    kind: "file",
    id: `file ${work.id} ${file.path}`,
    candidate: work.id,
    file: path.join(result.repository, file.path),
    path: file.path,
    status: file.status,
    label: path.posix.basename(shown),
    description: joined(
      lines(file),
      file.old_path === undefined ? "" : plain(`from ${file.old_path}`, 95),
      file.kind === "code" ? "" : file.kind,
      onlyHere ? "only here" : "",
      folderOf(shown),
    ),
    tooltip: [
      `${shown}: ${file.status}${onlyHere ? `; only ${plain(work.label, 60)} touches this file` : ""}`,
      ...file.facts.map((fact) => plain(fact, 200)),
    ],
    children: [],
  };
}

/** A candidate that is known for one document only: without a repository, or a file beside the document. */
function revisionNode(uri: string, revision: ReportRevision, name: string): Node {
  const label = revision.label === revision.id ? "" : plain(revision.label, 80);
  return {
    kind: "candidate",
    id: `candidate ${revision.id}`,
    candidate: revision.id,
    label: name,
    description: joined(
      revisionWords(revision),
      label === name ? "" : label,
      ...revision.notes.filter((note) => !note.startsWith("syntax errors")).map((note) => plain(note, 60)),
    ),
    tooltip: [plain(revision.id, 200), ...(label === "" ? [] : [label]), placed(revision.rank, revision.why), ...revision.notes.map((note) => plain(note, 300))],
    icon: revision.syntaxErrors ? BROKEN : revision.noOp || revision.notes.includes("whitespace-only") ? UNCHANGED : USUAL,
    abilities: ["revision"],
    uri,
    children: [],
  };
}

/** A file of the review. */
export interface ReviewFile {
  /** Relative to the repository, as the target has it. */
  readonly path: string;
  readonly candidates: readonly (Pick<CandidateEntry, "id" | "label"> & Pick<FileEntry, "path" | "status">)[];
}

/** The files that candidates change, those of most candidates first. */
export function reviewFiles(result: CandidatesDocument): ReviewFile[] {
  const files = new Map<string, ReviewFile["candidates"][number][]>();
  for (const { id, label, files: changed } of result.candidates) {
    for (const file of changed) {
      // A renamed file is reviewed under its former name.
      const key = file.old_path ?? file.path;
      const entries = files.get(key) ?? [];
      entries.push({ id, label, path: file.path, status: file.status });
      files.set(key, entries);
    }
  }
  return [...files]
    .map(([name, candidates]) => ({ path: name, candidates }))
    .sort((a, b) => b.candidates.length - a.candidates.length || (a.path < b.path ? -1 : 1));
}

/** Whether there is a text in the target whose hunks can be decided. */
export function isReviewed({ candidates }: ReviewFile): boolean {
  return candidates.some(({ status }) => status !== "created");
}

/** A file in a few words: "3 candidates · created · src". */
export function fileWords({ path: name, candidates }: ReviewFile): string {
  const statuses = [...new Set(candidates.map(({ status }) => status))].filter((status) => status !== "modified");
  return joined(count(candidates.length, "candidate"), statuses.join(", "), folderOf(plain(name, 300)));
}

/** The changes of a file by each candidate, a line each. */
export function fileTooltip({ path: name, candidates }: ReviewFile): string[] {
  return [plain(name, 300), ...candidates.slice(0, 12).map(({ label, status }) => `${plain(label, 60)}: ${status}`)];
}

function folderOf(name: string): string {
  const folder = path.posix.dirname(name);
  return folder === "." ? "" : folder;
}

const LEVELS: ReadonlyMap<string, string> = new Map([
  ["same up to names", "are the same up to names"],
  ["same code", "have the same code"],
  ["identical", "are identical"],
]);

/** "3 of 5 have the same code": of the words for the members of a group, the one that claims least decides. */
export function share(members: number, all: number, words: readonly string[]): string {
  const who = members < all ? `${members} of ${all}` : all === 2 ? "Both" : `All ${all}`;
  const same = words.every((word) => LEVELS.has(word));
  const [, level] = [...LEVELS].find(([word]) => words.includes(word)) ?? [];
  return `${who} ${same && level !== undefined ? level : "make similar changes"}`;
}

/** "Rank 1: 4 of 5 make this edit". */
function placed(rank: number, why: readonly string[]): string {
  return [`Rank ${rank}`, ...(why.length === 0 ? [] : [why.map((fact) => plain(fact, 160)).join("; ")])].join(": ");
}

/** "+12 −3", or an empty string for no lines. */
function lines(of: Pick<LinesEntry, "added" | "deleted"> | undefined): string {
  const { added, deleted } = of ?? { added: 0, deleted: 0 };
  return added + deleted === 0 ? "" : `+${added} −${deleted}`;
}

/** The size of a candidate, the result of checks, and its conflicts. */
export function sizeAndState(work: CandidateEntry): string {
  const { verdict, lines: kinds, files, conflicts } = work;
  const checked: Readonly<Record<string, string>> = { passed: "passes", failed: "fails" };
  const code = lines(kinds["code"]);
  return joined(
    code === "" ? counted(work) || count(files.length, "file") : code,
    verdict === null ? "" : (checked[verdict] ?? plain(verdict, 20)),
    conflicts.length === 0 ? "" : count(conflicts.length, "conflict"),
  );
}

/** The changed lines outside of the code: "tests +3 · docs +1 −1". */
function counted({ lines: kinds }: CandidateEntry): string {
  return joined(...["tests", "docs", "generated"].flatMap((kind) => (lines(kinds[kind]) === "" ? [] : [`${kind} ${lines(kinds[kind])}`])));
}

/** The size of a revision, and what is wrong with it. */
export function revisionWords({ editSize, syntaxErrors, noOp }: ReportRevision): string {
  return joined(count(editSize, "token"), syntaxErrors ? "breaks the syntax" : "", noOp ? "changes nothing" : "");
}

const UNITS: readonly (readonly [string, number])[] = [
  ["y", 31_536_000],
  ["mo", 2_592_000],
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
];

/** "3 h ago". */
export function age(made: number | null, now: number): string {
  if (made === null || made > now) {
    return "";
  }
  const [unit, seconds] = UNITS.find(([, length]) => now - made >= length) ?? ["", 0];
  return unit === "" ? "just now" : `${Math.floor((now - made) / seconds)} ${unit} ago`;
}

/** The parts of a line that say anything. */
export function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}

/** The names of the candidates of a document, by id. */
export async function namesOf({ reviews }: Parts, uri: Uri): Promise<Map<string, string>> {
  const { result } = await reviews.get(uri);
  return new Map(result?.candidates.map(({ id, name }) => [id, plain(name, 60)]));
}
