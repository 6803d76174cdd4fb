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
  press,
  seeText,
} from "./browser.ts";

/** Lists of the inventory: what is shown, by what, and what is done with many records at once. */

/** A record by its name, as the interface has it now. */
const recordOf = async (page: import("puppeteer-core").Page, list: string, filter: string) =>
  page.evaluate(
    async (path) => (await (await fetch(path)).json()).results[0] as Record<string, unknown>,
    `/api/v2/${list}/?${filter}&response_format=flat&fields=*`,
  );

browserTest("the inventory says what there is", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  await seeText(opened.page, "Antibodies that can be had");
  await checkPage(opened, "inventory");
});

browserTest("a list is shown, searched, ordered and paged, and its address says so", async () => {
  await using opened = await openPage("/inventory/locations?page_size=20", { signedIn: true });
  const { page, url } = opened;
  await seeText(page, "46 records");
  await checkPage(opened, "inventory-list");
  await press(page, "button", "Next →");
  await seeText(page, "Page 2 of 3");
  await page.keyboard.press("p");
  await seeText(page, "Page 1 of 3");
  await page.keyboard.press("/");
  await page.keyboard.type("shelf");
  await page.waitForFunction(() => location.search.includes("query=shelf"));
  await page.waitForFunction(() => !document.body.innerText.includes("46 records"));
  expect(page.url()).toStartWith(`${url}/inventory/locations?`);
  await page.keyboard.press("Tab");
  await page.click("th[aria-sort=ascending] button");
  await page.waitForFunction(() => location.search.includes("ordering=-label"));
  await page.reload({ waitUntil: "networkidle2" });
  await page.waitForSelector("th[aria-sort=descending]");
});

browserTest("keys walk through a list, select, open and explain themselves", async () => {
  await using opened = await openPage("/inventory/stocks-specimen", { signedIn: true });
  const { page } = opened;
  await seeText(page, "6 records");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await seeText(page, "1 record selected");
  await page.keyboard.press("?");
  await seeText(page, "next row");
  await checkPage(opened, "inventory-keys");
  await page.keyboard.press("Escape");
  const name = await page.$eval("tr.selected th a", (link) => (link as HTMLElement).innerText);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  await seeText(page, "What refers to it");
  expect(await page.$eval("h1", (heading) => heading.innerText)).toBe(name);
});

browserTest("a filter is put together from fields and values, and is the text of the interface", async () => {
  await using opened = await openPage("/inventory/stocks-consumables", { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  await press(page, "button", "Filter");
  await page.select("select[aria-label='Field']", "location");
  await (await named(page, "combobox", "Field of Location")).waitForSelector("option[value=equipment]");
  await page.select("select[aria-label='Field of Location']", "equipment");
  await page.waitForSelector("select[aria-label='Field of Equipment'] option[value=name]");
  await page.select("select[aria-label='Field of Equipment']", "name");
  await page.select("select[aria-label='How it is compared']", "icontains");
  await page.type("input[aria-label='Value']", "fridge");
  await press(page, "button", "Add a group");
  await page.waitForFunction(() => document.querySelectorAll(".filter-row").length === 2);
  const inner = (await page.$$(".filter-row"))[1];
  await (await inner.$("select[aria-label='Field']"))!.select("status");
  await (await inner.$("select[aria-label='How it is compared']"))!.select("not exact");
  await (await inner.$("input[aria-label='Value']"))!.type("EMPTY");
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
  await seeText(page, `${total} records`);
  expect(total).toBeGreaterThan(0);
  // The text can be edited; what is wrong is said by the server, at once and in words.
  await page.evaluate(() =>
    document.querySelector<HTMLDetailsElement>(".filter-panel details")!.setAttribute("open", ""),
  );
  await fill(page, "Expression", '{"category":"colour","operator":"==","value":"x"}');
  await press(page, "button", "Apply");
  await seeText(page, "is not a field of consumable");
  await checkPage(opened, "inventory-filter-refused");
});

browserTest("a value is changed in its cell, a conflict is shown, and undo takes it back", async () => {
  await using opened = await openPage("/inventory/stocks-consumables?name=BsaI", { signedIn: true });
  const { page } = opened;
  await seeText(page, "BsaI-HF");
  const edit = async (value: string): Promise<void> => {
    await page.click("button[aria-label='Edit status of BsaI-HF']");
    await page.waitForSelector(".cell-editor input");
    await page.$eval(".cell-editor input", (box) => (box as HTMLInputElement).select());
    await page.keyboard.type(value);
    await page.keyboard.press("Enter");
  };
  await edit("low");
  await seeText(page, "upper case letters");
  await checkPage(opened, "inventory-cell-refused");
  await page.keyboard.press("Escape");
  await edit("LOW");
  await seeText(page, "Status of BsaI-HF changed.");
  expect((await recordOf(page, "stocks/consumables", "name=BsaI-HF")).status).toBe("LOW");
  const { id } = await recordOf(page, "stocks/consumables", "name=BsaI-HF");
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
  await edit("EMPTY");
  await seeText(page, "Changed in the meantime");
  await seeText(page, "ORDERED");
  await checkPage(opened, "inventory-conflict");
  await press(page, "button", "Save mine all the same");
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("EMPTY"));
  const undo = await page.$$(".announcement button:not(.quiet)");
  await undo.at(-1)!.click();
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("ORDERED"));
});

browserTest("all that a filter finds is changed after a preview, and taken back in one click", async () => {
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
  await press(page, "button", "Change");
  await page.waitForSelector("dialog");
  await page.select("dialog select", "description");
  await fill(page, "New value", "Checked by the bulk test");
  await press(page, "button", "Show what would change");
  await seeText(page, `${total} records would be changed`);
  await page.waitForFunction(() => !document.querySelector(".preview")?.textContent?.includes("…"));
  await checkPage(opened, "inventory-bulk-preview");
  await press(page, "button", `Change ${total} records`);
  await seeText(page, `${total} records changed.`);
  expect(await count("description=Checked by the bulk test")).toBe(total);
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  expect(await count("description=Checked by the bulk test")).toBe(0);
});

browserTest("a selection reaches over pages; what cannot be deleted says why", async () => {
  await using opened = await openPage("/inventory/locations?page_size=20", { signedIn: true });
  const { page } = opened;
  await seeText(page, "46 records");
  const boxes = await page.$$("tbody input[type=checkbox]");
  await boxes[2].click();
  await page.keyboard.down("Shift");
  await boxes[6].click();
  await page.keyboard.up("Shift");
  await seeText(page, "5 records selected");
  await page.click("input[aria-label='Select all on this page']");
  await press(page, "button", "Next →");
  await seeText(page, "Page 2 of 3");
  await seeText(page, "20 records selected");
  await page.click("input[aria-label='Select all on this page']");
  await seeText(page, "40 records selected");
  await press(page, "button", "Select all 46 that are found");
  await seeText(page, "46 records selected");
  await press(page, "button", "Delete");
  await seeText(page, "cannot be written, so that nothing was.");
  await page.waitForFunction(() =>
    /is the location of records/.test(document.querySelector("dialog")!.innerText),
  );
  await checkPage(opened, "inventory-bulk-refused");
});

browserTest("records are moved together, and shared together", async () => {
  await using opened = await openPage("/inventory/stocks-specimen", { signedIn: true });
  const { page } = opened;
  await seeText(page, "6 records");
  await page.click("input[aria-label='Select all on this page']");
  await press(page, "button", "Move");
  await choose(page, "To: location", "anem", "Anemone");
  await checkPage(opened, "inventory-move");
  await press(page, "button", "Show what would change");
  await seeText(page, "would be changed");
  await page.waitForFunction(() =>
    document.querySelector(".preview")?.textContent?.includes("Anemone shelf"),
  );
  await page.click("dialog .primary");
  await seeText(page, "records changed.");
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
  await press(page, "button", "Share");
  await named(page, "textbox", "Group");
  await checkPage(opened, "inventory-share");
  await choose(page, "Group", "SYS", "SYSTEM_GROUP");
  await press(page, "button", "Show what would change");
  await seeText(page, "records would get another right there.");
  await checkPage(opened, "inventory-share-preview");
  await page.click("dialog .primary");
  await seeText(page, "records shared.");
  await (await page.$$(".announcement button:not(.quiet)")).at(-1)!.click();
  await page.waitForFunction(() => document.body.innerText.match(/Undone\./g)?.length === 2);
});

browserTest("what is shown is kept as a view, seen by its owner, and opened again", async () => {
  await using opened = await openPage(
    "/inventory/locations?query=shelf&ordering=-label&fields=label,barcode",
    {
      signedIn: true,
    },
  );
  const { page, url } = opened;
  await page.waitForSelector("tbody tr");
  await page.click("details.menu:nth-of-type(1) summary");
  await named(page, "textbox", "Save what is shown as");
  await seeText(page, "In the -80 North");
  await checkPage(opened, "inventory-views");
  await fill(page, "Save what is shown as", "Shelves, backwards");
  await press(page, "button", "Save");
  await seeText(page, "Nobody else sees it until you share it.");
  await seeText(page, "shown");
  await page.goto(`${url}/inventory`, { waitUntil: "networkidle2" });
  await Promise.all([page.waitForNavigation(), press(page, "link", "Shelves, backwards")]);
  expect(new URL(page.url()).searchParams.get("ordering")).toBe("-label");
  await page.waitForSelector("th[aria-sort=descending]");
  await seeText(page, "Barcode");
});

browserTest("columns are chosen, also over references", async () => {
  await using opened = await openPage("/inventory/stocks-consumables", { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  await page.click("details.menu:nth-of-type(2) summary");
  await fill(page, "A column over a reference", "location__equipment__name");
  await press(page, "button", "Add");
  await page.waitForFunction(() => document.querySelector("thead")?.innerText.includes("equipment"));
  await checkPage(opened, "inventory-columns");
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("Fridge Antibodies"));
});

browserTest(
  "nobody's list is readable without signing in, and offers nothing that would be refused",
  async () => {
    await using opened = await openPage("/inventory/locations");
    // One of the 46 is not public.
    await seeText(opened.page, "45 records");
    expect(await opened.page.$$("button.edit")).toEqual([]);
    await opened.page.click("tbody input[type=checkbox]");
    await seeText(opened.page, "Sign in to change them.");
    await checkPage(opened, "inventory-anonymous");
  },
);

browserTest(
  "what is found is a file, and a page that prints without what is only for the screen",
  async () => {
    await using opened = await openPage("/inventory/locations?query=shelf&fields=label,barcode", {
      signedIn: true,
    });
    const { page } = opened;
    await page.waitForSelector("tbody tr");
    const rows = (await page.$$("tbody tr")).length;
    for (const format of ["csv", "xlsx"]) {
      const { status, type, lines } = await page.evaluate(async (wanted) => {
        const link = [...document.querySelectorAll("a")].find(({ href }) =>
          href.includes(`format=${wanted}`),
        )!;
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
      /Filter|Next|✎/,
    );
    await page.screenshot({
      path: join(ARTEFACTS, "inventory-print.png") as `${string}.png`,
      fullPage: true,
    });
  },
);
