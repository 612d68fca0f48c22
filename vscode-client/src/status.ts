// The language status item: origin, number of revisions, state of the server.
import * as vscode from "vscode";
import type { Servers } from "./connection";
import { type CurrentDocument, DOCUMENTS } from "./documents";
import type { SourcesResult } from "./protocol";
import type { Reported, Reports } from "./reports";
import type { State } from "./supervisor";
import { count, message } from "./text";

const STATES: Record<Exclude<State, "running">, string> = {
  idle: "Excise starts when there are candidates",
  starting: "Excise is starting",
  missing: "Excise has no server",
  failed: "The Excise server has stopped",
};

export class Status implements vscode.Disposable {
  private readonly item: vscode.LanguageStatusItem;
  private readonly listening: vscode.Disposable;

  constructor(
    private readonly current: CurrentDocument,
    private readonly reports: Reports,
    private readonly supervisor: Servers,
  ) {
    this.item = vscode.languages.createLanguageStatusItem("excise.status", DOCUMENTS);
    this.item.name = "Excise";
    const refresh = (): void => void this.refresh();
    this.listening = vscode.Disposable.from(
      this.item,
      current.onDidChange(refresh),
      reports.onDidChange(refresh),
      supervisor.onDidChangeState(refresh),
    );
    refresh();
  }

  dispose(): void {
    this.listening.dispose();
  }

  private async refresh(): Promise<void> {
    const { state } = this.supervisor;
    this.item.busy = state === "starting";
    if (state !== "running") {
      const bad = state === "missing" || state === "failed";
      this.item.text = STATES[state];
      this.item.detail = "";
      this.item.severity = bad
        ? vscode.LanguageStatusSeverity.Warning
        : vscode.LanguageStatusSeverity.Information;
      this.item.command =
        state === "missing"
          ? { command: "excise.installServer", title: "Install" }
          : { command: "excise.restartServer", title: bad ? "Restart" : "Start" };
      return;
    }
    const uri = this.current.uri;
    const still = (): boolean => uri?.toString() === this.current.uri?.toString();
    const reported = uri === undefined ? undefined : await this.reports.get(uri);
    if (still()) {
      this.show(reported);
    }
    const sources = uri === undefined ? undefined : await this.reports.sources(uri);
    if (still() && this.supervisor.state === "running") {
      this.show(reported, sources);
    }
  }

  private show(reported: Reported | undefined, sources?: SourcesResult): void {
    const origin = sources?.origin?.label;
    const number = reported?.report?.revisions.length ?? 0;
    this.item.severity = vscode.LanguageStatusSeverity.Information;
    this.item.text = number === 0 ? "No candidates" : count(number, "candidate");
    this.item.detail = reported?.problem
      ? message(reported.problem)
      : origin === undefined
        ? ""
        : `compared with: ${message(origin, 60)}`;
    // Revisions of a merge base also lack later commits: say so where the origin can be changed.
    this.item.command =
      (sources?.offers.length ?? 0) > 0
        ? { command: "excise.chooseOrigin", title: "Choose Origin" }
        : { command: "excise.candidates.focus", title: "Show" };
  }
}
