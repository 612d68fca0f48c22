// Words about candidates: how many make a change, how large it is, how old.
import type { CandidateEntry, LinesEntry } from "../protocol";
import { count, plain } from "../text";

/** The status of a file, in the letters of source control, and in words. */
export type Status = "A" | "M" | "D" | "R";

export const WORDS: Readonly<Record<Status, string>> = { A: "created", M: "modified", D: "deleted", R: "renamed" };

export function statusOf(status: string): Status {
  return (["A", "D", "R"] as const).find((letter) => WORDS[letter] === status) ?? "M";
}

/** "3 of 5 make this change", or "similar changes" if their texts differ a little. */
export function share(members: number, all: number, same: boolean): string {
  const change = same ? "this change" : "similar changes";
  if (members === all) {
    return `${all === 2 ? "Both" : `All ${all}`} make ${change}`;
  }
  return `${members} of ${all} make ${change}`;
}

/** "Rank 1: 4 of 5 make this edit". */
export function placed(rank: number, why: readonly string[]): string {
  return [`Rank ${rank}`, why.map((fact) => plain(fact, 160)).join("; ")].filter((part) => part !== "").join(": ");
}

/** "+12 −3", or an empty string for no lines. */
export function lines(of: Pick<LinesEntry, "added" | "deleted"> | undefined): string {
  const { added, deleted } = of ?? { added: 0, deleted: 0 };
  return added + deleted === 0 ? "" : `+${added} −${deleted}`;
}

/** The size of a candidate: first its code, then the kinds that are counted separately. */
export function size({ lines: kinds, files }: CandidateEntry): string[] {
  const code = lines(kinds["code"]);
  const apart = ["tests", "docs", "generated"].flatMap((kind) => {
    const shown = lines(kinds[kind]);
    return shown === "" ? [] : [`${kind} ${shown}`];
  });
  return [...(code === "" && apart.length > 0 ? [] : [code === "" ? count(files.length, "file") : code]), ...apart];
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

/** "passes" or "fails", by the results of checks, or an empty string without checks. */
export function verdict(said: string | null): string {
  const words: Readonly<Record<string, string>> = { passed: "passes", failed: "fails" };
  return said === null ? "" : (words[said] ?? plain(said, 20));
}

export function conflicts({ conflicts: all }: CandidateEntry): string {
  return all.length === 0 ? "" : count(all.length, "conflict");
}

/** The parts of a line that say anything. */
export function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}
