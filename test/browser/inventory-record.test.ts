import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Page } from "puppeteer-core";
import {
  artefact,
  browserTest,
  choose,
  checkPage,
  fill,
  named,
  openPage,
  post,
  press,
  seeText,
} from "./browser.ts";
import { write } from "./connection.ts";

/** Id of the record that a filter finds first. */
const findId = (page: Page, list: string, filter: string): Promise<string> =>
  page.evaluate(
    async (path) => String((await (await fetch(path)).json()).results[0].id),
    `/api/v2/${list}/?${filter}`,
  );

browserTest("shows properties, location, references and history of a record", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const id = await findId(page, "locations", "label=-80 North");
  await page.goto(`${url}/inventory/locations/${id}`, { waitUntil: "networkidle2" });
  await seeText(page, "Freezer -80 North, whole");
  await seeText(page, "3 in locations");
  await seeText(page, "-80 North shelf 2");
  const crumbs = "nav[aria-label='Breadcrumbs']";
  await page.waitForFunction(
    (nav) => document.querySelector<HTMLElement>(nav)?.innerText.includes("Freezer"),
    {},
    crumbs,
  );
  expect(await page.$eval(crumbs, (path) => path.innerText.replace(/[\s/›]+/g, " ").trim())).toBe(
    "Storage A 002 Freezer -80 North",
  );
  await checkPage(opened, "inventory-record");
});

browserTest(
  "adds a record with errors at its fields, and edits, restores, deletes and undeletes it",
  async () => {
    await using opened = await openPage("/inventory/stocks-consumables/new", { signedIn: true });
    const { page } = opened;
    await named(page, "textbox", "Name");
    await press(page, "button", "Add");
    await seeText(page, "This field is required.");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-invalid"))).toBe("true");
    await fill(page, "Name", "Taq polymerase");
    await fill(page, "Type optional", "Enzyme");
    await fill(page, "Amount optional", "a lot");
    await choose(page, "Location optional", "Box oligos 2");
    await seeText(page, "Next free position: A1.");
    await choose(page, "Location optional", "-20 drawer 2");
    await press(page, "button", "Add");
    await seeText(page, "A valid number is required.");
    await checkPage(opened, "inventory-new-refused");
    await fill(page, "Amount optional", "0.5");
    await Promise.all([page.waitForNavigation(), press(page, "button", "Add")]);
    await seeText(page, "-20 drawer 2");
    await seeText(page, "created it");
    await page.keyboard.press("e");
    await fill(page, "Amount optional", "0.25");
    await checkPage(opened, "inventory-edit");
    await press(page, "button", "Save");
    await seeText(page, "changed Amount from 0.5 to 0.25");
    await page.waitForFunction(() => document.body.innerText.includes("0.25"));
    await press(page, "button", "Compare versions");
    await page.waitForFunction(() => document.querySelector("dialog td")?.textContent?.includes("0.5"));
    await checkPage(opened, "inventory-compare");
    await press(page, "button", "Restore version 1");
    await seeText(page, "Restored version 1.");
    await page.waitForFunction(() => document.querySelectorAll(".timeline li").length === 3);
    await checkPage(opened, "inventory-history");
    await press(page, "button", "More");
    await press(page, "button", "Delete");
    await seeText(page, "It will be hidden from lists.");
    // The focus is on no button.
    await page.keyboard.press("Space");
    await seeText(page, "It will be hidden from lists.");
    await page.click("dialog .btn-danger");
    await seeText(page, "Deleted by admin");
    // The amount and the place are still shown, but nothing changes them.
    await seeText(page, "0.25");
    await page.waitForSelector("nav[aria-label=Location] a");
    const offered = await page.$$eval("main .record button", (all) => all.map(({ innerText }) => innerText));
    expect(offered).toEqual(["Compare versions", "Keyboard shortcuts"]);
    expect(await page.evaluate(() => document.querySelector("main")!.innerText)).not.toContain("Not found");
    await checkPage(opened, "inventory-deleted");
    await press(page, "button", "Restore");
    await seeText(page, "Restored.");
    await page.waitForFunction(() => !document.body.innerText.includes("Deleted by admin"));
    await press(page, "button", "More");
    await press(page, "button", "Delete");
    await page.waitForSelector("dialog .btn-danger");
    await page.click("dialog .btn-danger");
    await seeText(page, "Deleted by admin");
    await page.waitForFunction(() =>
      Array.from(document.querySelectorAll(".toast")).some(({ textContent }) =>
        textContent?.includes("Deleted"),
      ),
    );
    await page.$$eval(".toast", (toasts) => {
      const deleted = toasts.findLast(({ textContent }) => textContent?.includes("Deleted"));
      deleted!.querySelector("button")!.click();
    });
    await seeText(page, "Undone.");
    await page.waitForFunction(() => !document.body.innerText.includes("Deleted by admin"));
  },
);

browserTest("keeps the focus with what people do, in forms and after dialogs", async () => {
  await using opened = await openPage("/inventory/stocks-consumables/new", { signedIn: true });
  const { page } = opened;
  const { keyboard } = page;
  const focusOn = (name: string): Promise<unknown> =>
    page.waitForFunction(
      (wanted) => {
        const element = document.activeElement as HTMLInputElement;
        return (element.labels?.[0] ?? element).innerText.trim().startsWith(wanted);
      },
      {},
      name,
    );
  await focusOn("Name");
  await keyboard.type("Moved by keyboard");
  await choose(page, "Location optional", "-20 drawer 2");
  await (await named(page, "button", "Add")).press("Enter");
  await seeText(page, "created it");
  await (await named(page, "button", "Move")).press("Enter");
  await focusOn("Location");
  // Typing replaces the location.
  await keyboard.type("Another shelf");
  await page.waitForSelector("[role=option] .icon");
  await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await focusOn("Label");
  await keyboard.press("Enter");
  await seeText(page, "Created Another shelf.");
  await focusOn("Location");
  await keyboard.press("Escape");
  await focusOn("Move");
  await (await named(page, "button", "Add metadata")).press("Enter");
  await focusOn("Annotation to add");
  await (await named(page, "button", "Edit")).press("Enter");
  await focusOn("Name");
  await (await named(page, "button", "Cancel")).press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "content");
});

browserTest("adds annotations, notes and files, and shares a record", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const id = await findId(page, "stocks/specimen", "name=Tg(krt4:EGFP) 12");
  await page.goto(`${url}/inventory/stocks-specimen/${id}`, { waitUntil: "networkidle2" });
  await press(page, "button", "Add metadata");
  const choice = await named(page, "combobox", "Annotation to add");
  const species = await choice.$$eval(
    "option",
    (options) => options.find(({ innerText }) => innerText === "Species")!.value,
  );
  await choice.select(species);
  await choose(page, "Value", "homo", "Homo sapiens");
  // A type with a single value replaces it.
  await press(page, "button", "Replace");
  await page.waitForFunction(() =>
    [...document.querySelectorAll("dd")].some(({ innerText }) => innerText.startsWith("Homo sapiens")),
  );
  await fill(page, "New note", "Moved to the new tank.\nCount them again in May.");
  await press(page, "button", "Add note");
  await seeText(page, "Count them again in May.");
  const chooser = await page.waitForSelector("input[type=file]");
  await (chooser as import("puppeteer-core").ElementHandle<HTMLInputElement>).uploadFile(
    new URL(import.meta.url).pathname,
  );
  await seeText(page, "Added inventory-record.test.ts.");
  // A picture, and a file that only claims to be one.
  const picture = artefact("plate-photo");
  await page.screenshot({ path: picture });
  const broken = artefact("plate-broken");
  writeFileSync(broken, "no picture");
  const input = chooser as import("puppeteer-core").ElementHandle<HTMLInputElement>;
  await input.uploadFile(picture, broken);
  await seeText(page, "Added plate-broken.png.");
  await page.waitForFunction(() => document.querySelectorAll(".photo").length === 1);
  await press(page, "button", "Show plate-photo.png");
  await page.waitForFunction(() => document.querySelector<HTMLImageElement>("dialog img")!.naturalWidth > 0);
  await checkPage(opened, "inventory-picture");
  await page.keyboard.press("Escape");
  await press(page, "button", "Share");
  await seeText(page, "Who can see it now");
  await choose(page, "Person or group", "SYS", "Laboratory");
  await page.click("dialog form.share-form button[type=submit]");
  await seeText(page, "Shared with Laboratory.");
  // Elements outside an open dialog cannot be clicked.
  await page.click("dialog .toast:last-child button");
  await seeText(page, "Undone.");
  await page.waitForFunction(() => !document.querySelector(".shares select"));
  await choose(page, "Person or group", "admin");
  await page.click("dialog form.share-form button[type=submit]");
  await page.waitForSelector("select[aria-label='Permission of admin']");
  await checkPage(opened, "inventory-attached");
});

browserTest("shows what becomes visible before a record is published, and asks", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const name = "Draft of a plate";
  await post(page, "/api/v2/stocks/consumables/", { name, model_type: "OTHER" });
  const id = await findId(page, "stocks/consumables", `name=${name}`);
  await post(page, `/api/v2/stocks/consumables/${id}/notes/`, { content: "Not for everyone yet." });
  await page.goto(`${url}/inventory/stocks-consumables/${id}`, { waitUntil: "networkidle2" });
  await press(page, "button", "Share");
  const isChecked = async (): Promise<boolean> =>
    (await named(page, "checkbox", "Everyone can view")).evaluate((box) => (box as HTMLInputElement).checked);
  await press(page, "checkbox", "Everyone can view");
  await seeText(page, "Everyone will be able to view:");
  await seeText(page, "Draft of a plate, with 1 note");
  await seeText(page, "1 earlier version will stay hidden.");
  await checkPage(opened, "inventory-publish");
  await press(page, "button", "Cancel");
  await seeText(page, "Cancelled.");
  expect(await isChecked()).toBe(false);
  await press(page, "checkbox", "Everyone can view");
  await press(page, "button", "Make public");
  await seeText(page, "Everyone can view it.");
  expect(await isChecked()).toBe(true);
});

browserTest("merges a unit into another of the same meaning after a preview, and takes it back", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const category = await findId(page, "vocabularies/categories", "kind=unit");
  await post(page, "/api/v2/vocabularies/terms/", { name: "ul", category, public: true });
  await post(page, "/api/v2/vocabularies/terms/", { name: "microlitres", category, public: true });
  const from = await findId(page, "vocabularies/terms", "name=ul");
  await post(page, "/api/v2/stocks/consumables/", { name: "Merged tube", amount: 20, unit: from });
  await page.goto(`${url}/inventory/vocabularies-terms/${from}`, { waitUntil: "networkidle2" });
  await seeText(page, "Units of the same meaning");
  await checkPage(opened, "inventory-same-units");
  // The list has all units of the same meaning, which are merged at once.
  await page.goto(`${url}/inventory/vocabularies-terms`, { waitUntil: "networkidle2" });
  await checkPage(opened, "inventory-same-units-list");
  await press(page, "button", "Merge 2 units");
  await seeText(page, "microlitres, ul into microliter. 1 record will have the other unit;");
  await checkPage(opened, "inventory-merge-units");
  await page.click("dialog .btn-primary");
  await seeText(page, "Merged 2 units.");
  const findUnit = () =>
    page.evaluate(
      async () => (await (await fetch("/api/v2/consumables/?name=Merged tube")).json()).results[0].unit,
    );
  expect(await findUnit()).toBe(await findId(page, "vocabularies/terms", "name=microliter"));
  await page.click(".toast:last-child button");
  await seeText(page, "Undone.");
  await seeText(page, "Merge 2 units");
  expect(await findUnit()).toBe(from);
});

browserTest("shows hints on empty lists", async () => {
  await using opened = await openPage("/inventory/locations/00000000-0000-4000-8000-00000000dead");
  await seeText(opened.page, "Not found.");
  await checkPage(opened, "inventory-not-found");
});

browserTest("shows a public record without signing in, and offers no writes", async () => {
  await using opened = await openPage("/inventory");
  const { page, url } = opened;
  const id = await findId(page, "stocks/consumables", "name=anti-GFP");
  await page.goto(`${url}/inventory/stocks-consumables/${id}`, { waitUntil: "networkidle2" });
  await seeText(page, "Fridge Antibodies");
  await seeText(page, "created it");
  const buttons = await page.$$eval("main button", (all) =>
    all.map((button) => button.ariaLabel ?? button.innerText),
  );
  // Earlier tests may have changed it.
  expect(buttons.filter((name) => name !== "Compare versions")).toEqual(["More", "Keyboard shortcuts"]);
  await checkPage(opened, "inventory-record-anonymous");
});

/** Names of the records of a lineage, and whether each is the one of the page. */
const readLineage = (page: Page): Promise<(string | boolean)[][]> =>
  page.$$eval(".lineage .lin > a, .lineage .lin > b", (names) =>
    names.map((name) => [name.textContent, name.tagName === "B"]),
  );

browserTest("shows the family of an aliquot, and to each reader the records that they may view", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page, url } = opened;
  const list = "/api/v2/stocks/consumables/";
  const given = { name: "Lineage serum", model_type: "ANTIBODY", amount: 1, public: false };
  const { id: source } = (await write(page, "POST", list, given)) as unknown as { id: string };
  const divide = async (of: string, aliquots: object): Promise<string[]> => {
    await write(page, "POST", `${list}${of}/aliquots/`, aliquots);
    const { results } = await write(page, "GET", `${list}?aliquot_of=${of}&ordering=name`);
    return (results as { id: string }[]).map(({ id }) => id);
  };
  const [mine] = await divide(source, { count: 3, amount: 0.2 });
  const [, child] = await divide(mine, { count: 2, amount: 0.05 });
  const address = (id: string) => `${url}/inventory/consumables/${id}`;
  await page.goto(address(mine), { waitUntil: "networkidle2" });
  await seeText(page, "Where it comes from");
  const tree = await page.$$eval(".lineage li", (items) =>
    items.map((item) => [
      item.querySelector(".lin > a, .lin > b")?.textContent,
      item.querySelectorAll("li").length,
      item.querySelector(".lin > small")?.textContent,
    ]),
  );
  expect(tree).toEqual([
    ["Lineage serum", 5, "0.4"],
    ["Lineage serum 1", 2, "0.1"],
    ["Lineage serum 1 1", 0, "0.05"],
    ["Lineage serum 1 2", 0, "0.05"],
    ["Lineage serum 2", 0, "0.2"],
    ["Lineage serum 3", 0, "0.2"],
  ]);
  expect(await page.evaluate(() => document.body.innerText)).not.toContain("Referenced by");
  await checkPage(opened, "inventory-lineage");
  await page.goto(address(source), { waitUntil: "networkidle2" });
  expect(await page.$$eval(".lineage .me > ul > li", (items) => items.length)).toBe(3);

  await using other = await openPage("/inventory");
  for (const id of [mine, child]) {
    const { confirm } = (await write(page, "PATCH", `${list}${id}/`, { public: true })) as unknown as {
      confirm?: string;
    };
    if (confirm) await write(page, "PATCH", `${list}${id}/?confirm=${confirm}`, { public: true });
  }
  await other.page.goto(address(mine), { waitUntil: "networkidle2" });
  await seeText(other.page, "Where it comes from");
  expect(await readLineage(other.page)).toEqual([
    ["Lineage serum 1", true],
    ["Lineage serum 1 2", false],
  ]);
  expect(await other.page.$eval(".lineage", ({ textContent }) => textContent)).not.toContain("more");
  await other.page.goto(address(child), { waitUntil: "networkidle2" });
  await seeText(other.page, "Where it comes from");
  expect(await readLineage(other.page)).toEqual([
    ["Lineage serum 1", false],
    ["Lineage serum 1 2", true],
  ]);
  expect([...opened.faults, ...other.faults]).toEqual([]);
});
