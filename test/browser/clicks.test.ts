import { expect } from "bun:test";
import type { Page } from "puppeteer-core";
import { browserTest, checkPage, fill, named, openPage, press, seeText, type Opened } from "./browser.ts";
import { write } from "./connection.ts";
import { cell } from "./inventory.ts";

/** What the daily steps of a technician cost, in clicks of the mouse and presses of keys. */

const BOX = "6ba4555e-1c93-550a-9f35-de49e04543dc";
const LIST = "/api/v2/stocks/consumables/";

/** Opens a page that counts clicks and presses, also across pages. Typing with `fill` presses no keys. */
async function openCounting(path: string): Promise<Opened> {
  const opened = await openPage("/inventory", { signedIn: true });
  await opened.page.evaluateOnNewDocument(() => {
    const count = (name: string) => (event: Event) => {
      // Enter in a form is a click of its button, without a position.
      if (event.isTrusted && (name === "keys" || (event as MouseEvent).detail > 0))
        sessionStorage.setItem(name, String(Number(sessionStorage.getItem(name)) + 1));
    };
    addEventListener("click", count("clicks"), true);
    addEventListener("keydown", count("keys"), true);
  });
  await opened.page.goto(opened.url + path);
  return opened;
}

const counted = (page: Page, name: "clicks" | "keys"): Promise<number> =>
  page.evaluate((key) => Number(sessionStorage.getItem(key)), name);

/** Makes a tube in the box. @returns its id */
async function makeTube(page: Page, values: object): Promise<string> {
  const { results } = await write(page, "POST", `${LIST}?response_format=flat`, { location: BOX, ...values });
  return (results as { id: string }).id;
}

const removeTube = (page: Page, id: string) => write(page, "POST", `${LIST}bulk_delete/`, { ids: [id] });

browserTest("puts a new tube away with one click, and finds an existing one", async () => {
  await using opened = await openCounting(`/inventory/locations/${BOX}`);
  const { page } = opened;
  await press(page, "button", "Add to C3");
  await page.waitForFunction(() => document.activeElement?.tagName === "INPUT");
  await page.keyboard.type("Fresh primer");
  await page.keyboard.press("Enter");
  await seeText(page, "Added Fresh primer to C3.");
  await cell(page, "C3, Fresh primer");
  expect(await counted(page, "clicks")).toBe(1);
  await press(page, "button", "Add to C9");
  await fill(page, "Name", "fresh pri");
  await named(page, "button", "Move here: Fresh primer");
  await checkPage(opened, "box-add");
  await press(page, "button", "Move here: Fresh primer");
  await cell(page, "C9, Fresh primer");
  await press(page, "button", "Add to C3");
  await page.keyboard.type("CO0000001\n");
  await seeText(page, "Moved anti-p53 DO-1 to C3.");
  // The toast of the first move may still be there.
  await page.$$eval(".toast", (toasts) => {
    const moved = toasts.findLast(({ textContent }) => textContent?.includes("Moved anti-p53 DO-1"));
    moved!.querySelector("button")!.click();
  });
  await cell(page, "C3, next free slot");
  const { results } = await write(page, "GET", `${LIST}?name=Fresh primer&fields=id`);
  await removeTube(page, (results as { id: string }[])[0].id);
});

browserTest("takes a tube out from its record with one click", async () => {
  await using opened = await openCounting("/inventory");
  const { page, url } = opened;
  const id = await makeTube(page, { name: "Borrowed tube", position: "D3" });
  await page.goto(`${url}/inventory/stocks-consumables/${id}`);
  await press(page, "button", "Take out");
  await seeText(page, "You have it");
  expect(await counted(page, "clicks")).toBe(1);
  await removeTube(page, id);
});

browserTest("uses an amount from the box with two clicks, and by keyboard with four keys", async () => {
  await using opened = await openCounting("/inventory");
  const { page, url } = opened;
  const { results } = await write(page, "GET", `/api/v2/terms/?name__exact=microliter&fields=id`);
  const unit = (results as { id: string }[])[0].id;
  const id = await makeTube(page, { name: "Used tube", position: "D4", amount: 100, unit });
  await page.goto(`${url}/inventory/locations/${BOX}`);
  await (await cell(page, "D4, Used tube"))!.click();
  const amount = await named(page, "textbox", "Use");
  await amount.click();
  await page.keyboard.type("20");
  await page.keyboard.press("Enter");
  await seeText(page, "Used 20 µL.");
  expect(await counted(page, "clicks")).toBe(2);

  await page.goto(`${url}/inventory/stocks-consumables/${id}`);
  await seeText(page, "As last time.");
  await page.evaluate(() => sessionStorage.clear());
  await page.keyboard.type("a20");
  await page.keyboard.press("Enter");
  await seeText(page, "Used 20 µL.");
  await seeText(page, "used 20 µL, 60 µL left");
  expect(await counted(page, "keys")).toBe(4);
  expect(await counted(page, "clicks")).toBe(0);
  await removeTube(page, id);
});
