// Words about a hunk and its variants: where it is, who makes which change, and the decision.
import type { ReviewHunk } from "../protocol";

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** "five", or figures above ten. */
export function spelled(number: number): string {
  return NUMBERS[number] ?? `${number}`;
}

/** "lines 12 to 14", "line 12", "after line 7", of the origin as people count. */
export function hunkWords({ lo, hi }: Pick<ReviewHunk, "lo" | "hi">): string {
  if (lo === hi) {
    return lo === 0 ? "at the start" : `after line ${lo}`;
  }
  return hi === lo + 1 ? `line ${hi}` : `lines ${lo + 1} to ${hi}`;
}

/** How many candidates change the document. */
export function voices({ variants }: Pick<ReviewHunk, "variants">): number {
  return variants.reduce((sum, { ids }) => sum + ids.length, 0);
}

/** The variants that differ from the origin, by their numbers. */
export function changing(hunk: Pick<ReviewHunk, "variants" | "text">): number[] {
  return hunk.variants.flatMap(({ text }, at) => (text === hunk.text ? [] : [at]));
}

/** "2 of 5 make this change", "1 of 5 deletes it", "3 of 5 leave it". */
export function variantWords(hunk: Pick<ReviewHunk, "variants" | "text">, at: number): string {
  const all = voices(hunk);
  const variant = hunk.variants[at];
  const number = variant?.ids.length ?? 0;
  const singular = number === 1;
  const who = number === all && all > 1 ? (all === 2 ? "both" : `all ${spelled(all)}`) : `${number} of ${all}`;
  if (variant?.text === hunk.text) {
    return `${who} ${singular ? "leaves" : "leave"} it`;
  }
  return variant?.text === "" ? `${who} ${singular ? "deletes" : "delete"} it` : `${who} ${singular ? "makes" : "make"} this change`;
}

/** Whether several candidates all make the same change. */
export function unanimous(hunk: Pick<ReviewHunk, "variants" | "text">): boolean {
  return hunk.variants.length === 1 && voices(hunk) > 1;
}

/** A hunk in a few words, those of the server's marks: "all five differ here", "only ada makes this change". */
export function summary(hunk: Pick<ReviewHunk, "variants" | "text">, name: (id: string) => string): string {
  const all = voices(hunk);
  const changes = changing(hunk).map((at) => hunk.variants[at]?.ids ?? []);
  const [top, ...others] = changes;
  if (top === undefined) {
    return "nobody changes it";
  }
  const changers = changes.reduce((sum, ids) => sum + ids.length, 0);
  const everyone = all === 2 ? "both" : `all ${spelled(all)}`;
  if (others.length === 0) {
    const lone = all === 1 ? `${name(top[0] ?? "")} changes this` : `only ${name(top[0] ?? "")} makes this change`;
    const several = changers === all ? `${everyone} make this change` : `${changers} of ${all} make this change`;
    return changers === 1 ? lone : several;
  }
  if (top.length === 1) {
    return changers === all ? `${everyone} differ here` : `${changers} of ${all} change this, each in its own way`;
  }
  const rest = changers - top.length;
  return `${top.length} of ${all} make one change, ${rest === 1 ? "another makes another" : `${rest} make others`}`;
}

/** "4 of 11 decided". */
export function progress({ decided, undecided }: { readonly decided: number; readonly undecided: number }): string {
  return `${decided} of ${decided + undecided} decided`;
}

/** The decision in the document at a hunk: "as ada, bo", "edited by hand". */
export function decision(hunk: ReviewHunk, name: (id: string) => string): string {
  if (!hunk.decided) {
    return "";
  }
  const variant = hunk.variant === null ? undefined : hunk.variants[hunk.variant];
  if (hunk.decision === "variant" && variant !== undefined) {
    const [first = "", ...more] = variant.ids.map(name);
    return more.length === 0 ? `as ${first}` : `as ${first} and ${more.length} more`;
  }
  const words: Readonly<Record<string, string>> = { origin: "kept", mixed: "mixed", edited: "edited by hand" };
  return words[hunk.decision] ?? "decided";
}
