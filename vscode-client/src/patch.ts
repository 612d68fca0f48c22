// A unified diff of one file, applied strictly: hunks at the lines they name, byte for byte, or
// not at all. Nothing is guessed.

export class PatchError extends Error {}

interface Hunk {
  /** First line of the old text, from 0. */
  readonly at: number;
  readonly old: readonly string[];
  readonly new: readonly string[];
}

interface FilePatch {
  readonly oldPath: string;
  readonly newPath: string;
  readonly hunks: readonly Hunk[];
}

/** Apply the part of a patch that is for a file; the whole of it if it is for one file only. */
export function applyPatch(text: string, patch: string, file: string): string {
  const files = parsePatch(patch);
  const fitting = files.filter(({ oldPath, newPath }) => names(newPath, file) || names(oldPath, file));
  const [chosen, second] = files.length === 1 ? files : fitting;
  if (chosen === undefined) {
    throw new PatchError(files.length === 0 ? "it holds no unified diff" : `it does not change ${file}`);
  }
  if (second !== undefined) {
    throw new PatchError(`it changes several files called ${file}`);
  }
  return applyHunks(text, chosen.hunks);
}

/** The files of a patch and what it does to them. */
export function parsePatch(patch: string): FilePatch[] {
  const lines = patch.replace(/\r\n?/g, "\n").split("\n");
  const files: { oldPath: string; newPath: string; hunks: Hunk[] }[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const next = lines[at + 1] ?? "";
    if (/^(GIT binary patch|Binary files )/.test(line)) {
      throw new PatchError("it changes a binary file");
    }
    if (line.startsWith("--- ") && next.startsWith("+++ ") && lines[at + 2]?.startsWith("@@ ") === true) {
      files.push({ oldPath: pathOf(line), newPath: pathOf(next), hunks: [] });
      at += 2;
    } else if (line.startsWith("@@ ") && files.length > 0) {
      const { hunk, end } = parseHunk(lines, at);
      files.at(-1)?.hunks.push(hunk);
      at = end;
    } else {
      at += 1;
    }
  }
  return files;
}

function parseHunk(lines: readonly string[], start: number): { hunk: Hunk; end: number } {
  const header = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? "");
  if (header === null) {
    throw new PatchError(`line ${start + 1} is no hunk header`);
  }
  let [olds, news] = [Number(header[2] ?? 1), Number(header[3] ?? 1)];
  const first = Number(header[1]);
  const hunk = { at: olds === 0 ? first : first - 1, old: [] as string[], new: [] as string[] };
  let at = start + 1;
  while (olds > 0 || news > 0) {
    const line = lines[at];
    const [sign, rest] = [line?.[0] ?? " ", line?.slice(1) ?? ""];
    if (line === undefined || !" +-".includes(sign)) {
      throw new PatchError(`line ${at + 1}: the hunk is cut short`);
    }
    if (sign !== "+") {
      hunk.old.push(`${rest}\n`);
      olds -= 1;
    }
    if (sign !== "-") {
      hunk.new.push(`${rest}\n`);
      news -= 1;
    }
    at += 1;
    if (lines[at]?.startsWith("\\") === true) {
      withoutEnd(hunk, sign);
      at += 1;
    }
  }
  if (olds < 0 || news < 0) {
    throw new PatchError(`line ${start + 1}: the hunk is longer than it says`);
  }
  return { hunk, end: at };
}

/** "\ No newline at end of file": said of the line before. */
function withoutEnd(hunk: { old: string[]; new: string[] }, sign: string): void {
  const sides = sign === "+" ? [hunk.new] : sign === "-" ? [hunk.old] : [hunk.old, hunk.new];
  for (const side of sides) {
    side.push((side.pop() ?? "").slice(0, -1));
  }
}

function applyHunks(text: string, hunks: readonly Hunk[]): string {
  const lines = linesOf(text.replace(/\r\n?/g, "\n"));
  const result: string[] = [];
  let done = 0;
  for (const hunk of hunks) {
    const there = lines.slice(hunk.at, hunk.at + hunk.old.length);
    const differs = hunk.old.findIndex((line, at) => line !== there[at]);
    if (hunk.at < done || hunk.at > lines.length || differs >= 0) {
      const at = hunk.at + Math.max(differs, 0) + 1;
      throw new PatchError(`it was made from another text: line ${at} differs`);
    }
    result.push(...lines.slice(done, hunk.at), ...hunk.new);
    done = hunk.at + hunk.old.length;
  }
  result.push(...lines.slice(done));
  if (result.slice(0, -1).some((line) => !line.endsWith("\n"))) {
    throw new PatchError("it takes the line end from a line that is not the last");
  }
  return result.join("");
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function pathOf(header: string): string {
  return (header.slice(4).split("\t", 1)[0] ?? "").trim().replace(/^"(.*)"$/, "$1");
}

/** Whether a path of a patch ends in a file's name. */
function names(patched: string, file: string): boolean {
  return patched === file || patched.endsWith(`/${file}`);
}
