import { expect } from "bun:test";
import { join } from "node:path";
import { writeXlsx } from "hucre/xlsx";
import type { Page } from "puppeteer-core";
import { type Server, scratch, serve } from "../executable/labd.ts";
import { openMailServer } from "../reminders/mail-server.ts";
import {
  ADMIN,
  arrive,
  browserTest,
  checkPage,
  choose,
  disclose,
  fill,
  named,
  type Opened,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";
import { BEFORE_CAMERA, showToCamera } from "./camera.ts";
import { chooseFile, download, follow, scan } from "./inventory.ts";
import { waitFor } from "../wait.ts";

/** From an empty server to an e-mail about a tube that is nearly used up. */

const EMAIL = "ana@lab.example";
const BOX = "Shelf 2 / Rack 1 / Box 3";
const COLUMNS = ["Name", "Type", "Barcode", "Location", "Position", "Amount", "Unit", "Minimum amount"];

/** Twenty tubes in the first slots of a box. */
const writeTubes = async (path: string, location: string): Promise<void> => {
  const tubes = Array.from({ length: 20 }, (_, i) => {
    const position = `${"ABC"[Math.floor(i / 9)]}${(i % 9) + 1}`;
    const barcode = `PR${String(i + 1).padStart(6, "0")}`;
    return [`Primer ${i + 1}`, "Oligo", barcode, location, position, 100, "microliter", 20];
  });
  await Bun.write(path, await writeXlsx({ sheets: [{ name: "Primers", rows: [COLUMNS, ...tubes] }] }));
};

/** The address on which a new server sets up its first administrator, as its log shows it. */
const findSetUpLink = (server: Server): Promise<string> =>
  waitFor(() => server.log().match(/\/setup\?key=[\w-]+/)?.[0]);

async function setUp(page: Page): Promise<void> {
  await fill(page, "Username", ADMIN.username);
  await fill(page, "E-mail optional", EMAIL);
  await fill(page, "Password", ADMIN.password);
  await fill(page, "Repeat password", ADMIN.password);
  await press(page, "button", "Create administrator");
  await arrive(page, "/administration");
}

async function buildFreezer(page: Page): Promise<void> {
  await follow(page, "Begin the inventory");
  await follow(page, "Build rooms and freezers");
  await choose(page, "Room optional", "Room 12", "Create “Room 12”…");
  await press(page, "button", "Create");
  await press(page, "button", "Create 125 records");
  await seeText(page, "1 piece of equipment, 124 locations created.");
}

async function importTubes(page: Page, path: string): Promise<void> {
  await follow(page, "Import their contents");
  // There are twenty boxes of this name.
  await writeTubes(path, "Box 3");
  await chooseFile(page, "File to import", path);
  await seeText(page, "Put what contains it before the label");
  await writeTubes(path, BOX);
  await disclose(page, "Another file");
  await chooseFile(page, "File to import", path);
  // A fresh server knows the unit.
  await seeText(page, "20 new");
  await press(page, "button", "Import 20 records");
  await seeText(page, "20 added");
}

async function printLabels(page: Page): Promise<void> {
  await follow(page, "Print labels");
  await seeText(page, "20 labels on 1 sheet");
  const { name, bytes } = await download(page, () => press(page, "button", "Create labels"));
  expect(name).toBe("stocks-consumables-labels.pdf");
  expect(Buffer.from(bytes).toString("latin1")).toStartWith("%PDF-");
}

/** Finds a tube by its barcode, and again by the address on its label with the camera. */
async function findByScan(page: Page): Promise<void> {
  await page.keyboard.press("/");
  await page.waitForSelector("dialog[open] input:focus");
  await scan(page, "PR000007");
  const address = new URL(await arrive(page, "/inventory/stocks-consumables/"));
  await seeText(page, "Primer 7");
  const { directory } = await site();
  showToCamera(directory, address.pathname.split("/").at(-1)!);
  await follow(page, "Scan a code");
  await press(page, "button", "Use the camera");
  expect(new URL(await arrive(page, "/inventory/stocks-consumables/")).pathname).toBe(address.pathname);
  showToCamera(directory, BEFORE_CAMERA.id);
}

/** Orders the tube whose page is open, and scans the one that comes into its box. */
async function orderAndReceive(opened: Opened, url: string): Promise<void> {
  const { page } = opened;
  await press(page, "button", "Reorder Primer 7");
  await fill(page, "Account optional", "4711");
  await press(page, "button", "Mark as ordered");
  await seeText(page, "Ordered Primer 7.");
  await page.goto(`${url}/inventory/running-out`);
  await follow(page, "Orders 1");
  await press(page, "button", "Received Primer 7");
  await fill(page, "Amount of each optional", "100");
  await fill(page, "Lot optional", "L2");
  // Twenty boxes have this name.
  await fill(page, "Put into optional", "Box 3");
  const found = await page.waitForFunction(() => {
    const options = [...document.querySelectorAll<HTMLElement>("[role=option]")];
    const shown = options.filter((each) => each.checkVisibility());
    return 1 + shown.findIndex((each) => /^Shelf 2\W+Rack 1\W+Box 3/.test(each.innerText));
  });
  for (let i = Number(await found.jsonValue()); i > 0; i--) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await seeText(page, "Next free slot: Shelf 2 › Rack 1 › Box 3, C3");
  await press(page, "checkbox", "Scan the tubes");
  await scan(page, "PR000021");
  await seeText(page, "1 of 1 received. Made Primer 7 in C3.");
  await checkPage(opened, "journey-received");
  await press(page, "button", "Close");
  await follow(page, "Running out");
  await seeText(page, "Nothing is running out");
  await page.goto(`${url}/inventory/scan`);
  await scan(page, "PR000021");
  await arrive(page, "/inventory/stocks-consumables/");
  await seeText(page, "2 tubes, 110 µL");
  await checkPage(opened, "journey-product");
}

browserTest(
  "an empty server leads to tubes in a box, their labels, a reminder when one runs out, an order, and the next tube",
  async () => {
    using directory = scratch();
    using mail = openMailServer();
    await using server = await serve(directory.directory);
    await using opened = await openPage(await findSetUpLink(server), { server: server.url });
    const { page, url } = opened;
    await setUp(page);
    await checkPage(opened, "journey-set-up");
    await buildFreezer(page);
    await importTubes(page, join(directory.directory, "primers.xlsx"));
    await checkPage(opened, "journey-imported");
    await printLabels(page);
    await findByScan(page);

    await fill(page, "Use", "90");
    await page.keyboard.press("Enter");
    await seeText(page, "Used 90 µL.");
    await checkPage(opened, "journey-low");
    await follow(page, "Box 3");
    await page.waitForSelector("[role=gridcell][aria-label='A7, Primer 7, low']");
    await checkPage(opened, "journey-box");
    await follow(page, "Overview");
    await follow(page, "Reorder and receive");
    await seeText(page, "Primer 7");

    // The administrator sets up e-mail.
    await server.end("SIGTERM");
    const settings = {
      port: new URL(url).port,
      "public-url": url,
      "smtp-url": `smtp://127.0.0.1:${mail.port}?from=labd@lab.example&tls=off`,
    };
    await using again = await serve(
      directory.directory,
      Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    );
    await follow(page, "Overview");
    await follow(page, "Get reminders by e-mail");
    await press(page, "button", "Switch reminders on");
    await seeText(page, `On. Reminders go to ${EMAIL}.`);
    await seeText(page, `${EMAIL} is not verified`);
    await checkPage(opened, "journey-reminders");
    await press(page, "button", "Send link again");
    await waitFor(() => mail.got.length > 0);
    await page.goto(mail.got[0].text.match(/http\S+\/verify-email\S+/)![0]);
    await named(page, "heading", "Confirm your e-mail address");
    await checkPage(opened, "journey-verify-email");
    await press(page, "button", "Confirm address");
    await seeText(page, "Your address is confirmed");
    // Servers look for low stock a minute after their start.
    await waitFor(() => mail.got.length > 1);
    const { to, source, text } = mail.got[1];
    expect(to).toBe(EMAIL);
    expect(source).toContain("Subject: Stock: 1 below minimum");
    expect(text).toContain("Primer 7, 10 µL left, minimum 20 µL (Shelf 2 › Rack 1 › Box 3, A7)");
    await page.goto(text.match(/http\S+\/stocks-consumables\/[\w-]+/)![0]);
    await named(page, "heading", "Primer 7");
    await orderAndReceive(opened, url);
    expect(again.process.exitCode).toBe(null);
    expect(opened.faults).toEqual([]);
  },
  300_000,
);
