// The page of the similarity picture. Nothing in it comes from a revision: the data is posted.
import { type Page, webviewPage } from "../webviewPage";

const BODY = `<header>
<h1 id="title"></h1>
<p id="legend"><span>0</span><canvas id="scale" width="120" height="10" aria-hidden="true"></canvas><span>1</span>
<span id="help">Arrow keys move, Enter compares two candidates, on the diagonal one with the origin.</span></p>
</header>
<p id="empty" hidden>There are no candidates to compare.</p>
<main id="picture" hidden>
<svg id="dendrogram" role="img" aria-label="Dendrogram: average linkage of 1 − similarity"><path id="branches"></path></svg>
<div id="names" aria-hidden="true"></div>
<div id="grid" role="grid" tabindex="0" aria-labelledby="title" aria-describedby="help">
<canvas id="cells" aria-hidden="true"></canvas>
<div id="cursor" aria-hidden="true"></div>
<div id="row" role="row"><span id="cell" role="gridcell"></span></div>
</div>
</main>
<p id="pair" aria-live="off"></p>
<p id="signature"></p>`;

export function html(page: Page): string {
  return webviewPage(page, "Similarity of candidates", BODY);
}
