import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";
import zxing from "zxing-wasm/reader/zxing_reader.wasm" with { type: "file" };
import { DATABASE } from "../../src/app/data-directory.ts";
import { CLIENT, openProvider } from "../accounts/external/provider.ts";
import { labd, scratch, serve } from "../executable/labd.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import {
  arrive,
  browserTest,
  checkPage,
  fill,
  named,
  openPage,
  press,
  pressInMenu,
  secretOn,
  seeText,
  signIn,
} from "./browser.ts";

const PASSWORD = "a long password";

const addUser = (directory: string, ...words: string[]): Promise<unknown> =>
  labd(["user", "add", ...words, "--password-stdin", "--data-dir", directory], { stdin: PASSWORD });

/** Makes the server ask everybody again who they are. */
function ageConfirmations(directory: string): void {
  using database = new Database(join(directory, DATABASE));
  database.run("PRAGMA busy_timeout = 10000");
  database.run("UPDATE session SET confirmed = 1");
}

async function enterPassword(page: Page, password: string): Promise<void> {
  await fill(page, "Your password", password);
  await page.keyboard.press("Enter");
}

const send = (url: string, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Sets up a second factor for somebody else. */
async function enrol(url: string, username: string): Promise<void> {
  const session = await send(url, "/api/v2/session/", { username, password: PASSWORD });
  const { csrf_token } = (await session.json()) as { csrf_token: string };
  const headers = { Cookie: session.headers.get("set-cookie")!.split(";")[0], "X-CSRFToken": csrf_token };
  const enrolment = await send(url, "/api/account/second-factor", {}, headers);
  const { secret } = (await enrolment.json()) as { secret: string };
  const body = { code: shownCode(secret) };
  expect((await send(url, "/api/account/second-factor/confirm", body, headers)).status).toBe(200);
}

/** The text of the QR code on the page. */
async function readQrCode(page: Page): Promise<string> {
  const picture = await (await page.waitForSelector("svg.qr"))!.screenshot();
  prepareZXingModule({ overrides: { wasmBinary: await Bun.file(zxing).arrayBuffer() } });
  const [{ text }] = await readBarcodes(picture, { formats: ["QRCode"] });
  return text;
}

browserTest(
  "creating a token or a second factor asks for the password again, or leads to the provider",
  async () => {
    using place = scratch();
    await addUser(place.directory, "kim");
    await using stack = new AsyncDisposableStack();
    let url = "";
    const start = async (issuer: string): Promise<string[]> => {
      const settings = {
        "oidc-issuer": issuer,
        "oidc-client-id": CLIENT.id,
        "oidc-client-secret": CLIENT.secret,
        "new-accounts": "oidc",
      };
      const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
      ({ url } = stack.use(await serve(place.directory, options)));
      return [`${url}/api/oidc/callback`];
    };
    await using provider = await openProvider(start, { lee: { preferred_username: "lee" } });
    const { host } = new URL(provider.issuer);
    // Browsers drop the tab, and would go to another host.
    await using opened = await openPage("/sign-in?next=%2F%09%2Fevil.example%2F", { server: url });
    const { page } = opened;
    const check = (name: string): Promise<void> => checkPage({ ...opened, faults: [] }, name);
    const createToken = async (name: string): Promise<void> => {
      await fill(page, "Purpose", name);
      await page.keyboard.press("Enter");
    };
    await signIn(page, "kim", PASSWORD);
    await page.waitForFunction(() => location.pathname === "/" && document.readyState === "complete");
    expect(new URL(page.url()).origin).toBe(url);

    await page.goto(`${url}/profile`);
    await createToken("first");
    await seeText(page, "Copy it now");
    ageConfirmations(place.directory);
    await createToken("later");
    await seeText(page, "You signed in a while ago.");
    await check("confirmation");
    await enterPassword(page, "wrong");
    await seeText(page, "This is not the password of the account.");
    await enterPassword(page, PASSWORD);
    await page.waitForFunction(() => document.querySelector("dialog") === null);
    await seeText(page, "later");
    ageConfirmations(place.directory);
    await press(page, "button", "Set up");
    await enterPassword(page, PASSWORD);
    await seeText(page, "Scan this code with the app");

    await page.deleteCookie(...(await page.cookies(url)));
    const signInAtProvider = async (): Promise<void> => {
      await page.waitForSelector("input[name=name]");
      await page.type("input[name=name]", "lee");
      await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.click("button")]);
    };
    await page.goto(`${url}/sign-in?next=/profile`, { waitUntil: "load" });
    await Promise.all([page.waitForNavigation(), press(page, "link", `Sign in with ${host}`)]);
    await signInAtProvider();
    await createToken("by lee");
    await seeText(page, `Sign in with ${host} again`);
    await check("confirmation-provider");
    // The provider asks again, although it has a session.
    await Promise.all([page.waitForNavigation(), press(page, "link", "Sign in again")]);
    expect(page.url()).toStartWith(`${provider.issuer}/interaction/`);
    await signInAtProvider();
    expect(page.url()).toBe(`${url}/profile`);
    await createToken("by lee");
    await seeText(page, "Copy it now");
  },
  180_000,
);

browserTest(
  "an administrator without a second factor must set one up; signing in then asks for a code",
  async () => {
    using place = scratch();
    await addUser(place.directory, "ada", "--admin");
    await addUser(place.directory, "kim");
    await using server = await serve(place.directory, ["--require-totp", "administrators"]);
    const path = "/sign-in?next=/administration/users";
    await using opened = await openPage(path, { server: server.url });
    const { page } = opened;
    await signIn(page, "ada", PASSWORD);
    expect(await arrive(page, "/second-factor")).toEndWith("?next=%2Fadministration%2Fusers");
    await page.goto(`${server.url}/administration/tokens`);
    expect(await arrive(page, "/second-factor")).toEndWith("?next=%2Fadministration%2Ftokens");

    // Enrolment, by keyboard.
    await (await named(page, "button", "Set up")).focus();
    await page.keyboard.press("Enter");
    await seeText(page, "Scan this code with the app");
    await checkPage(opened, "second-factor");
    const secret = (await secretOn(page)).replaceAll(" ", "");
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = await readQrCode(page);
    expect(uri).toStartWith("otpauth://totp/labd%20127.0.0.1:ada?");
    expect(new URL(uri).searchParams.get("secret")).toBe(secret);
    const enterCode = async (code: string): Promise<void> => {
      await fill(page, "Code", code);
      await page.keyboard.press("Enter");
    };
    await enterCode("12345");
    await page.waitForSelector("[aria-invalid=true]");
    await enterCode(shownCode(secret));
    await seeText(page, "They are shown only once");
    await checkPage(opened, "second-factor-recovery");
    const recovery = await page.$$eval(".codes code", (codes) =>
      codes.map(({ textContent }) => textContent!),
    );
    expect(recovery).toHaveLength(10);
    await press(page, "button", "I have saved the codes");
    await arrive(page, "/administration/tokens");
    await seeText(page, "Nobody has created a token yet.");

    // Signing in.
    await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
    await page.goto(`${server.url}/sign-in`);
    await signIn(page, "ada", PASSWORD);
    await seeText(page, "Your account also needs a code.");
    // The field of the code has the focus.
    await page.keyboard.type("000000");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[aria-invalid=true]");
    await checkPage(opened, "sign-in-code");
    await press(page, "button", "Use a recovery code");
    await named(page, "textbox", "Recovery code");
    await page.keyboard.type(recovery[0]);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.pathname === "/");

    // New recovery codes.
    await page.goto(`${server.url}/profile`);
    await seeText(page, "9 recovery codes left.");
    await press(page, "button", "Replace recovery codes");
    await named(page, "textbox", "Code");
    await page.keyboard.type(recovery[1]);
    await checkPage(opened, "second-factor-profile");
    await page.keyboard.press("Enter");
    await seeText(page, "They are shown only once");
    await press(page, "button", "I have saved the codes");
    await seeText(page, "10 recovery codes left.");

    // Somebody else has lost the phone.
    await enrol(server.url, "kim");
    await page.goto(`${server.url}/administration/users`);
    await pressInMenu(page, "Reset second factor", "kim");
    await checkPage(opened, "second-factor-reset");
    ageConfirmations(place.directory);
    await press(page, "button", "Reset second factor");
    await seeText(page, "You signed in a while ago.");
    await page.keyboard.press("Escape");
    await seeText(page, "Cancelled.");
    await press(page, "button", "Reset second factor");
    await enterPassword(page, PASSWORD);
    await seeText(page, "Reset the second factor of kim.");
    const credentials = { username: "kim", password: PASSWORD };
    expect((await send(server.url, "/api/v2/token-auth/", credentials)).status).toBe(200);
  },
  300_000,
);
