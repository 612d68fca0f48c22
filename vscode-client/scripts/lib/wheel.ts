/** Which platform a wheel of ours is for, as its name says. */
import { basename } from "node:path";
import { Trouble } from "./places.js";

export interface Wheel {
  readonly path: string;
  /** As vsce and Node name platforms: `linux-x64`. */
  readonly target: string;
}

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^(?:many)?linux(?:_|\d)/, "linux"],
  [/^macosx_/, "darwin"],
  [/^win/, "win32"],
];
const MACHINES: readonly (readonly [RegExp, string])[] = [
  [/(?:x86_64|amd64)$/, "x64"],
  [/(?:aarch64|arm64)$/, "arm64"],
];

/** The platform of a wheel's file; a person is told where the extension knows none of its kind. */
export function wheelOf(path: string): Wheel {
  const [platform = ""] = /[^-]+(?=\.whl$)/.exec(basename(path)) ?? [];
  // Several platforms are joined by dots: manylinux_2_17_x86_64.manylinux2014_x86_64.
  const [first = ""] = platform.split(".");
  const named = (table: typeof SYSTEMS): string | undefined => table.find(([pattern]) => pattern.test(first))?.[1];
  const [system, machine] = [named(SYSTEMS), named(MACHINES)];
  if (!/^excise-[^-]+-cp311-abi3-/.test(basename(path)) || system === undefined || machine === undefined) {
    throw new Trouble(`${path} is not a wheel of excise for a platform of VS Code: make dist makes one for this machine`);
  }
  return { path, target: `${system}-${machine}` };
}
