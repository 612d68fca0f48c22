// The answer of `excise/take` (docs/lsp-extensions.md), as far as it is used here.
import type { TextEdit } from "vscode-languageclient";

/** A changed file: its bytes before and after, and the edits of the editor's own text. */
export interface Content {
  readonly path: string;
  readonly old_path: string;
  readonly status: string;
  readonly uri: string;
  readonly old_uri: string;
  readonly mode: string | null;
  readonly old_mode: string | null;
  /** In base64, or null if the file does not exist. */
  readonly old: string | null;
  readonly new: string | null;
  readonly is_text: boolean;
  readonly edits: readonly TextEdit[] | null;
  readonly version: number | null;
  readonly problem: string;
}

export interface TakeResult {
  readonly repository: string;
  readonly digest: string;
  readonly patch: string;
  readonly base64: boolean;
  readonly notes: readonly string[];
  readonly contents: readonly Content[];
}

/** The data of the error with which the server refuses a mix that cannot work. */
export interface BrokenMix {
  readonly kind: "brokenMix";
  readonly findings: readonly Finding[];
  readonly mend: string;
}

interface Finding {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  readonly name: string;
  readonly message: string;
}
