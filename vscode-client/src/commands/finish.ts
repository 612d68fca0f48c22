// What becomes of a review: candidates of several tasks together, and the commit of what was taken.
import * as vscode from "vscode";
import type { Parts } from "../parts";
import type { Methods } from "../protocol";
import { type Written, write } from "../take";
import { Halt, count, message, plain } from "../text";
import { asked, chosen, confirmed, found, given, pickSome, selected } from "./choose";

/** The command that was last typed as a check, by folder. */
const CHECK = "excise.check";

const REMOVING = "Finish and Remove Worktrees...";

/** Put the selected candidates together, or one of each task; the page comes first, and the files after the user agreed. */
export async function landCandidates(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  const { folder } = await found(parts);
  const group = given(argument).kind === "group" ? [given(argument).candidate ?? ""] : [];
  const params = { uri: folder.toString(), candidates: [...selected(argument, selection), ...group] };
  const ask = async (): Promise<Landing> => (await parts.supervisor.request("excise/land", params)) as Landing;
  const landing = await ask();
  await parts.contents.show("What lands together", landing.page, "plaintext");
  const names = landing.landed.map(({ label }) => message(label, 40)).join(", ");
  if (landing.contents.length === 0) {
    throw new Halt("nothing lands: the page says why");
  }
  const out = landing.left_out.length === 0 ? "" : ` ${count(landing.left_out.length, "candidate")} left out.`;
  chosen(await vscode.window.showInformationMessage(`Land ${names}?${out}`, "Land"));
  await write(landing, ask, `Land ${names}`);
  parts.candidates.later();
}

type Landing = Methods["excise/land"][1] & Written;

/** Save, check, commit what was taken, and remove the worktrees that are done with. */
export async function finishReview(parts: Parts): Promise<void> {
  const { folder } = await found(parts);
  if (!(await vscode.workspace.saveAll(false))) {
    throw new Halt("not every file could be saved: nothing was committed");
  }
  const uri = folder.toString();
  const { plan } = await parts.supervisor.request("excise/finish", { uri });
  if (plan.obstacle !== "") {
    throw new Halt(plan.obstacle);
  }
  const subject = await asked({ title: `Commit ${count(plan.files.length, "file")} on ${message(plan.branch, 60)}`, prompt: message(plan.message, 300), value: plan.subject });
  const run = await checkFor(parts);
  const removable = plan.worktrees.filter(({ obstacle }) => obstacle === "");
  const kept = plan.worktrees.filter(({ obstacle }) => obstacle !== "");
  const facts = [
    `Files: ${plan.files.map((file) => plain(file, 80)).join(", ")}`,
    ...(plan.others.length === 0 ? [] : [`Not committed: ${plan.others.slice(0, 8).map((file) => plain(file, 80)).join(", ")}`]),
    ...(run === "" ? [] : [`First: ${plain(run, 120)}`]),
    ...plan.notes.map((note) => plain(note, 200)),
  ];
  const question = `Commit “${message(subject, 80)}” on ${message(plan.branch, 60)}?`;
  const more = removable.length === 0 ? [] : [REMOVING];
  const answer = chosen(await vscode.window.showWarningMessage(question, { modal: true, detail: facts.join("\n") }, "Finish", ...more));
  const items = removable.map(({ id, label, folder: path }) => ({ id, label: message(label, 60), description: message(path, 200) }));
  const title = `Worktrees to remove${kept.length === 0 ? "" : `; kept: ${kept.map(({ label, obstacle }) => `${message(label, 30)} (${message(obstacle, 60)})`).join(", ")}`}`;
  const remove = answer === REMOVING ? (await pickSome(items, title)).map(({ id }) => id) : [];
  const also = removable.filter((entry) => remove.includes(entry.id) && entry.also.length > 0);
  if (also.length > 0) {
    const going = also.map((entry) => `${message(entry.label, 60)}: ${entry.also.map((file) => plain(file, 80)).join(", ")}`);
    await confirmed("Also remove what is in no commit?", going.join("\n"), "Remove All of It");
  }
  const agreed = also.map(({ state }) => state);
  const params = { uri, digest: plan.digest, subject, run: run === "" ? null : run, write: true, remove, agreed };
  const progress = { location: vscode.ProgressLocation.Notification, title: run === "" ? "Excise: committing" : `Excise: checking by ${message(run, 60)}` };
  const { check, commit, removed, kept: left } = await vscode.window.withProgress(progress, () => parts.supervisor.request("excise/finish", params));
  parts.candidates.now();
  if (commit === null) {
    check?.output.forEach((line) => parts.log.info(`check: ${plain(line, 500)}`));
    const said = check?.output.slice(-3).join(" ⏎ ") ?? "";
    throw new Halt(`nothing was committed: the check does not pass (${check?.reason ?? ""}): ${said === "" ? (check?.command ?? "") : said}`);
  }
  const gone = removed.length === 0 ? "" : `; ${count(removed.length, "worktree")} removed`;
  const stay = left.map(({ id, reason }) => `; ${message(id, 60)} was kept: ${message(reason, 120)}`).join("");
  const passed = check === null ? "" : `${message(check.command, 60)} passes; `;
  void vscode.window.showInformationMessage(`Excise: ${passed}committed ${commit.slice(0, 10)} on ${message(plan.branch, 60)}${gone}${stay}`);
}

/** The command to check with: asked once, and then what was typed; an empty one checks nothing. */
async function checkFor({ context }: Parts): Promise<string> {
  const before = context.workspaceState.get<string>(CHECK);
  if (before !== undefined) {
    const other = { label: "Another Check..." };
    const same = { label: before === "" ? "No check" : message(before, 100) };
    if (chosen(await vscode.window.showQuickPick([same, other], { title: "Check before the commit" })) === same) {
      return before;
    }
  }
  const run = (await asked({ title: "A command that must pass before the commit", prompt: "It runs in a scratch copy of the commit, with your rights. Empty: no check", placeHolder: "pytest -q", value: before ?? "" })).trim();
  await context.workspaceState.update(CHECK, run);
  return run;
}
