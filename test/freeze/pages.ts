import { launch, type Page } from "puppeteer-core";
import type { Recording } from "./recording.ts";

/** Records of which pages show something. */
export interface Shown {
  a: string;
  b: string;
  search: string;
  location: string;
}

const WIDTHS = [1280, 360];
const administration = [
  "",
  ..."audit backups corpora farm features jobs motif-classes tokens users".split(" "),
];

const addresses = ({ a, b, search, location }: Shown): string[] => [
  ..."/ /help /help/scoring /profile /score /changes /batch /scan /proteome /search?q=rack".split(" "),
  ...`/score/${a} /score/compare?a=${a}&b=${b} /scan/${a} /scans?job=${a}&job=${b} /proteome/${search}`.split(
    " ",
  ),
  ..."/inventory /inventory/storage /inventory/build /inventory/changes /inventory/scan".split(" "),
  ..."/inventory/labels?list=locations /inventory/stocktake /inventory/offline".split(" "),
  ...["locations", "stocks-consumables", "places"].flatMap((list) =>
    `/inventory/${list} /inventory/${list}/new /inventory/${list}/import`.split(" "),
  ),
  `/inventory/locations/${location}`,
  ...administration.map((section) => `/administration/${section}`.replace(/\/$/, "")),
  ..."/nowhere /docs /api/v2/?format=api /soap/ConservationScorer".split(" "),
];

/** Records text and picture of pages at two widths, for an administrator, and the text for anonymous callers. */
export async function recordPages(
  recording: Recording,
  url: string,
  cookie: string,
  shown: Shown,
): Promise<void> {
  await using browser = await launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const page = await browser.newPage();
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }]);
  for (const caller of ["anonymous", "administrator"]) {
    if (caller === "administrator") {
      const [name, value] = cookie.split("=");
      await page.browserContext().setCookie({ name, value, domain: new URL(url).hostname });
    }
    for (const address of addresses(shown))
      for (const width of caller === "anonymous" ? WIDTHS.slice(1) : WIDTHS) {
        await page.setViewport({ width, height: 900 });
        const path = recording.normalise(address).replaceAll(/\W+/g, "_").slice(0, 60);
        const name = `${caller}/${path}-${width}`;
        recording.write(`pages/${name}.txt`, `${address}\n${await settle(page, url + address)}`);
        if (caller === "anonymous") continue;
        await hideVariableText(page, recording);
        recording.write(`pictures/${name}.png`, await page.screenshot({ fullPage: true }));
      }
  }
}

/** Opens a page and waits until it does not change any more. @returns its text */
async function settle(page: Page, address: string): Promise<string> {
  await page.goto(address, { waitUntil: "networkidle0" });
  return page.evaluate(async () => {
    for (
      let before = "";
      before !== document.body.innerText;
      await new Promise((done) => setTimeout(done, 200))
    )
      before = document.body.innerText;
    return document.body.innerText;
  });
}

/** Replaces ids and times on the page, so that pictures of two runs are equal. */
async function hideVariableText(page: Page, recording: Recording): Promise<void> {
  const texts = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const nodes: Text[] = [];
    while (walker.nextNode()) nodes.push(walker.currentNode as Text);
    Object.assign(globalThis, { nodes });
    return nodes.map(({ data }) => data);
  });
  await page.evaluate(
    (replaced) => {
      for (const [i, node] of (globalThis as unknown as { nodes: Text[] }).nodes.entries())
        if (node.data !== replaced[i]) node.data = replaced[i];
      // A blinking cursor is in one of two pictures.
      (document.activeElement as HTMLElement | null)?.blur();
    },
    texts.map((text) => recording.normalise(text)),
  );
}
