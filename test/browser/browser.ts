import { expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, type ElementHandle, launch, type Page } from "puppeteer-core";
import { qrMatrix } from "../../src/platform/qr-code.ts";
import { LABD } from "../executable/labd.ts";

/** Pages of the compiled executable in a headless Chromium: one of each for all tests. */

const CHROMIUM = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== "" && existsSync(path));
if (CHROMIUM === undefined)
  process.stderr.write("BROWSER TESTS ARE SKIPPED: no Chromium. Install one, or name it in CHROMIUM.\n");

/** Like `test`; skipped where there is no Chromium. */
export const browserTest = test.skipIf(CHROMIUM === undefined);

/** Where screenshots are put; not part of the repository. */
export const ARTEFACTS = join(import.meta.dir, "../../test-artefacts");
/** The few that docs/pages.md shows; `DOCS=write` makes those that are there anew. */
const PICTURES = join(import.meta.dir, "../../docs/images");

export const ADMIN = { username: "admin", password: "a password for tests" };

interface Site {
  url: string;
  /** The data directory of the demonstration. */
  directory: string;
  browser: Browser;
  close(): Promise<void>;
}

/** Test files do not share modules, but they share this. `preload.ts` closes it after the last one. */
const shared = globalThis as { labdSite?: Promise<Site> };

/** The address of a running `labd demo`, whose sample data tests may add to, and the browser. */
export const site = (): Promise<Site> => (shared.labdSite ??= openSite());

async function openSite(): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), "labd-browser-"));
  const words = [
    "demo",
    "--data-dir",
    directory,
    "--port",
    "0",
    "--admin-password",
    ADMIN.password,
    "--log",
    "off",
  ];
  const server = Bun.spawn([LABD, ...words], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    env: { PATH: "" },
  });
  const opened = launch({
    executablePath: CHROMIUM!,
    // Chromium does not start its sandbox for root, as which tests in containers run.
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...fakeCamera(directory)],
  });
  const [url, browser] = await Promise.all([addressIn(server.stdout), opened]).catch((error: unknown) => {
    // Nobody would end it.
    server.kill("SIGKILL");
    throw error;
  });
  const close = async (): Promise<void> => {
    await browser.close();
    server.kill("SIGKILL");
    await server.exited;
    await Bun.$`rm -rf ${directory}`.quiet();
  };
  return { url, directory, browser, close };
}

/** Id of a consumable of the demonstration, whose label lies before the camera all the time. */
export const BEFORE_CAMERA = { id: "5f1e627f-8aba-5e10-93ff-82dee93474e6", name: "BsaI-HF" };

/** A camera that sees one label, as raw video (YUV4MPEG2). */
function fakeCamera(directory: string): string[] {
  const [width, height, module] = [640, 480, 10];
  const { size, dark } = qrMatrix(`http://lab/i/${BEFORE_CAMERA.id.slice(0, 13)}`);
  const left = (width - size * module) / 2;
  const top = (height - size * module) / 2;
  const luma = new Uint8Array(width * height).fill(235);
  for (let y = 0; y < size * module; y++)
    for (let x = 0; x < size * module; x++)
      if (dark(Math.floor(x / module), Math.floor(y / module))) luma[(top + y) * width + left + x] = 16;
  const grey = new Uint8Array((width * height) / 2).fill(128);
  const path = join(directory, "camera.y4m");
  writeFileSync(
    path,
    Buffer.concat([
      Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420mpeg2\nFRAME\n`),
      luma,
      grey,
    ]),
  );
  return [
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-video-capture=${path}`,
  ];
}

async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    for await (const chunk of output) {
      text += decoder.decode(chunk, { stream: true });
      // Printed last, when all is ready.
      const url = text.includes("Serving until") && text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
      if (url) resolve(url);
    }
    reject(new Error(`labd demo ended: ${text}`));
  })();
  return promise;
}

/** An open page, and what it did that it should not have. */
export interface Opened extends AsyncDisposable {
  page: Page;
  url: string;
  /** Requests to other places, errors and refusals by the policy, as texts. */
  faults: string[];
}

/** Opens a path of the demonstration. `signedIn`: as the administrator. */
export async function openPage(path: string, { signedIn = false, width = 1200 } = {}): Promise<Opened> {
  const { url, browser } = await site();
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.setDefaultTimeout(120_000);
  page.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(`${url}/`) && !/^(data|blob|about):/.test(address))
      faults.push(`request to ${address}`);
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    // The browser reports every refusal of a request; pages show those that matter.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) faults.push(message.text());
  });
  await page.setViewport({ width, height: 900 });
  if (signedIn) {
    await page.goto(`${url}/sign-in`);
    const status = await page.evaluate(
      async (body) =>
        (
          await fetch("/api/v2/session/", {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body,
          })
        ).status,
      JSON.stringify(ADMIN),
    );
    expect(status).toBe(200);
  }
  await page.goto(url + path, { waitUntil: "load" });
  return { page, url, faults, [Symbol.asyncDispose]: () => context.close() };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const LOOKS = [
  { name: "light", scheme: "light", width: 1200, rules: ALL },
  // Colours are all that differs.
  { name: "dark", scheme: "dark", width: 1200, rules: ["color-contrast", "link-in-text-block"] },
  { name: "narrow", scheme: "light", width: 360, rules: ALL },
] as const;

/**
 * The page as it stands, in light, in dark and 360 pixels wide: axe finds nothing against WCAG 2.2 AA and its best
 * practice, nothing is wider than the window, nothing went wrong so far. Leaves a screenshot of each in `ARTEFACTS`.
 */
export async function checkPage({ page, faults }: Opened, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.evaluate(AXE);
  const found: object[] = [];
  for (const look of LOOKS) {
    await page.emulateMediaFeatures([
      { name: "prefers-color-scheme", value: look.scheme },
      // A colour on its way from one to another has neither's contrast.
      { name: "prefers-reduced-motion", value: "reduce" },
    ]);
    await page.setViewport({ width: look.width, height: 900 });
    const results = await page.evaluate(
      (rules) =>
        (globalThis as unknown as { axe: { run(...of: object[]): Promise<AxeResults> } }).axe.run(
          // One picture to who cannot see it, of a thousand parts, which would take seconds.
          { exclude: ["svg[role=img] > *"] },
          { runOnly: rules },
        ) as Promise<AxeResults>,
      [...look.rules],
    );
    for (const { id, help, nodes } of results.violations)
      found.push({
        look: look.name,
        id,
        help,
        where: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
      });
    const [inner, outer] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      window.innerWidth,
    ]);
    if (inner > outer) found.push({ look: look.name, id: "too wide", help: `${inner} of ${outer} pixels` });
    await page.screenshot({
      path: join(ARTEFACTS, `${name}-${look.name}.png`) as `${string}.png`,
      fullPage: true,
    });
  }
  if (process.env.DOCS === "write" && existsSync(join(PICTURES, `${name}.png`)))
    copyFileSync(join(ARTEFACTS, `${name}-light.png`), join(PICTURES, `${name}.png`));
  await page.emulateMediaFeatures([]);
  await page.setViewport({ width: 1200, height: 900 });
  expect({ name, found, faults }).toEqual({ name, found: [], faults: [] });
}

/** Waits until something on the page has this text; says what is there instead where it does not come. */
export async function seeText(page: Page, text: string): Promise<void> {
  try {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), {}, text);
  } catch {
    const shown = await page.evaluate(() => document.body.innerText);
    throw new Error(`The page at ${page.url()} does not say ${JSON.stringify(text)}, but: ${shown}`);
  }
}

/** Waits until the page has become another one, at a path that begins so, and gives its address. */
export async function arrive(page: Page, path: string): Promise<string> {
  await page.waitForFunction(
    (wanted) => location.pathname.startsWith(wanted) && document.readyState === "complete",
    {},
    path,
  );
  return page.url();
}

const SELECTORS: Record<string, string> = {
  textbox: "input, textarea",
  combobox: "select, input[role=combobox]",
  checkbox: "input[type=checkbox]",
  button: "button",
  link: "a[href]",
  heading: "h1, h2, h3",
  option: "[role=option]",
  tab: "[role=tab]",
};

/** The element of a role that a person would call by this name: by its label or its text; waited for until it is seen. */
export async function named(
  page: Page,
  role: keyof typeof SELECTORS,
  name: string,
): Promise<ElementHandle<HTMLElement>> {
  const find = (selector: string, wanted: string): Element | undefined =>
    [...document.querySelectorAll<HTMLInputElement>(selector)].find((element) => {
      const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText;
      return label.replace(/\s+/g, " ").trim() === wanted && element.checkVisibility();
    });
  return (await page.waitForFunction(find, {}, SELECTORS[role], name)) as ElementHandle<HTMLElement>;
}

/** Clicks it. A page that is drawn again between looking and clicking has another element in its place: that one is clicked. */
export async function press(page: Page, role: string, name: string): Promise<void> {
  for (let tries = 20; ; tries--) {
    const element = await named(page, role, name);
    try {
      return await element.click();
    } catch (error) {
      if (tries === 0 || !/not clickable|detached/i.test(String(error))) throw error;
    }
  }
}

/** Puts text into the field of this name, in the place of what is there. */
export async function fill(page: Page, name: string, text: string): Promise<void> {
  const field = await named(page, "textbox", name);
  await field.evaluate((element) => (element as HTMLInputElement).select());
  await field.focus();
  if (text === "") await page.keyboard.press("Delete");
  else await page.keyboard.sendCharacter(text);
}

/** Types into the picker of this name, waits for a choice that begins so, and takes the first. */
export async function choose(page: Page, name: string, typed: string, choice = typed): Promise<void> {
  await fill(page, name, typed);
  await page.waitForFunction(
    (wanted) => {
      const shown = [...document.querySelectorAll<HTMLElement>("[role=option]")];
      const first = shown.find((each) => each.checkVisibility());
      return first?.innerText.startsWith(wanted);
    },
    {},
    choice,
  );
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

// Here and not in the first test that asks: with a test that takes too long Bun ends every process that was started
// within a test, and all that follow would fail for it. (What a module starts is left alone.)
if (CHROMIUM !== undefined) await site();
