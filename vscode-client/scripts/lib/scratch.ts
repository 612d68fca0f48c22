/** A folder for one run: removed when all went well, kept and named when not. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Scratch {
  readonly folder: string;
  private readonly ends: (() => Promise<void>)[] = [];

  constructor(name: string) {
    // Not among the project's folders: the editor's sockets lie in it, and their paths must be short.
    this.folder = mkdtempSync(join(tmpdir(), `excise-${name}-`));
  }

  /** Run something in one; what it started is stopped in any case. */
  static async during<T>(name: string, body: (scratch: Scratch) => Promise<T>): Promise<T> {
    const scratch = new Scratch(name);
    let failed = true;
    try {
      const result = await body(scratch);
      failed = false;
      return result;
    } finally {
      await scratch.close(failed);
    }
  }

  sub(name: string): string {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** What is to be stopped at the end, the last first. */
  later(end: () => Promise<void>): void {
    this.ends.unshift(end);
  }

  async close(keep: boolean): Promise<void> {
    for (const end of this.ends) await end();
    if (keep) console.error(`kept for a look: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
