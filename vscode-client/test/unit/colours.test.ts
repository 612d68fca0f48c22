import assert from "node:assert/strict";
import { test } from "node:test";
import { painter } from "../../src/hunks/colours";

/** Each token that has a colour, with its class. */
async function coloured(language: string, origin: string, text: string, line: number): Promise<string[][]> {
  const paint = await painter(language, origin.split("\n"));
  const lines = text.split("\n");
  return (paint?.(text, line) ?? []).map((runs, at) => {
    let from = 0;
    return runs.flatMap(([length, kind]) => {
      const token = lines[at]?.slice(from, (from += length)) ?? "";
      return kind === "" ? [] : [`${kind} ${token}`];
    });
  });
}

test("code is coloured as what it is where it stands", async () => {
  const origin = 'def f(x):\n    """Say\n    hello.\n    """\n    return x\n';
  assert.deepEqual(await coloured("python", origin, "    if x is 1:\n", 2), [["string     if x is 1:"], []], "in a docstring");
  assert.deepEqual(await coloured("python", origin, "    if x is 1:\n", 4), [["keyword if", "keyword is", "number 1"], []]);
  assert.deepEqual(await coloured("python", origin, "if 1: # one\n", 0), [["keyword if", "number 1", "comment # one"], []], "earlier lines after later ones");
});

test("every language that has a grammar gets its own", async () => {
  assert.deepEqual(await coloured("typescript", "", "const a = `${b}`;", 0), [["keyword const", "string `", "string `"]]);
  assert.deepEqual(await coloured("cpp", "", 'return "a";', 0), [["keyword return", 'string "a"']]);
  assert.deepEqual(await coloured("html", "", "<b>1</b>", 0), [["keyword b", "keyword b"]]);
  for (const language of ["shellscript", "rust", "go", "java", "ruby", "php", "yaml", "json", "sql", "csharp", "javascriptreact", "typescriptreact", "swift", "kotlin"]) {
    assert.notDeepEqual((await coloured(language, "", 'x: "a" # 1 // 2', 0)).flat(), [], language);
  }
});

test("without a grammar, and in long lines, there are no colours", async () => {
  assert.deepEqual(await coloured("plaintext", "", "if 1", 0), []);
  assert.deepEqual(await coloured("constructor", "", "if 1", 0), []);
  assert.deepEqual(await coloured("python", "", `if ${"1 ".repeat(400)}`, 0), [[]]);
});
