import { expect } from "bun:test";
import { scratch, serve } from "../executable/labd.ts";
import { ADMIN, browserTest, checkPage, choose, fill, openPage, press, seeText } from "./browser.ts";
import { follow } from "./inventory.ts";

/** From an empty server to a freezer with boxes, and to the sample. */

const TIMEOUT = 60_000;

const openEmpty = (server: { url: string }) => openPage("/inventory", { server: server.url, signedIn: true });

browserTest(
  "an empty server leads to a room with a freezer, its boxes and their labels",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory, ["--admin-password", ADMIN.password]);
    await using opened = await openEmpty(server);
    const { page } = opened;
    await seeText(page, "Import a spreadsheet");
    await checkPage(opened, "first-steps");
    await follow(page, "Build rooms and freezers");
    await choose(page, "Room optional", "Room 12", "Create “Room 12”…");
    await checkPage(opened, "picker-create");
    await press(page, "button", "Create");
    await seeText(page, "Created Room 12.");
    await fill(page, "Names of level 2", "Shelf {1-4}");
    await seeText(page, "{1-4} is not a range.");
    await fill(page, "Names of level 2", "Shelf {1..2}");
    await seeText(page, "Shelf 1, Shelf 2");
    await checkPage(opened, "build");
    await press(page, "button", "Create 63 records");
    await seeText(page, "1 piece of equipment, 62 locations created.");
    await checkPage(opened, "built");
    await follow(page, "Print labels");
    await seeText(page, "62 labels");
    await page.goto(`${server.url}/inventory/storage`);
    for (const name of ["Freezer 1", "Shelf 2", "Rack 3"]) await press(page, "link", name);
    await follow(page, "Box 5");
    await page.waitForSelector(".boxgrid");
    expect(await page.$$eval("[role=gridcell]", (cells) => cells.length)).toBe(81);
    await page.goto(`${server.url}/inventory/build`);
    await page.waitForSelector("select");
    await page.select("select", "rooms");
    await press(page, "button", "Create 18 records");
    await seeText(page, "3 rooms, 3 pieces of equipment, 12 locations created.");
    await press(page, "button", "Undo");
    await seeText(page, "Undone.");
    await page.goto(`${server.url}/inventory`);
    await seeText(page, "Next: fill the boxes");
    await checkPage(opened, "next-step");
  },
  TIMEOUT,
);

browserTest(
  "an empty server loads the sample, removes it and loads it again; its dashboard leads to filtered lists",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory, ["--admin-password", ADMIN.password]);
    await using opened = await openEmpty(server);
    const { page } = opened;
    await press(page, "button", "Load the sample data");
    await seeText(page, "Reorder and receive");
    await press(page, "button", "Undo");
    await press(page, "button", "Load the sample data");
    await seeText(page, "Reorder and receive");
    await checkPage(opened, "dashboard");
    await follow(page, "Reorder and receive");
    await seeText(page, "products are running out");
    await seeText(page, "MDM2 qPCR reverse");
    await page.goBack();
    await seeText(page, "Mine");
  },
  TIMEOUT,
);
