// The review of a document: the hunk editor, the next hunk that is not decided, taking a variant.
import { namesOf } from "../candidates/tree";
import { documentOf, rangeOf, reveal, show } from "../documents";
import { variantWords } from "../hunks/page";
import { decide, hunkOf, reviewed } from "../hunks/review";
import type { Parts } from "../parts";
import { Halt, message } from "../text";
import { choice } from "./choose";

/** Open the hunk editor of a document, at a hunk if one is named. */
export async function openHunks(parts: Parts, argument?: unknown): Promise<void> {
  const document = documentOf(parts, argument);
  if (!parts.hunkEditors.has(document)) {
    await show(document);
  }
  const { uri, review, hunk } = await hunkOf(parts, argument);
  parts.hunkEditors.open(uri, hunk ?? review.hunks[review.next ?? 0]);
}

/** Show the next undecided hunk, or the "previous" one, which has a key alone. */
export async function nextHunk(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const { hunks } = await reviewed(parts, uri);
  const open = hunks.flatMap(({ decided, range }) => (decided ? [] : [rangeOf(range)]));
  const editor = await show(uri);
  const { line } = editor.selection.active;
  const next = argument === "previous" ? (open.findLast(({ start }) => start.line < line) ?? open.at(-1)) : (open.find(({ start }) => start.line > line) ?? open[0]);
  if (next === undefined) {
    throw new Halt("every hunk of this file is decided");
  }
  reveal(editor, next);
}

/** Take the variant that a link names, or let the user choose one: of a lens, of the view, or under the cursor. */
export async function takeVariant(parts: Parts, argument?: unknown): Promise<boolean> {
  const { uri, review, index, hunk } = await hunkOf(parts, argument);
  if (hunk === undefined) {
    throw new Halt("no candidate changes the lines at the cursor");
  }
  // A link names the variant, and null is the origin.
  const { variant, state } = (argument ?? {}) as { variant?: unknown; state?: unknown };
  if (variant === null || typeof variant === "number") {
    if (state !== review.state) {
      throw new Halt("the candidates have changed meanwhile; look at the hunk again");
    }
    await decide(parts, uri, review, index, variant);
    return true;
  }
  const names = await namesOf(parts, uri);
  const items = [
    ...hunk.variants.map(({ ids, text }, at) => ({
      variant: at,
      label: message(ids.map((id) => names.get(id) ?? id).join(", "), 120),
      description: [variantWords(hunk, at), hunk.units[at]?.words ?? "", hunk.variant === at ? "as it is now" : ""].filter(Boolean).join(" · "),
      detail: text === "" ? "(deletes these lines)" : message(text.trim(), 160),
    })),
    { variant: null, label: "Keep the origin", description: hunk.decision === "origin" ? "as it is now" : "", detail: message(hunk.text.trim(), 160) },
  ].filter(({ variant: at }) => at === null || hunk.variants[at]?.text !== hunk.text);
  await decide(parts, uri, review, index, (await choice(items, `${hunk.where}: choose what to take`)).variant);
  return true;
}

/** The origin of a review stays through saving and commits; this lets it be what is saved now. */
export async function startReviewAgain(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const { started } = await parts.supervisor.request("excise/startAgain", { uri: uri.toString() });
  if (!started) {
    throw new Halt("this file has no review that could start again");
  }
  parts.reports.forget(uri);
}
