// An environment of the extension's own, really made: from wheels, without a network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { type Python, type Wheelhouse, fits, makeEnvironment, ownPython, usablePython, wheelhouse } from "../../src/environment";
import { findServer } from "../../src/servers";

const folder = mkdtempSync(path.join(tmpdir(), "environment-"));
after(() => rmSync(folder, { recursive: true }));

const quiet = { report: () => undefined, signal: new AbortController().signal };
const searchPath = process.env["PATH"] ?? "";

/** A wheel called excise, as small as can be. */
function wheel(directory: string, version: string, content = "excise_server/lsp/protocol.py"): void {
  mkdirSync(directory, { recursive: true });
  const program = `
import sys, zipfile
name = f"excise-{sys.argv[2]}"
with zipfile.ZipFile(f"{sys.argv[1]}/{name}-py3-none-any.whl", "w") as wheel:
    wheel.writestr(sys.argv[3], "")
    wheel.writestr(sys.argv[3].split("/")[0] + "/__init__.py", "")
    wheel.writestr(f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\\nName: excise\\nVersion: {sys.argv[2]}\\n")
    wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{name}.dist-info/RECORD", "")
`;
  execFileSync("python3", ["-I", "-c", program, directory, version, content]);
}

async function python(): Promise<Python> {
  const found = await usablePython(searchPath, undefined);
  assert.ok(found, "these tests need Python 3.11 with venv on PATH (Debian: apt-get install python3-venv)");
  return found;
}

async function wheels(directory: string): Promise<Wheelhouse> {
  const { version } = await python();
  const minor = version.split(".").slice(0, 2).join(".");
  return { directory, python: minor, platform: `${process.platform}-${process.arch}` };
}

test("it is made from wheels, found as a server, replaces the one before, and outlives one that fails", async () => {
  const storage = path.join(folder, "storage");
  const directory = path.join(folder, "wheels");
  wheel(directory, "0.1.0");
  mkdirSync(path.join(storage, "env-1"), { recursive: true });
  writeFileSync(path.join(storage, "other"), "");
  assert.equal(await ownPython(storage), undefined);
  const made = await makeEnvironment(storage, await python(), await wheels(directory), quiet);
  assert.equal(await ownPython(storage), made);
  assert.ok(!existsSync(path.join(storage, "env-1")) && existsSync(path.join(storage, "other")));
  const search = await findServer({
    path: [],
    interpreter: [],
    importStrategy: "useBundled",
    ownPython: made,
    searchPath: "",
  });
  assert.ok("server" in search, JSON.stringify(search));
  assert.equal(search.server.version, "0.1.0");

  const before = readdirSync(storage);
  const strange = path.join(folder, "wheels-of-another-excise");
  wheel(strange, "0.9.0", "excise/taxes.py");
  const failing = makeEnvironment(storage, await python(), await wheels(strange), quiet);
  await assert.rejects(failing, /the server: ModuleNotFoundError.*excise_server/);
  assert.deepEqual(readdirSync(storage), before);
  assert.equal(await ownPython(storage), made);
});

test("a Python that cannot make one is said to be", async () => {
  const storage = path.join(folder, "refused");
  const broken = { command: path.join(folder, "nowhere"), version: "3.11.0" };
  const made = makeEnvironment(storage, broken, undefined, quiet);
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
  const made = makeEnvironment(storage, await python(), undefined, { report, signal: control.signal });
  await assert.rejects(made, /cancelled/);
  assert.equal(steps.length, 1);
  assert.deepEqual(readdirSync(storage), []);
});

test("a wheelhouse says for which Python and platform it is", async () => {
  const extension = path.join(folder, "extension");
  assert.equal(await wheelhouse(extension), undefined);
  const directory = path.join(extension, "wheelhouse");
  mkdirSync(directory, { recursive: true });
  const note = path.join(directory, "wheelhouse.json");
  for (const wrong of ["", "[]", "null", '{"python": 3}']) {
    writeFileSync(note, wrong);
    assert.equal(await wheelhouse(extension), undefined, wrong);
  }
  writeFileSync(note, '{"python": "3.11", "platform": "sunos-ppc"}');
  const stated = await wheelhouse(extension);
  assert.deepEqual(stated, { directory, python: "3.11", platform: "sunos-ppc" });
  assert.ok(!fits(stated) && fits({ ...stated, platform: `${process.platform}-${process.arch}` }));
});

test("a Python is used only if it is new enough, can make environments, and fits the wheels", async () => {
  assert.equal(await usablePython(path.join(folder, "nowhere"), undefined), undefined);
  const other = { directory: folder, python: "3.99", platform: "" };
  assert.equal(await usablePython(searchPath, other), undefined);
  const { version } = await python();
  const same = await usablePython(searchPath, await wheels(folder));
  assert.equal(same?.version.split(".")[1], version.split(".")[1]);
});

test("a ready note that names a folder elsewhere is not followed", async () => {
  const storage = path.join(folder, "note");
  mkdirSync(storage);
  for (const name of ["../env-1", "/tmp", "env-1/../..", 7]) {
    writeFileSync(path.join(storage, "ready.json"), JSON.stringify({ folder: name }));
    assert.equal(await ownPython(storage), undefined);
  }
});
