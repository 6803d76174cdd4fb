import { OWNER_KEY, site } from "./browser.ts";

/** Submits a job past the page and gives its identifier. A page opened as its owner may change it. */
export async function submitted(submission: object): Promise<string> {
  const { url } = await site();
  const headers = { "Content-Type": "application/json", "Owner-Key": OWNER_KEY };
  const body = JSON.stringify(submission);
  const answer = await fetch(`${url}/api/scoring/jobs`, { method: "POST", headers, body });
  return ((await answer.json()) as { id: string }).id;
}

/** Submits a job and waits until it has ended. */
export async function scored(submission: object): Promise<string> {
  const id = await submitted(submission);
  const { url } = await site();
  await (await fetch(`${url}/api/scoring/jobs/${id}/events`)).text();
  return id;
}
