import { expect, setDefaultTimeout } from "bun:test";
import { arrive, browserTest, checkPage, openPage, press, seeRow, seeText } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

browserTest("compares orthologs from the page of a result, with linked tracks", async () => {
  const motifs = { patterns: ["F...W..[VIL]", "P..P"] };
  const human = await scored({ accession: "P04637", ...motifs });
  const sequence = async (): Promise<string> => {
    const answer = await fetch(`${opened.url}/api/scoring/proteins/P02340`);
    return ((await answer.json()) as { sequence: string }).sequence;
  };
  await using opened = await openPage(`/score/${human}`, { isOwner: true });
  const { page, url } = opened;
  page.setDefaultTimeout(20_000);
  // Papers count three residues that the sample lacks.
  const mouse = await scored({ identifier: "mouse p53", querySequence: `MTA${await sequence()}`, ...motifs });
  await press(page, "button", "Compare with…");
  await page.waitForSelector("dialog [role=combobox]");
  await page.keyboard.type("mouse");
  await page.waitForFunction(() =>
    document.querySelector("dialog [role=option]")?.textContent?.startsWith("mouse p53"),
  );
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  expect(await arrive(page, "/score/compare")).toBe(`${url}/score/compare?a=${human}&b=${mouse}`);
  await seeText(page, "TP53, Homo sapiens and mouse p53, compared");
  await seeText(page, "identical, paired by alignment");
  await seeRow(page, /FSDLWKLL.*19–26.*FSGLWKLL.*22–29.*kept/);
  await seeRow(page, /no match.*gained|no match.*lost/);

  // L22 and W23 of humans are L25 and W26 of the mouse (Johnson et al., Mol. Cell. Biol. 2005, 25:10016).
  await page.waitForFunction(() => document.querySelectorAll(".tracks").length === 2);
  const residues = (): Promise<(string | null)[]> =>
    page.$$eval(".readout b", (names) => names.map(({ textContent }) => textContent));
  await page.focus(".tracks");
  for (let i = 0; i < 23; i++) await page.keyboard.press("ArrowRight");
  expect(await residues()).toEqual(["W23", "W26"]);
  await (await page.$$(".tracks"))[1].focus();
  await page.keyboard.press("ArrowLeft");
  expect(await residues()).toEqual(["L22", "L25"]);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.search.includes("at=22"));
  await checkPage(opened, "compare-orthologs");
  // No column is cut off.
  const cut = await page.$$eval(
    ".card table",
    (tables) => tables.filter((table) => table.scrollWidth > table.parentElement!.clientWidth).length,
  );
  expect(cut).toBe(0);

  // The second result from its link; a mutant loses the match.
  const mutated = await scored({ accession: "P04637", ...motifs, variant: "W23A" });
  await page.goto(`${url}/score/${human}`);
  await press(page, "button", "Compare with…");
  await page.waitForSelector("dialog [role=combobox]");
  await page.keyboard.sendCharacter(`${url}/score/${mutated}?match=1`);
  await page.waitForSelector("dialog [role=option]");
  await checkPage(opened, "compare-with");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  expect(await arrive(page, "/score/compare")).toBe(`${url}/score/compare?a=${human}&b=${mutated}`);
  await seeRow(page, /FSDLWKLL.*no match.*broken/);
});
