import { expect } from "bun:test";
import type { Page } from "puppeteer-core";
import {
  artefact,
  browserTest,
  checkPage,
  named,
  type Opened,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";
import { scan } from "./inventory.ts";

interface Connection extends Disposable {
  url: string;
  /** Without a connection, the proxy says so, and the browser has no network. */
  set(connected: boolean, page: Page): Promise<void>;
}

/** A proxy before the server, which can lose it: Chromium cannot cut off a service worker alone. */
async function openConnection(): Promise<Connection> {
  const { url: target } = await site();
  let connected = true;
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url, method, headers, body }) {
      if (!connected) return new Response("No connection", { status: 502 });
      const { pathname, search } = new URL(url);
      return fetch(target + pathname + search, {
        method,
        headers,
        body,
        redirect: "manual",
        decompress: false,
      });
    },
  });
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    async set(value, page) {
      connected = value;
      await page.setOfflineMode(!value);
    },
    [Symbol.dispose]: () => void proxy.stop(true),
  };
}

/** Signs in and keeps what scanning needs on the device. */
async function openReady(server: string): Promise<Opened> {
  const opened = await openPage("/inventory/offline", { signedIn: true, width: 360, server });
  await press(opened.page, "button", "Turn on");
  await seeText(opened.page, "Ready. Knows");
  return opened;
}

/** Sends JSON as the administrator from the page, with the proof that the pages send. */
const write = (
  page: Page,
  method: string,
  path: string,
  body: object,
): Promise<{ results: { id: string } }> =>
  page.evaluate(
    async (method, path, body) => {
      const session = (await (await fetch("/api/v2/session/")).json()) as { csrf_token: string };
      const headers = { "Content-Type": "application/json", "X-CSRFToken": session.csrf_token };
      return (await fetch(path, { method, headers, body })).json();
    },
    method,
    path,
    JSON.stringify(body),
  );

const BSAI = "/api/v2/stocks/consumables/5f1e627f-8aba-5e10-93ff-82dee93474e6/";
const HEPES = "CO0000008";
/** Cold room shelf 1, where it is. */
const SHELF = "65cbf6b4-e76e-5b92-b39e-e355a9aba0d1";
const DRAWER = "f0edd1ea-6c21-549a-babe-04232fb34961";

browserTest(
  "finds records without a network, and keeps nothing after signing out",
  async () => {
    using connection = await openConnection();
    await using opened = await openReady(connection.url);
    const { page, url } = opened;
    await checkPage(opened, "offline");
    await connection.set(false, page);
    await page.goto(`${url}/inventory/scan`);
    await seeText(page, "Offline");
    await scan(page, "CO0000006");
    await seeText(page, "Found BsaI-HF.");
    await seeText(page, "-20 drawer 1");
    await scan(page, "no such code");
    await seeText(page, "No record that you can view has the code");
    await checkPage(opened, "offline-scan");
    await page.goto(`${url}/i/5f1e627f-8aba`);
    await seeText(page, "Found BsaI-HF.");
    await page.goto(`${url}/inventory/stocks-consumables`);
    await seeText(page, "No network. Only scanning and open stocktakes work.");
    // The camera's decoder is kept, too.
    await page.goto(`${url}/inventory/scan`);
    await page.evaluate(() => sessionStorage.clear());
    await page.reload();
    await press(page, "button", "Use the camera");
    await seeText(page, "Found BsaI-HF.");
    await connection.set(true, page);
    await page.goto(`${url}/inventory/scan`);
    await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
    const kept = await page.evaluate(async () => ({
      caches: await caches.keys(),
      scans: sessionStorage.length,
      workers: (await navigator.serviceWorker.getRegistrations()).length,
      values: await new Promise((resolve) => {
        const opening = indexedDB.open("labd");
        opening.addEventListener("success", () => {
          const keys = opening.result.transaction("values").objectStore("values").getAllKeys();
          keys.addEventListener("success", () => resolve(keys.result));
        });
      }),
    }));
    expect(kept).toEqual({ caches: [], scans: 0, workers: 0, values: [] });
    expect(opened.faults).toEqual([]);
  },
  300_000,
);

browserTest("says that offline use needs a secure connection", async () => {
  await using opened = await openPage("/inventory/scan", { signedIn: true });
  const { page, url } = opened;
  // As on an HTTP page of another machine.
  await page.evaluateOnNewDocument(() => Object.defineProperty(window, "isSecureContext", { value: false }));
  await page.goto(`${url}/inventory/offline`);
  await seeText(page, "Browsers allow offline use on HTTPS pages only");
  expect(opened.faults).toEqual([]);
});

browserTest(
  "moves items without a network, sends the moves when it is back, and shows conflicts",
  async () => {
    using connection = await openConnection();
    await using opened = await openReady(connection.url);
    const { page, url } = opened;
    await connection.set(false, page);
    await page.goto(`${url}/inventory/scan`);
    await (await named(page, "checkbox", "Move what is scanned")).click();
    await page.focus("input[type=text]");
    await scan(page, "CO0000006");
    await seeText(page, "BsaI-HF was not moved. Scan the location first.");
    await scan(page, DRAWER);
    await seeText(page, "Moving to -20 drawer 1");
    await scan(page, "CO0000006");
    await seeText(page, "BsaI-HF waits to be moved to -20 drawer 1.");
    await scan(page, HEPES);
    await seeText(page, "HEPES 1 M pH 7.4 waits to be moved to -20 drawer 1.");
    await seeText(page, "2 changes waiting");
    await checkPage(opened, "offline-moves");

    // Meanwhile somebody else moves one of them.
    await using other = await openPage("/inventory/scan", { signedIn: true });
    await write(other.page, "PATCH", BSAI, { location: null });
    await connection.set(true, page);
    await seeText(page, "1 conflict");
    await page.goto(`${url}/inventory/offline`);
    await seeText(page, "admin has changed it. It is now in no location.");
    await checkPage(opened, "offline-conflict");
    await press(page, "button", "Apply anyway");
    await seeText(page, "Everything has been sent.");
    const read = (path: string): Promise<{ results: { id: string; location: string }[] }> =>
      other.page.evaluate(async (path) => (await fetch(path)).json(), `/api/v2/stocks/consumables/${path}`);
    const { results } = await read(`?barcode__in=CO0000006,${HEPES}&fields=id,location&response_format=flat`);
    expect(results.map(({ location }) => location)).toEqual([DRAWER, DRAWER]);
    // Other tests expect the second one where it was.
    const { id } = results.find((record) => !BSAI.includes(record.id))!;
    await write(other.page, "PATCH", `/api/v2/stocks/consumables/${id}/`, { location: SHELF });
    expect(opened.faults).toEqual([]);
  },
  300_000,
);

browserTest(
  "takes stock without a network",
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
    await connection.set(false, page);
    await page.goto(stocktake);
    await seeText(page, "Scans are sent when it does.");
    await scan(page, "CO0000006");
    await seeText(page, "waiting for the network BsaI-HF");
    await scan(page, "4006381333931");
    await seeText(page, "2 changes waiting");
    await page.setViewport({ width: 360, height: 900 });
    await page.screenshot({ path: artefact("offline-stocktake-360"), fullPage: true });
    await checkPage(opened, "offline-stocktake");
    await connection.set(true, page);
    await seeText(page, "Unknown codes");
    await page.waitForFunction(() => !document.body.innerText.includes("changes waiting"));
    expect(opened.faults).toEqual([]);
  },
  300_000,
);
