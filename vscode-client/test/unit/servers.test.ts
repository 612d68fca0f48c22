// The search for a server, with real files and processes.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { OLDEST_SERVER, type Refused, type Server, type Wishes, along, atLeast, findServer, mcpArgs, shebang, whyNoMcp } from "../../src/servers";

const folder = mkdtempSync(path.join(tmpdir(), "servers-"));
after(() => rmSync(folder, { recursive: true }));

function program(name: string, body: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

function wishes(given: Partial<Wishes>): Wishes {
  return { path: [], interpreter: [], ownPython: undefined, searchPath: "", ...given };
}

async function refused(given: Partial<Wishes>): Promise<readonly Refused[]> {
  const search = await findServer(wishes(given));
  assert.ok(!("command" in search), JSON.stringify(search));
  return search;
}

async function found(given: Partial<Wishes>): Promise<Server> {
  const server = await findServer(wishes(given));
  assert.ok("command" in server, JSON.stringify(server));
  return server;
}

const good = program("good/excise", 'echo "excise 0.3.0"');
const python = program("python/python3", "echo 0.4.2");

test("a tool without an interpreter in its first line is started as it is", async () => {
  const server = await found({ path: [good] });
  assert.deepEqual([server.args, server.version], [["serve", "--stdio"], "0.3.0"]);
});

test("a tool is started by the interpreter of its first line, isolated", async () => {
  const script = path.join(folder, "script");
  writeFileSync(script, `#!${python}\nraise SystemExit\n`);
  const server = await found({ path: [script] });
  assert.deepEqual([server.command, server.args], [python, ["-I", "-m", "excise_server", "--stdio"]]);
});

test("the first line names an interpreter by its absolute path, or none", async () => {
  const lines = { "#!/usr/bin/env python3": undefined, "#!/bin/sh": undefined, "": undefined, "#! /opt/x/python3.12 -sE": "/opt/x/python3.12" };
  for (const [line, expected] of Object.entries(lines)) {
    const file = path.join(folder, "first-line");
    writeFileSync(file, `${line}\n`);
    assert.equal(await shebang(file), expected, line);
  }
  assert.equal(await shebang(path.join(folder, "nowhere")), undefined);
});

test("a named server that is missing is refused, not passed over", async () => {
  const [item] = await refused({ path: [path.join(folder, "nowhere")], searchPath: path.dirname(good) });
  assert.equal(item?.kind, "missing");
  assert.match(item.reason, /no such file/);
});

test("of several named ones the first that works is taken", async () => {
  assert.equal((await found({ path: [path.join(folder, "nowhere"), good] })).command, good);
});

test("one that is too old says both versions", async () => {
  const [item] = await refused({ path: [program("old", 'echo "excise 0.0.9"')] });
  assert.equal(item?.kind, "tooOld");
  assert.equal(item.reason, `its version is 0.0.9, and ${OLDEST_SERVER} or newer is needed`);
});

test("one that fails says how", async () => {
  const [broken] = await refused({ path: [program("broken", "echo no room >&2; exit 3")] });
  assert.deepEqual([broken?.kind, broken?.reason.includes("no room")], ["broken", true]);
  const [silent] = await refused({ path: [program("silent", "true")] });
  assert.equal(silent?.kind, "broken");
});

test("an interpreter without excise is told from one that fails", async () => {
  const without = program("without", "echo \"ModuleNotFoundError: No module named 'excise_server'\" >&2; exit 1");
  assert.equal((await refused({ interpreter: [without] }))[0]?.kind, "missing");
  const other = program("other", "echo 'SyntaxError: invalid' >&2; exit 1");
  assert.equal((await refused({ interpreter: [other] }))[0]?.kind, "broken");
});

test("settings come before PATH, PATH before the extension's own environment", async () => {
  const searchPath = path.dirname(good);
  const given = { searchPath, ownPython: python };
  const on = async (more: Partial<Wishes>): Promise<string> => (await found({ ...given, ...more })).origin;
  assert.equal(await on({}), "PATH");
  assert.equal(await on({ interpreter: [python] }), "the setting excise.interpreter");
  assert.equal(await on({ interpreter: [python], path: [good] }), "the setting excise.path");
  assert.match(await on({ searchPath: "" }), /own environment/);
});

test("relative entries of PATH, which could be the workspace's, are not looked at", async () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    assert.deepEqual(await along(`good${path.delimiter}.${path.delimiter}`, "excise", "old"), []);
    assert.deepEqual(await along(`${folder}/good`, "excise"), [good]);
  } finally {
    process.chdir(before);
  }
});

test("without any there is none, and nothing is thrown", async () => {
  assert.deepEqual(await refused({ searchPath: path.join(folder, "empty") }), []);
});

test("a server serves agents by its command, or says what is missing", async () => {
  const said = "Error: the package mcp is missing; install the extra 'mcp'";
  const without = program("without-mcp", `[ "$1" = --version ] && echo "excise 0.3.0" && exit; echo "${said}" >&2; exit 1`);
  const server = await found({ path: [without] });
  assert.deepEqual(mcpArgs(server, ["/w/a b"]), ["mcp", "/w/a b"]);
  assert.equal(await whyNoMcp(server), said);
  // What serves is told by its end, when there is nothing to read.
  assert.equal(await whyNoMcp(await found({ path: [program("with-mcp", 'cat; echo "excise 0.3.0"')] })), "");
});

test("the server of an interpreter serves agents as the command does, where its extra is installed", async () => {
  const venv = process.env["VENV"] ?? path.resolve("..", ".venv");
  const server = await found({ interpreter: [path.join(venv, "bin", "python")] });
  assert.deepEqual(mcpArgs(server, ["/w"]).slice(-2), ["mcp", "/w"]);
  assert.equal(await whyNoMcp(server), "");
});

test("releases are compared by their numbers", () => {
  assert.ok(atLeast("0.10.0", "0.9"));
  assert.ok(atLeast("0.1.0", "0.1"));
  assert.ok(atLeast("1.0.0rc1", "1.0"));
  assert.ok(!atLeast("0.1", "0.1.1"));
  assert.ok(!atLeast("0.0.9", OLDEST_SERVER));
});

test("what is no version is never enough", () => {
  for (const text of ["", "latest", "x1.0", "-1", "excise"]) {
    assert.ok(!atLeast(text, "0.0"), text);
    assert.ok(!atLeast("1.0", text), text);
  }
});
