// The data of the similarity picture: rows in the order of the dendrogram. Sent to the webview.
import { share } from "../candidates/words";
import type { ReportResult } from "../protocol";
import { plain } from "../text";
import { type Bracket, dendrogram } from "./tree";

export interface Row {
  readonly id: string;
  /** For people: hidden characters made visible. */
  readonly name: string;
  /** Which rows are framed together. */
  readonly cluster: number;
  /** The name of the group in the view: "2 of 5 make this change". */
  readonly group: string;
  /** Whether it is the representative of several. */
  readonly representative: boolean;
}

export interface Picture {
  readonly title: string;
  readonly signature: string;
  readonly rows: readonly Row[];
  /** Similarities in the order of the rows. */
  readonly values: readonly (readonly number[])[];
  /** The word for each pair, in the same shape. */
  readonly words: readonly (readonly string[])[];
  readonly brackets: readonly Bracket[];
}

/** The requests of the webview. */
export interface Chosen {
  readonly type: "ready" | "compare";
  readonly a?: string;
  readonly b?: string;
}

/** The picture of a report on the document at a path. */
export function picture(path: string, report: ReportResult, nameOf: (id: string) => string): Picture {
  const { revisions, clusters, similarity, words } = report;
  const index = new Map(revisions.map(({ id }, at) => [id, at]));
  const rank = (id: string): number => revisions[index.get(id) ?? -1]?.rank ?? 0;
  // Groups as the view has them, in each the best of the order first.
  const preferred = clusters.flatMap(({ members }) =>
    [...members].sort((a, b) => rank(a) - rank(b)).map((id) => index.get(id) ?? -1),
  );
  const { order, brackets } = dendrogram(revisions.length, report.merges ?? [], preferred);
  const groups = clusters.map(({ members, min_similarity }) =>
    members.length === 1 ? "nobody else makes this change" : share(members.length, revisions.length, min_similarity === 1),
  );
  const standing = new Set(clusters.flatMap(({ members, representative }) => (members.length > 1 ? [representative] : [])));
  return {
    title: `Similarity of the candidates for ${plain(path.split("/").at(-1) ?? "", 200)}`,
    signature: report.signature,
    rows: order.flatMap((at): Row[] => {
      const revision = revisions[at];
      if (revision === undefined) {
        return [];
      }
      const { id, cluster } = revision;
      return [{ id, name: nameOf(id), cluster, group: groups[cluster - 1] ?? "", representative: standing.has(id) }];
    }),
    values: order.map((row) => order.map((column) => similarity[row]?.[column] ?? 0)),
    words: order.map((row) => order.map((column) => plain(words[row]?.[column] ?? ""))),
    brackets,
  };
}
