// Candidates of one document only: those without a repository, and files beside the document.
import { nameOf, shortNames } from "../names";
import type { ReportResult, ReportRevision } from "../protocol";
import { count, plain } from "../text";
import type { Node } from "./tree";
import { joined, placed, share } from "./words";

/** The groups of a document's revisions, without those that are known already. */
export function documentGroups(uri: string, report: ReportResult, known: ReadonlySet<string>): Node[] {
  const names = shortNames(report.revisions.map(({ id }) => id), uri);
  const byId = new Map(report.revisions.map((revision) => [revision.id, revision]));
  return report.clusters.flatMap(({ members, representative, min_similarity }): Node[] => {
    const nodes = members
      .filter((id) => !known.has(id))
      .map((id) => byId.get(id))
      .filter((revision) => revision !== undefined)
      .sort((a, b) => a.rank - b.rank)
      .map((revision) => revisionNode(uri, revision, names.get(revision.id) ?? nameOf(revision.id)));
    const [first] = nodes;
    if (nodes.length < 2 || first === undefined) {
      return nodes;
    }
    const together = nodes.map((node) => node.label).join(", ");
    const label = share(nodes.length, report.revisions.length, min_similarity === 1);
    // The representative may be one that the repository has: then it is not among these.
    const { candidate = "" } = nodes.find((node) => node.candidate === representative) ?? first;
    return [
      {
        kind: "group",
        id: `group ${uri} ${candidate}`,
        candidate,
        uri,
        label,
        description: together,
        tooltip: [`${label}: ${together}`],
        children: nodes,
      },
    ];
  });
}

function revisionNode(uri: string, revision: ReportRevision, name: string): Node {
  const label = revision.label === "" || revision.label === revision.id ? "" : plain(revision.label, 80);
  const parts = [
    count(revision.editSize, "token"),
    revision.syntaxErrors ? "breaks the syntax" : "",
    revision.noOp ? "changes nothing" : "",
    label === name ? "" : label,
    ...revision.notes.filter((note) => !note.startsWith("syntax errors")).map((note) => plain(note, 60)),
  ];
  return {
    kind: "candidate",
    id: `candidate ${revision.id}`,
    candidate: revision.id,
    label: name,
    description: joined(...parts),
    tooltip: [plain(revision.id, 200), ...(label === "" ? [] : [label]), placed(revision.rank, revision.why), ...revision.notes.map((note) => plain(note, 300))],
    mark: revision.syntaxErrors ? "broken" : revision.noOp || revision.notes.includes("whitespace-only") ? "nothing" : "none",
    abilities: ["revision"],
    uri,
    children: [],
  };
}
