// Colours of code: what kind each token is, by the grammars that VS Code has. It is bundled apart, and loaded by the first page of hunks.
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import { type LanguageRegistration, codeToTokensBase, createShikiPrimitiveAsync, getLastGrammarState } from "@shikijs/primitive";
import type { Paint, Run } from "./page";

/** By VS Code's names of languages. */
const GRAMMARS = new Map<string, () => Promise<{ readonly default: LanguageRegistration[] }>>(Object.entries({
  bat: () => import("@shikijs/langs/bat"),
  c: () => import("@shikijs/langs/c"),
  clojure: () => import("@shikijs/langs/clojure"),
  cpp: () => import("@shikijs/langs/cpp"),
  csharp: () => import("@shikijs/langs/csharp"),
  css: () => import("@shikijs/langs/css"),
  dart: () => import("@shikijs/langs/dart"),
  dockerfile: () => import("@shikijs/langs/dockerfile"),
  elixir: () => import("@shikijs/langs/elixir"),
  go: () => import("@shikijs/langs/go"),
  haskell: () => import("@shikijs/langs/haskell"),
  html: () => import("@shikijs/langs/html"),
  ini: () => import("@shikijs/langs/ini"),
  java: () => import("@shikijs/langs/java"),
  javascript: () => import("@shikijs/langs/javascript"),
  javascriptreact: () => import("@shikijs/langs/jsx"),
  json: () => import("@shikijs/langs/json"),
  jsonc: () => import("@shikijs/langs/jsonc"),
  julia: () => import("@shikijs/langs/julia"),
  kotlin: () => import("@shikijs/langs/kotlin"),
  less: () => import("@shikijs/langs/less"),
  lua: () => import("@shikijs/langs/lua"),
  makefile: () => import("@shikijs/langs/make"),
  markdown: () => import("@shikijs/langs/markdown"),
  perl: () => import("@shikijs/langs/perl"),
  php: () => import("@shikijs/langs/php"),
  powershell: () => import("@shikijs/langs/powershell"),
  properties: () => import("@shikijs/langs/properties"),
  python: () => import("@shikijs/langs/python"),
  r: () => import("@shikijs/langs/r"),
  ruby: () => import("@shikijs/langs/ruby"),
  rust: () => import("@shikijs/langs/rust"),
  scala: () => import("@shikijs/langs/scala"),
  scss: () => import("@shikijs/langs/scss"),
  shellscript: () => import("@shikijs/langs/shellscript"),
  sql: () => import("@shikijs/langs/sql"),
  swift: () => import("@shikijs/langs/swift"),
  toml: () => import("@shikijs/langs/toml"),
  typescript: () => import("@shikijs/langs/typescript"),
  typescriptreact: () => import("@shikijs/langs/tsx"),
  xml: () => import("@shikijs/langs/xml"),
  yaml: () => import("@shikijs/langs/yaml"),
}));

/** Scopes of the grammars by the class that they get; what is more specific wins. */
const KINDS: readonly (readonly [kind: string, ...scopes: string[]])[] = [
  ["", "keyword.operator", "meta.template.expression", "meta.embedded", "meta.interpolation", "string meta.fstring", "punctuation"],
  ["comment", "comment", "punctuation.definition.comment"],
  ["string", "string", "constant.character", "punctuation.definition.string", "markup.inline.raw", "markup.fenced_code"],
  ["number", "constant.numeric", "constant.language", "support.constant"],
  ["keyword", "keyword", "storage", "variable.language", "keyword.operator.logical", "keyword.operator.new", "entity.name.tag", "markup.heading"],
  ["function", "entity.name.function", "support.function", "meta.function-call.generic"],
  ["type", "entity.name.type", "entity.name.class", "support.type", "support.class", "entity.other.inherited-class", "entity.other.attribute-name"],
];

// A theme has colours: ours are the numbers of the kinds.
const THEME = {
  name: "kinds",
  settings: [
    { settings: { foreground: "#000000", background: "#ffffff" } },
    ...KINDS.map(([, ...scope], number) => ({ scope, settings: { foreground: `#00000${number}` } })),
  ],
};

/** A line that is longer gets no colours: it is data, and patterns of grammars may take long on it. */
const LONGEST_LINE = 500;
/** Milliseconds for one file: what is left then has no colours. */
const MOST_TIME = 3_000;
/** Lines above a hunk that are read to know what it stands in, such as a string; beyond that it is taken to stand in nothing. */
const MOST_LINES = 5_000;

type State = ReturnType<typeof getLastGrammarState>;

const primitive = createShikiPrimitiveAsync({ engine: createJavaScriptRegexEngine({ forgiving: true }), themes: [THEME], langs: [] });

/** The colours of texts in a language beside an origin, or nothing for languages without a grammar here. */
export async function painter(language: string, origin: readonly string[]): Promise<Paint | undefined> {
  const grammar = GRAMMARS.get(language);
  if (grammar === undefined) {
    return undefined;
  }
  const shiki = await primitive;
  const { default: loaded } = await grammar();
  await shiki.loadLanguage(loaded);
  const lang = loaded.at(-1)?.name ?? language; // those that it refers to stand before it
  const options = { lang, theme: THEME.name, tokenizeMaxLineLength: LONGEST_LINE, tokenizeTimeLimit: 0 };
  const states = new Map<number, State>();
  const stateAt = (line: number): State | undefined => {
    const known = Math.max(0, ...[...states.keys()].filter((at) => at <= line));
    if (line - known > MOST_LINES || line === known) {
      return states.get(line);
    }
    const grammarState = states.get(known);
    const state = getLastGrammarState(shiki, origin.slice(known, line).join("\n"), { ...options, ...(grammarState && { grammarState }) });
    states.set(line, state);
    return state;
  };
  const painted = new Map<string, ReturnType<Paint>>();
  let spent = 0;
  return (text, line) => {
    const key = `${line} ${text}`;
    const known = painted.get(key) ?? (spent > MOST_TIME ? [] : undefined);
    if (known !== undefined) {
      return known;
    }
    const begun = performance.now();
    const grammarState = stateAt(line);
    const tokens = codeToTokensBase(shiki, text, { ...options, ...(grammarState && { grammarState }) });
    spent += performance.now() - begun;
    const runs = tokens.map((parts) => parts.map(({ content, color }): Run => [content.length, KINDS[Number(color?.slice(1))]?.[0] ?? ""]));
    painted.set(key, runs);
    return runs;
  };
}
