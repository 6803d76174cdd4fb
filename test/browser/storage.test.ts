import { expect } from "bun:test";
import type { Page } from "puppeteer-core";
import { browserTest, choose, checkPage, fill, openPage, press, seeText } from "./browser.ts";
import { write } from "./connection.ts";
import { follow } from "./inventory.ts";

/** Storage: the tree of rooms, equipment and locations, and the front of a freezer. */

const openStorage = (path = "") => openPage(`/inventory/storage${path}`, { signedIn: true });

/** Waits for the tree to show a place, or to show it no longer. */
const inTree = (page: Page, name: string, isThere = true) =>
  page.waitForFunction(
    (text, wanted) => (document.querySelector(".tree")?.textContent?.includes(text) ?? false) === wanted,
    {},
    name,
    isThere,
  );

browserTest("opens the tree level by level, and shows the front of a freezer", async () => {
  await using opened = await openStorage();
  const { page } = opened;
  await press(page, "button", "Contents of A 101");
  await inTree(page, "Freezer -20 Enzymes");
  await checkPage(opened, "storage-tree");
  await press(page, "link", "Freezer -20 Enzymes");
  await seeText(page, "slots in use");
  await checkPage(opened, "storage-freezer");
  await press(page, "button", "Contents of -20 Enzymes");
  await press(page, "link", "-20 drawer 1");
  await seeText(page, "Consumables 2");
  await seeText(page, "T4 DNA ligase");
  await checkPage(opened, "storage-contents");
});

browserTest("former addresses of the lists and of the tree lead to Storage", async () => {
  await using opened = await openPage("/inventory/tree");
  const { page, url } = opened;
  const address = async (path: string): Promise<string> => {
    await page.goto(url + path);
    return page.url().slice(url.length);
  };
  expect(await address("/inventory/tree")).toBe("/inventory/storage");
  for (const list of ["locations", "equipment", "places"])
    expect(await address(`/inventory/${list}`)).toBe("/inventory/storage");
  expect(await address("/inventory/equipment?page=1")).toBe("/inventory/equipment?page=1");
  await page.goto(`${url}/inventory/tree?of=locations/6ba4555e-1c93-550a-9f35-de49e04543dc`);
  await page.waitForFunction(() => location.pathname.startsWith("/inventory/locations/6ba4555e"));
});

browserTest("adds a room and a freezer, whose racks have room for boxes", async () => {
  await using opened = await openStorage();
  const { page } = opened;
  await press(page, "button", "Add room");
  await fill(page, "Room", "117");
  await fill(page, "Building optional", "F");
  await press(page, "button", "Create");
  await inTree(page, "F 117");
  await press(page, "button", "Add freezer");
  await fill(page, "Name", "Freezer -80 South");
  await fill(page, "Shelves", "2");
  await choose(page, "Room optional", "F 117");
  await seeText(page, "8 racks with room for 40 boxes.");
  await checkPage(opened, "storage-add-freezer");
  await press(page, "button", "Add 8 racks");
  await seeText(page, "Added Freezer -80 South.");
  await press(page, "button", "Contents of F 117");
  await press(page, "link", "Freezer -80 South");
  await page.waitForSelector(".front");
  expect(await page.$$eval(".bx.room:not(.lv)", (places) => places.length)).toBe(40);
});

browserTest("chooses a box in the front of a freezer by keyboard, and opens it", async () => {
  await using opened = await openStorage();
  const { page, url } = opened;
  const built = await write(page, "POST", "/api/v2/locations/build/", {
    levels: [
      { list: "equipment", name: "Freezer -80 Boxes", model_type: "FREEZER" },
      { name: "Shelf {1..4}" },
      { name: "Rack {A..D}", box_capacity: 5 },
      { name: "Box {1..4}", grid_rows: 9, grid_columns: 9 },
    ],
  });
  expect(built.results).toMatchObject({ equipment: 1, locations: 84 });
  await page.goto(`${url}/inventory/storage`);
  await press(page, "link", "Freezer -80 Boxes");
  await seeText(page, "0 of 5,184 slots in use");
  await seeText(page, "5,184 free, room for 16 more boxes");
  await page.focus("a.bx");
  for (const key of ["ArrowRight", "ArrowDown", "ArrowUp", "Enter"] as const) await page.keyboard.press(key);
  await seeText(page, "Shelf 1 › Rack A › Box 2");
  await seeText(page, "9 × 9, 0 of 81 used");
  await checkPage(opened, "storage-box");
  await follow(page, "Open box");
  await page.waitForSelector(".boxgrid");
});

browserTest("moves a location by keyboard, and undoes it", async () => {
  await using opened = await openStorage();
  const { page } = opened;
  await press(page, "button", "Contents of A 105");
  await press(page, "link", "Anemone shelf");
  await press(page, "button", "More");
  await press(page, "button", "Move");
  await choose(page, "Destination", "-20 drawer 3");
  await checkPage(opened, "location-move");
  await press(page, "button", "Move");
  await seeText(page, "Moved Anemone shelf to");
  await page.waitForFunction(() => document.querySelector(".node.shown")?.textContent?.includes("Anemone"));
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
});

browserTest("moves a location by dragging, but not to an invalid target", async () => {
  await using opened = await openStorage();
  const { page } = opened;
  await press(page, "button", "Contents of A 105");
  await inTree(page, "Anemone shelf");
  const drag = (from: string, to: string): Promise<boolean> =>
    page.evaluate(
      (source, target) => {
        const node = (name: string): Element =>
          [...document.querySelectorAll(".node")].find(
            (each) => each.querySelector("a")!.innerText === name,
          )!;
        const data = { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true };
        node(source).dispatchEvent(new DragEvent("dragstart", data));
        // A target that takes it says so.
        const taken = !node(target).dispatchEvent(new DragEvent("dragover", data));
        node(target).dispatchEvent(new DragEvent("drop", data));
        node(source).dispatchEvent(new DragEvent("dragend", data));
        return taken;
      },
      from,
      to,
    );
  expect(await drag("A 105", "A 102")).toBe(false);
  expect(await drag("Anemone shelf", "A 102")).toBe(true);
  await seeText(page, "Moved Anemone shelf to");
  await inTree(page, "Anemone shelf", false);
  await press(page, "button", "Contents of A 102");
  await inTree(page, "Anemone shelf");
  await press(page, "button", "Undo");
  await seeText(page, "Undone.");
});
