// The page of the hunk editor, which limits what it may load. Nothing in it comes from a candidate: the data is posted.

/** The page, with the addresses that it loads, and the nonce that lets it. */
export function html(nonce: string, cspSource: string, script: string, style: string): string {
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
<title>Hunks</title>
</head>
<body>
<header>
<h1 id="title"></h1>
<p id="progress" role="status"></p>
<p id="help"><kbd>1</kbd>–<kbd>9</kbd> take, <kbd>0</kbd> keep the origin, <kbd>n</kbd> <kbd>p</kbd> next and previous undecided, <kbd>u</kbd> undo, <kbd>Enter</kbd> open</p>
</header>
<main>
<p id="problem" role="alert"></p>
<ul id="notes" aria-label="Notes"></ul>
<div id="hunks"><p>Reading the file…</p></div>
</main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
