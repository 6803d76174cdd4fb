import { expect, setDefaultTimeout } from "bun:test";
import { arrive, browserTest, checkPage, disclose, fill, openPage, press, seeText } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

browserTest("tries variants on the page of a result and of a scan", async () => {
  const id = await scored({ accession: "P04637", patterns: ["F...W..[VIL]", "P..P"] });
  await using opened = await openPage(`/score/${id}`);
  const { page } = opened;
  page.setDefaultTimeout(10_000);
  await disclose(page, "Try a variant");
  await fill(page, "Variants of the protein", "L23A");
  await press(page, "button", "Score the variants");
  await seeText(page, "L23A: residue 23 is W, not L.");
  await fill(page, "Variants of the protein", "W23A, F19A+P89A\n4 P P");
  await press(page, "button", "Score the variants");
  await seeText(page, "broken");
  await seeText(page, "No match changes with P4P.");
  await checkPage(opened, "variants");
  // The table has an address.
  await page.reload();
  await seeText(page, "No match changes with P4P.");
  await press(page, "link", "W23A");
  await seeText(page, "Variant W23A, scored with the homologs of the unchanged protein.");
  await press(page, "link", "Compare with the first");
  expect(await arrive(page, "/score/compare")).toContain(`a=${id}`);
  await seeText(page, "no match");
  await checkPage(opened, "compare-variant");
  const scan = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB", "LC3-LIR"] });
  await using second = await openPage(`/scan/${scan}`);
  await disclose(second.page, "Try a variant");
  await fill(second.page, "Variants of the protein", "p.Trp23Ala");
  await press(second.page, "button", "Score the variants");
  await seeText(second.page, "broken");
  await checkPage(second, "scan-variants");
});
