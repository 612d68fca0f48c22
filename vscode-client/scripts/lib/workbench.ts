/** What a user does in a workbench, and what the workbench shows; every step waits for its effect. */
import type { FrameLocator, Locator, Page } from "playwright-core";
import { type Window } from "./browser.js";
import type { Server } from "./server.js";

/** Milliseconds after which something that does not come is given up; nothing waits so long to pass. */
export const DEADLINE = 45_000;

export class Workbench {
  readonly page: Page;

  private constructor(readonly window: Window) {
    this.page = window.page;
  }

  /** Open a folder; with `payload`, what the workbench is told about tests and development. */
  static async open(
    window: Window,
    server: Server,
    folder: string,
    payload?: readonly (readonly [string, string])[],
  ): Promise<Workbench> {
    const query = new URLSearchParams({ folder });
    if (payload) query.set("payload", JSON.stringify(payload));
    await window.page.goto(`${server.url}/?${query.toString()}`);
    await window.page.locator(".monaco-workbench").waitFor();
    await window.page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
    return new Workbench(window);
  }

  /** The workbench of a window that has been led to one. */
  static on(window: Window): Workbench {
    return new Workbench(window);
  }

  /** By the explorer: finding by name needs a compiled program that is not installed here. */
  async openFile(name: string): Promise<void> {
    const row = this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first();
    if (!(await row.isVisible())) await this.page.keyboard.press("ControlOrMeta+Shift+e");
    await row.dblclick();
    await this.page.locator(`.editor-group-container.active .tab.active[data-resource-name="${name}"]`).waitFor();
    await this.page.locator(".editor-instance .view-line").first().waitFor();
  }

  /** Run a command of the palette by its whole title. */
  async command(title: string): Promise<void> {
    await this.quickInput("F1", title, ">");
    const row = this.page.locator(".quick-input-list .monaco-list-row").first();
    await row.filter({ hasText: title }).waitFor();
    await this.page.keyboard.press("Enter");
  }

  /** Answer the question that the quick input asks. */
  async pick(label: string): Promise<void> {
    const name = this.page.locator(".label-name", { hasText: new RegExp(`\\b${label}$`) });
    await this.page.locator(".quick-input-list .monaco-list-row", { has: name }).first().click();
  }

  /** Put the cursor on a line, counted from 1. */
  async goTo(line: number): Promise<void> {
    await this.focusEditor();
    await this.quickInput("Control+g", `${line}`, ":");
    await this.page.keyboard.press("Enter");
    await this.page.locator(".editor-statusbar-item, .statusbar-item", { hasText: `Ln ${line},` }).waitFor();
  }

  async focusEditor(): Promise<void> {
    await this.page.locator(".editor-group-container.active .monaco-editor .view-lines").first().click();
  }

  get squiggles(): Locator {
    return this.page.locator(".squiggly-info");
  }

  /** What the extension tells, not what the editor does. */
  get notifications(): Locator {
    return this.page.locator(".notifications-toasts .notification-list-item", { hasText: "Excise" });
  }

  /** The rows of a tree by what a screen reader says of the tree. */
  rows(tree: string): Locator {
    return this.page.locator(`.monaco-list[aria-label^="${tree}"] .monaco-list-row`);
  }

  /** Show the views of the extension, with candidates in the first of them. */
  async showCandidates(): Promise<Locator> {
    await this.page.getByRole("tab", { name: /^Excise/ }).click();
    const rows = this.candidates;
    await rows.first().waitFor();
    return rows;
  }

  /** The rows of the view of candidates. */
  get candidates(): Locator {
    return this.pane("Candidates");
  }

  /** The rows of the view of hunks. */
  get hunks(): Locator {
    return this.pane("Hunks");
  }

  private pane(title: string): Locator {
    return this.page.locator(".pane", { has: this.page.locator(`.pane-header[aria-label^="${title}"]`) }).locator(".monaco-list-row");
  }

  /** The row of a candidate in that view. */
  candidate(name: string): Locator {
    return this.candidates.filter({ has: this.page.locator(".label-name", { hasText: new RegExp(`\\b${name}$`) }) });
  }

  /** Wait until a group has these candidates, and no other one stands under it. */
  async members(group: Locator, names: readonly string[]): Promise<void> {
    const label = (row: Locator): Promise<string> => row.locator(".label-name").innerText();
    const under = async (): Promise<string[]> => {
      const rows = await this.candidates.all();
      const levels = await Promise.all(rows.map((row) => row.getAttribute("aria-level")));
      const at = (await Promise.all(rows.map(label))).indexOf(await label(group));
      const end = levels.findIndex((level, row) => row > at && Number(level) <= Number(levels[at]));
      const children = rows.slice(at + 1, end < 0 ? rows.length : end).filter((_row, row) => Number(levels[at + 1 + row]) === Number(levels[at]) + 1);
      return (await Promise.all(children.map(label))).sort();
    };
    await group.waitFor();
    await until(under, (shown) => shown.join() === names.join());
  }

  /** Move the keyboard's focus in the view of candidates to a row, key by key; nothing is selected. */
  async focusRow(row: Locator): Promise<void> {
    const focused = this.candidates.and(this.page.locator(".focused"));
    await until(async () => {
      // A tree that is drawn anew, maybe just now, has no focus until a key is pressed.
      const [at, to] = [Number((await focused.evaluateAll((rows) => rows.map((own) => own.getAttribute("data-index"))))[0] ?? -1), await indexOf(row)];
      if (at !== to) await this.page.keyboard.press(at < to ? "ArrowDown" : "ArrowUp");
      return at === to;
    }, Boolean);
  }

  /** What a webview of ours shows, in the inner of its two frames. */
  webview(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  }

  /** Press a button that a row of a tree shows while the mouse is over it. */
  async inline(row: Locator, title: string): Promise<void> {
    // A row that is drawn anew under the mouse loses the pointer, or the click.
    for (let tries = 1; ; tries += 1) {
      await this.page.mouse.move(2, 2); // away from what the hover of a row shows over others
      const button = row.locator(`.action-label[aria-label^="${title}"]`);
      const pressed = row.hover({ timeout: 5_000 }).then(() => button.click({ timeout: 5_000 }));
      const isTaken = await pressed.then(() => this.dirty(15_000)).then(() => true, () => false);
      if (isTaken) return;
      if (tries === 4) throw new Error(`${title} changes no document`);
    }
  }

  /** Take the last change of the document back. */
  async undo(): Promise<void> {
    await this.focusEditor();
    await this.page.keyboard.press("ControlOrMeta+z");
    await this.dirty();
  }

  private async dirty(timeout?: number): Promise<void> {
    await this.page.locator(".editor-group-container.active .tab.active.dirty").waitFor(timeout === undefined ? {} : { timeout });
  }

  /** Make the side bar so many pixels wider. */
  async widen(by: number): Promise<void> {
    const side = await this.page.locator(".part.sidebar").boundingBox();
    if (!side) throw new Error("there is no side bar");
    const [x, y] = [side.x + side.width, side.y + side.height / 2];
    await this.page.mouse.move(x, y);
    await this.page.mouse.down();
    await this.page.mouse.move(x + by, y, { steps: 5 });
    await this.page.mouse.up();
    await this.page.mouse.move(x + by, 1); // nothing lies under it there
  }

  /** Nothing moves any more: two pictures in a row are the same. */
  async settled(): Promise<void> {
    let last = "";
    await until(
      async () => {
        const before = last;
        last = (await this.page.screenshot({ animations: "disabled", caret: "hide" })).toString("base64");
        return before === last;
      },
      (same) => same,
    );
  }

  async problems(): Promise<Locator> {
    const rows = this.page.locator(".markers-panel .monaco-list-row");
    if (!(await this.page.locator(".markers-panel").isVisible())) {
      await this.page.keyboard.press("ControlOrMeta+Shift+m");
    }
    await rows.first().waitFor();
    return rows;
  }

  /** Show the hover at the cursor, and return its contents. */
  async hover(): Promise<Locator> {
    await this.page.keyboard.press("ControlOrMeta+k");
    await this.page.keyboard.press("ControlOrMeta+i");
    const contents = this.page.locator(".monaco-hover:not(.hidden) .hover-contents");
    await contents.first().waitFor();
    return contents;
  }

  /** Show the actions at the cursor, and return their rows. */
  async actions(): Promise<Locator> {
    const rows = this.page.locator(".action-widget .monaco-list-row.action");
    const none = this.page.locator(".monaco-editor-overlaymessage", { hasText: "No code actions" });
    // The editor asks by itself, a moment after the cursor or a diagnostic has moved; a question of
    // the user that is open then is dropped, and answered with "No code actions available".
    await until(async () => {
      await this.page.keyboard.press("ControlOrMeta+.");
      await rows.or(none).first().waitFor();
      // The list may follow the message; the same keys would take its first row, then.
      await rows.first().waitFor({ timeout: 3_000 }).catch(() => undefined);
      return rows.first().isVisible();
    }, Boolean);
    return rows;
  }

  /** Save the active document, which has changed: what it holds is then on disk. */
  async save(): Promise<void> {
    await this.dirty();
    await this.focusEditor();
    await this.page.keyboard.press("ControlOrMeta+s");
    await this.page.locator(".editor-group-container.active .tab.active:not(.dirty)").waitFor();
  }

  /** Answer the question of trust. */
  async trust(answer: "Yes" | "No"): Promise<void> {
    const dialog = this.page.locator(".monaco-dialog-box", { hasText: "Do you trust" });
    await dialog.getByRole("button", { name: new RegExp(`^${answer}, I`) }).click();
    await dialog.waitFor({ state: "detached" });
  }

  /** Trust the workspace after all. */
  async grantTrust(): Promise<void> {
    await this.command("Workspaces: Manage Workspace Trust");
    await this.page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click();
    await this.page.locator(".workspace-trust-editor.trusted").waitFor();
  }

  private async quickInput(key: string, text: string, prefix = ""): Promise<void> {
    await this.page.keyboard.press(key);
    const input = this.page.locator(".quick-input-widget:visible input.input");
    await input.waitFor();
    await input.fill(prefix + text);
  }
}

async function indexOf(row: Locator): Promise<number> {
  return Number(await row.getAttribute("data-index"));
}

/** Ask until the answer is as wanted; the last answer is in the error. */
export async function until<T>(ask: () => Promise<T> | T, wanted: (answer: T) => boolean): Promise<T> {
  const end = Date.now() + DEADLINE;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`still: ${JSON.stringify(answer)}\nwanted: ${wanted.toString()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
