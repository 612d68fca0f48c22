// The status of a file, in the letters and colours of source control.

export type Status = "A" | "M" | "D" | "R";

const LETTERS: Readonly<Record<string, Status>> = { created: "A", modified: "M", deleted: "D", renamed: "R" };

export const COLOURS: Readonly<Record<Status, string>> = {
  A: "gitDecoration.addedResourceForeground",
  M: "gitDecoration.modifiedResourceForeground",
  D: "gitDecoration.deletedResourceForeground",
  R: "gitDecoration.renamedResourceForeground",
};

export const WORDS: Readonly<Record<Status, string>> = {
  A: "created",
  M: "modified",
  D: "deleted",
  R: "renamed",
};

export function statusOf(status: string): Status {
  return LETTERS[status] ?? "M";
}
