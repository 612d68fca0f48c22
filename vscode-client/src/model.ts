// What the view shows of a report: clusters, their revisions, and where each differs from the
// document. Plain data, so that it can be tested without an editor.
import type { ReportCluster, ReportHunk, ReportResult, ReportRevision } from "./protocol";
import { nameOf, shortNames } from "./names";
import { count, plain, score } from "./text";

export interface ClusterNode {
  readonly kind: "cluster";
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: readonly string[];
  readonly revisions: readonly RevisionNode[];
}

export interface RevisionNode {
  readonly kind: "revision";
  readonly id: string;
  readonly uri: string;
  readonly revision: string;
  readonly representative: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: readonly string[];
  readonly mark: Mark;
}

export interface HunkNode {
  readonly kind: "hunk";
  readonly id: string;
  readonly uri: string;
  readonly revision: string;
  readonly index: number;
  readonly variant: number;
  readonly label: string;
  readonly description: string;
  readonly tooltip: readonly string[];
  readonly range: ReportHunk["range"];
}

export type Node = ClusterNode | RevisionNode | HunkNode;

/** What is special about a revision; the worst that applies. A lone one represents nobody. */
export type Mark = "syntaxErrors" | "noOp" | "lone" | "representative" | "none";

/** Text of a range of the document that the ranges of a report are in. */
export type TextAt = (range: ReportHunk["range"]) => string | undefined;

export function clusters(uri: string, report: ReportResult): ClusterNode[] {
  const index = new Map(report.revisions.map(({ id }, at) => [id, at]));
  const names = shortNames(
    report.revisions.map(({ id }) => id),
    uri,
  );
  return report.clusters.map((cluster, at) => {
    const members = cluster.members
      .map((id) => report.revisions[index.get(id) ?? -1])
      .filter((revision) => revision !== undefined)
      .sort((a, b) => a.rank - b.rank);
    const several = members.length > 1;
    return {
      kind: "cluster",
      id: `cluster ${cluster.representative}`,
      label: `Cluster ${at + 1} of ${report.clusters.length}`,
      description: count(members.length, "revision") + (several ? ` · ES ≥ ${score(cluster.min_similarity)}` : ""),
      tooltip: [
        `${count(members.length, "revision")} that make similar edits.`,
        `Representative: ${nameOf(cluster.representative)}`,
        ...(several ? [`Smallest similarity to it: ${score(cluster.min_similarity)}`] : []),
      ],
      revisions: members.map((revision) => {
        const [row, column] = [index.get(revision.id) ?? 0, index.get(cluster.representative) ?? 0];
        const es = report.similarity[row]?.[column];
        const word = report.words[row]?.[column] ?? "";
        const name = names.get(revision.id) ?? nameOf(revision.id);
        return revisionNode(uri, report, revision, { name, cluster, es, word });
      }),
    };
  });
}

function revisionNode(
  uri: string,
  report: ReportResult,
  revision: ReportRevision,
  { name, cluster, es, word }: { name: string; cluster: ReportCluster; es: number | undefined; word: string },
): RevisionNode {
  const { representative } = cluster;
  const parts = [
    ...(revision.agreement === null ? [] : [`${score(revision.agreement)} agreement`]),
    ...(revision.id === representative ? [] : [`ES ${score(es)}, ${plain(word)}`]),
    count(revision.editSize, "token"),
    ...(revision.syntaxErrors ? ["syntax errors"] : []),
    ...(revision.noOp ? ["no change"] : []),
    ...revision.notes.filter((note) => !note.startsWith("syntax errors")).map((note) => plain(note, 60)),
  ];
  const label = revision.label === "" || revision.label === revision.id ? [] : [plain(revision.label, 200)];
  return {
    kind: "revision",
    id: `revision ${revision.id}`,
    uri,
    revision: revision.id,
    representative,
    label: `#${revision.rank} ${name}`,
    description: parts.join(" · "),
    tooltip: [
      `${plain(revision.id, 200)}: rank ${revision.rank} of ${report.revisions.length}`,
      ...label,
      `Agreement (mean similarity to the others): ${score(revision.agreement)}`,
      `Edit size: ${count(revision.editSize, "token")} deleted and inserted`,
      `ES to the representative ${nameOf(representative)}: ${score(es)}, ${plain(word)}`,
      ...(revision.noOp ? ["It is the saved text: nothing is changed."] : []),
      ...revision.notes.map((note) => plain(note, 300)),
      "The order is advice: agreement is not correctness.",
    ],
    mark: markOf(revision, cluster),
  };
}

/** Where a revision differs from the document: what applying it would change. */
export function hunks(
  uri: string,
  report: ReportResult,
  revision: string,
  textAt: TextAt,
): HunkNode[] {
  return report.hunks.flatMap((hunk, index) => {
    const variant = hunk.variants.findIndex(({ ids }) => ids.includes(revision));
    const chosen = hunk.variants[variant];
    if (chosen === undefined || chosen.text === textAt(hunk.range)) {
      return [];
    }
    const { start, end } = hunk.range;
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    const lines = last > start.line ? `Lines ${start.line + 1}–${last + 1}` : `Line ${start.line + 1}`;
    const share = `${Math.round(hunk.share * 100)} % of the difference`;
    return [
      {
        kind: "hunk",
        id: `hunk ${revision} ${index}`,
        uri,
        revision,
        index,
        variant,
        label: lines,
        description: `${chosen.ids.length} of ${report.revisions.length} agree · ES ${score(hunk.es)} · ${share}`,
        tooltip: [
          `${count(hunk.variants.length, "variant")} here; this one: ${chosen.ids.map(nameOf).join(", ")}`,
          `ES ${score(hunk.es)} (keep ${score(hunk.keep)}, add ${score(hunk.add)}, delete ${score(hunk.delete)}), mean over all pairs`,
          `${share} between the revisions`,
          chosen.text === "" ? "It deletes these lines." : preview(chosen.text),
        ],
        range: hunk.range,
      },
    ];
  });
}

export function markOf(revision: ReportRevision, { members, representative }: ReportCluster): Mark {
  if (revision.syntaxErrors) {
    return "syntaxErrors";
  }
  if (revision.noOp || revision.notes.includes("whitespace-only")) {
    return "noOp";
  }
  if (members.length === 1) {
    return "lone";
  }
  return revision.id === representative ? "representative" : "none";
}

/** The first lines of a text. */
function preview(text: string): string {
  const lines = text.split("\n", 9);
  const shown = lines.slice(0, 8).map((line) => plain(line, 120));
  return [...shown, ...(lines.length > 8 ? ["…"] : [])].join("\n");
}
