import { expect } from "bun:test";
import type { Page } from "puppeteer-core";
import { browserTest, checkPage, named, openPage, press, seeText } from "./browser.ts";
import { write } from "./connection.ts";

/** Changes of many records are undone from the message about them, and from the list of recent changes. */

const DRAWER = "f0edd1ea-6c21-549a-babe-04232fb34961";
const CONSUMABLES = "/api/v2/stocks/consumables/";
const NAMES = new Set(["HEPES 1 M pH 7.4", "T4 DNA ligase"]);

interface Stored {
  id: string;
  name: string;
  location__label: string | null;
}

const stored = async (page: Page): Promise<Stored[]> => {
  const query = "fields=id,name,location__label&response_format=flat&page_size=max&ordering=name";
  const { results } = await write(page, "GET", `${CONSUMABLES}?${query}`);
  return (results as Stored[]).filter(({ name }) => NAMES.has(name));
};

browserTest(
  "undoes a move of several records from the list of recent changes",
  async () => {
    await using opened = await openPage("/inventory/stocks-consumables", { signedIn: true });
    const { page, url } = opened;
    await seeText(page, "BsaI-HF");
    const before = await stored(page);
    const items = before.map(({ id }) => id);
    expect(before).toHaveLength(2);
    await write(page, "PATCH", CONSUMABLES, { items, location: DRAWER });
    await press(page, "button", "More");
    await Promise.all([page.waitForNavigation(), press(page, "link", "Recent changes")]);
    const moved = "admin moved 2 consumables to -20 drawer 1";
    await seeText(page, moved);
    await checkPage(opened, "recent-changes");
    await press(page, "button", `Undo: ${moved}`);
    await seeText(page, "admin undid: moved 2 consumables to -20 drawer 1");
    await seeText(page, "The batch has been undone.");
    expect(await stored(page)).toEqual(before);
    await press(page, "button", "Undo: admin undid: moved 2 consumables to -20 drawer 1");
    await seeText(page, "admin repeated: moved 2 consumables to -20 drawer 1");
    await press(page, "button", "Undo: admin repeated: moved 2 consumables to -20 drawer 1");
    await page.waitForFunction(() => document.body.innerText.match(/undid: moved/g)?.length === 2);
    expect(await stored(page)).toEqual(before);
    await (await named(page, "combobox", "Made by")).select("me");
    await seeText(page, moved);
    await page.goto(`${url}/inventory`);
    await seeText(page, "Recent changes");
    await seeText(page, moved);
    await checkPage(opened, "recent-changes-overview");
    expect(opened.faults).toEqual([]);
  },
  300_000,
);
