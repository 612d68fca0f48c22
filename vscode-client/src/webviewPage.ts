// The shell of every page in a webview, which limits what pages may load. It has no text of candidates.

/** Addresses that the page loads, and the nonce that lets it. */
export interface Page {
  readonly nonce: string;
  readonly cspSource: string;
  readonly script: string;
  readonly style: string;
}

/** One of our pages, with a title and a body. Its data is posted. */
export function webviewPage({ nonce, cspSource, script, style }: Page, title: string, body: string): string {
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
<title>${title}</title>
</head>
<body>
${body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
