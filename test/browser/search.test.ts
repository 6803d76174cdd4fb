import { expect } from "bun:test";
import { arrive, browserTest, checkPage, openPage, press, seeText } from "./browser.ts";

browserTest("finds records, people and proteins from any page", async () => {
  await using opened = await openPage("/inventory", { signedIn: true });
  const { page } = opened;
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.keyboard.type("p53");
  await page.waitForFunction(() => document.querySelectorAll("dialog [role=option]").length > 3);
  const active = () =>
    page.$eval("[role=combobox]", (input) => {
      const option = document.getElementById(input.getAttribute("aria-activedescendant") ?? "");
      return option?.getAttribute("aria-selected") === "true" ? (option as HTMLElement).innerText : "";
    });
  expect(await active()).toBe("All results for “p53”");
  await page.keyboard.press("ArrowDown");
  expect(await active()).not.toBe("All results for “p53”");
  await checkPage(opened, "search-dialog");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await arrive(page, "/search");
  await seeText(page, "Cellular tumor antigen p53");
  await checkPage(opened, "search");
  await page.goto(`${opened.url}/search?q=admin`);
  await seeText(page, "Users");
  await page.click("a[href*='/users/']");
  await arrive(page, "/inventory/users/");
  await seeText(page, "Primary group");
  expect(await page.evaluate(() => document.body.innerText)).not.toContain("Not found");
  await page.goto(`${opened.url}/search?q=nothing-like-this`);
  await seeText(page, "Nothing found");
  await checkPage(opened, "search-nothing");
});

browserTest("opens the record of a scanned barcode at once", async () => {
  await using opened = await openPage("/", { signedIn: true });
  const { page, url } = opened;
  const { results } = await page.evaluate(
    async (address) =>
      (await fetch(address)).json() as Promise<{ results: { id: string; barcode: string }[] }>,
    `${url}/api/v2/stocks/consumables/?fields=id,barcode&barcode__startswith=C&page_size=1`,
  );
  await page.waitForSelector("[aria-label='Sign out']");
  await page.keyboard.press("/");
  // As fast as a scanner: nothing is awaited between the keys.
  await page.keyboard.type(results[0].barcode);
  await page.keyboard.press("Enter");
  expect(await arrive(page, "/inventory/stocks-consumables/")).toContain(results[0].id);
});

browserTest("opens the record of a barcode that is scanned while no field has the focus", async () => {
  await using opened = await openPage("/inventory/stocks-specimen", { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("tbody tr");
  const scan = (code: string, gap: number) =>
    page.evaluate(
      async (keys, wait) => {
        for (const key of keys) {
          document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          if (wait > 0) await new Promise((done) => setTimeout(done, wait));
        }
      },
      [...code, "Enter"],
      gap,
    );
  // A person types slower; "j" and Enter are shortcuts of the list.
  await page.focus(".input.search");
  await scan("CO0000115", 0);
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await scan("CO0000115", 80);
  expect(new URL(page.url()).pathname).toBe("/inventory/stocks-specimen");
  await Promise.all([page.waitForNavigation(), scan("CO0000115", 0)]);
  await arrive(page, "/inventory/stocks-consumables/");
  await seeText(page, "ACTB forward");
});

browserTest("shows where records are, and leads to the lists of all results", async () => {
  await using opened = await openPage("/search?q=oligos", { signedIn: true });
  const { page } = opened;
  await seeText(page, "-20 Enzymes");
  await page.goto(`${opened.url}/search?q=p53`);
  await seeText(page, "Box oligos");
  await page.waitForSelector(".card-foot a[href*='query=p53']");
  await Promise.all([page.waitForNavigation(), page.click(".card-foot a[href*='query=p53']")]);
  expect(new URL(page.url()).pathname).toBe("/inventory/stocks-consumables");
  await page.waitForFunction(() => document.querySelector("tbody")?.innerText.includes("p53"));
});

browserTest("shows all results of one list, and deleted records on request", async () => {
  await using opened = await openPage("/search?q=box", { signedIn: true });
  const { page } = opened;
  await seeText(page, "By name: 10 in Locations");
  await page.click(".card-foot a[href*='list=']");
  await seeText(page, "Search in ");
  await page.waitForFunction(() => document.querySelectorAll(".found li").length > 5);
  await press(page, "checkbox", "Include deleted records");
  await page.waitForFunction(() => location.search.includes("deleted=all"));
});
