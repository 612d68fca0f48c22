// The messages between the hunk editor and its webview.
import type { Page } from "./page";

export type ToPage =
  | { readonly type: "page"; readonly page: Page; readonly current: string | undefined }
  | { readonly type: "problem"; readonly text: string };

export type FromPage =
  | { readonly type: "ready" }
  /** Take a variant of a hunk, or null for the origin's text. */
  | { readonly type: "take"; readonly key: string; readonly variant: number | null }
  | { readonly type: "open"; readonly key: string }
  | { readonly type: "undo" };

/** A message of the webview, if it is one: whatever else comes is dropped. */
export function fromPage(data: unknown): FromPage | undefined {
  if (typeof data !== "object" || data === null) {
    return undefined;
  }
  const { type, key, variant } = data as Record<string, unknown>;
  if (type === "ready" || type === "undo") {
    return { type };
  }
  if (typeof key !== "string") {
    return undefined;
  }
  if (type === "open") {
    return { type, key };
  }
  const isVariant = variant === null || (typeof variant === "number" && Number.isInteger(variant));
  return type === "take" && isVariant ? { type, key, variant: variant } : undefined;
}
