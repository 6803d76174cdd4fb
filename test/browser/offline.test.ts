import { expect } from "bun:test";
import { browserTest, checkPage, fill, openPage, press, seeText } from "./browser.ts";
import { findLastBatch, openConnection, openMoving, openReady, undoSince, write } from "./connection.ts";
import { cell, dragSlot, follow, keys, scan } from "./inventory.ts";

const BSAI = "/api/v2/stocks/consumables/5f1e627f-8aba-5e10-93ff-82dee93474e6/";
const HEPES = "CO0000008";
/** Cold room shelf 1, where it is. */
const SHELF = "65cbf6b4-e76e-5b92-b39e-e355a9aba0d1";
const BOX = "6ba4555e-1c93-550a-9f35-de49e04543dc";
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
    // A scanned box opens, and that of a scanned tube, at its slot.
    await scan(page, BOX.slice(0, 8));
    await seeText(page, "Found Box oligos 1.");
    await follow(page, "Box oligos 1");
    await seeText(page, "25 of 81 slots in use");
    await page.goto(`${url}/inventory/scan`);
    await scan(page, "CO0000005");
    await seeText(page, "Found p53 TAD reverse.");
    await checkPage(opened, "offline-scan-tube");
    await follow(page, "p53 TAD reverse");
    await seeText(page, "Box oligos 1, A2. As this device knew it");
    await checkPage(opened, "offline-tube");
    await follow(page, "Open its place");
    await seeText(page, "A2 selected tube");
    await page.goto(`${url}/inventory/scan`);
    await (await page.waitForSelector("small > a[href*='locations']"))!.click();
    await seeText(page, "A2 selected tube");
    await seeText(page, "25 of 81 slots in use");
    await page.goto(`${url}/i/5f1e627f-8aba`);
    await seeText(page, "Found BsaI-HF.");
    await page.goto(`${url}/inventory/stocks-consumables`);
    await seeText(page, "No network. Only scanning, boxes and stocktakes work.");
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
    await using opened = await openMoving(connection);
    const { page, url } = opened;
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
    await seeText(page, "admin has changed BsaI-HF. It is now in no location.");
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
  "uses stock without a network, and once where the answer is lost",
  async () => {
    using connection = await openConnection();
    await using other = await openPage("/inventory/scan", { signedIn: true });
    const fields = "?fields=id,amount,taken_out&response_format=flat";
    const path = "/api/v2/stocks/consumables/";
    const made = await write(other.page, "POST", `${path}${fields}`, { name: "Used away", amount: 100 });
    const { id } = made.results as { id: string };
    const address = `${path}${id}/`;
    const read = async (): Promise<{ amount: number; taken_out: boolean }> =>
      (await write(other.page, "GET", `${address}${fields}`)).results as never;
    await using opened = await openReady(connection.url);
    const { page, url } = opened;
    await connection.set(false, page);
    await page.goto(`${url}/inventory/scan`);
    await scan(page, id);
    await seeText(page, "At most 100.");
    await fill(page, "Use", "30");
    await checkPage(opened, "offline-use");
    await page.keyboard.press("Enter");
    await seeText(page, "At most 70.");
    await fill(page, "Use", "20");
    await page.keyboard.press("Enter");
    await seeText(page, "2 changes waiting");
    await follow(page, "Used away");
    await seeText(page, "At most 50.");
    await press(page, "button", "Take out");
    await seeText(page, "3 changes waiting");
    await connection.set(true, page);
    const seeAllSent = () => page.waitForFunction(() => !/changes? waiting/.test(document.body.innerText));
    await seeAllSent();
    expect(await read()).toMatchObject({ amount: 50, taken_out: true });
    await write(other.page, "POST", `${address}put_back/`, {});

    await page.goto(`${url}/inventory/stocks-consumables/${id}`);
    await fill(page, "Use", "7");
    connection.loseAnswers();
    await page.keyboard.press("Enter");
    await seeText(page, "1 change waiting");
    await connection.set(true, page);
    await seeAllSent();
    expect(await read()).toMatchObject({ amount: 43 });
    expect(opened.faults).toEqual([]);
  },
  300_000,
);

browserTest(
  "puts scanned tubes into the slots of a box without a network, and shows a slot that was taken meanwhile",
  async () => {
    using connection = await openConnection();
    await using opened = await openReady(connection.url);
    const { page, url } = opened;
    await connection.set(false, page);
    await page.goto(`${url}/inventory/storage?of=locations/${BOX}`);
    await seeText(page, "As this device knew it");
    await seeText(page, "25 of 81 slots in use");
    await press(page, "button", "Scan into the box");
    await seeText(page, "The next tube goes to C3.");
    // Faster than the queue.
    await page.keyboard.type("CO0000001\nCO0000002\n");
    await seeText(page, "waits to be moved to C9.");
    await page.waitForSelector("[role=gridcell][aria-label^='C3, anti-p53 DO-1']");
    await seeText(page, "27 of 81 slots in use");
    await page.keyboard.type("unknown\n");
    await seeText(page, "is not the code of a consumable or specimen that you may view.");
    await checkPage(opened, "offline-box");

    await using other = await openPage("/inventory/scan", { signedIn: true });
    const before = await write(other.page, "GET", `${BSAI}?response_format=flat`);
    await write(other.page, "PATCH", BSAI, { location: BOX, position: "C3" });
    await connection.set(true, page);
    await seeText(page, "1 conflict");
    await page.goto(`${url}/inventory/offline`);
    await seeText(page, "Box oligos 1, C3");
    await seeText(page, "is occupied");
    await checkPage(opened, "offline-box-conflict");
    await press(page, "button", "Discard");
    await seeText(page, "Everything has been sent.");
    const { location, position = "" } = before.results as Record<string, string>;
    await write(other.page, "PATCH", BSAI, { location: location ?? null, position });
    await page.goto(`${url}/inventory/storage?of=locations/${BOX}`);
    await (await page.waitForSelector("[role=gridcell][aria-label^='C9,']"))!.click();
    await seeText(page, "26 of 81 slots in use");
    await press(page, "button", "Take out");
    await seeText(page, "You have it");
    await press(page, "button", "Release the slot");
    await seeText(page, "25 of 81 slots in use");
    expect(opened.faults).toEqual([]);
  },
  300_000,
);

browserTest(
  "moves, exchanges, adds and takes out tubes of a box without a network, and shows a slot that was taken meanwhile",
  async () => {
    using connection = await openConnection();
    await using opened = await openReady(connection.url);
    await using other = await openPage("/inventory/scan", { signedIn: true });
    const last = await findLastBatch(other.page);
    const { page, url } = opened;
    await page.goto(`${url}/inventory/locations/${BOX}`);
    await (await cell(page, "A1, p53 TAD forward"))!.click();
    // The page was loaded with a network, and loses it.
    await connection.set(false, page);
    await keys(page, "m", "ArrowDown", "ArrowDown", "ArrowDown", "Enter");
    await seeText(page, "Moved p53 TAD forward to D1. This is sent when the server responds.");
    await cell(page, "D1, p53 TAD forward, waits to be sent");
    await dragSlot(page, "A3", "A4");
    await seeText(page, "Exchanged p53 DBD forward and p53 DBD reverse.");
    await cell(page, "A3, p53 DBD reverse, waits to be sent");
    await page.reload();
    await (await cell(page, "C3, free"))!.click();
    await press(page, "button", "Add to C3");
    await fill(page, "Name", "BsaI-HF");
    await press(page, "button", "Move here: BsaI-HF");
    await cell(page, "C3, BsaI-HF, waits to be sent");
    await (await cell(page, "A2, p53 TAD reverse"))!.click();
    await press(page, "button", "Take out");
    // It keeps its slot.
    await cell(page, "A2, p53 TAD reverse, waits to be sent");
    await seeText(page, "26 of 81 slots in use");
    await seeText(page, "4 changes waiting");
    await checkPage(opened, "offline-box-moves");

    const [{ id }] = (
      await write(other.page, "GET", "/api/v2/stocks/consumables/?barcode=CO0000001&fields=id")
    ).results as { id: string }[];
    await write(other.page, "PATCH", `/api/v2/stocks/consumables/${id}/`, { location: BOX, position: "D1" });
    await connection.set(true, page);
    await seeText(page, "Move p53 TAD forward to Box oligos 1, D1");
    await seeText(page, "D1 is occupied");
    await cell(page, "D1, anti-p53 DO-1");
    await cell(page, "C3, BsaI-HF, available");
    await cell(page, "A3, p53 DBD reverse, available");
    await cell(page, "A1, p53 TAD forward");
    await checkPage(opened, "offline-box-moves-conflict");
    await press(page, "button", "Discard");
    await page.waitForFunction(() => !document.body.innerText.includes("1 conflict"));
    await undoSince(other.page, last);
    await page.reload();
    await seeText(page, "25 of 81 slots in use");
    expect(opened.faults).toEqual([]);
  },
  300_000,
);
