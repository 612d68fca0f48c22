// The hunk editor in its webview. Everything it shows comes as text and becomes text: no markup is made of it.
import type { Card, CodeLine, FromPage, HunkPage, Page, ToPage } from "../hunks/page";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const api = acquireVsCodeApi();
let shown: Page | undefined;
/** The key of the hunk that keys are for. */
let current: string | undefined;
/** Hunks that the user has opened or closed against the rule. */
const turned = new Map<string, boolean>();
/** Hunks chosen here whose decision no page shows yet: keys are faster than answers. */
const chosen = new Set<string>();

function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`no ${id}`);
  }
  return element;
}

function made<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (className !== "") {
    element.className = className;
  }
  element.append(...children);
  return element;
}

function show(page: Page, wanted: string | undefined): void {
  const had = document.activeElement?.closest(".hunk") !== null || shown === undefined || wanted !== undefined;
  shown = page;
  byId("title").textContent = page.title;
  byId("progress").textContent = page.progress;
  byId("problem").textContent = "";
  byId("notes").replaceChildren(...page.notes.map((note) => made("li", "", made("bdi", "", note))));
  const empty = made("p", "", "No candidate changes this file.");
  byId("hunks").replaceChildren(...(page.hunks.length === 0 ? [empty] : page.hunks.map(section)));
  page.hunks.filter(({ decided }) => decided).forEach(({ key }) => chosen.delete(key));
  const exists = page.hunks.some(({ key }) => key === (wanted ?? current));
  const first = page.hunks.find((hunk) => !hunk.decided) ?? page.hunks[0];
  select(exists ? (wanted ?? current) : first?.key, had);
}

/** The next (or previous) hunk that is not decided, from the first again after the last. */
function neighbour(page: Page, from: string | undefined, by: 1 | -1): string | undefined {
  const start = page.hunks.findIndex(({ key }) => key === from);
  const count = page.hunks.length;
  for (let step = 1; step <= count; step++) {
    const hunk = page.hunks[(((start + by * step) % count) + count) % count];
    if (hunk !== undefined && !hunk.decided && !chosen.has(hunk.key)) {
      return hunk.key;
    }
  }
  return undefined;
}

function select(key: string | undefined, focus: boolean): void {
  current = key;
  for (const element of document.querySelectorAll<HTMLElement>(".hunk")) {
    const isCurrent = element.dataset["key"] === key;
    element.classList.toggle("current", isCurrent);
    element.tabIndex = isCurrent ? 0 : -1;
    if (isCurrent && focus && !element.contains(document.activeElement)) {
      element.focus({ preventScroll: true });
    }
    if (isCurrent && focus) {
      element.scrollIntoView({ block: "nearest" });
    }
  }
}

function isFolded(hunk: HunkPage): boolean {
  return turned.get(hunk.key) ?? (hunk.folded || hunk.decided);
}

function section(hunk: HunkPage): HTMLElement {
  const folded = isFolded(hunk);
  const fold = made("button", "fold", folded ? "Show" : "Hide");
  fold.type = "button";
  fold.setAttribute("aria-expanded", String(!folded));
  fold.setAttribute("aria-label", `${folded ? "Show" : "Hide"} ${hunk.title}`);
  const title = made("h2", "", hunk.title.charAt(0).toUpperCase() + hunk.title.slice(1));
  title.id = `hunk-${hunk.index}`;
  const summary = made("span", "said", hunk.summary);
  summary.id = `said-${hunk.index}`;
  const decision = hunk.decided ? [made("span", "decision", "✓ ", made("bdi", "", hunk.decision))] : [];
  const cards = made("div", "cards", card(hunk, hunk.origin), ...hunk.cards.map((entry) => card(hunk, entry)));
  const element = made("section", "hunk", made("div", "head", title, summary, ...decision, fold), cards);
  element.classList.toggle("folded", folded);
  element.dataset["key"] = hunk.key;
  element.setAttribute("role", "group");
  element.setAttribute("aria-labelledby", `${title.id} ${summary.id}`);
  element.addEventListener("focusin", () => select(hunk.key, false));
  fold.addEventListener("click", () => turn(hunk));
  return element;
}

function turn(hunk: HunkPage): void {
  turned.set(hunk.key, !isFolded(hunk));
  const old = [...document.querySelectorAll<HTMLElement>(".hunk")].find(({ dataset }) => dataset["key"] === hunk.key);
  const fresh = section(hunk);
  old?.replaceWith(fresh);
  select(hunk.key, false);
  fresh.querySelector<HTMLElement>(".fold")?.focus();
}

function card(hunk: HunkPage, one: Card): HTMLElement {
  const origin = one.variant === null;
  const names = origin ? [made("bdi", "", "origin")] : one.names.map((name) => made("bdi", "", name));
  const also = origin && one.names.length > 0 ? `: ${one.names.join(", ")}` : "";
  const words = one.words === "" ? [] : [made("span", "said", made("bdi", "", `${one.words}${also}`))];
  const take = made("button", "take", origin ? "Keep" : "Take", ...(one.key === "" ? [] : [" ", made("kbd", "", one.key)]));
  take.type = "button";
  // The spoken label begins with the visible text, which voice control needs.
  const heard = one.key === "" ? "" : ` ${one.key}`;
  take.setAttribute("aria-label", origin ? "Keep 0: the origin" : `Take${heard}: ${one.names.join(", ")}`);
  take.setAttribute("aria-pressed", String(one.chosen));
  take.addEventListener("click", () => choose(hunk, one.variant));
  const heading = made("h3", "", ...names);
  const lines = one.lines.map((line, at) => codeLine(line, origin && typeof line !== "number" ? lineNumber(hunk, one, at) : 0));
  const none = made("span", "nothing", origin ? "nothing here yet" : "deletes these lines");
  const code = made("pre", "", ...(lines.length === 0 ? [none] : lines));
  code.tabIndex = 0;
  code.setAttribute("role", "group");
  code.setAttribute("aria-label", `code of ${origin ? "the origin" : one.names.join(", ")}`);
  const element = made("div", origin ? "card origin" : "card", made("div", "who", heading, ...words, take), code);
  element.classList.toggle("chosen", one.chosen);
  return element;
}

function lineNumber(hunk: HunkPage, { lines }: Card, at: number): number {
  const skipped = lines.slice(0, at).reduce<number>((sum, line) => sum + (typeof line === "number" ? line - 1 : 0), 0);
  return hunk.first + at + skipped;
}

function codeLine(line: CodeLine, number: number): HTMLElement {
  if (typeof line === "number") {
    return made("span", "left-out", `… ${line.toLocaleString("en")} lines more`);
  }
  const pieces = line.map(({ text, marked }) => (marked ? made("mark", "", text) : text));
  // The column of numbers is there for variants, too: code stands below code.
  const gutter = made("i", "", number === 0 ? "" : String(number));
  return made("span", "", gutter, ...pieces);
}

/** Take a variant, and go on to the next hunk at once: the next key is meant for that one. */
function choose(hunk: HunkPage, variant: number | null): void {
  api.postMessage({ type: "take", key: hunk.key, variant });
  chosen.add(hunk.key);
  turned.delete(hunk.key);
  select((shown && neighbour(shown, hunk.key, 1)) ?? hunk.key, true);
}

function pressed(event: KeyboardEvent): void {
  const hunk = shown?.hunks.find(({ key }) => key === current);
  if (shown === undefined || hunk === undefined || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const onButton = event.target instanceof HTMLButtonElement;
  const { key } = event;
  if (key === "n" || key === "p") {
    select(neighbour(shown, current, key === "n" ? 1 : -1) ?? current, true);
  } else if (key === "u") {
    api.postMessage({ type: "undo" });
  } else if (key === "Enter" && !onButton) {
    api.postMessage({ type: "open", key: hunk.key });
  } else if (/^[0-9]$/.test(key)) {
    const picked = key === "0" ? hunk.origin : hunk.cards.find((each) => each.key === key);
    if (picked !== undefined) {
      choose(hunk, picked.variant);
    }
  } else {
    return;
  }
  event.preventDefault();
}

window.addEventListener("keydown", pressed);
window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
  if (data.type === "page") {
    show(data.page, data.current);
  } else {
    chosen.clear();
    byId("problem").textContent = data.text;
  }
});
api.postMessage({ type: "ready" });
