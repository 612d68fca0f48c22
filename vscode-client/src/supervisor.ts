// The life of the server: started at first need, one restart at a time, put back after a crash.
// It knows the necessary parts of sessions, and nothing about the editor.
import { Ledger } from "./ledger";
import type { Methods } from "./protocol";
import { Signal } from "./signal";
import { reason } from "./text";

export type State = "idle" | "starting" | "running" | "missing" | "failed";

/** The editor's token that cancels a request. */
export interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested: (listener: () => void) => { dispose(): void };
}

/** A session with one server process. */
export interface Session {
  /** Resolved when it has ended, with the reason as far as it is known. */
  readonly ended: Promise<string>;
  /** Whether it was ended on purpose. */
  readonly wasStopped: boolean;
  request<M extends keyof Methods>(method: M, params: Methods[M][0], token?: Token): Promise<Methods[M][1]>;
  close(): Promise<void>;
}

/** More ends than this within the time are not an accident: we stop starting it. */
const MOST_CRASHES = 3;
const CRASH_WINDOW_MS = 180_000;

/** The error when there is no server, after the user was told why. */
export class Unavailable extends Error {}

export interface Needs<S extends Session> {
  /** Find a server and start it, or throw Unavailable. */
  open(): Promise<S>;
  crashed(how: string, again: boolean): void;
  failed(error: unknown): void;
  readonly log: { warn(text: string): void; error(text: string): void };
}

export class Supervisor<S extends Session = Session> {
  readonly ledger = new Ledger();
  private current: S | undefined;
  private opening: Promise<S> | undefined;
  private restarting: Promise<void> | undefined;
  private tail: Promise<unknown> = Promise.resolve();
  private crashes: number[] = [];
  private condition: State = "idle";
  private disposed = false;
  private readonly changed = new Signal<State>();
  private readonly opened = new Signal<S>();

  readonly onDidChangeState = this.changed.event;
  /** Fired for each new session, when the revisions are back in it. */
  readonly onDidOpen = this.opened.event;

  constructor(private readonly needs: Needs<S>) {}

  get state(): State {
    return this.condition;
  }

  get connection(): S | undefined {
    return this.current;
  }

  /** The running server, started if there is none. */
  async ensure(): Promise<S> {
    return this.current ?? (this.opening ??= this.queued(() => this.open()));
  }

  async request<M extends keyof Methods>(
    method: M,
    params: Methods[M][0],
    token?: Token,
  ): Promise<Methods[M][1]> {
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

  private async open(): Promise<S> {
    if (this.current !== undefined) {
      return this.current;
    }
    this.enter("starting");
    try {
      const connection = await this.needs.open();
      void connection.ended.then((how) => this.ended(connection, how));
      await this.putBack(connection);
      this.current = connection;
      this.enter("running");
      this.opened.fire(connection);
      return connection;
    } catch (error) {
      this.enter(error instanceof Unavailable ? "missing" : "failed");
      if (!(error instanceof Unavailable)) {
        this.needs.failed(error);
      }
      throw error instanceof Unavailable ? error : new Unavailable(reason(error));
    } finally {
      this.opening = undefined;
    }
  }

  private async putBack(connection: S): Promise<void> {
    for (const { uri, revisions, removed } of this.ledger.standings()) {
      if (revisions.length > 0) {
        const { rejected } = await connection.request("excise/addRevisions", { uri, revisions });
        rejected.forEach((item) => this.needs.log.warn(`not put back: ${item.id}: ${item.reason}`));
      }
      if (removed.length > 0) {
        // Revisions must be found again by the sources before they can be removed again.
        const again = async (): Promise<void> => {
          await connection.request("excise/sources", { uri });
          await connection.request("excise/removeRevisions", { uri, ids: removed });
        };
        again().catch((error: unknown) => this.needs.log.warn(`not removed again: ${reason(error)}`));
      }
    }
  }

  private ended(connection: S, how: string): void {
    if (connection.wasStopped || this.current !== connection || this.disposed) {
      return;
    }
    this.current = undefined;
    this.needs.log.error(`the server ended: ${how}`);
    const now = Date.now();
    this.crashes = [...this.crashes.filter((at) => now - at < CRASH_WINDOW_MS), now];
    const again = this.crashes.length <= MOST_CRASHES;
    this.enter(again ? "starting" : "failed");
    if (again) {
      // One notification at the end. If the new server fails as well, that is the notification.
      this.ensure().then(
        () => this.needs.crashed(how, true),
        () => undefined,
      );
    } else {
      this.needs.crashed(how, false);
    }
  }

  private enter(state: State): void {
    if (this.condition !== state) {
      this.condition = state;
      this.changed.fire(state);
    }
  }
}
