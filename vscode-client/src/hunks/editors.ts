// The hunk editor: one panel for the files of a task, beside the documents, which its decisions change.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { fileWords } from "../candidates/tree";
import { nameOf, opened, rangeOf, reveal } from "../documents";
import type { Parts } from "../parts";
import type { ReviewHunk, ReviewResult } from "../protocol";
import { Halt, count, message, plain, reason } from "../text";
import { type ListedFile, hasHunks } from "./list";
import { type Paint, type Reviewed, type ToPage, fromPage, html, hunkKey, page, together } from "./page";
import { type Open, decide, keep, replace, reviewed } from "./review";

/** Files of a task that are read for one page; the view has all. */
const MOST_FILES = 40;

export class HunkEditors {
  private readonly editors = new Set<HunkEditor>();

  constructor(private readonly parts: Parts) {
    parts.subscriptions.push({ dispose: () => this.editors.forEach(({ panel }) => void panel.dispose()) });
  }

  /** Whether a page shows a document. */
  has(uri: vscode.Uri): boolean {
    return this.of(uri) !== undefined;
  }

  open(uri: vscode.Uri, at: ReviewHunk | undefined): void {
    const key = at && keyOf(uri, at);
    const there = this.of(uri);
    if (there !== undefined) {
      there.show(key);
      return;
    }
    const editor = new HunkEditor(this.parts, uri, key);
    this.editors.add(editor);
    editor.panel.onDidDispose(() => this.editors.delete(editor));
  }

  private of(uri: vscode.Uri): HunkEditor | undefined {
    return [...this.editors].find((editor) => editor.has(uri));
  }
}

function keyOf(uri: vscode.Uri, hunk: ReviewHunk): string {
  return `${uri.toString()} ${hunkKey(hunk)}`;
}

/** What is known of the text that a file's hunks are hunks of, while that is the origin. */
interface Origin {
  readonly hash: string;
  readonly lines: readonly string[];
  readonly paint: Paint | undefined;
}

/** The states of the hunks that a decision could change, to undo it; the first is where it was made. */
interface Step {
  readonly uri: vscode.Uri;
  readonly hunks: readonly { readonly key: string; readonly text: string; readonly decided: boolean }[];
}

class HunkEditor {
  readonly panel: vscode.WebviewPanel;
  private readonly steps: Step[] = [];
  private readonly origins = new Map<string, Origin>();
  /** The files whose marks are asked for, and whose lenses are off: they would repeat the page. */
  private readonly followed = new Map<string, vscode.Disposable>();
  /** What the page shows, and as it was last posted, because one decision causes several updates. */
  private shown: readonly Reviewed[] = [];
  private posted = "";
  private tail: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly parts: Parts,
    private readonly uri: vscode.Uri,
    private at: string | undefined,
  ) {
    const inside = (...names: string[]): vscode.Uri => vscode.Uri.joinPath(parts.context.extensionUri, ...names);
    this.panel = vscode.window.createWebviewPanel("excise.hunks", `Hunks: ${plain(nameOf(uri), 60)}`, vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [inside("media"), inside("dist")],
    });
    this.panel.iconPath = { light: inside("media", "excise-light.svg"), dark: inside("media", "excise-dark.svg") };
    const { webview } = this.panel;
    const listening = [
      webview.onDidReceiveMessage((data: unknown) => this.queue(() => this.answer(data))),
      parts.hunks.onDidChange(() => this.queue(() => this.send())),
      parts.supervisor.onDidOpen((connection) => this.shown.forEach((file) => connection.showLenses(vscode.Uri.parse(file.uri), false))),
    ];
    this.panel.onDidDispose(() => {
      this.closed = true;
      vscode.Disposable.from(...listening, ...this.followed.values()).dispose();
    });
    const [script, style] = [inside("dist", "hunks.js"), inside("media", "hunks.css")].map((file) => webview.asWebviewUri(file).toString());
    webview.html = html(randomBytes(24).toString("base64url"), webview.cspSource, script ?? "", style ?? "");
  }

  has(uri: vscode.Uri): boolean {
    return this.uri.toString() === uri.toString() || this.shown.some((file) => file.uri === uri.toString());
  }

  show(at: string | undefined): void {
    this.at = at ?? this.at;
    this.panel.reveal();
    this.queue(() => this.send());
  }

  /** One after the other: the next decision starts from the text that this one leaves. */
  private queue(task: () => Promise<void>): void {
    this.tail = this.tail.then(task).catch((error: unknown) => {
      this.parts.log.warn(`hunk editor: ${reason(error)}`);
      void this.post({ type: "problem", text: message(reason(error)) });
    });
  }

  private post(what: ToPage): Thenable<boolean> {
    return this.closed ? Promise.resolve(false) : this.panel.webview.postMessage(what);
  }

  private async send(): Promise<void> {
    const { hunks } = this.parts;
    const every = hunks.ofTask(this.uri);
    const files = every.slice(0, MOST_FILES);
    const own = files.filter(hasHunks);
    own.forEach(({ uri }) => this.follow(uri));
    const { problem } = await hunks.load(this.uri);
    if (problem !== "") {
      await this.post({ type: "problem", text: plain(problem, 300) });
    }
    // The others come when they are there, each by a change of the list.
    own.filter(({ uri }) => hunks.review(uri) === undefined).forEach(({ uri }) => void hunks.load(uri));
    this.shown = await Promise.all(files.map((file) => this.reviewedOf(file)));
    const candidates = new Set(this.shown.flatMap(({ review }) => review?.candidates.map(({ id }) => id) ?? []));
    const here = every.length > MOST_FILES ? `, ${MOST_FILES} of them here` : "";
    const title = `${count(candidates.size, "candidate")}, ${count(every.length, "file")}${here}`;
    const update: ToPage = { type: "page", page: page(title, this.shown), current: this.at };
    const text = JSON.stringify(update);
    if (text !== this.posted) {
      // The current hunk is sent once. The same page without it does not count as another one.
      this.posted = JSON.stringify({ ...update, current: undefined });
      this.at = undefined;
      await this.post(update);
    }
  }

  private follow(uri: vscode.Uri): void {
    if (this.followed.has(uri.toString())) {
      return;
    }
    const { reviews, supervisor } = this.parts;
    supervisor.connection?.showLenses(uri, false);
    const marks = reviews.inDetail(uri);
    this.followed.set(uri.toString(), vscode.Disposable.from(marks, { dispose: () => supervisor.connection?.showLenses(uri, true) }));
  }

  private async reviewedOf({ uri, file }: ListedFile): Promise<Reviewed> {
    const review = this.parts.hunks.review(uri);
    const { lines, paint } = (review === undefined ? undefined : await this.originOf(uri, review)) ?? { lines: [], paint: undefined };
    const words = file === null ? "" : fileWords(file);
    return { uri: uri.toString(), name: vscode.workspace.asRelativePath(uri, false), words, changes: file?.candidates ?? [], review, lines, paint };
  }

  /** The origin that a review has now. A page without it, as when it has just changed, has hunks without their surroundings. */
  private async originOf(uri: vscode.Uri, { origin: hash, originUri, hunks }: ReviewResult): Promise<Origin | undefined> {
    const key = uri.toString();
    const known = this.origins.get(key);
    if (hunks.length === 0 || known?.hash === hash) {
      return known;
    }
    try {
      const text = await (await this.parts.supervisor.ensure()).textOf(originUri);
      const lines = text.replace(/\n$/, "").split("\n");
      const colours = vscode.Uri.joinPath(this.parts.context.extensionUri, "dist", "colours", "colours.mjs");
      const { painter } = (await import(colours.toString())) as typeof import("./colours");
      const paint = await painter(opened(uri)?.languageId ?? "", lines);
      this.origins.set(key, { hash, lines, paint });
    } catch (error) {
      this.parts.log.debug(`hunk editor: ${reason(error)}`);
      this.origins.delete(key);
    }
    return this.origins.get(key);
  }

  private async answer(data: unknown): Promise<void> {
    const request = fromPage(data);
    if (request?.type === "ready") {
      this.posted = "";
      await this.send();
    } else if (request?.type === "open" || request?.type === "follow") {
      await this.reveal(request.key, request.type === "follow");
    } else if (request?.type === "whole") {
      const [uri, index] = request.key.split(" ");
      const change = this.parts.hunks.all.find((file) => file.uri.toString() === uri)?.file?.candidates[Number(index)];
      const argument = change && { candidate: change.id, path: change.path, status: change.status };
      await vscode.commands.executeCommand("excise.showCandidate", argument);
    } else if (request?.type === "undo") {
      await this.undo();
    } else if (request?.type === "take") {
      await this.take(request.key, request.variant, request.alone);
    }
  }

  /** Show the lines of a hunk in its document: the result of all decisions. Beside the page it follows unless the user has closed it. */
  private async reveal(key: string, beside: boolean): Promise<void> {
    const { uri, hunk } = this.hunkOf(key) ?? {};
    if (uri === undefined || hunk === undefined) {
      throw new Halt("this hunk is not there any more");
    }
    const documents = vscode.window.visibleTextEditors.filter(({ document, viewColumn }) => viewColumn !== this.panel.viewColumn && this.has(document.uri));
    const column = documents[0]?.viewColumn;
    if (beside && column === undefined) {
      return;
    }
    const where = column ?? (this.panel.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One);
    reveal(await vscode.window.showTextDocument(uri, { viewColumn: where, preserveFocus: beside }), rangeOf(hunk.range));
  }

  private hunkOf(key: string): { readonly uri: vscode.Uri; readonly review: ReviewResult; readonly hunk: ReviewHunk } | undefined {
    for (const { uri: text, review } of this.shown) {
      const uri = vscode.Uri.parse(text);
      const hunk = review?.hunks.find((each) => keyOf(uri, each) === key);
      if (review !== undefined && hunk !== undefined) {
        return { uri, review, hunk };
      }
    }
    return undefined;
  }

  private async take(key: string, variant: number | null, alone: boolean): Promise<void> {
    const { uri, hunk: shown } = this.hunkOf(key) ?? {};
    const wanted = variant === null ? shown?.text : shown?.variants[variant]?.text;
    const { review, index, hunk } = await this.find(uri, key);
    // The user chose a text, not an index: if the text is gone, nothing is taken.
    const now = variant === null ? null : hunk.variants.findIndex(({ text }) => text === wanted);
    if (uri === undefined || wanted === undefined || now === -1 || hunk.text !== shown?.text) {
      await this.send();
      throw new Error("the candidates have changed meanwhile: look again, and choose again");
    }
    const others = alone ? [] : [...together(hunk, now), ...together(hunk, hunk.variant)];
    const hunks = [...new Set([index, ...others])].flatMap((at) => review.hunks[at] ?? []);
    const states = hunks.map((each) => ({ key: keyOf(uri, each), text: textOf(uri, each), decided: each.decided }));
    await decide(this.parts, uri, review, index, now, alone);
    this.steps.push({ uri, hunks: states });
  }

  /** Undo the last decision: restore the exact text of all its hunks at once, and whether they were decided. */
  private async undo(): Promise<void> {
    const { uri, hunks: states } = this.steps.pop() ?? { hunks: [] };
    const [first] = states;
    if (uri === undefined || first === undefined) {
      throw new Error("there is nothing to undo here");
    }
    const { review } = await this.find(uri, first.key);
    this.at = first.key;
    const before = review.hunks.flatMap((hunk) => {
      const state = states.find(({ key }) => key === keyOf(uri, hunk));
      return state === undefined ? [] : [{ hunk, ...state }];
    });
    const changed = before.filter(({ hunk, text }) => textOf(uri, hunk) !== text);
    if (changed.length > 0) {
      await replace(uri, review, changed, "Undo a decision");
    }
    for (const { hunk } of before.filter((state) => !state.decided && state.hunk.decided && state.hunk.decision === "origin")) {
      await keep(this.parts, uri, hunk, false);
    }
    this.parts.reviews.forget(uri);
  }

  private async find(uri: vscode.Uri | undefined, key: string): Promise<{ review: Open; index: number; hunk: ReviewHunk }> {
    const review = uri && (await reviewed(this.parts, uri));
    const index = review?.hunks.findIndex((entry) => key.endsWith(` ${hunkKey(entry)}`)) ?? -1;
    const hunk = review?.hunks[index];
    if (review === undefined || hunk === undefined) {
      await this.send();
      throw new Error("this hunk is not there any more: look again");
    }
    return { review, index, hunk };
  }
}

function textOf(uri: vscode.Uri, { range }: ReviewHunk): string {
  return opened(uri)?.getText(rangeOf(range)) ?? "";
}
