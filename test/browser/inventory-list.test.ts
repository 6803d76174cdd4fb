import { expect } from "bun:test";
import { join } from "node:path";
import {
  ARTEFACTS,
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

/** A record as the API returns it. */
const findRecord = async (page: import("puppeteer-core").Page, list: string, filter: string) =>
  page.evaluate(
    async (path) => (await (await fetch(path)).json()).results[0] as Record<string, unknown>,
    `/api/v2/${list}/?${filter}&response_format=flat&fields=*`,
  );

browserTest("shows the lists of the inventory", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  await seeText(opened.page, "Available antibodies");
  await checkPage(opened, "inventory");
});

browserTest("searches, orders and pages a list by its address", async () => {
  await using opened = await openPage("/inventory/locations?page_size=20", { signedIn: true });
  const { page, url } = opened;
  await seeText(page, "of 46");
  await checkPage(opened, "inventory-list");
  await press(page, "button", "Next");
  await seeText(page, "21–40 of 46");
  await page.keyboard.press("p");
  await seeText(page, "1–20 of 46");
  await page.keyboard.press("/");
  await page.keyboard.type("shelf");
  await page.waitForFunction(() => location.search.includes("query=shelf"));
  await page.waitForFunction(() => !document.body.innerText.includes("of 46"));
  expect(page.url()).toStartWith(`${url}/inventory/locations?`);
  await page.keyboard.press("Tab");
  await page.click("th[aria-sort=ascending] button");
  await page.waitForFunction(() => location.search.includes("ordering=-label"));
  await page.reload({ waitUntil: "networkidle2" });
  await page.waitForSelector("th[aria-sort=descending]");
});

browserTest("moves, selects and opens rows by keyboard", async () => {
  await using opened = await openPage("/inventory/stocks-specimen", { signedIn: true });
  const { page } = opened;
  await seeText(page, "of 6");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await seeText(page, "1 record selected");
  await page.keyboard.press("?");
  await seeText(page, "next row");
  await checkPage(opened, "inventory-keys");
  await page.keyboard.press("Escape");
  const name = await page.$eval("tr.active th a", (link) => (link as HTMLElement).innerText);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  await seeText(page, "History");
  expect(await page.$eval("h1", (heading) => heading.innerText)).toBe(name);
});

browserTest("builds an advanced filter, which is the expression of the API", async () => {
  await using opened = await openPage("/inventory/stocks-consumables", { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  await press(page, "button", "Filter");
  await press(page, "summary", "Conditions");
  await page.select("select[aria-label='Field']", "location");
  await (await named(page, "combobox", "Field of Location")).waitForSelector("option[value=equipment]");
  await page.select("select[aria-label='Field of Location']", "equipment");
  await page.waitForSelector("select[aria-label='Field of Equipment'] option[value=name]");
  await page.select("select[aria-label='Field of Equipment']", "name");
  await page.select("select[aria-label='Comparison']", "icontains");
  await page.type("input[aria-label='Value']", "fridge");
  await press(page, "button", "Add a group");
  await page.waitForFunction(() => document.querySelectorAll(".filter-row").length === 2);
  const inner = (await page.$$(".filter-row"))[1];
  await (await inner.$("select[aria-label='Field']"))!.select("status");
  await (await inner.$("select[aria-label='Comparison']"))!.select("not exact");
  await (await inner.$("input[aria-label='Value']"))!.type("Empty");
  await checkPage(opened, "inventory-filter");
  await press(page, "button", "Apply");
  await page.waitForFunction(() => location.search.includes("query_expression"));
  const expression = new URL(page.url()).searchParams.get("query_expression");
  expect(expression).toBe(
    '{"category":"location__equipment__name","operator":"icontains","value":"fridge"},{"or":[{"not":{"category":"status","operator":"==","value":"EMPTY"}}]}',
  );
  const { total } = (await page.evaluate(
    async (query) => (await fetch(`/api/v2/stocks/consumables/?query_expression=${query}`)).json(),
    encodeURIComponent(expression!),
  )) as { total: number };
  await seeText(page, `of ${total}`);
  expect(total).toBeGreaterThan(0);
  await page.evaluate(() =>
    document.querySelector<HTMLDetailsElement>("form details")!.setAttribute("open", ""),
  );
  await fill(page, "Expression", '{"category":"colour","operator":"==","value":"x"}');
  await press(page, "button", "Apply");
  await seeText(page, "is not a field of consumable");
  await checkPage(opened, "inventory-filter-refused");
});

browserTest(
  "shows views with their numbers, slots, and rows as dense as this browser keeps them",
  async () => {
    await using opened = await openPage("/inventory/stocks-consumables", {
      signedIn: true,
      width: 1280,
    });
    const { page } = opened;
    await seeText(page, "Box oligos 1, B8");
    const tabs = () =>
      page.$$eval(".tabs .tab", (links) => links.map(({ textContent }) => textContent.trim()));
    await page.waitForFunction(() => document.querySelectorAll(".tabs .count").length > 4);
    expect(await tabs()).toContain("Below minimum 5");
    expect(await page.$eval(".table-scroll", (box) => box.scrollWidth - box.clientWidth)).toBe(0);
    const height = () => page.$eval("tbody tr", (row) => row.getBoundingClientRect().height);
    const before = await height();
    await press(page, "button", "Compact rows");
    expect(await height()).toBeLessThan(before);
    await page.reload({ waitUntil: "networkidle2" });
    expect(await height()).toBeLessThan(before);
    await checkPage(opened, "inventory-compact");
    await press(page, "button", "Comfortable rows");
    await press(page, "button", "Filter");
    await press(page, "checkbox", "Enzyme");
    await seeText(page, "1–2 of 2");
    await checkPage(opened, "inventory-facets");
    await Promise.all([page.waitForNavigation(), page.click(".tab[href*=below_minimum]")]);
    await page.waitForSelector(".tab[aria-current][href*=below_minimum]");
    await seeText(page, "1–5 of 5");
  },
);

browserTest("shortens long values before the table becomes wider than the page", async () => {
  const columns =
    "name,model_type,status,location,amount,expiry,description,annotations__host,annotations__sequence";
  await using opened = await openPage(`/inventory/stocks-consumables?fields=${columns}`, {
    signedIn: true,
    width: 1280,
  });
  const { page } = opened;
  await seeText(page, "Oryctolagus cuniculus");
  expect(await page.$eval(".table-scroll", (box) => box.scrollWidth - box.clientWidth)).toBe(0);
  const cut = (selector: string) =>
    page.$$eval(selector, (cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
  expect(await cut(".cell-long > :first-child")).toBeGreaterThan(0);
  expect(await cut(".cell:not(.cell-long) > *")).toBe(0);
});

browserTest("leads from names that are not found to the search of everything", async () => {
  await using opened = await openPage("/inventory/stocks-consumables?query=CO0000115", { signedIn: true });
  const { page } = opened;
  await Promise.all([page.waitForNavigation(), press(page, "link", "Search barcodes and texts too")]);
  await seeText(page, "ACTB forward");
});

browserTest("edits a value in its cell, shows a conflict, and undoes it", async () => {
  await using opened = await openPage("/inventory/stocks-consumables?name=BsaI", { signedIn: true });
  const { page } = opened;
  await seeText(page, "BsaI-HF");
  const edit = async (value: string): Promise<void> => {
    await page.click("button[title='Edit status of BsaI-HF']");
    await page.waitForSelector(".cell-editor input");
    await page.$eval(".cell-editor input", (box) => (box as HTMLInputElement).select());
    await page.keyboard.type(value);
    await page.keyboard.press("Enter");
  };
  await edit("x".repeat(300));
  await page.keyboard.press("Escape");
  await edit("low");
  await seeText(page, "Changed status of BsaI-HF.");
  await page.waitForFunction(
    () => document.querySelector("button[title='Edit status of BsaI-HF']")?.textContent === "Low",
  );
  expect((await findRecord(page, "stocks/consumables", "name=BsaI-HF")).status).toBe("LOW");
  const { id } = await findRecord(page, "stocks/consumables", "name=BsaI-HF");
  const session = await page.evaluate(
    async () => (await (await fetch("/api/v2/session/")).json()).csrf_token as string,
  );
  await page.evaluate(
    async (path, token) => {
      await fetch(path, {
        method: "PATCH",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token },
        body: '{"status":"ORDERED"}',
      });
    },
    `/api/v2/stocks/consumables/${String(id)}/`,
    session,
  );
  await edit("Empty");
  await seeText(page, "Changed in the meantime");
  await seeText(page, "Ordered");
  await checkPage(opened, "inventory-conflict");
  await press(page, "button", "Overwrite");
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("Empty"));
  await (await page.$$(".toast button:not([aria-label])")).at(-1)!.click();
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("Ordered"));
});

browserTest("changes selected records after a preview, and undoes it", async () => {
  await using opened = await openPage("/inventory/locations?page_size=20&query=rack", { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  const count = async (query: string): Promise<number> =>
    page.evaluate(
      async (path) => (await (await fetch(path)).json()).total as number,
      `/api/v2/locations/?${query}`,
    );
  const total = await count("query=rack");
  await page.click("input[aria-label='Select all on this page']");
  await seeText(page, `${total} records selected`);
  await press(page, "button", "Edit");
  await page.waitForSelector("dialog");
  await page.select("dialog select", "description");
  await fill(page, "New value", "Checked by the bulk test");
  await press(page, "button", "Preview");
  await seeText(page, `${total} records will change`);
  await page.waitForFunction(() => !document.querySelector("dialog table")?.textContent?.includes("…"));
  await checkPage(opened, "inventory-bulk-preview");
  await press(page, "button", `Change ${total} records`);
  await seeText(page, `Changed ${total} records.`);
  expect(await count("description=Checked by the bulk test")).toBe(total);
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  expect(await count("description=Checked by the bulk test")).toBe(0);
});

browserTest("shows which records a change of many publishes", async () => {
  await using opened = await openPage("/inventory/stocks-consumables?name=Draft", { signedIn: true });
  const { page } = opened;
  for (const name of ["Draft 1", "Draft 2"])
    await post(page, "/api/v2/stocks/consumables/", { name, model_type: "OTHER" });
  await page.reload({ waitUntil: "networkidle2" });
  await page.click("input[aria-label='Select all on this page']");
  await press(page, "button", "Edit");
  await page.waitForSelector("dialog");
  await page.select("dialog select", "public");
  await press(page, "checkbox", "New value");
  await press(page, "button", "Preview");
  await seeText(page, "Everyone will be able to view:");
  await seeText(page, "Draft 2.");
  await checkPage(opened, "inventory-bulk-publish");
  await press(page, "button", "Change 2 records");
  await seeText(page, "Changed 2 records.");
});

browserTest("selects over pages, and explains what cannot be deleted", async () => {
  await using opened = await openPage("/inventory/locations?page_size=20", { signedIn: true });
  const { page } = opened;
  await seeText(page, "of 46");
  const boxes = await page.$$("tbody input[type=checkbox]");
  await boxes[2].click();
  await page.keyboard.down("Shift");
  await boxes[6].click();
  await page.keyboard.up("Shift");
  await seeText(page, "5 records selected");
  await page.click("input[aria-label='Select all on this page']");
  await press(page, "button", "Next");
  await seeText(page, "21–40 of 46");
  await seeText(page, "20 records selected");
  await page.click("input[aria-label='Select all on this page']");
  await seeText(page, "40 records selected");
  await press(page, "button", "Select all 46");
  await seeText(page, "46 records selected");
  await press(page, "button", "Delete");
  await seeText(page, "cannot be changed, so nothing was changed.");
  await page.waitForFunction(() =>
    /is the location of records/.test(document.querySelector("dialog")!.innerText),
  );
  await checkPage(opened, "inventory-bulk-refused");
});

browserTest("moves and shares many records", async () => {
  await using opened = await openPage("/inventory/stocks-specimen", { signedIn: true });
  const { page } = opened;
  await seeText(page, "of 6");
  await page.click("input[aria-label='Select all on this page']");
  await press(page, "button", "Move");
  await choose(page, "To location", "anem", "Anemone");
  await checkPage(opened, "inventory-move");
  await press(page, "button", "Preview");
  await seeText(page, "will change");
  await page.waitForFunction(() =>
    document.querySelector("dialog table")?.textContent?.includes("Anemone shelf"),
  );
  await page.click("dialog .btn-primary");
  await seeText(page, "Changed 6 records.");
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  await press(page, "button", "Share");
  await named(page, "textbox", "Person or group");
  await checkPage(opened, "inventory-share");
  await choose(page, "Person or group", "SYS", "Laboratory");
  await press(page, "button", "Preview");
  await seeText(page, "will get new permissions.");
  await checkPage(opened, "inventory-share-preview");
  await page.click("dialog .btn-primary");
  await seeText(page, "Shared ");
  await (await page.$$(".toast button:not([aria-label])")).at(-1)!.click();
  await page.waitForFunction(() => document.body.innerText.match(/Undone\./g)?.length === 2);
});

browserTest("saves a view and opens it again", async () => {
  await using opened = await openPage(
    "/inventory/locations?query=shelf&ordering=-label&fields=label,barcode",
    {
      signedIn: true,
    },
  );
  const { page, url } = opened;
  await page.waitForSelector("tbody tr");
  await seeText(page, "In the -80 North");
  await press(page, "button", "Save view");
  await fill(page, "Name", "Shelves, backwards");
  await checkPage(opened, "inventory-views");
  await press(page, "button", "Save");
  await seeText(page, "Only you can see it until you share it.");
  // Its tab is there at once.
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".tab")].some((tab) => tab.textContent!.includes("Shelves, backwards")),
  );
  await page.goto(`${url}/inventory`, { waitUntil: "networkidle2" });
  await Promise.all([page.waitForNavigation(), press(page, "link", "Shelves, backwards")]);
  expect(new URL(page.url()).searchParams.get("ordering")).toBe("-label");
  await page.waitForSelector("th[aria-sort=descending]");
  await seeText(page, "Barcode");
});

browserTest("adds columns, also of referenced records", async () => {
  await using opened = await openPage("/inventory/stocks-consumables", { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  await press(page, "button", "Columns");
  await seeText(page, "Column of another record");
  for (const [field, part] of [
    ["Field of Location", "equipment"],
    ["Field of Equipment", "name"],
  ])
    await (await named(page, "combobox", field)).select(part);
  await press(page, "button", "Add column");
  await page.waitForFunction(() => document.querySelector("thead")?.innerText.includes("equipment"));
  await checkPage(opened, "inventory-columns");
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("Fridge Antibodies"));
});

browserTest("keeps header and names in sight, and every column legible", async () => {
  const fields = "name,model_type,status,location,amount,expiry,supplier,lot,location__equipment__name";
  await using opened = await openPage(`/inventory/stocks-consumables?fields=${fields}`, { signedIn: true });
  const { page } = opened;
  await page.setViewport({ width: 900, height: 700 });
  await page.waitForSelector("tbody tr");
  const seen = await page.$eval(".table-scroll", (part) => {
    part.scrollTo(400, 300);
    const { left, top } = part.getBoundingClientRect();
    const columnAt = (y: number) =>
      document.elementFromPoint(left + 60, top + y)?.closest<HTMLTableCellElement>("th")?.cellIndex;
    const location = part.querySelector("tbody td:has(.cell-long)")!;
    return [part.scrollLeft > 0, part.scrollTop > 0, columnAt(10), columnAt(200), location.clientWidth > 90];
  });
  expect(seen).toEqual([true, true, 1, 1, true]);
});

browserTest("shows public records without signing in, and offers no writes", async () => {
  await using opened = await openPage("/inventory/locations?page_size=20");
  // One of the 46 is not public.
  await seeText(opened.page, "of 45");
  expect(await opened.page.$$(".cell-edit")).toEqual([]);
  await opened.page.click("tbody input[type=checkbox]");
  await seeText(opened.page, "Sign in to change them.");
  await checkPage(opened, "inventory-anonymous");
});

browserTest("exports and prints a list", async () => {
  await using opened = await openPage("/inventory/locations?query=shelf&fields=label,barcode", {
    signedIn: true,
  });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  const rows = (await page.$$("tbody tr")).length;
  for (const format of ["csv", "xlsx"]) {
    const { status, type, lines } = await page.evaluate(async (wanted) => {
      const link = [...document.querySelectorAll("a")].find(({ href }) => href.includes(`format=${wanted}`))!;
      const response = await fetch(link.href);
      return {
        status: response.status,
        type: response.headers.get("Content-Type"),
        lines: (await response.text()).trim().split("\r\n"),
      };
    }, format);
    expect([status, type]).toEqual([
      200,
      expect.stringContaining(format === "csv" ? "text/csv" : "spreadsheet"),
    ]);
    if (format === "csv") expect([lines[0], lines.length]).toEqual(["id,label,barcode", rows + 1]);
  }
  await page.emulateMediaType("print");
  expect(await page.evaluate(() => document.querySelector<HTMLElement>("main")!.innerText)).not.toMatch(
    /Filter|Next|Columns/,
  );
  await page.screenshot({
    path: join(ARTEFACTS, "inventory-print.png") as `${string}.png`,
    fullPage: true,
  });
});
