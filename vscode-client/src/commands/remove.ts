// Taking a revision back: the file, branch or worktree that it came from stays as it is.
import { revisionOf } from "./compare";
import type { Parts } from "./context";

export async function removeRevision(parts: Parts, argument?: unknown): Promise<void> {
  const node = argument as { candidate?: unknown } | undefined;
  const chosen = typeof node?.candidate === "string" ? { ...node, revision: node.candidate } : argument;
  const { uri, id } = await revisionOf(parts, chosen, "Remove a revision from the comparison");
  await parts.revisions.remove(uri, [id]);
  parts.reports.forget(uri);
}
