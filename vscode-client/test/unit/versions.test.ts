import assert from "node:assert/strict";
import { test } from "node:test";
import { OLDEST_SERVER, atLeast, release } from "../../src/versions";

test("releases are compared by their numbers", () => {
  assert.ok(atLeast("0.10.0", "0.9"));
  assert.ok(atLeast("0.1.0", "0.1"));
  assert.ok(atLeast("1.0.0rc1", "1.0"));
  assert.ok(!atLeast("0.1", "0.1.1"));
  assert.ok(!atLeast("0.0.9", OLDEST_SERVER));
});

test("what is no version is never enough", () => {
  for (const text of ["", "latest", "x1.0", "-1", "excise"]) {
    assert.equal(release(text), undefined, text);
    assert.ok(!atLeast(text, "0.1"));
  }
});
