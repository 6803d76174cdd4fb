import { expect } from "bun:test";
import type { Page } from "puppeteer-core";
import { browserTest, choose, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

/** One record: read, made, changed, annotated, shared, deleted and brought back. */

/** Id of the record that a filter finds first. */
const idOf = (page: Page, list: string, filter: string): Promise<string> =>
  page.evaluate(
    async (path) => String((await (await fetch(path)).json()).results[0].id),
    `/api/v2/${list}/?${filter}`,
  );

browserTest("a record shows what it is, where it is, what refers to it and what was done to it", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const id = await idOf(page, "locations", "label=-80 North");
  await page.goto(`${url}/inventory/locations/${id}`, { waitUntil: "networkidle2" });
  await seeText(page, "Freezer -80 North, whole");
  await seeText(page, "3 in locations");
  await seeText(page, "-80 North shelf 2");
  expect(
    await page.$eval("nav[aria-label='Where it is']", (trail) => trail.innerText.replace(/\s+/g, " ")),
  ).toBe("Everything A 002 Freezer -80 North -80 North");
  await checkPage(opened, "inventory-record");
});

browserTest(
  "a record is made with errors at their fields, changed, restored, deleted and brought back",
  async () => {
    await using opened = await openPage("/inventory/stocks-consumables/new", { signedIn: true });
    const { page } = opened;
    await named(page, "textbox", "Name");
    await press(page, "button", "Add");
    await seeText(page, "This field is required.");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-invalid"))).toBe("true");
    await fill(page, "Name", "Taq polymerase");
    await fill(page, "Model type optional", "enzyme");
    await fill(page, "Amount optional", "a lot");
    await choose(page, "Location optional", "-20 drawer 2");
    await press(page, "button", "Add");
    await seeText(page, "A valid number is required.");
    await seeText(page, "upper case letters");
    await checkPage(opened, "inventory-new-refused");
    await fill(page, "Model type optional", "ENZYME");
    await fill(page, "Amount optional", "0.5");
    await Promise.all([page.waitForNavigation(), press(page, "button", "Add")]);
    await seeText(page, "-20 drawer 2");
    await seeText(page, "made it");
    await page.keyboard.press("e");
    await fill(page, "Amount optional", "0.25");
    await checkPage(opened, "inventory-edit");
    await press(page, "button", "Save");
    await seeText(page, "changed it");
    await page.waitForFunction(() => document.body.innerText.includes("0.25"));
    await (await page.waitForSelector(".history button"))!.click();
    await seeText(page, "It is as it was in version 1.");
    await page.waitForFunction(() => document.querySelectorAll(".history li").length === 3);
    await checkPage(opened, "inventory-history");
    await press(page, "button", "Delete");
    await seeText(page, "It goes out of all lists.");
    await Promise.all([page.waitForNavigation(), page.click("dialog .danger")]);
    await seeText(page, "Deleted by admin");
    await checkPage(opened, "inventory-deleted");
    await press(page, "button", "Bring it back");
    await seeText(page, "It is back.");
    await page.waitForFunction(() => !document.body.innerText.includes("Deleted by admin"));
  },
);

browserTest("a record is annotated, noted on, given files, and shared", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const id = await idOf(page, "stocks/specimen", "name=Tg(krt4:EGFP) 12");
  await page.goto(`${url}/inventory/stocks-specimen/${id}`, { waitUntil: "networkidle2" });
  const choice = await named(page, "combobox", "Annotate with");
  const species = await choice.$$eval(
    "option",
    (options) => options.find(({ innerText }) => innerText === "Species")!.value,
  );
  await choice.select(species);
  await choose(page, "Value", "homo", "Homo sapiens");
  // It takes one value, and has one: another takes its place.
  await press(page, "button", "Change");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("dd")].some(({ innerText }) => innerText.startsWith("Homo sapiens")),
  );
  await fill(page, "New note", "Moved to the new tank.\nCount them again in May.");
  await press(page, "button", "Add the note");
  await seeText(page, "Count them again in May.");
  const chooser = await page.waitForSelector("input[type=file]");
  await (chooser as import("puppeteer-core").ElementHandle<HTMLInputElement>).uploadFile(
    new URL(import.meta.url).pathname,
  );
  await press(page, "button", "Add the files");
  await seeText(page, "inventory-record.test.ts added.");
  await page.select("form.share-form select", "group");
  await choose(page, "Group", "SYS", "SYSTEM_GROUP");
  await press(page, "button", "Share");
  await seeText(page, "Shared with SYSTEM_GROUP.");
  await page.waitForSelector("select[aria-label='What SYSTEM_GROUP may do']");
  await checkPage(opened, "inventory-attached");
});

browserTest("a record that is not there, or not for the caller, says what to do", async () => {
  await using opened = await openPage("/inventory/locations/00000000-0000-4000-8000-00000000dead");
  await seeText(opened.page, "Not found.");
  await checkPage(opened, "inventory-not-found");
});

browserTest(
  "nobody in particular reads a public record, and is offered nothing that would be refused",
  async () => {
    await using opened = await openPage("/inventory");
    const { page, url } = opened;
    const id = await idOf(page, "stocks/consumables", "name=anti-GFP");
    await page.goto(`${url}/inventory/stocks-consumables/${id}`, { waitUntil: "networkidle2" });
    await seeText(page, "Fridge Antibodies");
    await seeText(page, "made it");
    const buttons = await page.$$eval("main button", (all) => all.map(({ innerText }) => innerText.trim()));
    expect(buttons).toEqual([expect.stringContaining("Keys")]);
    await checkPage(opened, "inventory-record-anonymous");
  },
);
