// The built-in Git extension, as far as we ask it: branches, and a file at one of them.
import * as vscode from "vscode";

interface Ref {
  readonly name?: string;
  readonly commit?: string;
}

export interface Repository {
  readonly rootUri: vscode.Uri;
  getRefs(query: { sort?: "committerdate" }): Promise<Ref[]>;
  show(ref: string, path: string): Promise<string>;
}

interface GitApi {
  getRepository(uri: vscode.Uri): Repository | null;
  openRepository?(root: vscode.Uri): Promise<Repository | null>;
}

interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): GitApi;
}

/** The repository of a file, or why there is none. */
export async function repositoryOf(uri: vscode.Uri): Promise<Repository | string> {
  if (!vscode.workspace.isTrusted) {
    return "branches are read with git, which is not used in a workspace that is not trusted";
  }
  const extension = vscode.extensions.getExtension<GitExtension>("vscode.git");
  if (extension === undefined) {
    return "the built-in Git extension is disabled";
  }
  const git = await extension.activate();
  if (!git.enabled) {
    return "the built-in Git extension is switched off (git.enabled)";
  }
  const api = git.getAPI(1);
  const name = uri.path.split("/").at(-1) ?? "";
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri;
  const repository = api.getRepository(uri) ?? (folder && (await api.openRepository?.(folder)));
  return repository ?? `${name} is in no repository that the Git extension knows`;
}
