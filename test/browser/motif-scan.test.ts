import { expect, setDefaultTimeout } from "bun:test";
import type { Page } from "puppeteer-core";
import { withoutComments } from "../fixtures/without-comments.ts";
import { arrive, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

setDefaultTimeout(300_000);

/** The motif classes of the rows, in order. */
const readClasses = (page: Page): Promise<string[]> =>
  page.$$eval("tbody th a", (links) => links.map((link) => link.firstChild!.textContent ?? ""));

/** Downloads a link's target, as lines. */
async function downloaded(page: Page, name: string): Promise<string[]> {
  const link = await named(page, "link", name);
  const text = await link.evaluate(async (each) => (await fetch((each as HTMLAnchorElement).href)).text());
  return withoutComments(text).trimEnd().split("\n");
}

browserTest("scans a protein, filters the matches, exports them and opens one", async () => {
  await using opened = await openPage("/scan");
  const { page } = opened;
  await checkPage(opened, "motif-scan-empty");
  await press(page, "button", "Scan");
  await seeText(page, "Paste a protein, or enter an accession.");
  await press(page, "button", "Try p53");
  await press(page, "button", "Scan");
  expect(await arrive(page, "/scan/")).toMatch(/\/scan\/[0-9a-f-]{36}$/);
  await seeText(page, "The verdict follows P");
  const all = await readClasses(page);
  expect(all[0]).toBe("MDM2-SWIB");
  await checkPage(opened, "motif-scan-result");

  // A filter is in the address, by keyboard too.
  const degrons = await page.waitForFunction(() =>
    [...document.querySelectorAll("label")].find((label) => label.innerText.startsWith("Degron")),
  );
  await (degrons as unknown as { focus(): Promise<void>; $: Page["$"] })
    .$("input")
    .then((box) => box!.focus());
  await page.keyboard.press("Space");
  await page.waitForFunction(() => location.search === "?type=DEG");
  const shown = await readClasses(page);
  expect(shown).toContain("MDM2-SWIB");
  expect(shown.length).toBeLessThan(all.length);
  const [head, ...rows] = await downloaded(page, "TSV");
  expect(head).toStartWith("query\tclass\ttype\tstart\tend\tmatch\toverall_p\tq\tlabel");
  expect(rows.map((row) => row.split("\t")[1])).toEqual(shown);
  expect((await downloaded(page, "GFF3")).filter((line) => line.includes("polypeptide_motif")).length).toBe(
    shown.length,
  );
  await page.reload();
  await seeText(page, `${shown.length} of ${all.length}`);
  await press(page, "button", "Clear filters");
  await page.waitForFunction(() => location.search === "");
  expect(await readClasses(page)).toEqual(all);

  // A row leads to its match in the result.
  await page.click("tbody th a");
  await arrive(page, "/score/");
  await seeText(page, "FSDLWKLL");
  expect(page.url()).toContain("?match=");
  await press(page, "link", "Rank all matches");
  await arrive(page, "/scan/");
  await seeText(page, "The verdict follows P");
});

browserTest("scans several proteins for chosen classes and ranks their matches together", async () => {
  await using opened = await openPage("/scan?class=MDM2-SWIB&class=LxCxE");
  const { page } = opened;
  await seeText(page, "The chosen classes are tested.");
  await fill(page, "Sequence, FASTA or accession", "P04637 P03129");
  await press(page, "button", "Scan 2 proteins");
  await arrive(page, "/scans");
  await seeText(page, "matches of all these proteins together");
  await seeText(page, "TP53: MDM2-SWIB");
  const rows = await page.$$eval("tbody tr", (all) => all.length);
  const [head, ...lines] = await downloaded(page, "TSV");
  expect(head).toStartWith("query\tclass");
  expect(lines).toHaveLength(rows);
  await checkPage(opened, "joint-scan");
  await page.goto(`${opened.url}/scan`);
  await page.waitForFunction(() => document.querySelectorAll('.list a[href*="/scan/"]').length === 2);
  await press(page, "link", "P03129, Human papillomavirus type 16");
  await arrive(page, "/scan/");
  await seeText(page, "LYCYE");
  await seeText(page, "2 tested");
});
