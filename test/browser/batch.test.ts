import { expect, setDefaultTimeout } from "bun:test";
import type { Page } from "puppeteer-core";
import { P53 } from "../scoring/scoring-harness.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { arrive, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

setDefaultTimeout(300_000);

/** p53, p21, p27 and E7 from the sample, each with one of the motifs. */
const FASTA = ["P04637", "P38936", "P46527", "P03129"]
  .map(
    (accession) =>
      `>${proteins
        .split(/^>/m)
        .find((entry) => entry.startsWith(accession))!
        .trim()}`,
  )
  .join("\n");
const MOTIFS = ["MDM2-SWIB", "PIP-box", "Cyclin-RxL", "LxCxE", "APC-KEN-box", "PDZ-class-1"];

/** Waits until the results of the four jobs are read; while the server works it says "4 of 4 jobs scored". */
const seeAllScored = (page: Page) =>
  page.waitForFunction(() =>
    [...document.querySelectorAll("p[role=status]")].some(
      ({ textContent }) => textContent === "4 jobs scored.",
    ),
  );

const readTable = (page: Page): Promise<string[][]> =>
  page.$$eval("tbody tr", (rows) =>
    rows.map((row) =>
      [...row.children].map((cell) =>
        (cell as HTMLElement).innerText
          .replace(/\s+/g, " ")
          .replace(/ in P\d+$/, "")
          .trim(),
      ),
    ),
  );

browserTest("fills a table although the tab was closed, and is shared by link", async () => {
  await using first = await openPage(`/batch?${MOTIFS.map((name) => `class=${name}`).join("&")}`);
  await fill(first.page, "Sequences as FASTA, or accessions", FASTA);
  await seeText(first.page, "4 sequences, 853 residues");
  await seeText(first.page, "4 proteins × 6 motifs: 24 rows");
  await checkPage(first, "batch-filled");
  await press(first.page, "button", "Score the batch");
  await arrive(first.page, "/batch/");
  const address = new URL(first.page.url()).pathname;
  await first.page.close();
  await using opened = await openPage(address);
  const { page } = opened;
  await seeAllScored(page);
  const rows = await readTable(page);
  expect(rows.length).toBe(24);
  const degron = rows.find(([protein, motif]) => protein.startsWith("P04637") && motif === "MDM2-SWIB")!;
  expect([degron[0], degron[2]]).toEqual([
    "P04637 TP53, Homo sapiens, Cellular tumor antigen p53",
    "Likely functional",
  ]);
  expect(degron.slice(5, 7)).toEqual(["FSDLWKLL 19", expect.stringMatching(/^\d+ of 23 /)]);
  const retinoblastoma = rows.find(([protein, motif]) => protein.startsWith("P03129") && motif === "LxCxE");
  expect([retinoblastoma![2], retinoblastoma![5]]).toEqual(["Likely functional", "LYCYE 22"]);
  await checkPage(opened, "batch-done");

  // The table as a heat map, by keyboard, and as a workbook.
  await press(page, "button", "Heat map");
  await seeText(page, "Colour by");
  await checkPage(opened, "batch-heat-map");
  const readCells = () =>
    page.$$eval(".heat-map tbody tr", (rows) =>
      rows.map((row) => [...row.querySelectorAll("[data-cell]")].map((cell) => cell.firstChild!.textContent)),
    );
  const shownP = await readCells();
  expect(shownP.map((cells) => cells.length)).toEqual([6, 6, 6, 6]);
  expect(shownP.flat()).toContain("–");
  await page.focus("[data-cell][tabindex='0']");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  expect(await page.evaluate(() => document.activeElement!.textContent)).toEndWith("PIP-box in P38936");
  await (await named(page, "button", "z")).click();
  await page.waitForFunction(
    (before) => document.querySelector("[data-cell]")!.firstChild!.textContent !== before,
    {},
    shownP[0][0],
  );
  await (await named(page, "button", "LxCxE")).click();
  await page.waitForSelector("th[aria-sort='ascending']");
  expect(await page.$eval(".heat-map tbody th", (cell) => cell.textContent)).toContain("P03129");
  const workbook = await named(page, "link", "All matches as XLSX");
  expect(
    await workbook.evaluate(async (link) => {
      const { href, download } = link as HTMLAnchorElement;
      return [download, (await (await fetch(href)).text()).slice(0, 2)];
    }),
  ).toEqual(["batch.xlsx", "PK"]);
  await page.goto(page.url().replace(/\?.*/, ""));
  await seeAllScored(page);

  // Filter and order are in the address, and so in the link.
  await page.click(".answer .chip ::-p-text(ikely functional)");
  await press(page, "button", "z");
  await press(page, "button", "z");
  const best = await readTable(page);
  expect(best.every(([, , verdict]) => verdict.startsWith("Likely functional"))).toBe(true);
  const z = best.map((row) => Number(row[3]));
  expect(z).toEqual(z.toSorted((a, b) => b - a));
  await press(page, "button", "Copy link");
  const link = new URL(page.url());
  expect(link.search).toBe("?verdict=likely+functional&order=-z");
  await using other = await openPage(link.pathname + link.search);
  await seeAllScored(other.page);
  await seeText(other.page, `${best.length} of 24`);
  await (await named(other.page, "link", "FSDLWKLL 19 in P04637")).click();
  await arrive(other.page, "/score/");
  await seeText(other.page, "FSDLWKLL");
  expect(other.faults).toEqual([]);
});

browserTest("reports missing, failed and cancelled jobs", async () => {
  await using opened = await openPage("/batch");
  const { page, url } = opened;
  await press(page, "button", "Score the batch");
  await seeText(page, "Paste sequences or accessions, or drop a file.");
  await press(page, "button", "Try p53 and E7 with three motifs");
  await seeText(page, "2 proteins × 3 motifs: 6 rows");
  await fill(page, "Sequences as FASTA, or accessions", "P04637 P03129, NOSUCH1");
  await seeText(page, "3 accessions or names");
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "2 jobs scored, 1 failed.");
  await seeText(page, "Line 1, NOSUCH1: the corpus in use has no protein");

  // Text that is no protein is rejected while typing; another notation is a click away.
  await page.goto(`${url}/batch`);
  await fill(page, "Sequences as FASTA, or accessions", "hello world protein 123");
  await seeText(page, "Character 21: the number 123 does not count the residues before it");
  await fill(page, "Pattern 1", "PxxP");
  await seeText(page, "Did you mean P..P?");
  await checkPage(opened, "batch-suggestion");
  await press(page, "button", "Use P..P");
  await seeText(page, "P, then 2 of any residue, P");

  // Other people see the batch, but cannot cancel it.
  await page.goto(`${url}/batch?pattern=P..P`);
  const variants = Array.from(
    { length: 400 },
    (_, i) => `>v${i}\n${"ACDEFGHIKL".slice(i % 10)}${P53.slice(i)}`,
  );
  await fill(page, "Sequences as FASTA, or accessions", variants.join("\n"));
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "of 400 jobs scored");
  await checkPage(opened, "batch-active");
  await using stranger = await openPage(new URL(page.url()).pathname);
  await seeText(stranger.page, "of 400 jobs scored");
  expect(
    await stranger.page.$$eval("button", (all) => all.map(({ textContent }) => textContent)),
  ).not.toContain("Cancel");
  await press(page, "button", "Cancel");
  await page.waitForFunction(() => /\d+ jobs? scored, \d+ failed\./.test(document.body.innerText));
  await page.goto(`${url}/batch`);
  await seeText(page, "Recent batches");
  await (await named(page, "link", "400 proteins, 1 motif")).click();
  await page.waitForFunction(() => /\d+ jobs? scored, \d+ failed\./.test(document.body.innerText));

  await using unknown = await openPage("/batch/nosuchbatch");
  await seeText(unknown.page, "There is no such batch");
  await checkPage(unknown, "batch-unknown");
});
