// The hunk editor: one panel for each document. The document itself is the result; the panel decides.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Parts } from "../commands/context";
import { revealHunk } from "../commands/hunks";
import { decide, keep, replace, reviewed } from "../commands/review";
import { opened } from "../documents";
import type { ReviewHunk, ReviewResult } from "../protocol";
import { message, plain, reason } from "../text";
import { html } from "./html";
import { type ToPage, fromPage } from "./messages";
import { hunkKey, page } from "./page";

/** What was there before a decision, to take it back. */
interface Step {
  readonly key: string;
  readonly text: string;
  readonly decided: boolean;
}

export class HunkEditors implements vscode.Disposable {
  private readonly panels = new Map<string, HunkEditor>();

  open(parts: Parts, uri: vscode.Uri, at: ReviewHunk | undefined): void {
    const key = uri.toString();
    const there = this.panels.get(key);
    if (there !== undefined) {
      there.show(at);
      return;
    }
    // The same is not said twice: lenses are off while the hunks are shown here.
    const lenses = (shown: boolean): void => parts.supervisor.connection?.showLenses(uri, shown);
    const reopened = parts.supervisor.onDidOpen((connection) => connection.showLenses(uri, false));
    const made = new HunkEditor(parts, uri, at, () => {
      reopened.dispose();
      this.panels.delete(key);
      lenses(true);
    });
    this.panels.set(key, made);
    lenses(false);
  }

  dispose(): void {
    [...this.panels.values()].forEach((panel) => panel.dispose());
  }
}

class HunkEditor {
  private readonly panel: vscode.WebviewPanel;
  private readonly steps: Step[] = [];
  private seen: ReviewResult | undefined;
  /** What the page shows, as it was posted: a decision is news several times over. */
  private posted = "";
  private tail: Promise<unknown> = Promise.resolve();
  private at: string | undefined;
  private closed = false;

  constructor(
    private readonly parts: Parts,
    private readonly uri: vscode.Uri,
    at: ReviewHunk | undefined,
    closed: () => void,
  ) {
    this.at = at === undefined ? undefined : hunkKey(at);
    const root = parts.context.extensionUri;
    const [media, dist] = [vscode.Uri.joinPath(root, "media"), vscode.Uri.joinPath(root, "dist")];
    const title = `Hunks: ${plain(this.name, 60)}`;
    this.panel = vscode.window.createWebviewPanel("excise.hunks", title, vscode.ViewColumn.Active, {
      enableScripts: true,
      localResourceRoots: [media, dist],
    });
    this.panel.iconPath = {
      light: vscode.Uri.joinPath(media, "excise-light.svg"),
      dark: vscode.Uri.joinPath(media, "excise-dark.svg"),
    };
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
      closed();
    });
    webview.html = html({
      nonce: randomBytes(24).toString("base64url"),
      cspSource: webview.cspSource,
      script: webview.asWebviewUri(vscode.Uri.joinPath(dist, "hunks.js")).toString(),
      style: webview.asWebviewUri(vscode.Uri.joinPath(media, "hunks.css")).toString(),
    });
  }

  show(at: ReviewHunk | undefined): void {
    this.at = at === undefined ? this.at : hunkKey(at);
    this.panel.reveal();
    this.queue(() => this.send());
  }

  dispose(): void {
    this.panel.dispose();
  }

  private get name(): string {
    return this.uri.path.split("/").at(-1) ?? "";
  }

  /** One after the other: what is decided next is of the text that this one has left. */
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
    const { review, problem } = await this.parts.reviews.get(this.uri);
    if (review === undefined) {
      if (problem !== "") {
        await this.post({ type: "problem", text: plain(problem, 300) });
      }
      return;
    }
    this.seen = review;
    const names = await this.parts.reviews.names(this.uri);
    const told: ToPage = { type: "page", page: page(this.name, review, (id) => names.get(id) ?? id), current: this.at };
    const text = JSON.stringify(told);
    if (text !== this.posted) {
      // Where to go is said once; the same page without it is not another one.
      this.posted = JSON.stringify({ ...told, current: undefined });
      this.at = undefined;
      await this.post(told);
    }
  }

  private async answer(data: unknown): Promise<void> {
    const asked = fromPage(data);
    if (asked?.type === "ready") {
      this.posted = "";
      await this.send();
    } else if (asked?.type === "open") {
      await revealHunk(this.parts, { uri: this.uri.toString(), key: asked.key });
    } else if (asked?.type === "undo") {
      await this.undo();
    } else if (asked?.type === "take") {
      await this.take(asked.key, asked.variant);
    }
  }

  private async take(key: string, variant: number | null): Promise<void> {
    const shown = this.seen?.hunks.find((hunk) => hunkKey(hunk) === key);
    const wanted = variant === null ? shown?.text : shown?.variants[variant]?.text;
    const { review, index, hunk } = await this.find(key);
    // The user chose a text, not a number: if that is gone, nothing is taken.
    const now = variant === null ? null : hunk.variants.findIndex(({ text }) => text === wanted);
    if (wanted === undefined || now === -1 || hunk.text !== shown?.text) {
      await this.send();
      throw new Error("the candidates have changed meanwhile: look again, and choose again");
    }
    const step = { key, text: this.textOf(hunk), decided: hunk.decided };
    await decide(this.parts, this.uri, review, index, now);
    this.steps.push(step);
  }

  /** Take the last decision back: the text that was there, to the byte, and whether it was decided. */
  private async undo(): Promise<void> {
    const step = this.steps.pop();
    if (step === undefined) {
      throw new Error("there is nothing to undo here");
    }
    const { review, hunk } = await this.find(step.key);
    this.at = step.key;
    if (this.textOf(hunk) !== step.text) {
      await replace(this.uri, review, hunk, step.text, "Undo a decision");
    }
    if (!step.decided && step.text.replace(/\r\n?/g, "\n") === hunk.text) {
      await keep(this.parts, this.uri, hunk, false);
    }
    this.parts.reviews.forget(this.uri);
  }

  private async find(key: string): Promise<{ review: ReviewResult & { version: number }; index: number; hunk: ReviewHunk }> {
    const review = await reviewed(this.parts, this.uri);
    const index = review.hunks.findIndex((one) => hunkKey(one) === key);
    const hunk = review.hunks[index];
    if (hunk === undefined) {
      await this.send();
      throw new Error("this hunk is not there any more: look again");
    }
    return { review, index, hunk };
  }

  private textOf({ range: { start, end } }: ReviewHunk): string {
    return opened(this.uri)?.getText(new vscode.Range(start.line, start.character, end.line, end.character)) ?? "";
  }
}
