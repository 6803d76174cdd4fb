import { expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { arrive, browserTest, checkPage, fill, named, openPage, press, seeText, upload } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "labd-classes-"));
function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}
const CLASSES =
  "ELMIdentifier\tFunctionalSiteName\tDescription\tRegex\n" +
  "DEG_MDM2_SWIB_1\tMDM2 binding\tAn &alpha;-helix.\tF[^P]{3}W[^P]{2,3}[VIL]\n" +
  "DEG_LAB_2\tMDM2 binding\tOf the laboratory.\tFWL\n";
const INSTANCES =
  `"Accession"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\t"PDB"\n` +
  ["P04637", "P02340"]
    .map(
      (accession) =>
        `"I ${accession}"\t"DEG_MDM2_SWIB_1"\t"${accession}"\t"19"\t"26"\t"true positive"\t"1YCR"\n`,
    )
    .join("");

browserTest("finds a motif class, and shows its pattern, function and sources", async () => {
  await using opened = await openPage("/", { width: 1280 });
  const { page } = opened;
  await press(page, "link", "Motif classes 48");
  await arrive(page, "/classes");
  await fill(page, "Search", "swib");
  await press(page, "button", "Search");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await checkPage(opened, "classes");
  await press(page, "link", "MDM2-SWIB");
  await arrive(page, "/classes/MDM2-SWIB");
  await seeText(page, "F, then 3 of any residue, W, then 2 of any residue, then one of I L V.");
  await seeText(page, "one match by chance in");
  await seeText(page, "Kussie PH et al. (1996) Science 274:948-953");
  await checkPage(opened, "class");
  // The navigation has a link of the same name.
  await page.click(".page-head .btn-primary");
  expect(await arrive(page, "/proteome")).toEndWith("/proteome?class=MDM2-SWIB");
  await page.goto(`${opened.url}/classes/MDM3`);
  await seeText(page, "There is no motif class MDM3");
});

browserTest("a class is found by Ctrl-K, by its keys alone", async () => {
  await using opened = await openPage("/classes/LxCxE");
  const { page } = opened;
  await seeText(page, "Binds the B pocket");
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.keyboard.type("WW-PPxY");
  await named(page, "option", "WW-PPxY");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await arrive(page, "/classes/WW-PPxY");
});

browserTest("an imported table replaces the class, whose old name leads to its known instances", async () => {
  await using opened = await openPage("/administration/motif-classes", { signedIn: true, width: 1280 });
  const { page, url } = opened;
  await upload(page, file("classes.tsv", CLASSES));
  await press(page, "button", "Import 2 classes");
  await seeText(page, "49 classes");
  await page.goto(`${url}/administration/features`);
  await upload(page, file("instances.tsv", INSTANCES));
  await press(page, "button", "Import features");
  await seeText(page, "2 features of 2 proteins were imported.");
  await page.goto(`${url}/classes/MDM2-SWIB`);
  await seeText(page, "DEG_MDM2_SWIB_1");
  expect(await page.$eval("h1", ({ textContent }) => textContent)).toBe("MDM2 binding");
  await seeText(page, "2 known instances in the corpus");
  await seeText(page, "An α-helix.");
  // A minute after its start the server has the homologs for the scores.
  await page.waitForFunction(() => /Scored as in results|Not scored/.test(document.body.innerText));
  await seeText(page, "Classes of the same site 1");
  await checkPage(opened, "class-instances");
  await named(page, "link", "1YCR");
  await page.goto(`${url}/classes?q=mdm2`);
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 2);
  await page.goto(url);
  await page.waitForSelector("option[value=DEG_MDM2_SWIB_1]");
  await press(page, "button", "p53 with MDM2’s motif");
  await page.waitForFunction(() => document.querySelector("select")!.value === "DEG_MDM2_SWIB_1");
  await page.goto(`${url}/administration/motif-classes`);
  await press(page, "button", "Remove table");
  await press(page, "button", "Remove classes.tsv");
  await seeText(page, "48 classes");
  await page.goto(`${url}/administration/features`);
  await press(page, "button", "Remove: instances.tsv");
  await press(page, "button", "Remove");
  await seeText(page, "Removed instances.tsv.");
});

browserTest("results are one list, and lead to the class of a match", async () => {
  await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage("/results", { isOwner: true, width: 1280 });
  const { page } = opened;
  await seeText(page, "All results");
  await page.waitForSelector(".results li a[href*='/score/']");
  await press(page, "button", "Scores and scans");
  await page.waitForFunction(() => location.search === "?kind=job");
  await checkPage(opened, "results");
  await page.evaluate(() => document.querySelector<HTMLElement>(".results li a[href*='/score/']")!.click());
  await arrive(page, "/score/");
  await press(page, "link", "MDM2-SWIB");
  await arrive(page, "/classes/MDM2-SWIB");
});
