// The language status item: origin, number of revisions, state of the server.
import * as vscode from "vscode";
import { DOCUMENTS } from "./documents";
import type { Answer } from "./newest";
import type { Parts } from "./parts";
import type { SourcesResult } from "./protocol";
import type { State } from "./supervisor";
import { count, message } from "./text";

const STATES: Record<Exclude<State, "running">, string> = {
  idle: "Excise starts when there are candidates",
  starting: "Excise is starting",
  missing: "Excise has no server",
  failed: "The Excise server has stopped",
};

export class Status {
  private readonly item = vscode.languages.createLanguageStatusItem("excise.status", DOCUMENTS);

  constructor(private readonly parts: Parts) {
    this.item.name = "Excise";
    const refresh = (): void => void this.refresh();
    parts.subscriptions.push(
      this.item,
      parts.current.onDidChange(refresh),
      parts.reports.onDidChange(refresh),
      parts.supervisor.onDidChangeState(refresh),
    );
    refresh();
  }

  private async refresh(): Promise<void> {
    const { current, reports, sources, supervisor } = this.parts;
    const { state } = supervisor;
    this.item.busy = state === "starting";
    if (state !== "running") {
      const bad = state === "missing" || state === "failed";
      this.item.text = STATES[state];
      this.item.detail = "";
      this.item.severity = bad ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
      this.item.command =
        state === "missing"
          ? { command: "excise.installServer", title: "Install" }
          : { command: "excise.restartServer", title: bad ? "Restart" : "Start" };
      return;
    }
    const { uri } = current;
    const reported = uri === undefined ? undefined : await reports.get(uri);
    if (current.is(uri)) {
      this.show(reported);
    }
    const found = uri === undefined ? undefined : await sources.get(uri);
    if (current.is(uri) && this.parts.supervisor.state === "running") {
      this.show(reported, found?.result);
    }
  }

  private show(reported: Answer<"excise/report"> | undefined, sources?: SourcesResult): void {
    const origin = sources?.origin?.label;
    const number = reported?.result?.revisions.length ?? 0;
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
