// The origin of a review stays through saving and commits; this lets it be what is saved now.
import { documentOf, Halt, type Parts } from "./context";

export async function startReviewAgain(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const { started } = await parts.supervisor.request("excise/startAgain", { uri: uri.toString() });
  if (!started) {
    throw new Halt("this file has no review that could start again");
  }
  parts.reports.forget(uri);
}
