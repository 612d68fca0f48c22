// The life of the server, step by step: sessions here end, fail and answer when the test says so.
// That real ones do is tested in the extension host and in the browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bootstrap } from "../../src/bootstrap";
import type { Connection } from "../../src/connection";
import { Ledger, type State, Supervisor, Unavailable } from "../../src/supervisor";

class Session {
  wasStopped = false;
  readonly asked: [string, unknown][] = [];
  end: (how: string) => void = () => undefined;
  readonly ended = new Promise<string>((resolve) => (this.end = resolve));

  request(method: string, params: unknown): Promise<never> {
    this.asked.push([method, params]);
    const answers = { accepted: [], rejected: [{ id: "x", reason: "why" }] };
    return Promise.resolve(answers as never);
  }

  close(): Promise<void> {
    this.wasStopped = true;
    this.end("closed");
    return Promise.resolve();
  }
}

/** Let everything that waits for a resolved promise go on. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface World {
  readonly supervisor: Supervisor;
  readonly sessions: Session[];
  readonly states: State[];
  readonly told: string[];
  failure: Error | undefined;
}

function world(): World {
  const sessions: Session[] = [];
  const told: string[] = [];
  const states: State[] = [];
  const bootstrap = {
    open: async () => {
      await settle();
      if (made.failure !== undefined) {
        throw made.failure;
      }
      const session = new Session();
      sessions.push(session);
      return session;
    },
    crashed: (how: string, again: boolean) => told.push(`${how}: ${again ? "again" : "off"}`),
    failed: (error: unknown) => told.push(`failed: ${(error as Error).message}`),
    log: { warn: (text: string) => told.push(text), error: () => undefined },
  };
  const supervisor = new Supervisor(bootstrap as unknown as Bootstrap);
  supervisor.onDidChangeState((state) => states.push(state));
  const made: World = { supervisor, sessions, states, told, failure: undefined };
  return made;
}

test("whoever needs a server at the same time gets the same one", async () => {
  const { supervisor, sessions, states } = world();
  const [a, b] = await Promise.all([supervisor.ensure(), supervisor.ensure()]);
  assert.equal(a, b);
  assert.equal(await supervisor.ensure(), a);
  assert.equal(sessions.length, 1);
  assert.deepEqual(states, ["starting", "running"]);
});

test("restarts that are asked for together are one, and what comes meanwhile waits for it", async () => {
  const { supervisor, sessions } = world();
  await supervisor.ensure();
  const restarts = [supervisor.restart(), supervisor.restart(), supervisor.restart()];
  const meanwhile = supervisor.ensure();
  await Promise.all(restarts);
  assert.equal(sessions.length, 2);
  assert.ok(sessions[0]?.wasStopped);
  assert.equal(supervisor.connection, sessions[1]);
  await meanwhile;
  await supervisor.restart();
  assert.equal(sessions.length, 3, "a later one is another");
});

test("after a crash the revisions are put back, and the user is told once", async () => {
  const { supervisor, sessions, told } = world();
  await supervisor.ensure();
  supervisor.ledger.added("file:///a", [{ id: "x", text: "1" }, { id: "y", text: "2" }], ["x", "y"]);
  supervisor.ledger.removed("file:///a", ["y", "worktree:w"]);
  const opened: Connection[] = [];
  supervisor.onDidOpen((session) => opened.push(session));
  sessions[0]?.end("signal SIGKILL");
  await settle();
  await settle();
  await settle();
  assert.equal(sessions.length, 2);
  assert.equal(opened[0], sessions[1]);
  assert.deepEqual(sessions[1]?.asked, [
    ["excise/addRevisions", { uri: "file:///a", revisions: [{ id: "x", text: "1" }] }],
    ["excise/review", { uri: "file:///a" }],
    ["excise/removeCandidates", { uri: "file:///a", ids: ["y", "worktree:w"] }],
  ]);
  assert.deepEqual(told, ["not put back: x: why", "signal SIGKILL: again"]);
});

test("one that ends again and again stays off, until it is restarted", async () => {
  const { supervisor, sessions, told } = world();
  await supervisor.ensure();
  for (let time = 0; time < 4; time++) {
    sessions.at(-1)?.end("exit code 1");
    await settle();
    await settle();
    await settle();
  }
  assert.equal(sessions.length, 4);
  assert.deepEqual(told.filter((text) => text.endsWith("off")).length, 1);
  assert.equal(told.length, 4);
  assert.equal(supervisor.state, "failed");
  await supervisor.restart();
  assert.equal(supervisor.state, "running");
});

test("one that is stopped on purpose is not started again", async () => {
  const { supervisor, sessions, told } = world();
  await supervisor.ensure();
  await supervisor.stop();
  await settle();
  assert.equal(sessions.length, 1);
  assert.deepEqual(told, []);
});

test("without a server everybody is refused, and a later need looks again", async () => {
  const made = world();
  made.failure = new Unavailable("there is none");
  await assert.rejects(made.supervisor.request("excise/report", { uri: "" }), Unavailable);
  await assert.rejects(made.supervisor.restart(), Unavailable);
  assert.equal(made.supervisor.state, "missing");
  assert.deepEqual(made.told, [], "whoever looked has told");
  made.supervisor.forget();
  assert.equal(made.supervisor.state, "idle");
  made.failure = undefined;
  await made.supervisor.ensure();
  assert.equal(made.supervisor.state, "running");
});

test("one that starts badly is told of once, however many wait for it", async () => {
  const made = world();
  made.failure = new Error("it ended at once");
  const waiting = [made.supervisor.ensure(), made.supervisor.ensure()];
  for (const one of waiting) {
    await assert.rejects(one, Unavailable);
  }
  assert.deepEqual(made.told, ["failed: it ended at once"]);
  assert.equal(made.supervisor.state, "failed");
});

test("the ledger keeps what was accepted, in its order, and nothing that was removed", () => {
  const ledger = new Ledger();
  const text = (id: string): { id: string; text: string } => ({ id, text: id });
  ledger.added("a", [text("x"), text("y"), text("z")], ["x", "z"]);
  ledger.added("a", [{ id: "x", text: "newer" }], ["x"]);
  assert.deepEqual([...(ledger.documents.get("a")?.revisions.values() ?? [])], [{ id: "x", text: "newer" }, text("z")]);
  const removed = (): string[] => [...(ledger.documents.get("a")?.removed ?? [])];
  ledger.removed("a", ["x", "worktree:w"]);
  assert.deepEqual([...(ledger.documents.get("a")?.revisions.keys() ?? [])], ["z"]);
  assert.deepEqual(removed(), ["x", "worktree:w"]);
  ledger.added("a", [text("x")], ["x"]);
  assert.deepEqual(removed(), ["worktree:w"], "what is added again is wanted again");
  ledger.closed("a");
  ledger.closed("unknown");
  assert.deepEqual(removed(), []);
});
