// What package.json promises, compared with what is there.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { html as hunks } from "../../src/hunks/page";
import { OLDEST_SERVER } from "../../src/servers";

interface Manifest {
  version: string;
  icon: string;
  main: string;
  engines: { vscode: string };
  activationEvents: string[];
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  capabilities: {
    untrustedWorkspaces: { supported: string; restrictedConfigurations: string[] };
    virtualWorkspaces: { supported: boolean };
  };
  contributes: {
    commands: { command: string; title: string }[];
    menus: Record<string, { command?: string; submenu?: string; when?: string }[]>;
    submenus: { id: string }[];
    configuration: { properties: Record<string, { default?: unknown; scope?: string }> }[];
    views: Record<string, { id: string }[]>;
    viewsWelcome: { contents: string; when: string }[];
    walkthroughs: { steps: { description: string; media: { svg: string; altText: string } }[] }[];
  };
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const { contributes } = manifest;
const commands = new Set(contributes.commands.map(({ command }) => command));
const properties = Object.assign({}, ...contributes.configuration.map((one) => one.properties)) as Record<
  string,
  { default?: unknown; scope?: string }
>;

/** Names of the commands that extension.ts registers: the exports of the modules that it lists. */
function registered(): Set<string> {
  const body = /const COMMANDS[^{]*\{([^}]*)\}/.exec(readFileSync("src/extension.ts", "utf8"))?.[1] ?? "";
  const sources = [...body.matchAll(/\.\.\.(\w+)/g)].map(([, name]) => readFileSync(`src/commands/${name ?? ""}.ts`, "utf8"));
  const names = sources.flatMap((source) => [...source.matchAll(/^export (?:async )?function (\w+)/gm)]);
  return new Set(names.map(([, name]) => `excise.${name ?? ""}`));
}

test("it stays small: its commands and settings, counted", () => {
  assert.ok(commands.size <= 16, `${commands.size} commands`);
  assert.ok(Object.keys(properties).length <= 12, `${Object.keys(properties).length} settings`);
  // One word for what is compared, and one way to add it.
  assert.doesNotMatch(readFileSync("package.json", "utf8").replace(/viewItem =~ \/revision\//g, ""), /revision/i);
  assert.equal(contributes.commands.filter(({ title }) => title.startsWith("Add")).length, 1);
});

test("every command that is contributed is registered, and the other way round", () => {
  assert.deepEqual([...registered()].sort(), [...commands].sort());
});

test("menus, welcome texts and walkthroughs name commands that exist", () => {
  const menus = Object.values(contributes.menus).flat();
  for (const { command, submenu } of menus) {
    const known = command === undefined ? contributes.submenus.some(({ id }) => id === submenu) : commands.has(command);
    assert.ok(known, command ?? submenu);
  }
  const texts = [
    ...contributes.viewsWelcome.map(({ contents }) => contents),
    ...contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ description }) => description)),
  ].join("\n");
  const linked = [...texts.matchAll(/command:([\w.]+)/g)].map(([, name]) => name ?? "");
  assert.ok(linked.length > 8);
  for (const name of linked.filter((one) => one.startsWith("excise."))) {
    assert.ok(commands.has(name) || name === "excise.candidates.focus", name);
  }
});

test("every state in which the view is empty has a text of its own, with a way out", () => {
  const states = ["missing", "failed", "starting", "idle", "virtual", "notebook", "empty", "untrusted", "searching", "indexing", "refused", "nothing"];
  const texts = states.map((state) => {
    const shown = contributes.viewsWelcome.filter(({ when }) => when === `excise.state == ${state}`);
    assert.equal(shown.length, 1, state);
    assert.match(shown[0]?.contents ?? "", /\]\(command:[\w.]+/, state);
    return shown[0]?.contents;
  });
  assert.equal(new Set(texts).size, states.length);
});

test("pictures exist and say what they show", () => {
  assert.deepEqual([...readFileSync(manifest.icon).subarray(16, 24)], [0, 0, 0, 128, 0, 0, 0, 128]);
  const steps = contributes.walkthroughs.flatMap((one) => one.steps);
  for (const { media, description } of steps) {
    assert.doesNotMatch(description, /`/, "no Markdown but links");
    assert.ok(existsSync(media.svg), media.svg);
    assert.ok(media.altText.length > 10);
    // The editor's policy drops sheets and attributes of style: colours stand in attributes of their own.
    const svg = readFileSync(media.svg, "utf8");
    assert.doesNotMatch(svg, /<script|<style|style=|class=|href|https?:(?!\/\/www\.w3\.org)/);
    assert.match(svg, /fill="var\(--vscode-foreground/);
  }
});

test("what could name a program is restricted, and is no folder's to set", () => {
  const { restrictedConfigurations, supported } = manifest.capabilities.untrustedWorkspaces;
  assert.equal(supported, "limited");
  for (const name of ["excise.path", "excise.interpreter"]) {
    assert.ok(restrictedConfigurations.includes(name), name);
    assert.equal(properties[name]?.scope, "machine-overridable");
  }
  assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
});

test("defaults of the settings are the server's", () => {
  const documented = readFileSync("../docs/sources.md", "utf8");
  for (const name of ["origin", "worktrees", "git", "conflicts", "files", "patches"]) {
    const setting = properties[name === "origin" ? "excise.origin" : `excise.sources.${name}`];
    const row = new RegExp(`^\\| \`${name}\` \\| \`(.*?)\` \\|`, "m").exec(documented)?.[1] ?? "";
    const value: unknown = name === "origin" ? row : JSON.parse(row);
    assert.deepEqual(setting?.default, value, name);
  }
  const options = readFileSync("../docs/lsp-extensions.md", "utf8");
  for (const name of ["intent", "diagnostics.severity"]) {
    const row = new RegExp(`^\\| \`${name}\` \\|.*\\| \`(\\w+)\` \\|$`, "m").exec(options)?.[1];
    assert.equal(properties[`excise.${name}`]?.default, row, name);
  }
});

test("the client of the protocol and the colours are what is bundled, the types of the oldest editor, and versions that agree", () => {
  const shiki = ["engine-javascript", "langs", "primitive"].map((name) => `@shikijs/${name}`);
  assert.deepEqual(Object.keys(manifest.dependencies), [...shiki, "vscode-languageclient"]);
  assert.equal(`^${manifest.devDependencies["@types/vscode"] ?? ""}`, manifest.engines.vscode);
  const project = readFileSync("../pyproject.toml", "utf8");
  const version = /^version = "(.*)"$/m.exec(project)?.[1];
  assert.equal(manifest.version, version);
  assert.equal(OLDEST_SERVER.split(".").length, 3);
});

test("the page of the hunk editor allows one script, and nothing from anywhere else", () => {
  const page = hunks("NONCE", "vscode-resource:", "s.js", "s.css");
  const policy = /content="(default-src[^"]*)"/.exec(page)?.[1] ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'nonce-NONCE'; style-src vscode-resource:;/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal([...page.matchAll(/<script/g)].length, 1);
  assert.doesNotMatch(page, /https?:|\son\w+=|\sstyle=/);
});

test("text of revisions never becomes markup in the webview", () => {
  for (const name of readdirSync("src/webview").filter((one) => one.endsWith(".ts"))) {
    const source = readFileSync(`src/webview/${name}`, "utf8");
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(/, name);
  }
  for (const name of readdirSync("src", { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".ts")) {
      assert.doesNotMatch(readFileSync(`src/${name}`, "utf8"), /isTrusted = true|isTrusted: true|supportHtml: true/, name);
    }
  }
});
