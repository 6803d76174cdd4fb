import { expect } from "bun:test";
import { browserTest, checkPage, choose, fill, openPage, press, seeText } from "./browser.ts";

/** Annotations as columns, facets, filters and orderings of list pages, and set in bulk. */

const CLONALITY = "annotations__clonality";
const LIST = `/inventory/stocks-consumables?model_type=ANTIBODY&fields=name,annotations__host,${CLONALITY}`;

const column = (page: import("puppeteer-core").Page, title: string): Promise<string[]> =>
  page.evaluate((wanted) => {
    const titles = [...document.querySelectorAll("thead th")].map((cell) => cell.textContent?.trim() ?? "");
    const at = titles.findIndex((each) => each.startsWith(wanted));
    return [...document.querySelectorAll("tbody tr")].map(
      (row) => row.children[at]?.textContent?.trim() ?? "",
    );
  }, title);

browserTest("shows, narrows and orders a list by annotations", async () => {
  await using opened = await openPage(LIST, { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  expect(await column(page, "Clonality")).toContain("Monoclonal");
  await checkPage(opened, "inventory-annotations");
  await press(page, "button", "Clonality");
  await page.waitForFunction((name) => location.search.includes(`ordering=${name}`), {}, CLONALITY);
  await press(page, "button", "Filter");
  await press(page, "checkbox", "Monoclonal");
  await page.waitForFunction((name) => location.search.includes(`${name}=monoclonal`), {}, CLONALITY);
  await page.waitForFunction(() => !document.querySelector("tbody")?.innerText.includes("Polyclonal"));
  expect(new Set(await column(page, "Clonality"))).toEqual(new Set(["Monoclonal"]));
  await checkPage(opened, "inventory-annotations-facet");
});

browserTest("filters by an annotation and by a field of the record that it refers to", async () => {
  await using opened = await openPage(LIST, { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  await press(page, "button", "Filter");
  await press(page, "summary", "Conditions");
  await page.select("select[aria-label='Field']", "annotations__host");
  await page.waitForSelector("select[aria-label='Field of Raised in'] option[value=name]");
  await page.select("select[aria-label='Field of Raised in']", "name");
  await page.select("select[aria-label='Comparison']", "icontains");
  await page.type("input[aria-label='Value']", "ORYCT");
  await press(page, "button", "Apply");
  await page.waitForFunction(() => location.search.includes("annotations__host__name"));
  await page.waitForFunction(() => !document.querySelector("tbody")?.innerText.includes("Mus musculus"));
  expect(new Set(await column(page, "Raised in"))).toEqual(new Set(["Oryctolagus cuniculus"]));
  expect(await page.$eval("select[aria-label='Field']", (field) => field.value)).toBe("annotations__host");
  await checkPage(opened, "inventory-annotations-filter");
});

browserTest("sets an annotation of several records after a preview, and takes it back", async () => {
  await using opened = await openPage(`${LIST}&query=anti`, { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  const before = await column(page, "Clonality");
  await press(page, "button", "Filter");
  await page.waitForSelector(".facets");
  const facets = () => page.$eval(".facets", (element) => (element as HTMLElement).innerText);
  const counts = await facets();
  expect(counts).toContain("Monoclonal");
  await (await page.waitForSelector("thead input[type=checkbox]"))!.click();
  await press(page, "button", "Edit");
  await page.waitForSelector(`dialog select option[value=${CLONALITY}]`);
  await page.select("dialog select", CLONALITY);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("dialog option")].some(({ textContent }) => textContent === "Recombinant"),
  );
  const selects = await page.$$("dialog select");
  await selects.at(-1)!.select("recombinant");
  await press(page, "button", "Preview");
  await seeText(page, "will change");
  await checkPage(opened, "inventory-annotations-preview");
  await press(page, "button", `Change ${before.length} records`);
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("Recombinant"));
  expect(new Set(await column(page, "Clonality"))).toEqual(new Set(["Recombinant"]));
  await page.waitForFunction(() =>
    /Recombinant\s+3/.test(document.querySelector<HTMLElement>(".facets")!.innerText),
  );
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  await page.waitForFunction(() => !document.querySelector("tbody")?.innerText.includes("Recombinant"));
  expect(await column(page, "Clonality")).toEqual(before);
  await page.waitForFunction(
    (text) => document.querySelector<HTMLElement>(".facets")!.innerText === text,
    {},
    counts,
  );
});

browserTest("sets an annotation in its cell, and takes it back", async () => {
  await using opened = await openPage(`${LIST}&query=anti-GFP`, { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  await (await page.waitForSelector("button[title='Edit clonality of anti-GFP']"))!.click();
  await page.select(".cell-editor select", "recombinant");
  await press(page, "button", "Save");
  await seeText(page, "Changed clonality of anti-GFP.");
  await page.waitForFunction(() => !document.querySelector(".cell-editor"));
  expect(await column(page, "Clonality")).toEqual(["Recombinant"]);
  expect(await column(page, "Raised in")).toEqual(["Oryctolagus cuniculus"]);
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("Polyclonal"));
});

browserTest("makes an annotation type with a preview, and says where a type is used", async () => {
  await using opened = await openPage("/inventory/annotationtypes/new", { signedIn: true });
  const { page } = opened;
  await fill(page, "Name", "Host strain");
  await press(page, "radio", "Choice from a choice list");
  await choose(page, "Choice list", "species");
  await seeText(page, "Capra hircus, Danio rerio, Drosophila melanogaster and");
  await page.waitForFunction(() =>
    /Host strain.*ACTB forward\s*Capra hircus/s.test(document.querySelector(".card .card")!.textContent),
  );
  expect(await page.evaluate(() => document.body.innerText)).not.toContain("Data of LabID");
  await checkPage(opened, "annotation-type");
  await press(page, "button", "Add");
  await seeText(page, "No record that you can view has a value.");
  await page.goto(`${opened.url}/inventory/annotationtypes?query=species`);
  await Promise.all([page.waitForNavigation(), press(page, "link", "Species")]);
  const use = await page.waitForSelector("a[href*='annotations__species__isnull']");
  await Promise.all([page.waitForNavigation(), use!.click()]);
  await seeText(page, "Danio rerio");
  expect(await page.$eval(".chip", (chip) => chip.textContent)).toBe("Species is empty: no");
});
