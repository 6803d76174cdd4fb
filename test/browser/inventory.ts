import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { scratch } from "../executable/labd.ts";
import { press } from "./browser.ts";

/** Steps of people on the pages of the inventory. */

/** Types like a barcode scanner: each key at once, then Enter. */
export async function scan(page: Page, code: string): Promise<void> {
  await page.waitForFunction(() => document.activeElement?.tagName === "INPUT");
  await page.keyboard.type(code);
  await page.keyboard.press("Enter");
}

/** Selects a link, and waits for its page. */
export const follow = (page: Page, name: string): Promise<unknown> =>
  Promise.all([page.waitForNavigation(), press(page, "link", name)]);

/** Chooses a file in the browser's dialog, as the field of this label opens it. */
export async function chooseFile(page: Page, label: string, path: string): Promise<void> {
  const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, "file", label)]);
  await chooser.accept([path]);
}

/** Waits for the file that the page downloads after `start`. @returns its name and content */
export async function download(
  page: Page,
  start: () => Promise<unknown>,
): Promise<{ name: string; bytes: Uint8Array }> {
  using place = scratch();
  const session = await page.browser().target().createCDPSession();
  const { promise, resolve } = Promise.withResolvers<string>();
  let name = "";
  session.on("Browser.downloadWillBegin", ({ suggestedFilename }) => (name = suggestedFilename));
  session.on("Browser.downloadProgress", ({ state, guid }) => state === "completed" && resolve(guid));
  await session.send("Browser.setDownloadBehavior", {
    behavior: "allowAndName",
    browserContextId: page.browserContext().id!,
    downloadPath: place.directory,
    eventsEnabled: true,
  });
  await start();
  const bytes = await Bun.file(join(place.directory, await promise)).bytes();
  await session.detach();
  return { name, bytes };
}

/** Waits for the slot of a box whose label begins so. */
export const cell = (page: Page, label: string) =>
  page.waitForSelector(`[role=gridcell][aria-label^="${label}"]`);

/** Presses keys one after the other. */
export const keys = async (
  page: Page,
  ...pressed: ("ArrowRight" | "ArrowDown" | "Enter" | "Escape" | "m" | "End" | "Home")[]
) => {
  for (const key of pressed) await page.keyboard.press(key);
};

/** Drags what is in a slot of a box onto another one. */
export const dragSlot = (page: Page, from: string, to: string): Promise<void> =>
  page.evaluate(
    (source, target) => {
      const slot = (name: string) => document.querySelector(`[role=gridcell][aria-label^="${name},"]`)!;
      const data = { dataTransfer: new DataTransfer(), bubbles: true, cancelable: true };
      slot(source).dispatchEvent(new DragEvent("dragstart", data));
      slot(target).dispatchEvent(new DragEvent("dragover", data));
      slot(target).dispatchEvent(new DragEvent("drop", data));
      slot(source).dispatchEvent(new DragEvent("dragend", data));
    },
    from,
    to,
  );
