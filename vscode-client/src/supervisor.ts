// The life of the server: started at first need, one restart at a time, put back after a crash.
import * as vscode from "vscode";
import type { Bootstrap } from "./bootstrap";
import type { Connection } from "./connection";
import type { Methods, RevisionText } from "./protocol";
import { reason } from "./text";

export type State = "idle" | "starting" | "running" | "missing" | "failed";

/** More ends than this within the time are not an accident: we stop starting it. */
const MOST_CRASHES = 3;
const CRASH_WINDOW_MS = 180_000;

/** The error when there is no server, after the user was told why. */
export class Unavailable extends Error {}

/** What was sent to the server and removed there, by document, to restore it after a crash. */
export class Ledger {
  /** The revisions by their ids, in the server's order, and the ids that the user removed: a source may find them again. */
  readonly documents = new Map<string, { readonly revisions: Map<string, RevisionText>; readonly removed: Set<string> }>();

  added(uri: string, revisions: readonly RevisionText[], accepted: readonly string[]): void {
    const { revisions: kept, removed } = this.document(uri);
    for (const revision of revisions.filter(({ id }) => accepted.includes(id))) {
      // A replaced id keeps its place in the server's order, as it does in a Map.
      kept.set(revision.id, revision);
      removed.delete(revision.id);
    }
  }

  removed(uri: string, ids: readonly string[]): void {
    const { revisions, removed } = this.document(uri);
    for (const id of ids) {
      revisions.delete(id);
      removed.add(id);
    }
  }

  /** Sources are asked again when a closed document is opened, so removed revisions may return. */
  closed(uri: string): void {
    this.documents.get(uri)?.removed.clear();
  }

  private document(uri: string): { revisions: Map<string, RevisionText>; removed: Set<string> } {
    const document = this.documents.get(uri) ?? { revisions: new Map<string, RevisionText>(), removed: new Set<string>() };
    this.documents.set(uri, document);
    return document;
  }
}

export class Supervisor {
  readonly ledger = new Ledger();
  private current: Connection | undefined;
  private opening: Promise<Connection> | undefined;
  private restarting: Promise<void> | undefined;
  private tail: Promise<unknown> = Promise.resolve();
  private crashes: number[] = [];
  private condition: State = "idle";
  private disposed = false;
  private readonly changed = new vscode.EventEmitter<State>();
  private readonly opened = new vscode.EventEmitter<Connection>();
  readonly onDidChangeState = this.changed.event;
  /** Fired for each new session, when the revisions are back in it. */
  readonly onDidOpen = this.opened.event;

  constructor(private readonly bootstrap: Bootstrap) {}

  get state(): State {
    return this.condition;
  }

  get connection(): Connection | undefined {
    return this.current;
  }

  /** The running server, started if there is none. */
  async ensure(): Promise<Connection> {
    return this.current ?? (this.opening ??= this.queued(() => this.open()));
  }

  async request<M extends keyof Methods>(method: M, params: Methods[M][0], token?: vscode.CancellationToken): Promise<Methods[M][1]> {
    return (await this.ensure()).request(method, params, token);
  }

  /** Restart. Calls made before one has begun are one restart. */
  restart(): Promise<void> {
    this.restarting ??= this.queued(async () => {
      this.restarting = undefined;
      this.crashes = [];
      const old = this.current;
      this.current = undefined;
      await old?.close();
      await this.open();
    });
    return this.restarting;
  }

  /** Forget that there was no server: the next need looks again. */
  forget(): void {
    if (this.condition === "missing" || this.condition === "failed") {
      this.enter("idle");
    }
  }

  async stop(): Promise<void> {
    this.disposed = true;
    await this.queued(async () => {
      await this.current?.close();
      this.current = undefined;
    });
  }

  dispose(): void {
    this.changed.dispose();
    this.opened.dispose();
    void this.stop();
  }

  private queued<T>(task: () => Promise<T>): Promise<T> {
    const result = this.tail.then(task);
    this.tail = result.catch(() => undefined);
    return result;
  }

  private async open(): Promise<Connection> {
    if (this.current !== undefined) {
      return this.current;
    }
    this.enter("starting");
    try {
      const connection = await this.bootstrap.open();
      void connection.ended.then((how) => this.ended(connection, how));
      await this.putBack(connection);
      this.current = connection;
      this.enter("running");
      this.opened.fire(connection);
      return connection;
    } catch (error) {
      this.enter(error instanceof Unavailable ? "missing" : "failed");
      if (!(error instanceof Unavailable)) {
        this.bootstrap.failed(error);
      }
      throw error instanceof Unavailable ? error : new Unavailable(reason(error));
    } finally {
      this.opening = undefined;
    }
  }

  private async putBack(connection: Connection): Promise<void> {
    for (const [uri, { revisions, removed }] of this.ledger.documents) {
      if (revisions.size > 0) {
        const { rejected } = await connection.request("excise/addRevisions", { uri, revisions: [...revisions.values()] });
        rejected.forEach((item) => this.bootstrap.log.warn(`not put back: ${item.id}: ${item.reason}`));
      }
      if (removed.size > 0) {
        // Revisions must be found again by the sources before they can be removed again.
        const again = async (): Promise<void> => {
          await connection.request("excise/review", { uri });
          await connection.request("excise/removeCandidates", { uri, ids: [...removed] });
        };
        again().catch((error: unknown) => this.bootstrap.log.warn(`not removed again: ${reason(error)}`));
      }
    }
  }

  private ended(connection: Connection, how: string): void {
    if (connection.wasStopped || this.current !== connection || this.disposed) {
      return;
    }
    this.current = undefined;
    this.bootstrap.log.error(`the server ended: ${how}`);
    const now = Date.now();
    this.crashes = [...this.crashes.filter((at) => now - at < CRASH_WINDOW_MS), now];
    const again = this.crashes.length <= MOST_CRASHES;
    this.enter(again ? "starting" : "failed");
    if (again) {
      // One notification at the end. If the new server fails as well, that is the notification.
      this.ensure().then(
        () => this.bootstrap.crashed(how, true),
        () => undefined,
      );
    } else {
      this.bootstrap.crashed(how, false);
    }
  }

  private enter(state: State): void {
    if (this.condition !== state) {
      this.condition = state;
      this.changed.fire(state);
    }
  }
}
