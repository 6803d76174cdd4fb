import { expect } from "bun:test";
import type { Page } from "puppeteer-core";
import { scratch, serve } from "../executable/labd.ts";
import {
  ADMIN,
  arrive,
  browserTest,
  checkPage,
  choose,
  fill,
  named,
  openPage,
  press,
  secretOn,
  seeText,
  signIn,
} from "./browser.ts";
import { download, follow } from "./inventory.ts";

const PASSWORD = "a long password";
const NAME = "Rare antibody";

/** Adds a group and a person in it only. @returns the link with which the person sets a password */
async function addGuest(page: Page): Promise<string> {
  await follow(page, "Administration");
  await follow(page, "People");
  await press(page, "button", "Add group");
  await fill(page, "Group name", "Guests");
  await page.keyboard.press("Enter");
  await seeText(page, "Added Guests.");
  await press(page, "button", "Add user");
  await (await named(page, "combobox", "Primary group")).select("Guests");
  await fill(page, "Username", "bob");
  await page.keyboard.press("Enter");
  const link = await secretOn(page);
  await press(page, "button", "Close");
  return link;
}

async function addRecord(page: Page): Promise<void> {
  await follow(page, "Consumables");
  await follow(page, "Add consumable");
  await fill(page, "Name", NAME);
  await Promise.all([page.waitForNavigation(), press(page, "button", "Add")]);
  await named(page, "heading", NAME);
}

/** The records that a person sees on the overview, in the list and its export, by the search, and at an address. */
async function look(page: Page, address: string): Promise<string[]> {
  const shown: string[] = [];
  const read = async (expected: RegExp): Promise<void> => {
    await page.waitForFunction(
      (source) => new RegExp(source).test(document.querySelector("main")!.innerText),
      {},
      expected.source,
    );
    const text = await page.$eval("main", (main) => main.innerText);
    shown.push(text.match(expected)![0]);
  };
  await follow(page, "Overview");
  await read(/1 consumable|Import a spreadsheet/);
  await follow(page, "Consumables");
  await read(/1–1 of 1|No consumables yet/);
  await press(page, "button", "More");
  const { bytes } = await download(page, () => press(page, "link", "Export as CSV"));
  const rows = new TextDecoder().decode(bytes).trim().split("\r\n").slice(1);
  shown.push(rows.map((row) => row.split(",").find((cell) => cell === NAME)).join());
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.waitForSelector("dialog[open] input:focus");
  await page.keyboard.type("rare antibody");
  await page.keyboard.press("Enter");
  await arrive(page, "/search");
  await read(/1 found\.|Nothing found/);
  await page.goto(address);
  await read(/Rare antibody|Not found\./);
  return shown;
}

browserTest(
  "a person sees a record while it is shared with them, and nothing of it afterwards",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory, ["--admin-password", ADMIN.password]);
    await using mine = await openPage("/sign-in", { server: server.url });
    const { page } = mine;
    await Promise.all([page.waitForNavigation(), signIn(page, ADMIN.username, ADMIN.password)]);
    const link = new URL(await addGuest(page));
    await using theirs = await openPage(link.pathname + link.search, { server: server.url });
    const guest = theirs.page;
    await fill(guest, "New password", PASSWORD);
    await fill(guest, "Repeat password", PASSWORD);
    await press(guest, "button", "Set password and sign in");
    await arrive(guest, "/profile");
    await seeText(guest, "bob");
    expect(await guest.$$("a[href$='/administration']")).toEqual([]);

    await addRecord(page);
    const address = page.url();
    const nothing = ["Import a spreadsheet", "No consumables yet", "", "Nothing found", "Not found."];
    expect(await look(guest, address)).toEqual(nothing);
    await press(page, "button", "Share");
    await choose(page, "Person or group", "bob");
    await press(page, "button", "Share");
    await seeText(page, "Shared with bob.");
    await checkPage(mine, "journey-shared");
    expect(await look(guest, address)).toEqual(["1 consumable", "1–1 of 1", NAME, "1 found.", NAME]);
    await checkPage(theirs, "journey-shared-record");
    await press(page, "button", "Stop sharing with bob");
    await seeText(page, "No longer shared with bob.");
    await press(page, "button", "Close");
    expect(await look(guest, address)).toEqual(nothing);
    await checkPage(theirs, "journey-not-shared");
    await page.waitForFunction(() => document.querySelectorAll(".timeline li").length === 3);
    const history = await page.$$eval(".timeline li", (entries) => entries.map((entry) => entry.innerText));
    expect(history.map((entry) => entry.split("\n")[0])).toEqual([
      "admin stopped sharing it with bob",
      "admin shared it with bob: can view",
      "admin created it",
    ]);
    expect([...mine.faults, ...theirs.faults]).toEqual([]);
  },
  300_000,
);
