import { expect, setDefaultTimeout } from "bun:test";
import {
  arrive,
  browserTest,
  checkPage,
  disclose,
  fill,
  named,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

browserTest("scores again with chosen homologs, and fills the form from the result", async () => {
  const id = await scored({ accession: "P04637", patterns: ["F...W..[VIL]"] });
  await using opened = await openPage(`/score/${id}`);
  const { page } = opened;
  page.setDefaultTimeout(8000);
  await disclose(page, "Choose the homologs");
  await fill(page, "Lowest identity in %", "10");
  await press(page, "button", "Score again");
  await seeText(page, "Enter a number from 25 to 100.");
  await fill(page, "Lowest identity in %", "40");
  await fill(page, "Only these organisms", "Mus musculus, Homo sapeins");
  await press(page, "button", "Score again");
  await seeText(page, 'The corpus in use has no protein of "Homo sapeins".');
  await fill(page, "Only these organisms", "");
  await press(page, "checkbox", "P02340");
  await seeText(page, "1 of 26 homologs left out");
  await checkPage(opened, "choose-homologs");
  await press(page, "button", "Score again");
  await page.waitForFunction((old) => !location.pathname.includes(old), {}, id);
  expect(await arrive(page, "/score/")).toContain(`?first=${id}`);
  await seeText(page, "Homologs were chosen: with 40 % to 100 % identity; without P02340.");
  await press(page, "link", "Compare with the first");
  await arrive(page, "/score/compare");
  await seeText(page, "First result");
  await seeText(page, "sample (");
  await checkPage(opened, "compare");
  await page.goBack();
  await press(page, "link", "Edit and score again");
  await seeText(page, "Choose the homologs");
  const value = async (label: string) =>
    (await named(page, "textbox", label)).evaluate((input) => (input as HTMLInputElement).value);
  expect(await value("Leave out these proteins")).toBe("P02340");
  expect(await value("Lowest identity in %")).toBe("40");
  await page.waitForFunction(() => location.search.includes("leaveOut=P02340"));
  await page.reload();
  await seeText(page, "Choose the homologs");
  expect(await value("Leave out these proteins")).toBe("P02340");
});

browserTest("scores on an alignment of the reader's, and leaves out its rows", async () => {
  const { url } = await site();
  const id = await scored({ accession: "P04637", patterns: ["F...W..[VIL]"] });
  const a3m = await (await fetch(`${url}/api/scoring/jobs/${id}/result?format=a3m`)).text();
  await using opened = await openPage("/score?pattern=F...W..%5BVIL%5D");
  const { page } = opened;
  page.setDefaultTimeout(8000);
  const source = await named(page, "combobox", "Homologs");
  await source.evaluate((select) => {
    (select as unknown as HTMLSelectElement).value = "own";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await press(page, "button", "Score");
  await seeText(page, "Expected aligned FASTA, A3M, Clustal or Stockholm");
  await fill(page, "Your alignment", a3m);
  await fill(page, "Row of your protein optional", "nobody");
  await press(page, "button", "Score");
  await seeText(page, 'No row of the alignment has the identifier "nobody".');
  await checkPage(opened, "own-alignment");
  await fill(page, "Row of your protein optional", "");
  await press(page, "button", "Score");
  await arrive(page, "/score/");
  await seeText(page, "26 homologs from your own alignment");
  await disclose(page, "Use from a program");
  await page.waitForSelector("pre[data-call=Python]");
  expect(opened.faults).toEqual([]);
  await disclose(page, "Choose the homologs");
  await press(page, "checkbox", "P02340");
  const before = page.url();
  await press(page, "button", "Score again");
  await page.waitForFunction((old) => location.href !== old, {}, before);
  await seeText(page, "25 homologs from your own alignment");
});
