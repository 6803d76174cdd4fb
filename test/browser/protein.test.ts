import { expect, setDefaultTimeout } from "bun:test";
import { arrive, browserTest, checkPage, fill, openPage, press, seeText } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

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
  await checkPage(opened, "protein-new");
  await page.goto(`${opened.url}/proteins/TP53`);
  await seeText(page, "No protein of the corpus has the accession TP53");
  await press(page, "link", "Cellular tumor antigen p53");
  await arrive(page, "/proteins/P04637");
});

browserTest("shows a protein with its features, results, homologs and records", async () => {
  await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"], patterns: ["P..P"] });
  const scan = await scored({ accession: "P04637", allMotifClasses: true });
  await using opened = await openPage("/proteins/P04637", { isOwner: true, width: 1280 });
  const { page } = opened;
  await seeText(page, "Scored matches");
  await seeText(page, "On the tree");
  await checkPage(opened, "protein");
  expect(scan).not.toBe("");
});
