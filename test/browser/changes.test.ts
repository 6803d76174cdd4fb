import { expect, setDefaultTimeout } from "bun:test";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { ADMIN, arrive, browserTest, checkPage, openPage, press, seeText, site } from "./browser.ts";
import { heldQueue } from "../executable/held-queue.ts";
import { scored } from "./submit.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** Sends a request as the administrator. */
async function administer(method: string, path: string, body?: string): Promise<Response> {
  const { url } = await site();
  const headers = { Authorization: `Basic ${btoa(`${ADMIN.username}:${ADMIN.password}`)}` };
  return fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
}

/** Waits until a corpus is added. */
async function added(name: string): Promise<void> {
  await waitFor(async () => {
    const { results } = (await (await administer("GET", "/api/admin/corpora")).json()) as {
      results: { name: string }[];
    };
    return results.some((corpus) => corpus.name === name);
  });
}

browserTest("lists verdicts that change once another corpus is used", async () => {
  const id = await scored({ accession: "P04637", patterns: ["P..P"], motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage(`/score/${id}`, { signedIn: true });
  const { page } = opened;
  page.setDefaultTimeout(15000);
  await press(page, "button", "Watch");
  await seeText(page, "Watched: the query is scored again when another corpus is used.");
  await press(page, "link", "Watched");
  await arrive(page, "/changes");
  await seeText(page, "No verdict has changed");
  const others = proteins.split(/^(?=>)/m).filter((record) => !/p53/i.test(record.split("\n")[0]));
  expect((await administer("POST", "/api/admin/corpora?name=without-p53", others.join(""))).status).toBe(202);
  await added("without-p53");
  try {
    expect((await administer("POST", "/api/admin/corpora/without-p53/use")).status).toBe(200);
    const { directory } = await site();
    using held = heldQueue(directory);
    await page.reload();
    await seeText(page, "0 of 1 query scored with the corpus in use");
    await checkPage(opened, "changes-waiting");
    await press(page, "button", "Cancel");
    await seeText(page, "1 query could not be scored again.");
    await press(page, "button", "Try again");
    await seeText(page, "0 of 1 query scored with the corpus in use");
    held.release();
    await seeText(page, "Homologs lost: ");
    await seeText(page, "sample (26 homologs, 26 lost) → without-p53 (0 homologs, 0 gained)");
    await seeText(page, "up to date");
    await checkPage(opened, "changes");
    await press(page, "link", "Compare");
    await arrive(page, "/score/compare");
    await seeText(page, "verdict changed");
    await seeText(page, "Homologs behind the changed verdicts");
    await checkPage(opened, "compare-corpora");
    await page.goBack();
    await press(page, "button", "Stop watching P04637");
    await seeText(page, "You watch no query");
  } finally {
    await administer("POST", "/api/admin/corpora/sample/use");
    await administer("DELETE", "/api/admin/corpora/without-p53");
  }
});
