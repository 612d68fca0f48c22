// An event as the editor has them, for modules that know no editor.

export type Listener<T> = (value: T) => void;

export interface Subscription {
  dispose(): void;
}

export class Signal<T> {
  private readonly listeners = new Set<Listener<T>>();

  /** Listen until disposed of. */
  readonly event = (listener: Listener<T>): Subscription => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };

  fire(value: T): void {
    [...this.listeners].forEach((listener) => listener(value));
  }

  dispose(): void {
    this.listeners.clear();
  }
}
