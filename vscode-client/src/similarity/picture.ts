// What the similarity picture shows: rows in the order of the dendrogram. Sent to the webview.
import type { ReportResult } from "../protocol";
import { shortNames } from "../names";
import { plain } from "../text";
import { type Bracket, brackets, leaves, linkage } from "./linkage";

export interface Row {
  readonly id: string;
  /** For people: hidden characters made visible. */
  readonly name: string;
  readonly rank: number;
  readonly cluster: number;
  readonly representative: boolean;
}

export interface Picture {
  readonly title: string;
  readonly signature: string;
  readonly rows: readonly Row[];
  /** Similarities in the order of the rows. */
  readonly values: readonly (readonly number[])[];
  /** What may be said of each two, in the same shape. */
  readonly words: readonly (readonly string[])[];
  readonly brackets: readonly Bracket[];
}

/** What the webview asks for. */
export interface Chosen {
  readonly type: "ready" | "compare";
  readonly a?: string;
  readonly b?: string;
}

/** The picture of a report on the document at a path. */
export function picture(path: string, report: ReportResult): Picture {
  const index = new Map(report.revisions.map(({ id }, at) => [id, at]));
  const rank = (id: string): number => report.revisions[index.get(id) ?? -1]?.rank ?? 0;
  const clusters = report.clusters.map(({ members }) =>
    [...members].sort((a, b) => rank(a) - rank(b)).map((id) => index.get(id) ?? -1),
  );
  const tree = linkage(report.similarity, clusters);
  const order = leaves(tree);
  const names = shortNames(
    report.revisions.map(({ id }) => id),
    path,
  );
  const representatives = new Set(report.clusters.map(({ representative }) => representative));
  return {
    title: `Similarity of the revisions of ${plain(path.split("/").at(-1) ?? "", 200)}`,
    signature: report.signature,
    rows: order.flatMap((at) => {
      const revision = report.revisions[at];
      return revision === undefined
        ? []
        : [
            {
              id: revision.id,
              name: names.get(revision.id) ?? "",
              rank: revision.rank,
              cluster: revision.cluster,
              representative: representatives.has(revision.id),
            },
          ];
    }),
    values: order.map((row) => order.map((column) => report.similarity[row]?.[column] ?? 0)),
    words: order.map((row) => order.map((column) => plain(report.words[row]?.[column] ?? ""))),
    brackets: brackets(tree),
  };
}
