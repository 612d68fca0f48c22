// Links below the server's hover that take a variant. They are ours, so that its Markdown stays untrusted.
import * as vscode from "vscode";
import type { Parts } from "../commands/context";
import { hunkOfLine } from "../commands/review";
import { DOCUMENTS } from "../documents";
import type { ReviewResult } from "../protocol";
import { plain } from "../text";
import { changing } from "./words";

/** Variants with a link each. The hunk editor has all. */
const MOST_LINKS = 8;

const COMMANDS = ["excise.takeVariant", "excise.openHunks"];

/** Offer to take a variant where the pointer is on a hunk. */
export function takeLinks(parts: Parts): vscode.Disposable {
  return vscode.languages.registerHoverProvider(DOCUMENTS, {
    provideHover: async ({ uri }, { line }) => {
      const { review } = await parts.reviews.get(uri);
      const index = review === undefined ? -1 : hunkOfLine(review, line);
      if (review === undefined || index < 0) {
        return undefined;
      }
      return new vscode.Hover(links(uri, review, index, await parts.reviews.names(uri)));
    },
  });
}

function links(
  uri: vscode.Uri,
  review: ReviewResult,
  hunk: number,
  names: ReadonlyMap<string, string>,
): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = { enabledCommands: COMMANDS };
  const shown = review.hunks[hunk];
  const variants = shown === undefined ? [] : changing(shown);
  const target = { uri: uri.toString(), hunk, state: review.state };
  const link = (name: string, command: string, argument: object): void => {
    const query = encodeURIComponent(JSON.stringify([argument]));
    text.appendMarkdown(`[${name}](command:${command}?${query})`);
  };
  for (const variant of variants.slice(0, MOST_LINKS)) {
    const ids = shown?.variants[variant]?.ids ?? [];
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
