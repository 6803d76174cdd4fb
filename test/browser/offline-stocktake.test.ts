import { expect } from "bun:test";
import type { CDPSession, Page } from "puppeteer-core";
import { scratch, serve } from "../executable/labd.ts";
import { ADMIN, browserTest, checkPage, choose, openPage, press, seeText } from "./browser.ts";
import { openConnection, openMoving, write } from "./connection.ts";
import { follow, scan } from "./inventory.ts";
import { waitFor } from "../wait.ts";

/** Stocktakes without a network: begun, counted and applied, and sent also while no page is open. */

const BSAI = "/api/v2/stocks/consumables/5f1e627f-8aba-5e10-93ff-82dee93474e6/";
const DRAWER = "f0edd1ea-6c21-549a-babe-04232fb34961";

/** The consumable with this name, as `field` of it. */
const readValue = (page: Page, name: string, field: string): Promise<unknown> =>
  page.evaluate(
    async (name, field) => {
      const query = new URLSearchParams({ name, fields: field, response_format: "flat" });
      const { results } = await (await fetch(`/api/v2/stocks/consumables/?${query}`)).json();
      return results[0][field];
    },
    name,
    field,
  );

browserTest(
  "begins, counts and applies a stocktake while the server is stopped",
  async () => {
    using directory = scratch();
    const words = ["--admin-password", ADMIN.password];
    const server = await serve(directory.directory, words);
    await using opened = await openPage("/inventory", { server: server.url, signedIn: true });
    const { page, url } = opened;
    await press(page, "button", "Load the sample data");
    await seeText(page, "Reorder and receive");
    await page.goto(`${url}/inventory/offline`);
    await press(page, "button", "Turn on");
    await seeText(page, "Ready. Knows");
    await server.end("SIGTERM");

    await page.reload();
    await seeText(page, "No network.");
    await follow(page, "Start a stocktake");
    await Promise.all([page.waitForNavigation(), choose(page, "Location", "-20 drawer 1")]);
    await seeText(page, "Stocktake of -20 drawer 1");
    await checkPage(opened, "offline-stocktake-begin");
    await Promise.all([page.waitForNavigation(), press(page, "button", "Start")]);
    await scan(page, "CO0000006");
    await seeText(page, "waiting BsaI-HF");
    await scan(page, "CO0000008");
    await seeText(page, "waiting HEPES 1 M pH 7.4");
    await scan(page, "4006381333931");
    await seeText(page, "Scan of 4006381333931 in -20 drawer 1");
    await page.$eval("li:last-child button:last-child", (button) => (button as HTMLButtonElement).click());
    await page.waitForFunction(() => !document.body.innerText.includes("Scan of 4006381333931"));
    await checkPage(opened, "offline-stocktake");
    await press(page, "button", "Apply");
    await seeText(page, "applies the stocktake when it does");
    await checkPage(opened, "offline-stocktake-apply");
    await press(page, "button", "Apply");
    await seeText(page, "It will be applied when the server responds.");
    await seeText(page, "4 changes waiting");
    const local = page.url();
    await page.goto(`${url}/inventory/offline`);
    await seeText(page, "Apply -20 drawer 1");
    await checkPage(opened, "offline-stocktake-queue");

    await using again = await serve(directory.directory, ["--port", new URL(url).port]);
    await seeText(page, "Everything has been sent.");
    // The page of the stocktake leads to the one that the server has.
    await page.goto(local);
    await page.waitForFunction((before) => location.href !== before, {}, local);
    await seeText(page, "applied by admin");
    expect(await readValue(page, "HEPES", "location__label")).toBe("-20 drawer 1");
    expect(await readValue(page, "T4 DNA ligase", "status")).not.toBe("MISSING");
    expect(again.process.exitCode).toBe(null);
    expect(opened.faults).toEqual([]);
  },
  300_000,
);

browserTest(
  "shows what the server counted last, and scans that wait, and applies them when it responds",
  async () => {
    using connection = await openConnection();
    await using opened = await openPage(`/inventory/stocktake?location=${DRAWER}`, {
      signedIn: true,
      server: connection.url,
    });
    const { page, url } = opened;
    await Promise.all([page.waitForNavigation(), press(page, "button", "Start")]);
    await seeText(page, "Use the camera");
    const stocktake = page.url();
    await page.goto(`${url}/inventory/offline`);
    await press(page, "button", "Turn on");
    await seeText(page, "Ready. Knows");
    await page.goto(stocktake);
    await seeText(page, "0 of 2 found");
    await connection.set(false, page);
    await scan(page, "CO0000006");
    await seeText(page, "waiting BsaI-HF");
    await seeText(page, "0 of 2 found");
    await press(page, "button", "Apply");
    await seeText(page, "applies the stocktake when it does");
    await press(page, "button", "Apply");
    await seeText(page, "It will be applied when the server responds.");

    await using other = await openPage("/inventory/scan", { signedIn: true });
    await write(other.page, "PATCH", BSAI, { location: null });
    await connection.set(true, page);
    await page.goto(`${url}/inventory/offline`);
    await seeText(page, "Everything has been sent.");
    await page.goto(stocktake);
    await seeText(page, "applied by admin");
    // It moved back what had been taken away.
    expect(await readValue(page, "BsaI", "location__label")).toBe("-20 drawer 1");
    expect(opened.faults).toEqual([]);
  },
  300_000,
);

/** The service worker's registration for a server, as the browser reports it. */
async function findRegistration(session: CDPSession, url: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(url));
    if (found) resolve(found.registrationId);
  });
  await session.send("ServiceWorker.enable");
  return promise;
}

browserTest(
  "sends what waits when the browser wakes it, while no page is open",
  async () => {
    using connection = await openConnection();
    await using opened = await openMoving(connection);
    const { page, url } = opened;
    await scan(page, DRAWER);
    await seeText(page, "Moving to -20 drawer 1");
    await scan(page, "CO0000008");
    await seeText(page, "HEPES 1 M pH 7.4 waits to be moved to -20 drawer 1.");

    // Another page of the browser, as none of the service is open.
    const blank = await page.browserContext().newPage();
    await page.close();
    const session = await blank.createCDPSession();
    const registrationId = await findRegistration(session, url);
    await using other = await openPage("/inventory/scan", { signedIn: true });
    const before = await write(
      other.page,
      "GET",
      `/api/v2/stocks/consumables/?name=HEPES&fields=id,location&response_format=flat`,
    );
    await connection.set(true);
    await session.send("ServiceWorker.dispatchSyncEvent", {
      origin: url,
      registrationId,
      tag: "labd-queue",
      lastChance: false,
    });
    await waitFor(async () => (await readValue(other.page, "HEPES", "location__label")) === "-20 drawer 1");
    const [{ id, location }] = before.results as { id: string; location: string }[];
    await write(other.page, "PATCH", `/api/v2/stocks/consumables/${id}/`, { location });
    const again = await page.browserContext().newPage();
    await again.goto(`${url}/inventory/offline`);
    await seeText(again, "Everything has been sent.");
    expect(opened.faults).toEqual([]);
  },
  300_000,
);
