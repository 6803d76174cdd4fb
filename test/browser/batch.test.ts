import { expect, setDefaultTimeout } from "bun:test";
import type { Page } from "puppeteer-core";
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

/** Answers submissions with 503 while `isFull` says so. @returns how many were sent */
async function limitQueue(page: Page, isFull: (sent: number) => boolean): Promise<() => number> {
  let sent = 0;
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isSubmission = request.method() === "POST" && request.url().endsWith("/api/scoring/jobs");
    if (!isSubmission || !isFull(++sent)) return void request.continue();
    void request.respond({
      status: 503,
      headers: { "Retry-After": "600" },
      contentType: "application/json",
      body: '{"message":"The queue is full.","code":"busy"}',
    });
  });
  return () => sent;
}

const tableOf = (page: Page): Promise<string[][]> =>
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

browserTest("fills a table, survives a reload while the queue is full, and is shared by link", async () => {
  await using opened = await openPage(`/batch?${MOTIFS.map((name) => `class=${name}`).join("&")}`);
  const { page } = opened;
  await fill(page, "Sequences as FASTA, or accessions", FASTA);
  await seeText(page, "4 sequences, 853 residues");
  await seeText(page, "4 proteins × 6 motifs: 24 rows");
  await checkPage(opened, "batch-filled");

  let most = 3;
  const sent = await limitQueue(page, (count) => count > most);
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "The queue is full. The rest will be sent when the queue has room.");
  await seeText(page, "3 of 4 jobs scored, 1 not sent yet");
  await checkPage(opened, "batch-active");
  most = Infinity;
  const before = sent();
  await page.reload();
  await seeText(page, "4 jobs scored.");
  expect(sent() - before).toBe(1);
  const rows = await tableOf(page);
  expect(rows.length).toBe(24);
  expect(rows[0].slice(0, 3)).toEqual([
    "P04637 TP53, Homo sapiens, Cellular tumor antigen p53",
    "MDM2-SWIB",
    "Likely functional",
  ]);
  expect(rows[0].slice(4, 6)).toEqual(["FSDLWKLL 19", expect.stringMatching(/^\d+ of 24 /)]);
  const retinoblastoma = rows.find(([protein, motif]) => protein.startsWith("P03129") && motif === "LxCxE");
  expect([retinoblastoma![2], retinoblastoma![4]]).toEqual(["Likely functional", "LYCYE 22"]);
  await checkPage(opened, "batch-done");

  // The same as a heat map, by keyboard, and as a workbook.
  await press(page, "button", "Heat map");
  await seeText(page, "Colour by");
  await checkPage(opened, "batch-heat-map");
  const cellsOf = () =>
    page.$$eval(".heat-map tbody tr", (rows) =>
      rows.map((row) => [...row.querySelectorAll("[data-cell]")].map((cell) => cell.firstChild!.textContent)),
    );
  const shownP = await cellsOf();
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
  await press(page, "button", "Save as XLSX");
  await seeText(page, "Saved batch.xlsx");
  await page.goto(page.url().replace(/\?.*/, ""));
  await seeText(page, "4 jobs scored.");

  // Filter and order are in the address, and so in the link.
  await page.click(".answer .chip");
  await press(page, "button", "z");
  await press(page, "button", "z");
  const best = await tableOf(page);
  expect(best.every(([, , verdict]) => verdict === "Likely functional")).toBe(true);
  const z = best.map((row) => Number(row[8]));
  expect(z).toEqual(z.toSorted((a, b) => b - a));
  await press(page, "button", "Copy link");
  await page.waitForFunction(() => location.hash.length > 100);
  const link = new URL(page.url());
  expect(link.search).toBe("?verdict=likely+functional&sort=-z");
  await using other = await openPage(link.pathname + link.search + link.hash);
  await seeText(other.page, "4 jobs scored.");
  await seeText(other.page, `${best.length} of 24 rows`);
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

  // A reload does not send jobs that were cancelled before they were sent.
  await page.goto(`${url}/batch?pattern=P..P`);
  await fill(page, "Sequences as FASTA, or accessions", "P04637 P03129");
  const sent = await limitQueue(page, () => true);
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "The queue is full.");
  await press(page, "button", "Cancel");
  await seeText(page, "0 jobs scored, 2 failed.");
  const before = sent();
  await page.reload();
  await seeText(page, "0 jobs scored, 2 failed.");
  expect(sent()).toBe(before);

  await using unknown = await openPage("/batch/nosuchbatch");
  await seeText(unknown.page, "This browser does not have the batch");
  await checkPage(unknown, "batch-unknown");
});
