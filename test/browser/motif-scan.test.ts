import { expect, setDefaultTimeout } from "bun:test";
import type { Page } from "puppeteer-core";
import { withoutComments } from "../fixtures/without-comments.ts";
import { arrive, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

setDefaultTimeout(300_000);

/** The motif classes of the rows, in order. */
const readClasses = (page: Page): Promise<string[]> =>
  page.$$eval("tbody th a", (links) => links.map((link) => link.firstChild!.textContent ?? ""));

/** Opens all places. */
async function openPlaces(page: Page): Promise<void> {
  await page.$$eval(".more[aria-expanded=false]", (buttons) => {
    for (const button of buttons) (button as HTMLElement).click();
  });
  await page.waitForFunction(() => document.querySelector(".more[aria-expanded=false]") === null);
}

/** Downloads a link's target, as lines. */
async function downloaded(page: Page, name: string): Promise<string[]> {
  await press(page, "button", "Download");
  const link = await named(page, "link", name);
  const text = await link.evaluate(async (each) => (await fetch((each as HTMLAnchorElement).href)).text());
  await page.keyboard.press("Escape");
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
  await seeText(page, "likely functional");
  const places = await readClasses(page);
  expect(places[0]).toBe("MDM2-SWIB");
  await checkPage(opened, "motif-scan-result");

  // The other matches of a place open below it, by keyboard too.
  await page.focus(".more");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".more[aria-expanded=true]");
  const first = await page.$eval(".more", (button) => Number(/\d+/.exec(button.textContent!)![0]));
  expect(await page.$$eval("tr.nested", (rows) => rows.length)).toBeGreaterThanOrEqual(first);
  await openPlaces(page);
  const all = await readClasses(page);
  expect(all.length).toBeGreaterThan(places.length);
  await seeText(page, `${places.length}, with ${all.length} matches`);
  await checkPage(opened, "motif-scan-places");
  // All columns fit beside the filters.
  await page.setViewport({ width: 1280, height: 900 });
  expect(await page.$eval(".table-scroll", (each) => each.scrollWidth - each.clientWidth)).toBe(0);

  // A filter is in the address, by keyboard too; it counts matches.
  const degrons = await page.waitForFunction(() =>
    [...document.querySelectorAll("label")].find((label) => label.innerText.startsWith("Degron")),
  );
  await (degrons as unknown as { focus(): Promise<void>; $: Page["$"] })
    .$("input")
    .then((box) => box!.focus());
  await page.keyboard.press("Space");
  await page.waitForFunction(() => location.search === "?type=DEG");
  await openPlaces(page);
  const shown = await readClasses(page);
  expect(shown).toContain("MDM2-SWIB");
  expect(shown.length).toBeLessThan(all.length);
  const [head, ...rows] = await downloaded(page, "TSV");
  expect(head).toStartWith("query\tclass\ttype\tstart\tend\tmatch\toverall_p\tq\tlabel");
  expect(rows.map((row) => row.split("\t")[1]).toSorted()).toEqual(shown.toSorted());
  expect((await downloaded(page, "GFF3")).filter((line) => line.includes("polypeptide_motif")).length).toBe(
    shown.length,
  );
  await page.reload();
  await seeText(page, `with ${shown.length} of ${all.length} matches`);
  await press(page, "button", "Clear filters");
  await page.waitForFunction(() => location.search === "");
  expect(await readClasses(page)).toEqual(places);

  // On a phone, filters are a sheet.
  await page.setViewport({ width: 360, height: 780 });
  await press(page, "button", "Filters");
  await press(page, "button", `Show ${places.length} places`);
  expect(await page.$$(".sheet:popover-open")).toEqual([]);
  await page.setViewport({ width: 1200, height: 900 });

  // A row leads to its match in the result.
  await page.click("tbody th a");
  await arrive(page, "/score/");
  await seeText(page, "FSDLWKLL");
  expect(page.url()).toContain("?match=");
  await press(page, "link", "Rank all matches");
  await arrive(page, "/scan/");
  await seeText(page, "likely functional");
});

browserTest("scans several proteins for chosen classes and ranks their matches together", async () => {
  await using opened = await openPage("/scan?class=MDM2-SWIB&class=LxCxE");
  const { page } = opened;
  await seeText(page, "The chosen classes are tested.");
  await fill(page, "Sequence, FASTA or accession", "P04637 P03129");
  await press(page, "button", "Scan 2 proteins");
  await arrive(page, "/scans");
  await page.waitForSelector(".places");
  await seeText(page, "TP53: MDM2-SWIB");
  await openPlaces(page);
  const rows = await page.$$eval("tbody tr", (all) => all.length);
  const [head, ...lines] = await downloaded(page, "TSV");
  expect(head).toStartWith("query\tclass");
  expect(lines).toHaveLength(rows);
  await checkPage(opened, "joint-scan");
  await page.click(".list li:last-child a");
  await arrive(page, "/scan/");
  await seeText(page, "LYCYE");
  await seeText(page, "2 tested");
});
