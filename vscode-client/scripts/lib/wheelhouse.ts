/** Every wheel that a server needs, for one CPython on one platform: ours built, the rest fetched. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT, PYTHON, Trouble } from "./places.js";

export interface Wheelhouse {
  readonly folder: string;
  /** Of the wheels: `3.11`. */
  readonly python: string;
  /** The interpreter that the virtual environment was made with. */
  readonly base: string;
  /** As vsce names platforms: `linux-x64`. */
  readonly target: string;
}

const IDENTITY = `
import platform, sys
print("%d.%d" % sys.version_info[:2])
system = {"Linux": "linux", "Darwin": "darwin", "Windows": "win32"}[platform.system()]
machine = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64", "aarch64": "arm64"}[platform.machine()]
print(system + "-" + machine)
print(sys._base_executable)
`;

/** Fill a folder with the wheels of the project's own virtual environment's Python. */
export function makeWheelhouse(folder: string): Wheelhouse {
  if (!existsSync(PYTHON)) throw new Trouble(`there is no ${PYTHON}: run make vsix, which makes it`);
  const said = execFileSync(PYTHON, ["-I", "-c", IDENTITY], { encoding: "utf8" }).trim();
  const [python = "", target = "", base = ""] = said.split("\n");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const quiet = ["-qq", "--disable-pip-version-check"];
  execFileSync(PYTHON, ["-m", "pip", "wheel", ...quiet, "--wheel-dir", folder, PROJECT], {
    stdio: "inherit",
  });
  const foreign = readdirSync(folder).filter((name) => !name.endsWith(".whl"));
  if (foreign.length > 0) throw new Error(`no wheels: ${foreign.join(", ")}`);
  // The extension reads this: which Python it may use the wheels with.
  writeFileSync(join(folder, "wheelhouse.json"), JSON.stringify({ python, platform: target }));
  return { folder, python, target, base };
}
