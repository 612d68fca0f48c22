// The page of the hunk editor. Nothing in it comes from a candidate: the data is posted.
import { type Page, webviewPage } from "../webviewPage";

const BODY = `<header>
<h1 id="title"></h1>
<p id="progress" role="status"></p>
<p id="help"><kbd>1</kbd>–<kbd>9</kbd> take, <kbd>0</kbd> keep the origin, <kbd>n</kbd> <kbd>p</kbd> next and previous undecided, <kbd>u</kbd> undo, <kbd>Enter</kbd> open</p>
</header>
<main>
<p id="problem" role="alert"></p>
<ul id="notes" aria-label="Notes"></ul>
<div id="hunks"><p>Reading the file…</p></div>
</main>`;

export function html(page: Page): string {
  return webviewPage(page, "Hunks", BODY);
}
