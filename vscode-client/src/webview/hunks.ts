// The hunk editor in its webview. Everything it shows comes as text and becomes text: no markup is made of it.
import type { Card, FromPage, HunkPage, Page, ToPage } from "../hunks/page";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const api = acquireVsCodeApi();
let shown: Page | undefined;
/** The key of the hunk that keys are for. */
let current: string | undefined;
/** Hunks that the user has opened or closed against the rule. */
const turned = new Map<string, boolean>();
/** The next number takes its hunk without those that belong with it. */
let alone = false;
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
  properties: Partial<HTMLElementTagNameMap[K]>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function show(page: Page, wanted: string | undefined): void {
  const had = document.activeElement?.closest(".hunk") !== null || shown === undefined || wanted !== undefined;
  shown = page;
  byId("title").textContent = page.title;
  byId("progress").textContent = page.progress;
  byId("problem").textContent = "";
  byId("warnings").replaceChildren(...page.warnings.map(warning));
  byId("notes").replaceChildren(...page.notes.map((note) => made("li", {}, made("bdi", {}, note))));
  const empty = made("p", {}, "No candidate changes this file.");
  byId("hunks").replaceChildren(...(page.hunks.length === 0 ? [empty] : page.hunks.map(section)));
  page.hunks.filter(({ decided }) => decided).forEach(({ key }) => chosen.delete(key));
  const exists = page.hunks.some(({ key }) => key === (wanted ?? current));
  const first = page.hunks.find((hunk) => !hunk.decided) ?? page.hunks[0];
  select(exists ? (wanted ?? current) : first?.key, had);
}

/** The next (or previous) hunk that is not decided, from the first again after the last. */
function neighbour(page: Page, from: string | undefined, by: 1 | -1): string | undefined {
  const start = page.hunks.findIndex(({ key }) => key === from);
  const after = [...page.hunks.slice(start + 1), ...page.hunks.slice(0, start + 1)];
  const open = ({ key, decided }: HunkPage): boolean => !decided && !chosen.has(key);
  return (by === 1 ? after.find(open) : after.slice(0, -1).findLast(open))?.key;
}

function warning(text: string): HTMLElement {
  return made("p", { className: "warning" }, "⚠ ", made("bdi", {}, text));
}

function setAlone(next: boolean): void {
  alone = next;
  byId("alone").textContent = alone ? "The next number takes its hunk alone." : "";
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
  const label = folded ? "Show" : "Hide";
  const onclick = (): void => turn(hunk);
  const fold = made("button", { className: "fold", type: "button", ariaExpanded: String(!folded), ariaLabel: `${label} ${hunk.title}`, onclick }, label);
  const title = made("h2", { id: `hunk-${hunk.key}` }, hunk.title.charAt(0).toUpperCase() + hunk.title.slice(1));
  const summary = made("span", { id: `said-${hunk.key}`, className: "said" }, hunk.summary);
  const decision = hunk.decided ? [made("span", { className: "decision" }, "✓ ", made("bdi", {}, hunk.decision))] : [];
  const cards = made("div", { className: "cards" }, ...hunk.cards.map((entry) => card(hunk, entry)));
  const head = made("div", { className: "head" }, title, summary, ...decision, fold);
  const element = made("section", { className: folded ? "hunk folded" : "hunk", role: "group" }, head, ...hunk.warnings.map(warning), cards);
  element.dataset["key"] = hunk.key;
  element.setAttribute("aria-labelledby", `${title.id} ${summary.id}`);
  element.addEventListener("focusin", () => select(hunk.key, false));
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

function card(hunk: HunkPage, shownCard: Card): HTMLElement {
  const { variant, key, names, words, lines, unit, together, chosen: isChosen } = shownCard;
  const origin = variant === null;
  const who = origin ? "the origin" : names.join(", ");
  const heading = made("h3", {}, ...(origin ? ["origin"] : names).map((name) => made("bdi", {}, name)));
  const also = origin && names.length > 0 ? `: ${names.join(", ")}` : "";
  const said = words === "" ? [] : [made("span", { className: "said" }, made("bdi", {}, `${words}${also}`))];
  const verb = origin ? "Keep" : together.length > 0 ? `Take all ${together.length}` : "Take";
  // The spoken label begins with the visible text, which voice control needs.
  const ariaLabel = `${verb}${key === "" ? "" : ` ${key}`}: ${who}`;
  const onclick = (): void => choose(hunk, shownCard, false);
  const shownKey = key === "" ? [] : [" ", made("kbd", {}, key)];
  const take = made("button", { className: "take", type: "button", ariaLabel, ariaPressed: String(isChosen), onclick }, verb, ...shownKey);
  let number = hunk.first;
  const rows = lines.map((line) => {
    if (typeof line === "number") {
      number += line;
      return made("span", { className: "left-out" }, `… ${line.toLocaleString("en")} lines more`);
    }
    // The column of numbers is there for variants, too: code stands below code.
    const gutter = made("i", {}, origin ? String(number++) : "");
    return made("span", {}, gutter, ...line.map(({ text, marked }) => (marked ? made("mark", {}, text) : text)));
  });
  const none = made("span", { className: "nothing" }, origin ? "nothing here yet" : "deletes these lines");
  const code = made("pre", { tabIndex: 0, role: "group", ariaLabel: `code of ${who}` }, ...(rows.length === 0 ? [none] : rows));
  const byItself = (): void => choose(hunk, shownCard, true);
  const apart = made("button", { type: "button", ariaLabel: `Take alone: ${who}`, onclick: byItself }, "Take alone ", made("kbd", {}, `a ${key}`));
  const belongs = unit === "" ? [] : [made("p", { className: "unit" }, made("bdi", {}, unit), apart)];
  const className = `card${origin ? " origin" : ""}${isChosen ? " chosen" : ""}`;
  return made("div", { className }, made("div", { className: "who" }, heading, ...said, take), ...belongs, code);
}

/** Take a variant, and go on to the next hunk at once: the next key is meant for that one. */
function choose(hunk: HunkPage, { variant, together }: Card, byItself: boolean): void {
  api.postMessage({ type: "take", key: hunk.key, variant, alone: byItself });
  setAlone(false);
  for (const key of byItself ? [hunk.key] : [hunk.key, ...together]) {
    chosen.add(key);
    turned.delete(key);
  }
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
  } else if (key === "a") {
    setAlone(!alone);
  } else if (key === "u") {
    api.postMessage({ type: "undo" });
  } else if (key === "Enter" && !onButton) {
    api.postMessage({ type: "open", key: hunk.key });
  } else if (/^[0-9]$/.test(key)) {
    const picked = hunk.cards.find((each) => each.key === key);
    if (picked !== undefined) {
      choose(hunk, picked, alone);
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
