// The language status item: origin, number of revisions, state of the server.
import * as vscode from "vscode";
import { DOCUMENTS } from "./documents";
import type { Parts } from "./parts";
import { count, message } from "./text";

const STATES = {
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
    const { current, reports, reviews, supervisor } = this.parts;
    const { state } = supervisor;
    const bad = state === "missing" || state === "failed";
    this.item.busy = state === "starting";
    this.item.severity = bad ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
    if (state !== "running") {
      this.item.text = STATES[state];
      this.item.detail = "";
      this.item.command =
        state === "missing"
          ? { command: "excise.restartServer", title: "Install", arguments: ["install"] }
          : { command: "excise.restartServer", title: bad ? "Restart" : "Start" };
      return;
    }
    const { uri } = current;
    const [report, found] = uri === undefined ? [] : await Promise.all([reports.get(uri), reviews.get(uri)]);
    if (!current.is(uri) || this.parts.supervisor.state !== state) {
      return;
    }
    const number = report?.result?.revisions.length ?? 0;
    const origin = found?.result?.comparedWith?.label;
    this.item.text = number === 0 ? "No candidates" : count(number, "candidate");
    this.item.detail = message(report?.problem ?? "") || (origin === undefined ? "" : `compared with: ${message(origin, 60)}`);
    this.item.command = { command: "excise.candidates.focus", title: "Show" };
  }
}
