import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, type ElementHandle, launch, type Page } from "puppeteer-core";
import { LABD } from "../executable/labd.ts";
import { cameraIn } from "./camera.ts";

/** Pages of the compiled executable in one headless Chromium for all tests. */

const CHROMIUM = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== "" && existsSync(path));
if (CHROMIUM === undefined)
  process.stderr.write("BROWSER TESTS ARE SKIPPED: no Chromium. Install one, or name it in CHROMIUM.\n");

/** Like `test`; skipped without Chromium. */
export const browserTest = test.skipIf(CHROMIUM === undefined);

/** Screenshots; not part of the repository. */
export const ARTEFACTS = join(import.meta.dir, "../../test-artefacts");
/** Pictures of the documentation; `DOCS=write` takes them again. */
const PICTURES = join(import.meta.dir, "../../docs/images");
const PICTURE_HEIGHTS: Readonly<Record<string, number>> = { result: 1290, "inventory-list": 660 };

export const ADMIN = { username: "admin", password: "a password for tests" };

interface Site {
  url: string;
  /** Data directory of the demonstration. */
  directory: string;
  browser: Browser;
  close(): Promise<void>;
}

/** Test files share no modules, but they share this. `preload.ts` closes it after the last one. */
const shared = globalThis as { labdSite?: Promise<Site> };

/** A running `labd demo`, whose sample data tests may add to, and the browser. */
export const site = (): Promise<Site> => (shared.labdSite ??= openSite());

async function openSite(): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), "labd-browser-"));
  const options = [
    "--data-dir",
    directory,
    "--port",
    "0",
    "--admin-password",
    ADMIN.password,
    "--log",
    "off",
  ];
  const server = Bun.spawn([LABD, "demo", ...options], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    env: { PATH: "" },
  });
  const opening = launch({
    executablePath: CHROMIUM!,
    // Chromium's sandbox does not start for root, as which tests in containers run.
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--enable-unsafe-swiftshader",
      ...cameraIn(directory),
    ],
  });
  const [url, browser] = await Promise.all([addressIn(server.stdout), opening]).catch((error: unknown) => {
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

/** The address that a demonstration prints; the rest of its output is read and dropped. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    let text = "";
    for await (const chunk of output.pipeThrough(
      new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
    )) {
      text += chunk;
      // Printed last, when the server is ready.
      const url = text.includes("Serving until") && text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
      if (url) resolve(url);
    }
    reject(new Error(`labd demo ended: ${text}`));
  })();
  return promise;
}

/** An open page, and what went wrong on it. */
export interface Opened extends AsyncDisposable {
  page: Page;
  url: string;
  /** Requests to other servers, errors and refusals by the policy. */
  faults: string[];
}

/** The secret by which the server recognizes who sent the jobs of `submitted`. */
export const OWNER_KEY = "owner-of-the-jobs-of-browser-tests";

interface OpenOptions {
  /** Signs in as the administrator first. */
  signedIn?: boolean;
  /** Has the cookie of the browser that sent the jobs of `submitted`. */
  isOwner?: boolean;
  width?: number;
  /** Another server than the demonstration. */
  server?: string;
}

/** Opens a path in a new browser context. */
export async function openPage(path: string, options: OpenOptions = {}): Promise<Opened> {
  const { url: demonstration, browser } = await site();
  const { signedIn = false, isOwner = false, width = 1200, server: url = demonstration } = options;
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
    // The browser reports every request that fails; pages show those that matter.
    const isFailedRequest = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isFailedRequest) faults.push(message.text());
  });
  await page.setViewport({ width, height: 900 });
  if (isOwner)
    await context.setCookie({ name: "labd_owner", value: OWNER_KEY, domain: new URL(url).hostname });
  if (signedIn) {
    await page.goto(`${url}/sign-in`);
    expect(await post(page, "/api/v2/session/", ADMIN)).toBe(200);
  }
  await page.goto(url + path, { waitUntil: "load" });
  return { page, url, faults, [Symbol.asyncDispose]: () => context.close() };
}

/** Sends JSON from the page. @returns the status */
export const post = (page: Page, path: string, body: object): Promise<number> =>
  page.evaluate(
    async (path, body) => {
      const headers = { "Content-Type": "application/json" };
      return (await fetch(path, { method: "POST", headers, body })).status;
    },
    path,
    JSON.stringify(body),
  );

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const LOOKS = [
  { name: "light", scheme: "light", width: 1200, rules: ALL },
  // Only colours differ.
  { name: "dark", scheme: "dark", width: 1200, rules: ["color-contrast", "link-in-text-block"] },
  { name: "narrow", scheme: "light", width: 360, rules: ALL },
] as const;

/**
 * Checks the page as it stands in light, in dark and 360 pixels wide: axe finds nothing against WCAG 2.2 AA and its best
 * practices, nothing is wider than the window, nothing has gone wrong so far. Leaves a screenshot of each in `ARTEFACTS`.
 */
export async function checkPage({ page, faults }: Opened, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.evaluate(AXE);
  const found: object[] = [];
  for (const look of LOOKS) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look.scheme }]);
    await page.setViewport({ width: look.width, height: 900 });
    // With the whole page in the window, fixed bars cover nothing.
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewport({ width: look.width, height: Math.max(900, height + 60) });
    const { violations } = await page.evaluate(
      (rules) =>
        (globalThis as unknown as { axe: { run(...of: object[]): Promise<AxeResults> } }).axe.run(
          // A picture is one element for screen readers; checking its thousand parts takes seconds.
          { exclude: ["svg[role=img] > *"] },
          { runOnly: rules },
        ) as Promise<AxeResults>,
      [...look.rules],
    );
    for (const { id, help, nodes } of violations) {
      const where = nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`);
      found.push({ look: look.name, id, help, where });
    }
    const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    if (inner > outer) found.push({ look: look.name, id: "too wide", help: `${inner} of ${outer} pixels` });
    await page.screenshot({ path: artefact(`${name}-${look.name}`), fullPage: true });
  }
  await writePicture(page, name);
  await page.emulateMediaFeatures([]);
  await page.setViewport({ width: 1200, height: 900 });
  expect({ name, found, faults }).toEqual({ name, found: [], faults: [] });
}

/** Takes the picture of this page for the documentation again. */
async function writePicture(page: Page, name: string): Promise<void> {
  const height = PICTURE_HEIGHTS[name];
  if (process.env.DOCS !== "write" || height === undefined) return;
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.setViewport({ width: 1280, height });
  await page.screenshot({ path: join(PICTURES, `${name}.webp`) as `${string}.webp`, quality: 85 });
}

/** Path of a screenshot. */
export const artefact = (name: string): `${string}.png` => `${join(ARTEFACTS, name)}.png`;

/** Waits until the page shows a text. */
export async function seeText(page: Page, text: string): Promise<void> {
  try {
    await page.waitForFunction((wanted) => document.body.innerText.includes(wanted), {}, text);
  } catch {
    const shown = await page.evaluate(() => document.body.innerText);
    throw new Error(`The page at ${page.url()} does not say ${JSON.stringify(text)}, but: ${shown}`);
  }
}

/** Waits until a row of a table matches, as text. */
export const seeRow = (page: Page, pattern: RegExp): Promise<unknown> =>
  page.waitForFunction(
    (source) =>
      [...document.querySelectorAll("tr")].some((row) => new RegExp(source, "s").test(row.innerText)),
    {},
    pattern.source,
  );

/** Waits until the browser has gone to a path that begins so. @returns the address */
export async function arrive(page: Page, path: string): Promise<string> {
  try {
    await page.waitForFunction(
      (wanted) => location.pathname.startsWith(wanted) && document.readyState === "complete",
      {},
      path,
    );
  } catch {
    const shown = await page.evaluate(() => document.body.innerText);
    throw new Error(`The page did not go from ${page.url()} to ${path}, but says: ${shown}`);
  }
  return page.url();
}

const SELECTORS: Record<string, string> = {
  textbox: "input, textarea",
  combobox: "select, input[role=combobox]",
  checkbox: "input[type=checkbox]",
  radio: "input[type=radio]",
  file: "input[type=file]",
  button: "button",
  link: "a[href]",
  heading: "h1, h2, h3",
  option: "[role=option]",
  tab: "[role=tab]",
  summary: "summary",
};

/** Waits for the visible element of a role with this label or text, first in an open dialog. */
export async function named(
  page: Page,
  role: keyof typeof SELECTORS,
  name: string,
): Promise<ElementHandle<HTMLElement>> {
  const find = (selector: string, wanted: string): Element | undefined =>
    [...document.querySelectorAll("dialog:modal"), document]
      .flatMap((part) => Array.from(part.querySelectorAll<HTMLInputElement>(selector)))
      .find((element) => {
        const label =
          element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText;
        return label.replace(/\s+/g, " ").trim() === wanted && element.checkVisibility();
      });
  return (await page.waitForFunction(find, {}, SELECTORS[role], name)) as ElementHandle<HTMLElement>;
}

/** Milliseconds for which a click is tried again. */
const PATIENCE = 20_000;

/** Clicks an element, again where the page replaced it or moved it away from below the mouse meanwhile. */
export async function press(page: Page, role: string, name: string): Promise<void> {
  for (const end = performance.now() + PATIENCE; ;) {
    const element = await named(page, role, name);
    try {
      await element.evaluate(async (shown) => {
        // Content that is still loading above the element would move it.
        for (let [last, y] = [NaN, shown.getBoundingClientRect().y]; last !== y;) {
          await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
          [last, y] = [y, shown.getBoundingClientRect().y];
        }
        shown.removeAttribute("data-pressed");
        const onClick = (): void => shown.setAttribute("data-pressed", "");
        shown.addEventListener("click", onClick, { capture: true, once: true });
      });
      await element.click();
      // A page that is gone by now was left by the click.
      if (await element.evaluate((shown) => shown.hasAttribute("data-pressed")).catch(() => true)) return;
      if (performance.now() > end) throw new Error(`The ${role} ${name} takes no click.`);
    } catch (error) {
      if (performance.now() > end || !/not clickable|detached/i.test(String(error))) throw error;
    }
  }
}

/** Clicks an action of a row that is in the menu behind "…". */
export async function pressInMenu(page: Page, action: string, row: string): Promise<void> {
  await press(page, "button", `More actions: ${row}`);
  await press(page, "button", `${action}: ${row}`);
}

/** Replaces the text of a field. */
export async function fill(page: Page, name: string, text: string): Promise<void> {
  const field = await named(page, "textbox", name);
  await field.evaluate((element) => (element as HTMLInputElement).select());
  await field.focus();
  if (text === "") await page.keyboard.press("Delete");
  else await page.keyboard.sendCharacter(text);
}

/** Types a username and a password by keyboard. */
export async function signIn(page: Page, username: string, password: string): Promise<void> {
  await fill(page, "Username", username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
}

/** The secret that the page shows once. */
export async function secretOn(page: Page): Promise<string> {
  const field = await page.waitForSelector(".secret input");
  return field!.evaluate((input) => (input as HTMLInputElement).value);
}

/** Chooses a file. */
export async function upload(page: Page, path: string): Promise<void> {
  const input = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(path);
}

/** Types into the picker of this name, waits for a choice that begins so, and takes the first. */
export async function choose(page: Page, name: string, typed: string, choice = typed): Promise<void> {
  await fill(page, name, typed);
  await page.waitForFunction(
    (wanted) => {
      const options = [...document.querySelectorAll<HTMLElement>("[role=option]")];
      return options.find((each) => each.checkVisibility())?.innerText.startsWith(wanted);
    },
    {},
    choice,
  );
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

// Not in the first test that asks: when a test takes too long, Bun ends every process that was started within a test.
if (CHROMIUM !== undefined) await site();

/** Opens a disclosure. */
export const disclose = async (page: Page, name: string): Promise<void> =>
  (await named(page, "heading", name)).evaluate((heading) => heading.closest("summary")!.click());
