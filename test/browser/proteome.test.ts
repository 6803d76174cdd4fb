import { expect, setDefaultTimeout } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { familyRecords } from "../../src/motif/index.ts";
import { openCorpusFile } from "../../src/scoring/index.ts";
import { writeFamilies } from "../../src/scoring/corpus/families-file.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import {
  arrive,
  browserTest,
  checkPage,
  choose,
  fill,
  named,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";

setDefaultTimeout(300_000);

/** Stores the families of all proteins of the demonstration whose accession is in `wanted`. */
async function storeFamilies(wanted: (accession: string) => boolean): Promise<void> {
  const corpora = join((await site()).directory, "corpora");
  const path = join(
    corpora,
    readdirSync(corpora).find((name) => name.endsWith(".labc"))!,
  );
  const corpus = openCorpusFile(path);
  const proteins = Array.from({ length: corpus.sequenceCount }, (_, index) => index);
  const chosen = proteins.filter((index) => wanted(corpus.accession(index)));
  writeFamilies({ path, hash: corpus.hash }, [...familyRecords(corpus, chosen)]);
}

const readGenes = (page: Page): Promise<string[]> =>
  page.$$eval("tbody th a:first-child", (links) => links.map((link) => link.firstChild!.textContent ?? ""));

browserTest("searches a proteome, filters and exports the matches, and scores a protein", async () => {
  await using opened = await openPage("/proteome");
  const { page } = opened;
  await seeText(page, "No protein can be searched yet");
  await seeText(page, "labd proteome build --organism 9606");
  await checkPage(opened, "proteome-not-built");

  await storeFamilies((accession) => /^[PQ]0/.test(accession));
  await page.reload();
  await seeText(page, "proteins of sample can be searched");
  await press(page, "button", "Search");
  await seeText(page, "Choose a motif class, or enter a pattern.");
  await fill(page, "Or a pattern", "PxxP");
  await seeText(page, "Did you mean P..P?");
  await press(page, "button", "Use P..P");
  await seeText(page, "one match by chance");
  await checkPage(opened, "proteome-form");
  await choose(page, "Motif class", "LIG_SH3_1", "SH3-class-I");
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>("[role=combobox]")?.value === "SH3-class-I",
  );
  await press(page, "button", "Search");
  expect(await arrive(page, "/proteome/")).toMatch(/\/proteome\/[0-9a-f-]{36}$/);
  await seeText(page, "The verdict follows P");
  // Downloads appear at the end.
  await press(page, "button", "Download");
  await named(page, "link", "TSV");
  await page.keyboard.press("Escape");
  const all = await readGenes(page);
  expect(all.length).toBeGreaterThan(5);
  await checkPage(opened, "proteome");

  // A filter is in the address, and limits downloads, too.
  const ordered = await page.waitForFunction(() =>
    [...document.querySelectorAll("label")].find((label) => label.innerText.startsWith("Ordered")),
  );
  await (ordered as unknown as { click(): Promise<void> }).click();
  await page.waitForFunction(() => location.search === "?region=ordered");
  await page.waitForFunction(
    (before) => document.querySelectorAll("tbody tr").length < before,
    {},
    all.length,
  );
  const shown = await readGenes(page);
  await press(page, "button", "Download");
  const link = await named(page, "link", "TSV");
  const table = await link.evaluate(async (each) => (await fetch((each as HTMLAnchorElement).href)).text());
  expect(withoutComments(table).trimEnd().split("\n")).toHaveLength(shown.length + 1);
  const workbook = await named(page, "link", "XLSX");
  const sheet = await workbook.evaluate(async (each) => {
    const response = await fetch((each as HTMLAnchorElement).href);
    return [(each as HTMLAnchorElement).download, (await response.text()).slice(0, 2)];
  });
  expect(sheet).toEqual(["SH3-class-I-proteome.xlsx", "PK"]);
  await page.keyboard.press("Escape");
  await press(page, "button", "Kept in homologs");
  await page.waitForFunction(() => location.search === "?region=ordered&order=kept");
  await press(page, "button", "Clear filters");
  await page.waitForFunction(() => location.search === "?order=kept");

  // A row leads to scoring its protein, with the same numbers.
  await page.goto(page.url().replace(/\?.*/, ""), { waitUntil: "load" });
  await seeText(page, "Ranked matches");
  const [text, z] = await page.$eval("tbody tr", (row) =>
    [...row.querySelectorAll("code b, td.num")].map((each) => (each as HTMLElement).innerText),
  );
  await page.click("tbody th a");
  await arrive(page, "/score");
  expect(page.url()).toContain("class=SH3-class-I");
  await press(page, "button", "Score");
  await arrive(page, "/score/");
  await seeText(page, text);
  expect(await page.evaluate(() => document.body.innerText)).toContain(z);

  // The page of the protein has its rank among the matches of the search.
  await page.click(".identity a");
  await arrive(page, "/proteins/");
  await seeText(page, `Rank 1 of ${all.length} matches.`);
});

browserTest("lets an administrator build families, after an estimate", async () => {
  await using opened = await openPage("/proteome", { signedIn: true });
  const { page } = opened;
  await seeText(page, "Build families");
  await fill(page, "Organism", "klingon");
  await press(page, "button", "Build families");
  await seeText(page, 'is of "klingon"');
  await fill(page, "Organism", "9606");
  await press(page, "button", "Build families");
  await seeText(page, "of processor time");
  await press(page, "button", "Build");
  await seeText(page, "9606 of sample: finished");
  await checkPage(opened, "proteome-build");
});

browserTest("says that a search has expired, and leads back", async () => {
  await using opened = await openPage(`/proteome/${"0".repeat(64)}`);
  const { page } = opened;
  await seeText(page, "This search has expired");
  await press(page, "link", "Search again");
  await arrive(page, "/proteome");
});
