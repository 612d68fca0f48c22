// The files of a review, with the candidates that change each. Plain data.
import * as path from "node:path";
import { type Status, WORDS, joined, statusOf } from "../candidates/words";
import type { CandidatesDocument } from "../protocol";
import { count, plain } from "../text";

export interface ReviewFile {
  /** Relative to the repository, as the target has it. */
  readonly path: string;
  readonly candidates: readonly { readonly id: string; readonly label: string; readonly path: string; readonly status: Status }[];
}

/** The files that candidates change, those of most candidates first. */
export function reviewFiles(result: CandidatesDocument): ReviewFile[] {
  const files = new Map<string, ReviewFile["candidates"][number][]>();
  for (const { id, label, files: changed } of result.ranking) {
    for (const file of changed) {
      // A renamed file is reviewed under its former name.
      const key = file.old_path ?? file.path;
      const entries = files.get(key) ?? [];
      entries.push({ id, label, path: file.path, status: statusOf(file.status) });
      files.set(key, entries);
    }
  }
  return [...files]
    .map(([name, candidates]) => ({ path: name, candidates }))
    .sort((a, b) => b.candidates.length - a.candidates.length || (a.path < b.path ? -1 : 1));
}

/** Whether there is a text in the target whose hunks can be decided. */
export function isReviewed({ candidates }: ReviewFile): boolean {
  return candidates.some(({ status }) => status !== "A");
}

/** A file in a few words: "3 candidates · created · src". */
export function fileWords({ path: name, candidates }: ReviewFile): string {
  const statuses = [...new Set(candidates.map(({ status }) => status))].filter((status) => status !== "M");
  const folder = path.posix.dirname(plain(name, 300));
  return joined(count(candidates.length, "candidate"), statuses.map((status) => WORDS[status]).join(", "), folder === "." ? "" : folder);
}

/** The changes of a file by each candidate, a line each. */
export function fileTooltip({ path: name, candidates }: ReviewFile): string[] {
  return [plain(name, 300), ...candidates.slice(0, 12).map(({ label, status }) => `${plain(label, 60)}: ${WORDS[status]}`)];
}
