import { expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { arrive, browserTest, checkPage, named, openPage, press, seeText, upload } from "./browser.ts";

setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "labd-features-"));
function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const row = (id: string, accession: string, start: number, end: number) =>
  `"${id}"\t"DEG_MDM2_SWIB_1"\t"${accession}"\t"${start}"\t"${end}"\t"true positive"\n`;
const ELM =
  `"Accession"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\n` +
  row("ELMI1", "P04637", 19, 26) +
  row("ELMI2", "P02340", 19, 26) +
  row("ELMI3", "Q99999", 1, 8);
const GFF =
  "##gff-version 3\n##sequence-region P04637 1 393\n" +
  [
    ["Domain", 1, 61, "Transactivation"],
    ["Signal peptide", 1, 30, "artificial"],
    ["DNA binding", 102, 292, "p53"],
    ["Modified residue", 15, 15, "Phosphoserine%3B by ATM"],
    ["Modified residue", 20, 20, "Phosphoserine%3B by CHEK2"],
    ["Natural variant", 175, 175, "R->H"],
    ["Region", 319, 360, "Oligomerization"],
    ["Region", 380, 400, "beyond"],
  ]
    .map(
      ([type, start, end, note]) => `P04637\tUniProtKB\t${type}\t${start}\t${end}\t.\t.\t.\tNote=${note}\n`,
    )
    .join("");

browserTest("administrators import features, which results and scans show, and remove them", async () => {
  await using opened = await openPage("/administration/features", { signedIn: true });
  const { page, url } = opened;
  await seeText(page, "No features yet");
  await upload(page, file("elm.tsv", ELM));
  await press(page, "button", "Import features");
  await seeText(
    page,
    "2 features of 2 proteins were imported. The file was read as ELM's table of instances.",
  );
  await upload(page, file("p53.gff", GFF));
  await press(page, "button", "Import features");
  await seeText(page, "The file was read as GFF3.");
  await seeText(page, "1 identifier that matches no protein, such as Q99999");
  await seeText(page, "1 end after the last residue");
  await upload(page, file("bad.gff", GFF.replace("\t102\t", "\tten\t")));
  await press(page, "button", "Import features");
  await seeText(page, 'line 5: start and end: expected whole numbers from 1; "ten" and "292" were given.');
  await checkPage(opened, "administration-features");

  await page.goto(`${url}/scan`);
  await press(page, "button", "Try p53");
  await press(page, "button", "Scan");
  await arrive(page, "/scan/");
  await seeText(page, "ELMI1");
  await checkPage(opened, "motif-scan-features");
  await press(page, "button", "Tracks");
  await press(page, "checkbox", "Domains");
  await page.waitForFunction(() => location.search === "?tracks=domain");
  await page.waitForFunction(() => !document.querySelector(".tracks [aria-label^='Domains']"));
  await press(page, "checkbox", "Domains");
  await page.waitForSelector(".tracks [aria-label^='Domains']");
  await page.keyboard.press("Escape");
  await press(page, "checkbox", "Known instance");
  await page.waitForFunction(() => location.search === "?verdict=known+instance");
  await seeText(page, "1 of ");
  await page.click("tbody th a");
  await arrive(page, "/score/");
  await seeText(
    page,
    "This is ELMI1, a known instance of DEG_MDM2_SWIB_1; also annotated in Mus musculus P02340 (ELMI2).",
  );
  await seeText(page, "Phosphoserine; by ATM");
  await seeText(page, "4 residues before the match");
  const bars = await page.$$eval(".evidence tbody tr", (rows) =>
    rows.map((one) => [...one.querySelectorAll("th, td.num")].map((cell) => cell.textContent)),
  );
  expect(bars).toContainEqual(["Known topology", "−1.40"]);
  expect(bars.map(([name]) => name)).not.toContain("Known domain");
  const labels = () =>
    page.$$eval(".tracks [role=img]", (tracks) =>
      tracks.map((track) => track.getAttribute("aria-label") ?? ""),
    );
  expect(await labels()).toContain("Domains: Transactivation 1–61, p53 102–292");
  expect((await labels()).some((label) => label.startsWith("Regions"))).toBe(false);
  // Tracks are chosen by keyboard, and the choice is in the address.
  await press(page, "button", "Tracks");
  await (await named(page, "checkbox", "Regions")).focus();
  await page.keyboard.press("Space");
  await page.waitForFunction(() => location.search.includes("tracks=region"));
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector(".tracks [aria-label^='Regions']"));
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".tracks [aria-label^='Regions']"));
  await checkPage(opened, "result-features");

  await page.goto(`${url}/administration/features`);
  for (const name of ["elm.tsv", "p53.gff"]) {
    await press(page, "button", `Remove: ${name}`);
    await press(page, "button", "Remove");
    await seeText(page, `Removed ${name}.`);
  }
  await seeText(page, "No features yet");
});
