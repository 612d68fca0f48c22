// Ids as people see them.
import type { Uri } from "vscode";
import type { Parts } from "./parts";
import { plain } from "./text";

/** The names of the candidates of a document, by id: as in the view, or else the shortest unique ones. */
export async function namesOf({ reviews, candidates }: Parts, uri: Uri): Promise<Map<string, string>> {
  const { result } = await reviews.get(uri);
  const labels = new Map(candidates.shown?.result?.ranking.map(({ id, label }) => [id, plain(label, 60)]));
  const short = shortNames(result?.candidates.map(({ id }) => id) ?? [], uri.path);
  return new Map([...short].map(([id, name]) => [id, labels.get(id) ?? name]));
}

/** An id on one line, its hidden characters made visible. */
export function nameOf(id: string): string {
  return plain(id, 60);
}

/**
 * Ids without the parts that repeat the path of their document: of `/shop/a.py`, "worktree:shop-ada"
 * and "file:a.py.suggestion-bo" are "ada" and "bo". Whole where that would not tell them apart.
 */
export function shortNames(ids: readonly string[], path: string): Map<string, string> {
  const segments = path.split("/").filter((segment) => segment !== "");
  const short = new Map(ids.map((id) => [id, shortened(id, segments)]));
  const uses = new Map<string, number>();
  short.forEach((name) => uses.set(name, (uses.get(name) ?? 0) + 1));
  return new Map(ids.map((id) => [id, nameOf(uses.get(short.get(id) ?? "") === 1 ? (short.get(id) ?? id) : id)]));
}

function shortened(id: string, segments: readonly string[]): string {
  const [kind] = /^(?:worktree|branch|file|patch|conflict):(?=.)/.exec(id) ?? [];
  if (kind === undefined) {
    return id;
  }
  const name = id.slice(kind.length);
  // The document's own name comes last: of "inventory/inventory.py" it says more than the folder's.
  const segment = segments.findLast((segment) => name.startsWith(segment) && /^[-_.]./.test(name.slice(segment.length)));
  const rest = segment === undefined ? name : name.slice(segment.length + 1);
  return kind === "file:" ? rest.replace(/^suggestion-(?=.)/, "") : rest;
}
