import assert from "node:assert/strict";
import { test } from "node:test";
import { type Node, age, documentGroups, fileTooltip, fileWords, iconOf, isReviewed, reviewFiles, roots, share } from "../../src/candidates/tree";
import { type Circumstances, viewState } from "../../src/candidates/view";
import type { FileEntry } from "../../src/protocol";
import { candidates, task, work } from "./candidates";
import { report } from "./report";

const NOW = 1_700_000_000;

function shape(node: Node): unknown {
  return node.children.length > 0 && node.kind !== "candidate"
    ? [node.label, node.children.map(shape)]
    : node.label;
}

function lone(more: Parameters<typeof work>[1]): Node {
  const tasks = [task(1, null, [["worktree:x"]])];
  const [node] = roots(candidates({ tasks, candidates: [work("worktree:x", more)] }), NOW);
  assert.ok(node?.kind === "candidate");
  return node;
}

test("groups stand in order, and a group of one has no row of its own", () => {
  const nodes = roots(candidates(), NOW);
  assert.deepEqual(nodes.map(shape), [["2 of 3 are identical", ["ada", "bo"]], "chen"]);
  assert.equal(nodes[0]?.description, "adds no tests");
  assert.match(nodes[1]?.description ?? "", /^\+3 −1 · deletes 12 lines$/);
});

test("edits of a group are one row above them, which does not call them the same", () => {
  const tasks = [task(1, null, [["worktree:ada", "worktree:bo"], ["branch:chen"]])];
  const [alike, ...more] = roots(candidates({ tasks }), NOW);
  assert.ok(alike);
  assert.deepEqual(shape(alike), ["3 candidates", [["2 of 3 are identical", ["ada", "bo"]], "chen"]]);
  assert.deepEqual([alike.kind, alike.description, alike.tooltip.at(-1), more], ["task", "read each", "+ x = 1", []]);
  const [apart] = roots(candidates({ tasks: [task(1, null, [["worktree:ada"], ["worktree:bo"], ["branch:chen"]])] }), NOW);
  assert.ok(apart);
  assert.equal(apart.label, "3 candidates");
  assert.deepEqual(apart.children.map(({ description }) => description.split(" · ").slice(1).join()), ["+ y,adds no tests", "+ y,adds no tests", "+ y,deletes 12 lines"]);
});

test("what decides comes first: taken, changed since somebody looked, where, and the reason", () => {
  const tasks = [{ ...task(1, null, [["worktree:ada"], ["worktree:bo"]], [["branch:chen"]]) }];
  const [alike, other] = tasks[0]?.groups ?? [];
  assert.ok(alike && other);
  const where = [{ path: "src/a.py", function: "Auth.build_header" }];
  const decided = { "worktree:ada": "taken", "branch:chen": "passed over" };
  const groups = [{ ...alike, where }, { ...other, where: [{ path: "src/b.py", function: "" }] }];
  const nodes = roots(candidates({ tasks: tasks.map((one) => ({ ...one, groups })), decided, changed: ["worktree:bo"] }), NOW);
  const [ada, bo, chen] = [...(nodes[0]?.children ?? []), nodes[1]];
  assert.equal(nodes[0]?.description, "build_header · read each");
  assert.match(ada?.description ?? "", /^taken · \+3 −1 · /);
  assert.match(bo?.description ?? "", /^changed since you looked · \+3 −1 · /);
  assert.match(chen?.description ?? "", /^passed over · b\.py \+3 −1 · /);
  assert.deepEqual([ada?.icon?.[0], chen?.icon?.[0]], ["pass-filled", "dash"]);
  assert.deepEqual(bo?.children.map(({ kind }) => kind), ["since", "file"]);
});

test("groups that would read alike begin with their names", () => {
  const ids = ["a", "b", "c", "d"].map((name) => `worktree:${name}`);
  const ranking = ids.map((id, at) => work(id, { group: at < 2 ? 1 : 2 }));
  const nodes = roots(candidates({ candidates: ranking, tasks: [task(1, null, [ids.slice(0, 2)], [ids.slice(2)])] }), NOW);
  assert.deepEqual(nodes.map(({ description }) => description), ["a, b", "c, d"]);
});

test("several tasks are told apart, and what was set aside comes last", () => {
  const tasks = [task(1, "fix-7", [["worktree:ada", "worktree:bo"]]), task(2, null, [["branch:chen"]])];
  const ranking = candidates().candidates.map((one) => (one.id === "branch:chen" ? { ...one, task: 2 } : one));
  const set_aside = [{ id: "branch:old", label: "old", state: "hidden" as const, digest: "" }];
  const nodes = roots(candidates({ tasks, candidates: ranking, set_aside }), NOW);
  assert.deepEqual(nodes.map(shape), [
    ["fix-7", [["Both are identical", ["ada", "bo"]]]],
    ["Task 2", ["chen"]],
    ["Set aside", ["old"]],
  ]);
});

test("a candidate says how large it is, tests apart, what is wrong with it, and how old it is", () => {
  const lines = { code: { files: 1, added: 3, deleted: 1 }, tests: { files: 1, added: 20, deleted: 0 } };
  const conflicts = [{ path: "a.py", kind: "content", reason: "both edit it" }];
  const node = lone({ lines, conflicts, verdict: "failed", branch: "agent/1", made: NOW - 7300, being_written: true });
  assert.equal(node.description, "+3 −1 · fails · 1 conflict · adds tests · still being written");
  assert.ok(node.tooltip.includes("Conflict in a.py: both edit it"));
  assert.equal(lone({ lines: { docs: { files: 1, added: 1, deleted: 0 } } }).description, "docs +1 −0");
  assert.equal(lone({ lines: {} }).description, "1 file");
});

test("what is special is marked, the worst first", () => {
  const conflicts = [{ path: "a.py", kind: "content", reason: "" }];
  const icon = (more: Parameters<typeof work>[1]): string => iconOf(work("x", more))[0];
  assert.equal(icon({ verdict: "failed", syntax_errors: true, conflicts }), "error");
  assert.equal(icon({ verdict: "passed", syntax_errors: true, conflicts }), "warning");
  assert.equal(icon({ verdict: "passed", conflicts }), "git-merge");
  assert.equal(icon({ being_written: true, no_op: true }), "sync");
  assert.deepEqual([icon({ no_op: true }), icon({ verdict: "passed" }), icon({})], ["circle-slash", "pass", "git-commit"]);
});

test("files say what is done to them, and whose they are alone", () => {
  const files = [
    { path: "a.py", kind: "code", status: "created", added: 1, deleted: 0, facts: [] },
    { path: "lib/b.py", kind: "code", status: "renamed", added: 0, deleted: 0, facts: ["rename from c.py"], old_path: "c.py" },
    { path: "tests/d.py", kind: "tests", status: "deleted", added: 0, deleted: 9, facts: [] },
  ];
  const ranking = candidates().candidates.map((one) => (one.id === "worktree:bo" ? { ...one, files } : one));
  const [group] = roots(candidates({ candidates: ranking }), NOW);
  assert.ok(group?.kind === "group");
  const shown = group.children[1]?.children.map(({ status, label, description }) => [status, label, description]);
  assert.deepEqual(shown, [
    ["created", "a.py", "+1 −0 · only here"],
    ["renamed", "b.py", "from c.py · only here · lib"],
    ["deleted", "d.py", "+0 −9 · tests · only here · tests"],
  ]);
  assert.match(group.children[1]?.children[0]?.tooltip[0] ?? "", /only bo touches this file/);
});

test("names that others chose are made harmless", () => {
  const node = lone({ label: "a\u202eb\u0000\n$(x)", branch: "b\u2066" });
  assert.equal(node.label, "a\\u202eb\\u0000⏎$(x)");
  assert.ok(node.tooltip.includes("Branch: b\\u2066"));
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
});

test("the heading of a group claims no more than the weakest word for its members", () => {
  assert.equal(share(5, 5, ["identical", "same code"]), "All 5 have the same code");
  assert.equal(share(2, 2, ["identical", "same up to names"]), "Both are the same up to names");
  assert.equal(share(2, 3, ["identical", "identical"]), "2 of 3 are identical");
  for (const word of ["overlaps", "different", "a word of another server"]) {
    assert.equal(share(3, 4, ["identical", "same code", word]), "3 of 4 make similar changes");
  }
  const words = [["identical", "same code", "different"], ["same code", "identical", "different"], []];
  const [group] = documentGroups("file:///x.py", report({ words }), new Set());
  assert.equal(group?.label, "2 of 3 have the same code");
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
  assert.deepEqual(["missing", "idle", "failed"].map((server) => state({ trusted: false, server: server as "idle" })), ["untrusted", "untrusted", "failed"]);
  assert.equal(state({ trusted: false, server: "missing", folders: ["vscode-vfs"] }), "missing");
  assert.equal(state({ refusal: "no repository" }), "refused");
});

function file(path: string, status: string, more: Partial<FileEntry> = {}): FileEntry {
  return { path, kind: "code", status, added: 1, deleted: 0, facts: [], ...more };
}

const rankingOfFiles = [
  work("worktree:ada", { files: [file("src/a.py", "modified"), file("new.py", "created"), file("lib/later.py", "renamed", { old_path: "lib/b.py" })] }),
  work("worktree:bo", { files: [file("src/a.py", "modified"), file("lib/b.py", "deleted")] }),
  work("branch:chen", { files: [file("src/a.py", "modified"), file("c.py", "modified")] }),
];

test("the files of all candidates, each once, where the target has them; those of most candidates first", () => {
  const files = reviewFiles(candidates({ candidates: rankingOfFiles }));
  assert.deepEqual(files.map(({ path }) => path), ["src/a.py", "lib/b.py", "c.py", "new.py"]);
  assert.deepEqual(files.map(fileWords), ["3 candidates · src", "2 candidates · renamed, deleted · lib", "1 candidate", "1 candidate · created"]);
  assert.deepEqual(files.map(isReviewed), [true, true, true, false], "what is not in the target has no hunks there");
  const [, renamed] = files;
  assert.ok(renamed);
  assert.equal(renamed.candidates[0]?.path, "lib/later.py");
  assert.deepEqual(fileTooltip(renamed), ["lib/b.py", "ada: renamed", "bo: deleted"]);
});

test("names of files are made harmless", () => {
  const [hostile] = reviewFiles(candidates({ candidates: [work("x", { label: "a\u202eb", files: [file("d\u0000/e\n", "modified")] })] }));
  assert.ok(hostile);
  const said = [fileWords(hostile), ...fileTooltip(hostile)].join(" ");
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(said, /[\u0000\u202e\n]/);
});
