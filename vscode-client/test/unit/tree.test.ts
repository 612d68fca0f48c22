import assert from "node:assert/strict";
import { test } from "node:test";
import { documentGroups } from "../../src/candidates/document";
import { viewState, type Circumstances } from "../../src/candidates/state";
import { type Node, markOf, roots } from "../../src/candidates/tree";
import { age, share } from "../../src/candidates/words";
import { shortNames } from "../../src/names";
import { candidates, cluster, work } from "./candidates";
import { report } from "./report";

const NOW = 1_700_000_000;

function shape(node: Node): unknown {
  return node.children.length > 0 && node.kind !== "candidate"
    ? [node.label, node.children.map(shape)]
    : node.label;
}

function lone(more: Parameters<typeof work>[1]): Node {
  const batches = [{ number: 1, task: null, members: ["worktree:x"] }];
  const [node] = roots(candidates({ clusters: [cluster(["worktree:x"])], batches, ranking: [work("worktree:x", more)] }), NOW);
  assert.ok(node?.kind === "candidate");
  return node;
}

test("groups stand in order, and a group of one has no row of its own", () => {
  const nodes = roots(candidates(), NOW);
  assert.deepEqual(nodes.map(shape), [["2 of 3 make this change", ["ada", "bo"]], "chen"]);
  assert.equal(nodes[0]?.description, "adds no tests");
  assert.match(nodes[1]?.description ?? "", /^\+3 −1 · deletes 12 lines$/);
});

test("groups that would read alike begin with their names", () => {
  const ids = ["a", "b", "c", "d"].map((name) => `worktree:${name}`);
  const clusters = [cluster(ids.slice(0, 2)), cluster(ids.slice(2))];
  const ranking = ids.map((id, at) => work(id, { cluster: at < 2 ? 1 : 2 }));
  const nodes = roots(candidates({ clusters, ranking, batches: [{ number: 1, task: null, members: ids }] }), NOW);
  assert.deepEqual(nodes.map(({ description }) => description), ["a, b", "c, d"]);
});

test("several tasks are told apart, and what was set aside comes last", () => {
  const batches = [
    { number: 1, task: "fix-7", members: ["worktree:ada", "worktree:bo"] },
    { number: 2, task: null, members: ["branch:chen"] },
  ];
  const [first, second] = candidates().clusters;
  assert.ok(first && second);
  const ranking = candidates().ranking.map((one) => (one.id === "branch:chen" ? { ...one, batch: 2 } : one));
  const set_aside = [{ id: "branch:old", label: "old", state: "hidden" as const, digest: "" }];
  const nodes = roots(candidates({ batches, clusters: [first, { ...second, batch: 2 }], ranking, set_aside }), NOW);
  assert.deepEqual(nodes.map(shape), [
    ["fix-7", [["Both make this change", ["ada", "bo"]]]],
    ["Task 2", ["chen"]],
    ["Set aside", ["old"]],
  ]);
});

test("a candidate says how large it is, tests apart, what is wrong with it, and how old it is", () => {
  const lines = { code: { files: 1, added: 3, deleted: 1 }, tests: { files: 1, added: 20, deleted: 0 } };
  const conflicts = [{ path: "a.py", reason: "both edit it" }];
  const node = lone({ lines, conflicts, verdict: "failed", branch: "agent/1", made: NOW - 7300, being_written: true });
  assert.equal(node.description, "fails · +3 −1 · tests +20 −0 · 1 conflict · still being written · agent/1 · 2 h ago");
  assert.ok(node.tooltip.includes("Conflict in a.py: both edit it"));
  assert.equal(lone({ lines: { docs: { files: 1, added: 1, deleted: 0 } } }).description, "docs +1 −0");
  assert.equal(lone({ lines: {} }).description, "1 file");
});

test("what is special is marked, the worst first", () => {
  const conflicts = [{ path: "a.py", reason: "" }];
  assert.equal(markOf(work("x", { verdict: "failed", syntax_errors: true, conflicts })), "failed");
  assert.equal(markOf(work("x", { verdict: "passed", syntax_errors: true, conflicts })), "broken");
  assert.equal(markOf(work("x", { verdict: "passed", conflicts })), "conflict");
  assert.equal(markOf(work("x", { being_written: true, no_op: true })), "written");
  assert.equal(markOf(work("x", { no_op: true })), "nothing");
  assert.deepEqual([markOf(work("x", { verdict: "passed" })), markOf(work("x"))], ["passed", "none"]);
});

test("files have the letters of source control, and say whose they are alone", () => {
  const files = [
    { path: "a.py", kind: "code", status: "created", added: 1, deleted: 0, facts: [] },
    { path: "lib/b.py", kind: "code", status: "renamed", added: 0, deleted: 0, facts: ["rename from c.py"], old_path: "c.py" },
    { path: "tests/d.py", kind: "tests", status: "deleted", added: 0, deleted: 9, facts: [] },
  ];
  const ranking = candidates().ranking.map((one) => (one.id === "worktree:bo" ? { ...one, files } : one));
  const [group] = roots(candidates({ ranking }), NOW);
  assert.ok(group?.kind === "group");
  const shown = group.children[1]?.children.map(({ status, label, description }) => [status, label, description]);
  assert.deepEqual(shown, [
    ["A", "a.py", "+1 −0 · only here"],
    ["R", "b.py", "from c.py · only here · lib"],
    ["D", "d.py", "+0 −9 · tests · only here · tests"],
  ]);
  assert.match(group.children[1]?.children[0]?.tooltip[0] ?? "", /only bo touches this file/);
});

test("names that others chose are made harmless", () => {
  const node = lone({ label: "a\u202eb\u0000\n$(x)", branch: "b\u2066" });
  assert.equal(node.label, "a\\u202eb\\u0000⏎$(x)");
  assert.ok(node.description.includes("b\\u2066"));
});

test("revisions of one document are grouped, without those that are known", () => {
  const uri = "file:///x.py";
  assert.deepEqual(documentGroups(uri, report(), new Set()).map(shape), [["2 of 3 make similar changes", ["a", "b"]], "c"]);
  assert.deepEqual(documentGroups(uri, report(), new Set(["b"])).map(shape), ["a", "c"]);
  assert.equal(documentGroups(uri, report(), new Set())[1]?.kind, "candidate");
  const [group] = documentGroups(uri, report(), new Set());
  assert.equal(group?.kind, "group");
  assert.equal(group.uri, uri);
  assert.ok(group.children.some(({ candidate }) => candidate === group.candidate));
});

test("ages are in the largest unit", () => {
  const ages = [5, 60, 3600 * 5, 86_400 * 3, 86_400 * 70, 86_400 * 800].map((seconds) => age(NOW - seconds, NOW));
  assert.deepEqual(ages, ["just now", "1 min ago", "5 h ago", "3 d ago", "2 mo ago", "2 y ago"]);
  assert.deepEqual([age(null, NOW), age(NOW + 9, NOW)], ["", ""]);
  assert.equal(share(5, 5, true), "All 5 make this change");
});

test("each circumstance has its own state", () => {
  const usual: Circumstances = {
    server: "running",
    trusted: true,
    folders: ["file"],
    document: "source",
    searching: false,
    indexing: false,
    refusal: "",
    count: 0,
  };
  const state = (more: Partial<Circumstances>): string => viewState({ ...usual, ...more });
  assert.equal(state({}), "nothing");
  assert.equal(state({ count: 1 }), "shown");
  assert.equal(state({ count: 1, server: "failed" }), "failed");
  assert.deepEqual(["missing", "starting", "idle"].map((server) => state({ server: server as "idle" })), ["missing", "starting", "idle"]);
  assert.equal(state({ searching: true, indexing: true }), "searching");
  assert.equal(state({ indexing: true }), "indexing");
  assert.equal(state({ document: "notebook" }), "notebook");
  assert.equal(state({ folders: [], document: "none" }), "empty");
  assert.equal(state({ folders: ["vscode-vfs"], server: "idle" }), "virtual");
  assert.equal(state({ trusted: false, document: "other" }), "untrusted");
  assert.equal(state({ refusal: "no repository" }), "refused");
});

test("names lose what the document's path says, only where they stay apart", () => {
  const short = (...ids: string[]): string[] => [...shortNames(ids, "/home/shop/a.py").values()];
  assert.deepEqual(short("worktree:shop-gpt-4", "worktree:shop-gpt-5", "branch:x"), ["gpt-4", "gpt-5", "x"]);
  assert.deepEqual(short("file:a.py.suggestion-gpt", "file:a.py.orig", "file:b.py"), ["gpt", "orig", "b.py"]);
  assert.deepEqual(short("worktree:a", "branch:a", "branch:b"), ["worktree:a", "branch:a", "b"]);
  assert.deepEqual(short("worktree:shop-", "worktree:shop", "patch:"), ["shop-", "shop", "patch:"]);
  assert.deepEqual(short("shop-1", "a.py.x"), ["shop-1", "a.py.x"]);
  assert.deepEqual(short(), []);
  assert.deepEqual([...shortNames(["file:a.py.suggestion-gpt"], "/a/a.py").values()], ["gpt"]);
});
