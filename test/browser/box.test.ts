import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { scratch } from "../executable/labd.ts";
import { browserTest, checkPage, choose, fill, openPage, press, seeText } from "./browser.ts";
import { findLastBatch, undoSince, write } from "./connection.ts";
import { cell, dragSlot, keys } from "./inventory.ts";

/** The page of a box: the grid, and moves by keyboard, by dragging and with a scanner. */

const BOX = "/inventory/locations/6ba4555e-1c93-550a-9f35-de49e04543dc";

const openBox = async () => {
  const opened = await openPage(BOX, { signedIn: true });
  await opened.page.waitForSelector(".boxgrid");
  return opened;
};
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));

browserTest("shows what is in each slot, and which slots are free", async () => {
  await using opened = await openBox();
  const { page } = opened;
  await seeText(page, "25 of 81 slots in use");
  await cell(page, "A2, p53 TAD reverse, low");
  await cell(page, "C3, next free slot");
  await (await cell(page, "A1, p53 TAD forward"))!.click();
  await seeText(page, "Amplifies the transactivation domain");
  await seeText(page, "Pair: p53 TAD reverse in A2");
  await checkPage(opened, "box");
  await press(page, "button", "List");
  await seeText(page, "BGH reverse");
  await checkPage(opened, "box-list");
});

browserTest("moves a tube by keyboard, and back by undo", async () => {
  await using opened = await openBox();
  const { page } = opened;
  await (await cell(page, "A1, p53 TAD forward"))!.click();
  await keys(page, "End");
  expect(await focused(page)).toStartWith("A9,");
  await keys(page, "Home", "m");
  await seeText(page, "p53 TAD forward is picked up.");
  await keys(page, "ArrowDown", "ArrowDown", "ArrowDown", "Enter");
  await seeText(page, "Moved p53 TAD forward to D1.");
  await cell(page, "D1, p53 TAD forward");
  await press(page, "button", "Undo");
  await cell(page, "A1, p53 TAD forward");
});

browserTest("exchanges two tubes by dragging one onto the other", async () => {
  await using opened = await openBox();
  const { page } = opened;
  await dragSlot(page, "A3", "A4");
  await seeText(page, "Exchanged p53 DBD forward and p53 DBD reverse.");
  await cell(page, "A3, p53 DBD reverse");
  await press(page, "button", "Undo");
  await cell(page, "A3, p53 DBD forward");
});

browserTest("shows tubes without a slot below the grid, from where they are dragged into one", async () => {
  await using opened = await openBox();
  const { page } = opened;
  const tube = "/api/v2/stocks/consumables/5f1e627f-8aba-5e10-93ff-82dee93474e6/";
  const { results } = await write(page, "GET", `${tube}?fields=location&response_format=flat`);
  await write(page, "PATCH", tube, { location: BOX.split("/").at(-1), position: "" });
  await page.reload();
  await seeText(page, "Without a slot 1");
  expect(await page.$$eval("main .list a", (links) => links.map((link) => link.innerText))).toEqual([
    "BsaI-HF",
  ]);
  await checkPage(opened, "box-unplaced");
  await page.evaluate(() => {
    const data = { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true };
    const item = [...document.querySelectorAll("li")].find((each) => each.draggable)!;
    const slot = document.querySelector('[role=gridcell][aria-label^="D1,"]')!;
    item.dispatchEvent(new DragEvent("dragstart", data));
    slot.dispatchEvent(new DragEvent("dragover", data));
    slot.dispatchEvent(new DragEvent("drop", data));
  });
  await cell(page, "D1, BsaI-HF");
  expect(await page.evaluate(() => document.body.innerText)).not.toContain("Without a slot");
  await write(page, "PATCH", tube, { ...(results as object), position: "" });
});

browserTest("puts scanned tubes into the next free slots", async () => {
  await using opened = await openBox();
  const { page } = opened;
  const last = await findLastBatch(page);
  await press(page, "button", "Scan into the box");
  await seeText(page, "The next tube goes to C3.");
  await page.keyboard.type("CO0000001\n");
  await seeText(page, "anti-p53 DO-1 is now in C3. The next tube goes to C9.");
  await page.keyboard.type("unknown\n");
  await seeText(page, "is not the code of a consumable or specimen that you may view.");
  await page.keyboard.type("CO0000002\n");
  await seeText(page, "is now in C9. The next tube goes to D1.");
  await checkPage(opened, "box-scan");
  await press(page, "button", "Undo");
  await seeText(page, "The next tube goes to C9.");
  await cell(page, "C3, anti-p53 DO-1");
  await undoSince(page, last);
});

browserTest("fills free slots with the records of a list, after a preview", async () => {
  await using opened = await openPage("/inventory/stocks-consumables?query=qPCR", { signedIn: true });
  const { page } = opened;
  await seeText(page, "of 4");
  await page.click("thead input[type=checkbox]");
  await press(page, "button", "Move");
  await choose(page, "To location", "Box oligos 2");
  await seeText(page, "Fill free slots in order (81 free)");
  await press(page, "button", "Preview");
  await seeText(page, "4 records will move into free slots.");
  await seeText(page, "A4");
  await checkPage(opened, "box-fill");
  await press(page, "button", "Move 4 records");
  await seeText(page, "Moved 4 records.");
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
});

browserTest("consumes stock, refuses more than is left, and makes aliquots", async () => {
  await using opened = await openPage("/inventory/stocks-consumables?query=ACTB forward", { signedIn: true });
  const { page } = opened;
  const last = await findLastBatch(page);
  await Promise.all([page.waitForNavigation(), press(page, "link", "ACTB forward")]);
  await seeText(page, "low below 20 µL");
  await fill(page, "Use", "200");
  await seeText(page, "At most 180 µL.");
  await fill(page, "Use", "170");
  await seeText(page, "Leaves 10 µL.");
  await page.keyboard.press("Enter");
  await seeText(page, "Used 170 µL.");
  await seeText(page, "Below the minimum");
  await checkPage(opened, "stock");
  await press(page, "button", "Undo");
  await seeText(page, "180 µL");
  await press(page, "button", "Make aliquots");
  await fill(page, "Number of aliquots", "2");
  await fill(page, "Amount of each optional", "40");
  await checkPage(opened, "stock-aliquots");
  await page.keyboard.press("Enter");
  await seeText(page, "Made 2 aliquots.");
  await seeText(page, "100 µL");
  await undoSince(page, last);
});

browserTest("tells boxes of the same label apart where a tube is moved", async () => {
  await using opened = await openBox();
  const { page } = opened;
  const last = await findLastBatch(page);
  const made = async (label: string, parent: string | null): Promise<string> => {
    const { results } = await write(page, "POST", "/api/v2/locations/?response_format=flat", {
      label,
      parent,
    });
    return (results as { id: string }).id;
  };
  for (const shelf of ["Shelf P", "Shelf Q"])
    await made("Same box", await made("Same rack", await made(shelf, null)));
  await (await cell(page, "A1, p53 TAD forward"))!.click();
  await press(page, "button", "Move");
  await fill(page, "Location", "Same box");
  await seeText(page, "Shelf P › Same rack › Same box");
  await seeText(page, "Shelf Q › Same rack › Same box");
  await checkPage(opened, "box-move-same-label");
  await undoSince(page, last);
});

browserTest("moves nine tubes from the front of a freezer to another box, and undoes that", async () => {
  await using opened = await openPage("/inventory/storage", { signedIn: true });
  const { page } = opened;
  await press(page, "button", "Contents of A 101");
  await press(page, "link", "Freezer -20 Enzymes");
  await (await page.waitForSelector("a.bx[aria-label^='Box oligos 1,']"))!.click();
  await seeText(page, "9 × 9, ");
  await Promise.all([page.waitForNavigation(), press(page, "link", "Open box")]);
  await (await cell(page, "A1, p53 TAD forward"))!.focus();
  await page.keyboard.press("Home");
  await page.keyboard.down("Shift");
  await page.keyboard.press("End");
  await page.keyboard.up("Shift");
  await seeText(page, "9 tubes selected");
  expect(await page.$$eval("[role=gridcell][aria-selected=true]", (cells) => cells.length)).toBe(9);
  await checkPage(opened, "box-several");
  await press(page, "button", "Move 9 tubes");
  await fill(page, "Location", "oligos 2");
  await seeText(page, "81 free");
  await checkPage(opened, "box-move-several");
  await choose(page, "Location", "Box oligos 2");
  await page.waitForSelector(".box-picture .here");
  await press(page, "button", "Move");
  await seeText(page, "Moved 9 tubes to Box oligos 2 A1 to A9.");
  await cell(page, "A1, next free slot");
  await cell(page, "A9, free");
  await press(page, "button", "Undo");
  await cell(page, "A1, p53 TAD forward");
  expect(await page.$("[role=gridcell][aria-label^='A9, free']")).toBeNull();
});

browserTest("moves nine tubes by tapping on a phone, and undoes that", async () => {
  await using opened = await openPage("/inventory/storage", { signedIn: true, width: 360 });
  const { page } = opened;
  await press(page, "button", "Contents of A 101");
  await press(page, "link", "Freezer -20 Enzymes");
  await (await page.waitForSelector("a.bx[aria-label^='Box oligos 1,']"))!.click();
  await Promise.all([page.waitForNavigation(), press(page, "link", "Open box")]);
  await press(page, "button", "Select several");
  for (let i = 1; i <= 9; i++) await (await cell(page, `B${i},`))!.click();
  await press(page, "button", "Move 9 tubes");
  await choose(page, "Location", "Box oligos 2");
  await page.waitForSelector(".box-picture .here");
  await press(page, "button", "Move");
  await seeText(page, "Moved 9 tubes to Box oligos 2 A1 to A9.");
  await cell(page, "B9, free");
  await press(page, "button", "Undo");
  await cell(page, "B9, ACTB reverse");
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect([inner, opened.faults]).toEqual([outer, []]);
});

browserTest("opens a box at the slot of a tube, which is used from there", async () => {
  await using opened = await openPage(`${BOX}?at=B9`, { signedIn: true });
  const { page } = opened;
  await page.waitForSelector("[role=gridcell][aria-selected=true][aria-label^='B9,']");
  await fill(page, "Use", "5");
  await page.keyboard.press("Enter");
  await seeText(page, "Used 5");
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
});

browserTest("checks and fills a box from the file of a rack scanner, and undoes that", async () => {
  await using opened = await openPage("/inventory/storage", { signedIn: true });
  const { page, url } = opened;
  const last = await findLastBatch(page);
  const { results } = await write(page, "POST", "/api/v2/locations/?response_format=flat", {
    label: "Scanned rack",
    grid_rows: 2,
    grid_columns: 3,
  });
  await page.goto(`${url}/inventory/locations/${(results as { id: string }).id}`);
  await page.waitForSelector(".boxgrid");
  using place = scratch();
  const path = join(place.directory, "rack.csv");
  writeFileSync(path, "Position;Tube ID\nA01;CO0000004\nA02;CO0000005\nB01;FX999\nB02;NO TUBE\n");
  const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, "button", "Rack scan")]);
  await chooser.accept([path]);
  await seeText(page, "2 moved");
  await seeText(page, "1 unknown");
  await checkPage(opened, "box-rack-scan");
  await press(page, "button", "Move 2 tubes");
  await seeText(page, "Filled Scanned rack from the scan: 2 tubes moved.");
  expect(await page.$("[role=gridcell][aria-label^='A1, free']")).toBeNull();
  await press(page, "button", "Undo");
  await cell(page, "A1, next free slot");
  await undoSince(page, last);
});
