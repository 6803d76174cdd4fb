import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";
import zxing from "zxing-wasm/reader/zxing_reader.wasm" with { type: "file" };
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { join } from "node:path";
import type { Page } from "puppeteer-core";
import { DATABASE } from "../../src/app/data-directory.ts";
import { labd, scratch, serve } from "../executable/labd.ts";
import { CLIENT, openProvider } from "../accounts/external/provider.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import { arrive, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

/** Setting up a second factor where the settings ask for one, and signing in with it. */

const PASSWORD = "a long password";

/** Has all sessions be of people who showed long ago who they are. */
function grow(directory: string): void {
  using database = new Database(join(directory, DATABASE));
  database.run("PRAGMA busy_timeout = 10000");
  database.run("UPDATE session SET confirmed = 1");
}

/** Gives the password where the page asks for it once more. */
async function showWho(page: Page, password: string): Promise<void> {
  await fill(page, "Your password", password);
  await page.keyboard.press("Enter");
}

browserTest(
  "a token and a second factor cost the password once more, by keyboard; who came by a provider goes there and back",
  async () => {
    using place = scratch();
    await labd(["user", "add", "kim", "--password-stdin", "--data-dir", place.directory], {
      stdin: PASSWORD,
    });
    await using stack = new AsyncDisposableStack();
    let url = "";
    const begin = async (issuer: string): Promise<string[]> => {
      const settings = {
        "oidc-issuer": issuer,
        "oidc-client-id": CLIENT.id,
        "oidc-client-secret": CLIENT.secret,
        "oidc-name": "the university",
        "oidc-new-accounts": "true",
        "oidc-timeout": "60",
      };
      const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
      ({ url } = stack.use(await serve(place.directory, words)));
      return [`${url}/api/oidc/callback`];
    };
    await using provider = await openProvider(begin, { lee: { preferred_username: "lee" } });
    await using opened = await openPage("/");
    const { page } = opened;
    // Browsers leave the tab out, and would go to another host.
    await page.goto(`${url}/sign-in?next=%2F%09%2Fevil.example%2F`);
    await fill(page, "Name", "kim");
    await fill(page, "Password", PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.pathname === "/" && document.readyState === "complete");
    expect(new URL(page.url()).origin).toBe(url);
    await page.goto(`${url}/profile`);
    const makeToken = async (name: string): Promise<void> => {
      await fill(page, "What is it for?", name);
      await page.keyboard.press("Enter");
    };
    // A short while after signing in nothing is asked.
    await makeToken("at once");
    await seeText(page, "Copy it now");
    grow(place.directory);
    await makeToken("later");
    await seeText(page, "You signed in a while ago.");
    await checkPage({ ...opened, faults: [] }, "confirmation");
    await showWho(page, "wrong");
    await seeText(page, "This is not the password of the account.");
    await showWho(page, PASSWORD);
    await page.waitForFunction(() => document.querySelector("dialog") === null);
    await seeText(page, "later");
    grow(place.directory);
    await press(page, "button", "Set it up");
    await showWho(page, PASSWORD);
    await seeText(page, "Scan this with the app");

    await page.deleteCookie(...(await page.cookies(url)));
    const signInThere = async (): Promise<void> => {
      await page.waitForSelector("input[name=name]");
      await page.type("input[name=name]", "lee");
      await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.click("button")]);
    };
    await page.goto(`${url}/sign-in?next=/profile`, { waitUntil: "load" });
    await Promise.all([page.waitForNavigation(), press(page, "link", "Sign in with the university")]);
    await signInThere();
    await makeToken("by lee");
    await seeText(page, "Sign in with the university once more");
    await checkPage({ ...opened, faults: [] }, "confirmation-provider");
    // It asks who it is, though it knows.
    await Promise.all([page.waitForNavigation(), press(page, "link", "Sign in again")]);
    expect(page.url()).toStartWith(`${provider.issuer}/interaction/`);
    await signInThere();
    expect(page.url()).toBe(`${url}/profile`);
    await makeToken("by lee");
    await seeText(page, "Copy it now");
  },
  180_000,
);
browserTest(
  "an administrator without a second factor is led to one, by keyboard; then signing in asks for a code",
  async () => {
    using place = scratch();
    const on = ["--data-dir", place.directory];
    for (const words of [["ada", "--admin"], ["kim"]])
      await labd(["user", "add", ...words, "--password-stdin", ...on], { stdin: PASSWORD });
    await using server = await serve(place.directory, ["--require-totp", "administrators"]);
    await using opened = await openPage("/");
    const { page } = opened;
    // Another server than the demonstration: its requests are no faults.
    const check = (name: string) => checkPage({ ...opened, faults: [] }, name);
    const signIn = async (): Promise<void> => {
      await (await named(page, "textbox", "Name")).focus();
      await page.keyboard.type("ada");
      await page.keyboard.press("Tab");
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press("Enter");
    };
    await page.goto(`${server.url}/sign-in?next=/administration/users`);
    await signIn();
    expect(await arrive(page, "/second-factor")).toEndWith("?next=%2Fadministration%2Fusers");
    // No page is a way around it.
    await page.goto(`${server.url}/administration/tokens`);
    expect(await arrive(page, "/second-factor")).toEndWith("?next=%2Fadministration%2Ftokens");
    await (await named(page, "button", "Set it up")).focus();
    await page.keyboard.press("Enter");
    await seeText(page, "Scan this with the app");
    await check("second-factor");
    const field = await page.waitForSelector(".shown-once input");
    const secret = (await field!.evaluate((input) => (input as HTMLInputElement).value)).replaceAll(" ", "");
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const seen = await page.evaluate(async () => {
      const svg = document.querySelector("svg.qr")!.cloneNode(true) as SVGElement;
      for (const [name, value] of [
        ["xmlns", "http://www.w3.org/2000/svg"],
        ["width", "400"],
        ["height", "400"],
      ])
        svg.setAttribute(name, value);
      svg.querySelector("rect")!.setAttribute("fill", "#fff");
      const url = URL.createObjectURL(new Blob([svg.outerHTML], { type: "image/svg+xml" }));
      const image = new Image();
      image.src = url;
      await image.decode();
      const context = Object.assign(document.createElement("canvas"), { width: 400, height: 400 }).getContext(
        "2d",
      )!;
      context.drawImage(image, 0, 0);
      return [...context.getImageData(0, 0, 400, 400).data];
    });
    prepareZXingModule({ overrides: { wasmBinary: await Bun.file(zxing).arrayBuffer() } });
    const pixels = {
      data: Uint8ClampedArray.from(seen),
      width: 400,
      height: 400,
      colorSpace: "srgb" as const,
    };
    const [{ text: read }] = await readBarcodes(pixels, { formats: ["QRCode"] });
    expect(read).toStartWith("otpauth://totp/labd%20127.0.0.1:ada?");
    expect(new URL(read).searchParams.get("secret")).toBe(secret);
    const fillCode = async (code: string): Promise<void> => {
      await fill(page, "Code", code);
      await page.keyboard.press("Enter");
    };
    await fillCode("12345");
    await seeText(page, "This is no code that the app shows now");
    await fillCode(shownCode(secret));
    await seeText(page, "They are shown this once.");
    await check("second-factor-recovery");
    const recovery = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>(".codes code")].map(({ innerText }) => innerText),
    );
    expect(recovery).toHaveLength(10);
    await press(page, "button", "I have kept them");
    await arrive(page, "/administration/tokens");
    await seeText(page, "Nobody has made one yet.");

    await Promise.all([page.waitForNavigation(), press(page, "button", "Sign out")]);
    await page.goto(`${server.url}/sign-in`);
    await signIn();
    await seeText(page, "Your account has a second factor, too.");
    // The focus is where the code goes.
    await page.keyboard.type("000000");
    await page.keyboard.press("Enter");
    await seeText(page, "This is no code that the app shows now");
    await check("sign-in-code");
    await press(page, "button", "Use a recovery code");
    await named(page, "textbox", "Recovery code");
    await page.keyboard.type(recovery[0]);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.pathname === "/");
    await page.goto(`${server.url}/profile`);
    await seeText(page, "9 recovery codes are left.");
    await press(page, "button", "New recovery codes");
    await named(page, "textbox", "Code");
    await page.keyboard.type(recovery[1]);
    await check("second-factor-profile");
    await page.keyboard.press("Enter");
    await seeText(page, "They are shown this once.");
    await press(page, "button", "I have kept them");
    await seeText(page, "10 recovery codes are left.");

    // Somebody else has one, and has lost the phone.
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    const ask = (path: string, body: object) =>
      fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const session = await ask("/api/v2/session/", { username: "kim", password: PASSWORD });
    headers.Cookie = session.headers.get("set-cookie")!.split(";")[0];
    headers["X-CSRFToken"] = ((await session.json()) as { csrf_token: string }).csrf_token;
    const begun = (await (await ask("/api/account/second-factor", {})).json()) as { secret: string };
    const confirmed = await ask("/api/account/second-factor/confirm", { code: shownCode(begun.secret) });
    expect(confirmed.status).toBe(200);
    await page.goto(`${server.url}/administration/users`);
    await press(page, "button", "Reset codes of kim");
    await check("second-factor-reset");
    // She signed in long ago: whoever sits there now has to show who it is.
    grow(place.directory);
    await press(page, "button", "Reset");
    await seeText(page, "You signed in a while ago.");
    await press(page, "button", "Leave it");
    await seeText(page, "Nothing was done.");
    await press(page, "button", "Reset");
    await showWho(page, PASSWORD);
    await seeText(page, "kim has no second factor any more.");
    delete headers.Cookie;
    expect((await ask("/api/v2/token-auth/", { username: "kim", password: PASSWORD })).status).toBe(200);
  },
  300_000,
);
