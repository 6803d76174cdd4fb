import { expect } from "bun:test";
import { scratch, serve } from "../executable/labd.ts";
import { CLIENT, openProvider } from "../accounts/external/provider.ts";
import { freePort } from "../accounts/external/slapd.ts";
import { ADMIN, arrive, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

browserTest(
  "people sign in at a provider and come back to the page that they wanted; who may not is told why",
  async () => {
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    await using provider = await openProvider([`${url}/api/oidc/callback`], {
      kim: { preferred_username: "kim", name: "Kim Kuhn", groups: ["staff"] },
      max: { preferred_username: "max" },
      ann: { preferred_username: "admin", groups: ["staff"] },
    });
    using directory = scratch();
    const settings = {
      port: String(port),
      "admin-password": ADMIN.password,
      "public-url": url,
      "oidc-issuer": provider.issuer,
      "oidc-client-id": CLIENT.id,
      "oidc-client-secret": CLIENT.secret,
      "oidc-name": "the university",
      "oidc-scopes": "openid profile groups",
      "oidc-groups-allowed": "staff",
      "oidc-new-accounts": "true",
    };
    const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    await using server = await serve(directory.directory, words);
    expect(server.url).toBe(url);
    await using opened = await openPage("/");
    const { page } = opened;
    const pass = async (name: string): Promise<void> => {
      await page.goto(`${url}/sign-in?next=%2Fprofile`, { waitUntil: "load" });
      await Promise.all([page.waitForNavigation(), press(page, "link", "Sign in with the university")]);
      await page.type("input[name=name]", name);
      await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.click("button")]);
    };
    await pass("max");
    await seeText(page, "Signing in with the university did not work. You are in none of the groups");
    // Other servers than the demonstration: their requests are no faults.
    await checkPage({ ...opened, faults: [] }, "sign-in-provider");
    await page.deleteCookie(...(await page.cookies(provider.issuer)));
    await pass("kim");
    expect(page.url()).toBe(`${url}/profile`);
    await named(page, "link", "kim");
    // The provider asks whether to sign out there, too, and lets people return.
    await Promise.all([page.waitForNavigation({ waitUntil: "load" }), press(page, "button", "Sign out")]);
    expect(page.url()).toStartWith(`${provider.issuer}/session/end?client_id=labd`);
    await Promise.all([
      page.waitForNavigation({ waitUntil: "load" }),
      press(page, "button", "Sign out there"),
    ]);
    expect(page.url()).toBe(`${url}/`);
    await named(page, "link", "Sign in");
    // A name that is taken: the administrator says that it is the same person, and not.
    const forgetPerson = async () => page.deleteCookie(...(await page.cookies(provider.issuer)));
    await forgetPerson();
    await pass("ann");
    await seeText(page, "There is an account of your name that is not linked to you.");
    await fill(page, "Name", ADMIN.username);
    await fill(page, "Password", ADMIN.password);
    await page.keyboard.press("Enter");
    await arrive(page, "/profile");
    await page.goto(`${url}/administration/users`, { waitUntil: "load" });
    await press(page, "button", "Links of admin");
    await fill(page, "Subject at the provider", "ann");
    await checkPage({ ...opened, faults: [] }, "administration-identity");
    await press(page, "button", "Link");
    await seeText(page, "admin is linked to ann at");
    await page.deleteCookie(...(await page.cookies(url)));
    await forgetPerson();
    await pass("ann");
    expect(page.url()).toBe(`${url}/profile`);
    await named(page, "link", "admin");
    await page.goto(`${url}/administration/users`, { waitUntil: "load" });
    await press(page, "button", "Links of admin");
    await press(page, "button", "Unlink Provider (OpenID Connect)");
    // Its sessions ended, that of the administrator among them.
    await seeText(page, "Sign in, and you come back to this page.");
    // Accounts with a password here need no provider.
    await provider.pause();
    await Bun.sleep(1000);
    await page.goto(`${url}/sign-in`, { waitUntil: "load" });
    await press(page, "link", "Sign in with the university");
    await seeText(page, "It does not answer.");
    await fill(page, "Name", "somebody");
  },
  300_000,
);
