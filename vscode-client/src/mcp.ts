// Offers `excise mcp` of the server that is installed to whatever in the editor speaks the Model Context Protocol.
import * as vscode from "vscode";
import type { Parts } from "./parts";
import { type Server, mcpArgs, whyNoMcp } from "./servers";
import { Halt, message, reason } from "./text";

/** The editor's API from 1.101 on, as far as it is used; the types are those of the oldest editor. */
interface Editor {
  readonly lm: { registerMcpServerDefinitionProvider?(id: string, provider: Provider): vscode.Disposable };
  readonly McpStdioServerDefinition: new (label: string, command: string, args: string[], env: object, version: string) => object;
}

interface Provider {
  provideMcpServerDefinitions(): Promise<object[]>;
  resolveMcpServerDefinition(definition: object): Promise<object>;
}

/** Nothing is started before an agent wants it, and nothing in a workspace that is not trusted. */
export function offerMcp({ bootstrap, log }: Parts): vscode.Disposable[] {
  const { lm, McpStdioServerDefinition } = vscode as unknown as Editor;
  const servers = new WeakMap<object, Server>();
  const provider: Provider = {
    provideMcpServerDefinitions: async () => {
      const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
      const server = vscode.workspace.isTrusted && folders.length > 0 ? await bootstrap.find() : [];
      if (!("command" in server)) {
        return [];
      }
      const definition = new McpStdioServerDefinition("Excise", server.command, mcpArgs(server, folders), {}, server.version);
      servers.set(definition, server);
      return [definition];
    },
    resolveMcpServerDefinition: async (definition) => {
      const server = servers.get(definition);
      const lack = server === undefined ? "" : await whyNoMcp(server);
      if (lack !== "") {
        void vscode.window.showWarningMessage(`Excise: ${message(lack)}`);
        throw new Halt(lack);
      }
      return definition;
    },
  };
  try {
    const offered = lm.registerMcpServerDefinitionProvider?.("excise.mcp", provider);
    return offered === undefined ? [] : [offered];
  } catch (error) {
    log.debug(reason(error)); // 1.100 has it, and lets nobody use it
    return [];
  }
}
