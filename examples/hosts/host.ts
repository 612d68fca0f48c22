// A host program in TypeScript: start `excise serve`, ask for a review of a repository, print it.
//
//     node host.js REPOSITORY [METHOD]      METHOD: candidates, land or since; candidates if absent

import { spawn } from "node:child_process";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";

type Document = Record<string, unknown>;

/** Start the server for one workspace folder, which the user trusts. */
export async function startExcise(folder: string) {
  const server = spawn("excise", ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createMessageConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const uri = pathToFileURL(resolve(folder)).href;
  const workspaceFolders = [{ uri, name: basename(resolve(folder)) }];
  await connection.sendRequest("initialize", { processId: null, capabilities: {}, workspaceFolders });
  await connection.sendNotification("initialized", {});
  return {
    /** Ask a question about the folder's repository. Questions may overlap. */
    ask: (method: string, params: object = {}): Promise<Document> =>
      connection.sendRequest(method, { uri, ...params }),
    /** End the server. */
    close: async (): Promise<void> => {
      await connection.sendRequest("shutdown");
      await connection.sendNotification("exit");
      connection.dispose();
    },
  };
}

async function main(folder = ".", method = "candidates"): Promise<void> {
  const excise = await startExcise(folder);
  try {
    console.log(JSON.stringify(await excise.ask(`excise/${method}`), undefined, 2));
  } finally {
    await excise.close();
  }
}

void main(...process.argv.slice(2));
