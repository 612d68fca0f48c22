// The hunk editor in its webview. Everything it shows comes as text and becomes text: no markup is made of it.
import type { Card, FilePage, FromPage, HunkPage, Page, Row, ToPage } from "../hunks/page";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const api = acquireVsCodeApi();
let shown: Page | undefined;
/** The key of the hunk that keys are for. */
let current: string | undefined;
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

/** Somebody's words, in their own direction. */
function bdi(text: string): HTMLElement {
  return made("bdi", {}, text);
}

function hunksOf(page: Page | undefined): readonly HunkPage[] {
  return page?.files.flatMap(({ hunks }) => hunks) ?? [];
}

function show(page: Page, wanted: string | undefined): void {
  const had = document.activeElement?.closest(".hunk") !== null || shown === undefined || wanted !== undefined;
  const hunks = hunksOf(page);
  shown = page;
  byId("title").textContent = page.title;
  byId("progress").textContent = page.progress;
  byId("problem").textContent = "";
  const [top, focused] = [window.scrollY, focusedButton()];
  const sections = page.files.map(file);
  const sticky = document.querySelector("header")?.getBoundingClientRect().height ?? 0;
  byId("files").replaceChildren(...(hunks.length === 0 ? [made("p", {}, "No candidate changes a line here.")] : []), ...sections);
  document.documentElement.style.setProperty("--header", `${sticky}px`);
  window.scrollTo({ top });
  hunks.filter(({ decided }) => decided).forEach(({ key }) => chosen.delete(key));
  const exists = hunks.some(({ key }) => key === (wanted ?? current));
  const first = hunks.find((hunk) => !hunk.decided) ?? hunks[0];
  // A page that is written anew moves nobody's document: after a reload, say, another hunk is the first undecided one.
  select(exists ? (wanted ?? current) : first?.key, had, wanted !== undefined);
  [...document.querySelectorAll("button")].find((button) => button.ariaLabel === focused && button.closest(".hunk.current") !== null)?.focus();
}

/** A button keeps the focus while the page is written anew. */
function focusedButton(): string | null {
  return document.activeElement instanceof HTMLButtonElement ? document.activeElement.ariaLabel : null;
}

/** The next (or previous) hunk that is not decided, or of all, from the first again after the last. */
function neighbour(from: string | undefined, by: 1 | -1, every = false): string | undefined {
  const hunks = hunksOf(shown);
  const start = hunks.findIndex(({ key }) => key === from);
  const after = [...hunks.slice(start + 1), ...hunks.slice(0, start + 1)];
  const open = ({ key, decided }: HunkPage): boolean => every || (!decided && !chosen.has(key));
  return (by === 1 ? after.find(open) : after.slice(0, -1).findLast(open))?.key;
}

function warning(text: string): HTMLElement {
  return made("p", { className: "warning" }, "⚠ ", bdi(text));
}

function setAlone(next: boolean): void {
  alone = next;
  byId("alone").textContent = alone ? "The next number takes its hunk alone." : "";
}

function select(key: string | undefined, focus: boolean, follow = true): void {
  if (follow && key !== undefined && key !== current) {
    api.postMessage({ type: "follow", key });
  }
  // Of a hunk that is larger than the page its head comes into view; who reads on in it stays there.
  const room = key === current ? Infinity : window.innerHeight - (document.querySelector("header")?.offsetHeight ?? 0);
  current = key;
  for (const element of document.querySelectorAll<HTMLElement>(".hunk")) {
    const isCurrent = element.dataset["key"] === key;
    element.classList.toggle("current", isCurrent);
    element.tabIndex = isCurrent ? 0 : -1;
    if (isCurrent && focus && !element.contains(document.activeElement)) {
      element.focus({ preventScroll: true });
    }
    if (isCurrent && focus) {
      element.scrollIntoView({ block: element.offsetHeight > room ? "start" : "nearest" });
    }
  }
}

function file({ name, words, warnings, notes, whole, hunks }: FilePage): HTMLElement {
  const head = made("div", { className: "head" }, made("h2", {}, bdi(name)), made("span", { className: "said" }, words));
  const rows = whole.map(({ key, text }) => {
    const onclick = (): void => api.postMessage({ type: "whole", key });
    return made("p", { className: "whole" }, bdi(text), " ", made("button", { type: "button", ariaLabel: `Show ${text}`, onclick }, "Show"));
  });
  const list = notes.map((note) => made("li", {}, bdi(note)));
  const noted = list.length === 0 ? [] : [made("ul", { className: "notes", ariaLabel: "Notes" }, ...list)];
  return made("section", { className: "file" }, head, ...warnings.map(warning), ...noted, ...rows, ...hunks.map(section));
}

function section(hunk: HunkPage): HTMLElement {
  const title = made("h3", { id: `hunk ${hunk.key}`.replace(/\s/g, "-") }, bdi(hunk.title));
  const decision = hunk.decided ? [made("span", { className: "decision" }, "✓ ", bdi(hunk.decision))] : [];
  const head = made("div", { className: "head" }, title, made("span", { className: "said" }, bdi(hunk.summary)), ...decision);
  const cards = hunk.cards.map((each) => card(hunk, each));
  const around = (rows: readonly Row[], className: string): Node[] => (rows.length === 0 ? [] : [code(rows, className)]);
  const parts = [head, ...hunk.warnings.map(warning), ...around(hunk.above, "around"), ...cards, ...around(hunk.below, "around")];
  const element = made("section", { className: "hunk", role: "group" }, ...parts);
  element.dataset["key"] = hunk.key;
  element.setAttribute("aria-labelledby", title.id);
  element.addEventListener("focusin", () => select(hunk.key, false));
  return element;
}

/** Lines of code. Between two that do not follow each other is a gap. */
function code(rows: readonly Row[], className: string): HTMLElement {
  let last: number | null = null;
  const lines = rows.flatMap((row) => {
    if (typeof row === "number") {
      return [made("span", { className: "said" }, `… ${row.toLocaleString("en")} lines more`)];
    }
    const { number, parts } = row;
    const gap = last !== null && number !== null && number > last + 1 ? [made("span", { className: "said" }, "⋯")] : [];
    last = number;
    const texts = parts.map(({ text, kind, marked }) => made(marked ? "mark" : "span", { className: kind }, text));
    return [...gap, made("span", { className: "line" }, made("i", {}, number === null ? "" : String(number)), made("span", {}, ...texts))];
  });
  return made("pre", { className }, ...lines);
}

function card(hunk: HunkPage, shownCard: Card): HTMLElement {
  const { variant, key, names, words, rows, unit, together, chosen: isChosen } = shownCard;
  const origin = variant === null;
  const who = origin ? "the origin" : names.join(", ");
  const heading = made("h4", {}, ...(origin ? ["origin"] : names).map(bdi));
  const also = origin && names.length > 0 ? `: ${names.join(", ")}` : "";
  const said = words === "" ? [] : [made("span", { className: "said" }, bdi(`${words}${also}`))];
  const belongs = unit === "" ? [] : [made("span", { className: "said" }, bdi(unit))];
  const verb = origin ? "Keep" : together.length > 0 ? `Take all ${together.length}` : "Take";
  const button = (label: string, shownKey: string, byItself: boolean): HTMLElement => {
    // The spoken label begins with the visible text, which voice control needs.
    const ariaLabel = `${label}${shownKey === "" ? "" : ` ${shownKey}`}: ${who}`;
    const onclick = (): void => choose(hunk, shownCard, byItself);
    const pressed = byItself ? {} : { ariaPressed: String(isChosen) };
    const kbd = shownKey === "" ? [] : [" ", made("kbd", {}, shownKey)];
    return made("button", { type: "button", ariaLabel, onclick, ...pressed }, label, ...kbd);
  };
  const apart = unit === "" ? [] : [button("Take alone", key === "" ? "" : `a ${key}`, true)];
  const nothing = made("p", { className: "nothing said" }, origin ? "nothing here yet" : "deletes these lines");
  const makers = made("div", { className: "head" }, heading, ...said, ...belongs);
  const line = made("div", { className: "who" }, makers, made("div", { className: "buttons" }, ...apart, button(verb, key, false)));
  const className = `card${origin ? " origin" : ""}${isChosen ? " chosen" : ""}`;
  return made("div", { className }, line, rows.length === 0 ? nothing : code(rows, origin ? "lost" : "own"));
}

/** Take a variant, and go on to the next hunk at once: the next key is meant for that one. */
function choose(hunk: HunkPage, { variant, together }: Card, byItself: boolean): void {
  api.postMessage({ type: "take", key: hunk.key, variant, alone: byItself });
  setAlone(false);
  (byItself ? [hunk.key] : [hunk.key, ...together]).forEach((key) => chosen.add(key));
  select(neighbour(hunk.key, 1) ?? hunk.key, true);
}

function pressed(event: KeyboardEvent): void {
  const hunk = hunksOf(shown).find(({ key }) => key === current);
  if (hunk === undefined || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const onButton = event.target instanceof HTMLButtonElement;
  const { key } = event;
  if (/^[npjk]$/.test(key)) {
    select(neighbour(current, key === "n" || key === "j" ? 1 : -1, key === "j" || key === "k") ?? current, true);
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
