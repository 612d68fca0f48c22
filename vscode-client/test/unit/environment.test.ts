// An environment of the extension's own, really made: from wheels, without a network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import {
  type CarriedServer,
  PLATFORM,
  type Python,
  carriedServer,
  makeEnvironment,
  ownPython,
  usablePython,
  whyNotCarried,
} from "../../src/environment";
import { findServer, OLDEST_SERVER } from "../../src/servers";

const folder = mkdtempSync(path.join(tmpdir(), "environment-"));
after(() => rmSync(folder, { recursive: true }));

const quiet = { report: () => undefined, signal: new AbortController().signal };
const searchPath = process.env["PATH"] ?? "";

/** A wheel, as small as can be; returns its file. */
function wheel(directory: string, name: string, module: string, needs = ""): string {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, `${name}-${OLDEST_SERVER}-py3-none-any.whl`);
  const program = `
import sys, zipfile
file, name, version, module, needs = sys.argv[1:]
info = f"{name}-{version}.dist-info"
with zipfile.ZipFile(file, "w") as wheel:
    wheel.writestr(module, "")
    wheel.writestr(module.split("/")[0] + "/__init__.py", "")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n{needs}")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
  execFileSync("python3", ["-I", "-c", program, file, name, OLDEST_SERVER, module, needs]);
  return file;
}

/** A server that needs one package, which pip finds in a folder. */
function carried(directory: string, module = "excise_server/lsp/app.py"): CarriedServer {
  const needed = wheel(path.join(directory, "registry"), "needed", "needed/code.py");
  const hash = createHash("sha256").update(readFileSync(needed)).digest("hex");
  const server = wheel(directory, "excise", module, "Requires-Dist: needed<1\n");
  const requirements = path.join(directory, "requirements.txt");
  const where = `--no-index\n--find-links ${path.dirname(needed)}\n`;
  writeFileSync(requirements, `${where}needed==${OLDEST_SERVER} --hash=sha256:${hash}\n`);
  return { wheel: server, requirements, platform: PLATFORM };
}

async function python(): Promise<Python> {
  const found = await usablePython(searchPath);
  assert.ok(found, "these tests need Python 3.11 with venv on PATH (Debian: apt-get install python3-venv)");
  return found;
}

test("it is made from wheels, found as a server, replaces the one before, and outlives one that fails", async () => {
  const storage = path.join(folder, "storage");
  const server = carried(path.join(folder, "wheels"));
  mkdirSync(path.join(storage, "env-1"), { recursive: true });
  writeFileSync(path.join(storage, "other"), "");
  assert.equal(await ownPython(storage), undefined);
  const made = await makeEnvironment(storage, await python(), server, quiet);
  assert.equal(await ownPython(storage), made);
  assert.ok(!existsSync(path.join(storage, "env-1")) && existsSync(path.join(storage, "other")));
  const search = await findServer({
    path: [],
    interpreter: [],
    ownPython: made,
    searchPath: "",
  });
  assert.ok("version" in search, JSON.stringify(search));
  assert.equal(search.version, OLDEST_SERVER);

  const before = readdirSync(storage);
  const strange = carried(path.join(folder, "wheels-of-another-excise"), "excise/taxes.py");
  const failing = makeEnvironment(storage, await python(), strange, quiet);
  await assert.rejects(failing, /the server: ModuleNotFoundError.*excise_server/);
  assert.deepEqual(readdirSync(storage), before);
  assert.equal(await ownPython(storage), made);
});

test("a package is refused whose hash is not the pinned one, that is missing, or that nobody can reach", async () => {
  const storage = path.join(folder, "mistrusted");
  const server = carried(path.join(folder, "mistrusted-wheels"));
  const pinned = readFileSync(server.requirements, "utf8");
  const failing = async (requirements: string): Promise<string> => {
    writeFileSync(server.requirements, requirements);
    const made = makeEnvironment(storage, await python(), server, quiet);
    const error: unknown = await made.then(() => undefined, (reason: unknown) => reason);
    assert.deepEqual(readdirSync(storage), []);
    return error instanceof Error ? error.message : "it was made";
  };
  assert.match(await failing(pinned.replace(/sha256:./, "sha256:")), /pip install: .*hash/i);
  assert.match(await failing(pinned.replace("needed==", "absent==")), /pip install: .*absent==/);
  process.env["PIP_RETRIES"] = "1"; // with none, pip does not say why
  const nowhere = pinned.replace("--no-index", "--index-url http://127.0.0.1:9/simple").replace(/--find-links.*/, "");
  assert.match(await failing(nowhere), /registry cannot be reached/);
  delete process.env["PIP_RETRIES"];
});

test("a lock that leaves out what the server needs is noticed", async () => {
  const storage = path.join(folder, "incomplete");
  const server = carried(path.join(folder, "incomplete-wheels"));
  const other = wheel(path.join(folder, "incomplete-wheels", "registry"), "other", "other/code.py");
  const hash = createHash("sha256").update(readFileSync(other)).digest("hex");
  const where = `--no-index\n--find-links ${path.dirname(other)}\n`;
  writeFileSync(server.requirements, `${where}other==${OLDEST_SERVER} --hash=sha256:${hash}\n`);
  const made = makeEnvironment(storage, await python(), server, quiet);
  await assert.rejects(made, /pip check: .*needed/);
});

test("a Python that cannot make one is said to be", async () => {
  const storage = path.join(folder, "refused");
  const broken = { command: path.join(folder, "nowhere"), version: "3.11.0" };
  const made = makeEnvironment(storage, broken, carried(path.join(folder, "unused")), quiet);
  await assert.rejects(made, /python -m venv: there is no such program/);
  assert.deepEqual(readdirSync(storage), []);
});

test("cancelled, it stops and leaves nothing behind", async () => {
  const storage = path.join(folder, "cancelled");
  const control = new AbortController();
  const steps: string[] = [];
  const report = (step: string): void => {
    steps.push(step);
    control.abort();
  };
  const server = carried(path.join(folder, "unused"));
  const made = makeEnvironment(storage, await python(), server, { report, signal: control.signal });
  await assert.rejects(made, /cancelled/);
  assert.equal(steps.length, 1);
  assert.deepEqual(readdirSync(storage), []);
});

test("a package of the extension says which server it carries, for which platform", async () => {
  const extension = path.join(folder, "extension");
  assert.equal(await carriedServer(extension), undefined);
  assert.match(whyNotCarried(undefined) ?? "", new RegExp(`carries no server\\. .*excise-${PLATFORM}\\.vsix.*pip install \\.`));
  const directory = path.join(extension, "server");
  mkdirSync(directory, { recursive: true });
  const note = path.join(directory, "server.json");
  for (const wrong of ["", "[]", "null", '{"wheel": 3}', '{"wheel": "../../x.whl", "platform": "linux-x64"}']) {
    writeFileSync(note, wrong);
    assert.equal(await carriedServer(extension), undefined, wrong);
  }
  writeFileSync(note, '{"wheel": "excise-0.3.0-cp311-abi3-linux_x86_64.whl", "platform": "sunos-ppc"}');
  const stated = await carriedServer(extension);
  assert.ok(stated);
  assert.equal(stated.wheel, path.join(directory, "excise-0.3.0-cp311-abi3-linux_x86_64.whl"));
  assert.equal(stated.requirements, path.join(directory, "requirements.txt"));
  assert.match(whyNotCarried(stated) ?? "", /the server for sunos-ppc, not for/);
  assert.equal(whyNotCarried({ ...stated, platform: PLATFORM }), undefined);
});

test("a Python is used only if it is new enough and can make environments", async () => {
  assert.equal(await usablePython(path.join(folder, "nowhere")), undefined);
  const old = path.join(folder, "old");
  mkdirSync(old);
  writeFileSync(path.join(old, "python3"), "#!/bin/sh\necho CPython 3.10.1\n", { mode: 0o755 });
  assert.equal(await usablePython(old), undefined);
  assert.match((await usablePython(`${old}${path.delimiter}${searchPath}`))?.version ?? "", /^3\.1[1-9]\./);
});

test("a ready note that names a folder elsewhere is not followed", async () => {
  const storage = path.join(folder, "note");
  mkdirSync(storage);
  for (const name of ["../env-1", "/tmp", "env-1/../..", 7]) {
    writeFileSync(path.join(storage, "ready.json"), JSON.stringify({ folder: name }));
    assert.equal(await ownPython(storage), undefined);
  }
});
