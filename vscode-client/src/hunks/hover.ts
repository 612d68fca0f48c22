// Links below the server's hover that take a variant. They are ours, so that its Markdown stays untrusted.
import * as vscode from "vscode";
import { DOCUMENTS } from "../documents";
import { namesOf } from "../names";
import type { Parts } from "../parts";
import type { ReviewHunk } from "../protocol";
import { plain } from "../text";
import { hunkOfLine } from "./review";
import { changing } from "./words";

/** Variants with a link each. The hunk editor has all. */
const MOST_LINKS = 8;

const COMMANDS = ["excise.takeVariant", "excise.openHunks"];

/** Offer to take a variant where the pointer is on a hunk. */
export function takeLinks(parts: Parts): vscode.Disposable {
  return vscode.languages.registerHoverProvider(DOCUMENTS, {
    provideHover: async ({ uri }, { line }) => {
      const { result: review } = await parts.reviews.get(uri);
      const index = review === undefined ? -1 : hunkOfLine(review, line);
      const hunk = review?.hunks[index];
      if (review === undefined || hunk === undefined) {
        return undefined;
      }
      const target = { uri: uri.toString(), hunk: index, state: review.state };
      return new vscode.Hover(links(target, hunk, await namesOf(parts, uri)));
    },
  });
}

function links(target: object, hunk: ReviewHunk, names: ReadonlyMap<string, string>): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: COMMANDS };
  const link = (name: string, command: string, argument: object): void => {
    const query = encodeURIComponent(JSON.stringify([argument]));
    text.appendMarkdown(`[${name}](command:${command}?${query})`);
  };
  for (const variant of changing(hunk).slice(0, MOST_LINKS)) {
    const ids = hunk.variants[variant]?.ids ?? [];
    link("Take", "excise.takeVariant", { ...target, variant });
    // Names are somebody's words: text, whatever they hold.
    text.appendText(` ${ids.map((id) => plain(names.get(id) ?? id, 40)).join(", ")}`);
    text.appendMarkdown("  \n");
  }
  link("Keep the origin", "excise.takeVariant", { ...target, variant: null });
  text.appendMarkdown(" · ");
  link("Open in the hunk editor", "excise.openHunks", target);
  return text;
}
