import { expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXAMPLES } from "../../src/web/score/examples.ts";
import { helixPdb } from "../fixtures/helix-model.ts";
import {
  arrive,
  browserTest,
  checkPage,
  fill,
  named,
  openPage,
  post,
  press,
  seeText,
  upload,
} from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

const [{ sequence: P53 }] = EXAMPLES;
const ELM = `"Accession"\t"ELMIdentifier"\t"Primary_Acc"\t"Start"\t"End"\t"InstanceLogic"\t"PDB"
"ELMI1"\t"DEG_MDM2_SWIB_1"\t"P04637"\t"19"\t"26"\t"true positive"\t"1YCR 2OY2"
`;

const folder = mkdtempSync(join(tmpdir(), "labd-protein-"));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

browserTest("finds a protein, and offers near misses", async () => {
  await using opened = await openPage("/proteins");
  const { page } = opened;
  await fill(page, "Search", "TP53 human");
  await press(page, "button", "Search");
  await seeText(page, "TP53, Homo sapiens, P04637, 393 residues");
  await checkPage(opened, "proteins");
  await press(page, "link", "Cellular tumor antigen p53");
  await arrive(page, "/proteins/P04637");
  await seeText(page, "P04637, P53_HUMAN");
  await seeText(page, "No match of it has been scored yet");
  await seeText(page, "No model. Score this protein, or sign in");
  await checkPage(opened, "protein-new");
  for (const unknown of ["TP53", "P04638"]) {
    await page.goto(`${opened.url}/proteins/${unknown}`);
    await seeText(page, `No protein of the corpus has the accession ${unknown}`);
    await press(page, "link", "Cellular tumor antigen p53");
    await arrive(page, "/proteins/P04637");
  }
});

browserTest("shows a protein with its features, results, homologs, structure and records", async () => {
  using _cleanup = { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
  await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"], patterns: ["P..P"] });
  const scan = await scored({ accession: "P04637", allMotifClasses: true });
  await using administrator = await openPage("/administration/features", { signedIn: true });
  await upload(administrator.page, write("protein-page.tsv", ELM));
  await press(administrator.page, "button", "Import features");
  await seeText(administrator.page, "ELM's table of instances, ");
  const record = { name: "pcDNA3 TP53 wild type", status: "AVAILABLE" };
  expect(await post(administrator.page, "/api/v2/stocks/consumables/", record)).toBe(201);

  await using opened = await openPage("/proteins/P04637", { isOwner: true, width: 1280 });
  const { page } = opened;
  const stands = (selector: string) => page.$$eval(selector, (found) => found.map((each) => each.innerHTML));
  await seeText(page, "1 known motif: ");
  await seeText(page, "at 19–26.");
  await seeText(page, "1 known instance; of the other 32 matches, ");
  await seeText(page, "The best that is not known is ");
  await seeText(page, "PDB 1YCR");
  await seeText(page, "On the tree");
  expect(await page.$$eval("[aria-selected=true]", ([row]) => row.textContent)).toContain("FSDLWKLL");

  // The tree and the tracks follow the row that the keyboard chooses.
  const row = await page.waitForSelector("tbody tr:nth-child(2) th a");
  await row!.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("tbody tr:nth-child(2)[aria-selected=true]"));
  expect((await stands(".match.selected")).length).toBe(1);

  await upload(page, write("p53.pdb", helixPdb(P53, { bFactors: () => 92 })));
  await seeText(page, "Belongs to the protein: all your scores of it show it.");
  await seeText(page, "pLDDT of the model");
  await checkPage(opened, "protein");
  await page.goto(`${opened.url}/scan/${scan}`);
  await press(page, "link", "P04637");
  await arrive(page, "/proteins/P04637");
  await named(page, "button", "Remove");
  expect(page.url()).toEndWith("/proteins/P04637");

  // The reader sees records that they may view, and nobody else's results.
  await using signedIn = await openPage("/proteins/P04637", { signedIn: true });
  await seeText(signedIn.page, "pcDNA3 TP53 wild type");
  await seeText(signedIn.page, "Available");
  await seeText(signedIn.page, "No match of it has been scored yet");
  await checkPage(signedIn, "protein-records");
  await using stranger = await openPage("/proteins/P04637");
  await seeText(stranger.page, "No match of it has been scored yet");
  expect(await stranger.page.evaluate(() => document.body.innerText)).not.toContain("pcDNA3");

  await administrator.page.goto(`${opened.url}/administration/features`);
  await press(administrator.page, "button", "Remove: protein-page.tsv");
  await press(administrator.page, "button", "Remove");
});
