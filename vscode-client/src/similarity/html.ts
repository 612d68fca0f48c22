// The page of the similarity picture: nothing in it comes from a revision; the data is posted.

/** Addresses that the page loads, and the nonce that lets it. */
export interface Page {
  readonly nonce: string;
  readonly cspSource: string;
  readonly script: string;
  readonly style: string;
}

export function html({ nonce, cspSource, script, style }: Page): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Similarity of revisions</title>
</head>
<body>
<header>
<h1 id="title"></h1>
<p id="legend"><span>0</span><canvas id="scale" width="120" height="10" aria-hidden="true"></canvas><span>1</span>
<span id="help">Arrow keys move, Enter compares two revisions, on the diagonal one with the origin.</span></p>
</header>
<p id="empty" hidden>There are no revisions to compare.</p>
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
<p id="signature"></p>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
