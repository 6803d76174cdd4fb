import { expect, setDefaultTimeout } from "bun:test";
import { arrive, browserTest, checkPage, choose, fill, openPage, press, seeText } from "./browser.ts";

setDefaultTimeout(300_000);

browserTest("finds a protein by gene and species while one types, and scores it", async () => {
  await using opened = await openPage("/score");
  const { page } = opened;
  const optionTexts = () =>
    page.$$eval("[role=option]", (options) =>
      options.filter((each) => each.checkVisibility()).map((each) => (each as HTMLElement).innerText),
    );
  await fill(page, "Find a protein", "unicorn");
  await seeText(page, "None of the 496 proteins of the corpus has this word.");
  await fill(page, "Find a protein", "p53");
  await seeText(page, "more. Add a word, such as a species.");
  await fill(page, "Find a protein", "TP53 hum");
  await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1);
  expect(await optionTexts()).toEqual([
    "Cellular tumor antigen p53 TP53, Homo sapiens, P04637, 393 residues",
  ]);
  await checkPage(opened, "score-find");
  await page.focus("[role=combobox]");
  const isActive = () =>
    page.$eval("[role=combobox]", (input) => {
      const option = document.getElementById(input.getAttribute("aria-activedescendant") ?? "");
      return (
        option?.getAttribute("aria-selected") === "true" && input.getAttribute("aria-expanded") === "true"
      );
    });
  expect(await isActive()).toBe(true);
  await page.keyboard.press("Escape");
  expect(await isActive()).toBe(false);
  await fill(page, "Find a protein", "mdm2 nothing");
  await choose(page, "Find a protein", "cellular tumor antigen", "Cellular tumor antigen p53");
  await seeText(page, "Cellular tumor antigen p53, TP53, Homo sapiens, P04637, 393 residues");
  await fill(page, "Sequence, FASTA or accession", "TP53");
  await seeText(
    page,
    "None of the 496 proteins of the corpus has the accession TP53. Did you mean one of these?",
  );
  await press(page, "button", "TP53 Homo sapiens");
  await seeText(page, "P04637, 393 residues");
  await fill(page, "Search motifs", "MDM2");
  await page.keyboard.press("Enter");
  await press(page, "button", "Score");
  await arrive(page, "/score/");
  await seeText(page, "likely functional: FSDLWKLL at 19–26.");
});
