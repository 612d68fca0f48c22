// The hunk editor: one panel for each document. Decisions in the panel change the document itself.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { nameOf, opened, rangeOf, reveal, show } from "../documents";
import { namesOf } from "../candidates/tree";
import type { Parts } from "../parts";
import type { ReviewHunk, ReviewResult } from "../protocol";
import { Halt, message, plain, reason } from "../text";
import { type ToPage, fromPage, html, hunkKey, page, together } from "./page";
import { type Open, decide, hunkOf, keep, replace, reviewed } from "./review";

export class HunkEditors {
  private readonly panels = new Map<string, HunkEditor>();

  constructor(private readonly parts: Parts) {
    parts.subscriptions.push({ dispose: () => [...this.panels.values()].forEach(({ panel }) => void panel.dispose()) });
  }

  open(uri: vscode.Uri, at: ReviewHunk | undefined): void {
    const key = uri.toString();
    const there = this.panels.get(key);
    if (there !== undefined) {
      there.show(at);
      return;
    }
    const editor = new HunkEditor(this.parts, uri, at);
    this.panels.set(key, editor);
    // Lenses would repeat this: they are off while the hunks are shown here.
    const { supervisor } = this.parts;
    supervisor.connection?.showLenses(uri, false);
    const reopened = supervisor.onDidOpen((connection) => connection.showLenses(uri, false));
    editor.panel.onDidDispose(() => {
      reopened.dispose();
      this.panels.delete(key);
      supervisor.connection?.showLenses(uri, true);
    });
  }
}

class HunkEditor {
  readonly panel: vscode.WebviewPanel;
  /** The states of the hunks that each decision made here could change, to undo it; the first is where it was made. */
  private readonly steps: (readonly { readonly key: string; readonly text: string; readonly decided: boolean }[])[] = [];
  private seen: ReviewResult | undefined;
  /** The page as it was last posted, because one decision causes several updates. */
  private posted = "";
  private tail: Promise<unknown> = Promise.resolve();
  private at: string | undefined;
  private closed = false;

  constructor(
    private readonly parts: Parts,
    private readonly uri: vscode.Uri,
    at: ReviewHunk | undefined,
  ) {
    this.at = at && hunkKey(at);
    const inside = (...names: string[]): vscode.Uri => vscode.Uri.joinPath(parts.context.extensionUri, ...names);
    const title = `Hunks: ${plain(nameOf(uri), 60)}`;
    this.panel = vscode.window.createWebviewPanel("excise.hunks", title, vscode.ViewColumn.Active, {
      enableScripts: true,
      localResourceRoots: [inside("media"), inside("dist")],
    });
    this.panel.iconPath = { light: inside("media", "excise-light.svg"), dark: inside("media", "excise-dark.svg") };
    const { webview } = this.panel;
    const listening = vscode.Disposable.from(
      parts.reviews.inDetail(uri),
      webview.onDidReceiveMessage((data: unknown) => this.queue(() => this.answer(data))),
      parts.reviews.onDidChange((changed) => {
        if (changed.toString() === uri.toString()) {
          this.queue(() => this.send());
        }
      }),
    );
    this.panel.onDidDispose(() => {
      this.closed = true;
      listening.dispose();
    });
    const [script, style] = [inside("dist", "hunks.js"), inside("media", "hunks.css")].map((file) => webview.asWebviewUri(file).toString());
    webview.html = html(randomBytes(24).toString("base64url"), webview.cspSource, script ?? "", style ?? "");
  }

  show(at: ReviewHunk | undefined): void {
    this.at = at === undefined ? this.at : hunkKey(at);
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
    const { result: review, problem } = await this.parts.reviews.get(this.uri);
    if (review === undefined) {
      if (problem !== "") {
        await this.post({ type: "problem", text: plain(problem, 300) });
      }
      return;
    }
    this.seen = review;
    const names = await namesOf(this.parts, this.uri);
    const update: ToPage = { type: "page", page: page(nameOf(this.uri), review, (id) => names.get(id) ?? id), current: this.at };
    const text = JSON.stringify(update);
    if (text !== this.posted) {
      // The current hunk is sent once. The same page without it does not count as another one.
      this.posted = JSON.stringify({ ...update, current: undefined });
      this.at = undefined;
      await this.post(update);
    }
  }

  private async answer(data: unknown): Promise<void> {
    const request = fromPage(data);
    if (request?.type === "ready") {
      this.posted = "";
      await this.send();
    } else if (request?.type === "open") {
      const { hunk } = await hunkOf(this.parts, { uri: this.uri.toString(), key: request.key });
      if (hunk === undefined) {
        throw new Halt("this hunk is not there any more");
      }
      reveal(await show(this.uri), rangeOf(hunk.range));
    } else if (request?.type === "undo") {
      await this.undo();
    } else if (request?.type === "take") {
      await this.take(request.key, request.variant, request.alone);
    }
  }

  private async take(key: string, variant: number | null, alone: boolean): Promise<void> {
    const shown = this.seen?.hunks.find((hunk) => hunkKey(hunk) === key);
    const wanted = variant === null ? shown?.text : shown?.variants[variant]?.text;
    const { review, index, hunk } = await this.find(key);
    // The user chose a text, not an index: if the text is gone, nothing is taken.
    const now = variant === null ? null : hunk.variants.findIndex(({ text }) => text === wanted);
    if (wanted === undefined || now === -1 || hunk.text !== shown?.text) {
      await this.send();
      throw new Error("the candidates have changed meanwhile: look again, and choose again");
    }
    const others = alone ? [] : [...together(hunk, now), ...together(hunk, hunk.variant)];
    const hunks = [...new Set([index, ...others])].flatMap((at) => review.hunks[at] ?? []);
    const step = hunks.map((each) => ({ key: hunkKey(each), text: this.textOf(each), decided: each.decided }));
    await decide(this.parts, this.uri, review, index, now, alone);
    this.steps.push(step);
  }

  /** Undo the last decision: restore the exact text of all its hunks at once, and whether they were decided. */
  private async undo(): Promise<void> {
    const [first, ...more] = this.steps.pop() ?? [];
    if (first === undefined) {
      throw new Error("there is nothing to undo here");
    }
    const { review } = await this.find(first.key);
    this.at = first.key;
    const before = review.hunks.flatMap((hunk) => {
      const state = [first, ...more].find(({ key }) => key === hunkKey(hunk));
      return state === undefined ? [] : [{ hunk, ...state }];
    });
    const changed = before.filter(({ hunk, text }) => this.textOf(hunk) !== text);
    if (changed.length > 0) {
      await replace(this.uri, review, changed, "Undo a decision");
    }
    for (const { hunk } of before.filter((state) => !state.decided && state.hunk.decided && state.hunk.decision === "origin")) {
      await keep(this.parts, this.uri, hunk, false);
    }
    this.parts.reviews.forget(this.uri);
  }

  private async find(key: string): Promise<{ review: Open; index: number; hunk: ReviewHunk }> {
    const review = await reviewed(this.parts, this.uri);
    const index = review.hunks.findIndex((entry) => hunkKey(entry) === key);
    const hunk = review.hunks[index];
    if (hunk === undefined) {
      await this.send();
      throw new Error("this hunk is not there any more: look again");
    }
    return { review, index, hunk };
  }

  private textOf({ range }: ReviewHunk): string {
    return opened(this.uri)?.getText(rangeOf(range)) ?? "";
  }
}
