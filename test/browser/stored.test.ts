import { expect, setDefaultTimeout } from "bun:test";
import type { Page } from "puppeteer-core";
import { ADMIN, arrive, browserTest, fill, openPage, press, seeText, signIn } from "./browser.ts";

setDefaultTimeout(300_000);

const SEQUENCE = "MSEPAGDVRQNPCGSKACRRLFGPVDSEQLSRDCDALMAGCIQEARERWNFDFVTETPLE";

/** All that the browser and the tab have stored. */
const stored = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

/** Leaves a draft, a batch with sequences and a scan in the browser. */
async function work(page: Page, url: string, name: string): Promise<void> {
  await page.goto(`${url}/batch?class=PIP-box`);
  await fill(page, "Sequences as FASTA, or accessions", `>${name}\n${SEQUENCE}`);
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "1 job scored.");
  await page.goto(`${url}/score`);
  await fill(page, "Sequence, FASTA or accession", `>${name}\n${SEQUENCE}`);
  await page.goto(`${url}/batch`);
  await seeText(page, "Recent batches");
  expect(await stored(page)).toContain(name);
}

browserTest("signing out, also in another tab, leaves nothing of a person in the browser", async () => {
  await using opened = await openPage("/", { signedIn: true });
  const { page, url } = opened;
  await work(page, url, "secretA");
  await page.evaluate(() => localStorage.setItem("labd:density", JSON.stringify("compact")));
  const other = await page.browserContext().newPage();
  await other.goto(`${url}/score`);
  await fill(other, "Sequence, FASTA or accession", `>secretB\n${SEQUENCE}`);
  await other.waitForFunction(() => JSON.stringify({ ...sessionStorage }).includes("secretB"));
  await page.bringToFront();
  const reloaded = other.waitForNavigation();
  await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
  await reloaded;
  for (const tab of [page, other]) {
    expect(await stored(tab)).not.toMatch(/secret|MSEPAG|@[0-9a-f]/);
    expect(await stored(tab)).toContain("compact");
  }
  expect(opened.faults).toEqual([]);
});

browserTest("what was stored without an account and by a person stays apart", async () => {
  await using opened = await openPage("/");
  const { page, url } = opened;
  await work(page, url, "visitor");
  await page.evaluate(() => sessionStorage.clear());
  await page.goto(`${url}/sign-in`);
  await signIn(page, ADMIN.username, ADMIN.password);
  await seeText(page, "Recent results");
  await page.goto(`${url}/batch`);
  // Administrators see the batches of all, from the server; this person has started none here.
  await page.waitForSelector("a[href*='/batch/']");
  await work(page, url, "member");
  await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
  await page.goto(`${url}/batch`);
  await page.waitForSelector("a[href*='/batch/']");
  expect(await page.$$("a[href*='/batch/']")).toHaveLength(1);
  expect(await stored(page)).not.toContain("member");
});

browserTest("a session that has ended elsewhere leaves nothing", async () => {
  await using opened = await openPage("/", { signedIn: true });
  const { page, url } = opened;
  await work(page, url, "former");
  const cookies = await page.browserContext().cookies();
  const { name, value } = cookies.find((cookie) => cookie.name.includes("session"))!;
  const ended = await fetch(`${url}/api/v2/session/`, {
    method: "DELETE",
    headers: { Cookie: `${name}=${value}`, Origin: url },
  });
  expect(ended.status).toBe(204);
  await page.goto(`${url}/score`);
  expect(await stored(page)).not.toContain("former");
});
