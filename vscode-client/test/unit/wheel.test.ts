// Which platform a wheel of ours is for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { wheelOf } from "../../scripts/lib/wheel";

test("the name of a wheel says for which platform of VS Code it is", () => {
  const names = {
    "linux_x86_64": "linux-x64",
    "manylinux_2_17_x86_64.manylinux2014_x86_64": "linux-x64",
    "manylinux2014_aarch64": "linux-arm64",
    "macosx_11_0_arm64": "darwin-arm64",
    "macosx_10_13_x86_64": "darwin-x64",
    "win_amd64": "win32-x64",
  };
  for (const [tag, target] of Object.entries(names)) {
    assert.equal(wheelOf(`dist/excise-0.1.0-cp311-abi3-${tag}.whl`).target, target, tag);
  }
});

test("what is no wheel of ours, or for no platform that is known, is refused", () => {
  for (const name of [
    "excise-0.1.0.tar.gz",
    "excise-0.1.0-py3-none-any.whl",
    "other-0.1.0-cp311-abi3-linux_x86_64.whl",
    "excise-0.1.0-cp311-abi3-musllinux_1_2_x86_64.whl",
    "excise-0.1.0-cp311-abi3-linux_riscv64.whl",
  ]) {
    assert.throws(() => wheelOf(name), /make dist makes one/, name);
  }
});
