// Looking at whole candidates: all files of one beside the origin, or two beside each other.
import * as vscode from "vscode";
import { message, plain } from "../text";
import { putTogether } from "../take/apply";
import { contentUri } from "../take/contents";
import type { Content } from "../take/document";
import { candidateOf, found, given, pick, selected } from "./candidate";
import { compareRevision } from "./compare";
import { Halt, type Parts } from "./context";
import { openHunks } from "./hunks";

type Resource = [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

/** Every file of a candidate beside the origin's, in one editor. */
export async function showCandidate(parts: Parts, argument?: unknown): Promise<void> {
  const { candidate, uri } = given(argument);
  if (typeof uri === "string") {
    await compareRevision(parts, { uri, revision: candidate });
    return;
  }
  const { folder, work } = await candidateOf(parts, argument, "Show a whole candidate");
  const { contents } = await putTogether(parts.supervisor, folder, [{ candidate: work.id, conflicts: true }]);
  if (contents.length === 0) {
    throw new Halt(`${message(work.label, 60)} changes nothing that the target lacks`);
  }
  const resources = contents.map((content): Resource => {
    const { old, new: made } = content;
    return [
      vscode.Uri.parse(content.uri),
      old === null ? undefined : side(parts, folder, work.id, content, "old"),
      made === null ? undefined : side(parts, folder, work.id, content, "new"),
    ];
  });
  await vscode.commands.executeCommand("vscode.changes", `${plain(work.label, 80)}: what it changes`, resources);
}

/** The files of two candidates beside each other: what one changes and the other does not, too. */
export async function compareCandidates(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  const { folder, result } = await found(parts);
  const ids = selected(argument, selection);
  const chosen = result.ranking.filter(({ id }) => ids.includes(id)).slice(0, 2);
  const first = chosen[0] ?? (await pick(result.ranking, "Compare two candidates: the first"));
  const others = result.ranking.filter(({ id }) => id !== first.id);
  const second = chosen[1] ?? (await pick(others, `Compare ${plain(first.label, 60)} with`));
  const [a, b] = await Promise.all(
    [first, second].map(({ id }) => putTogether(parts.supervisor, folder, [{ candidate: id, conflicts: true }])),
  );
  const left = new Map(a?.contents.map((content) => [content.old_path, content]));
  const right = new Map(b?.contents.map((content) => [content.old_path, content]));
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  const resources = paths.flatMap((path): Resource[] => {
    const [leftContent, rightContent] = [left.get(path), right.get(path)];
    const content = leftContent ?? rightContent;
    if (content === undefined || (leftContent !== undefined && leftContent.new === rightContent?.new)) {
      return [];
    }
    return [[vscode.Uri.parse(content.uri), half(parts, folder, first.id, leftContent, rightContent, second.id), half(parts, folder, second.id, rightContent, leftContent, first.id)]];
  });
  if (resources.length === 0) {
    throw new Halt(`${message(first.label, 60)} and ${message(second.label, 60)} make the same of every file`);
  }
  const title = `${plain(first.label, 60)} ↔ ${plain(second.label, 60)}`;
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** A candidate's version of a file, or, if it does not change it, the origin's from the other candidate. */
function half(
  parts: Parts,
  folder: vscode.Uri,
  id: string,
  own: Content | undefined,
  other: Content | undefined,
  otherId: string,
): vscode.Uri | undefined {
  if (own !== undefined) {
    return own.new === null ? undefined : side(parts, folder, id, own, "new");
  }
  return other === undefined || other.old === null ? undefined : side(parts, folder, otherId, other, "old");
}

/** Open a file of a candidate: where it is reviewed by hunks, those; else as it is before and after. */
export async function openFile(parts: Parts, argument?: unknown): Promise<void> {
  const { path, candidate } = given(argument);
  const { status, file } = argument as { status?: unknown; file?: unknown };
  if (status === "M" && typeof file === "string") {
    await openHunks(parts, vscode.Uri.file(file));
    return;
  }
  const { folder, work } = await candidateOf(parts, { candidate }, "Open a file of a candidate");
  const choice = { candidate: work.id, conflicts: true, path: path ?? null };
  const [content] = (await putTogether(parts.supervisor, folder, [choice])).contents;
  if (content === undefined) {
    throw new Halt("the target has this file so already");
  }
  const label = `${plain(work.label, 60)}: ${plain(content.path, 80)}`;
  const [before, after] = (["old", "new"] as const).map((which) => side(parts, folder, work.id, content, which));
  await vscode.commands.executeCommand("vscode.diff", before, after, label);
}

function side(parts: Parts, folder: vscode.Uri, id: string, content: Content, which: "old" | "new"): vscode.Uri {
  return parts.contents.put(contentUri(folder, id, content, which), content, which);
}
