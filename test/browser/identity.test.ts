import { expect } from "bun:test";
import { CLIENT, openProvider } from "../accounts/external/provider.ts";
import { freePort } from "../accounts/external/slapd.ts";
import { scratch, serve } from "../executable/labd.ts";
import {
  ADMIN,
  arrive,
  browserTest,
  checkPage,
  fill,
  named,
  openPage,
  press,
  pressInMenu,
  seeText,
  signIn,
} from "./browser.ts";

browserTest(
  "people sign in at a provider and return to their page; those refused learn why",
  async () => {
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    await using provider = await openProvider([`${url}/api/oidc/callback`], {
      kim: { preferred_username: "kim", name: "Kim Kuhn", groups: ["staff"] },
      max: { preferred_username: "max" },
      ann: { preferred_username: "admin", groups: ["staff"] },
    });
    const { host } = new URL(provider.issuer);
    using directory = scratch();
    const settings = {
      port: String(port),
      "admin-password": ADMIN.password,
      "public-url": url,
      "oidc-issuer": provider.issuer,
      "oidc-client-id": CLIENT.id,
      "oidc-client-secret": CLIENT.secret,
      "oidc-scopes": "openid profile groups",
      "groups-allowed": "staff",
      "new-accounts": "oidc",
    };
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    await using server = await serve(directory.directory, options);
    await using opened = await openPage("/", { server: server.url });
    const { page } = opened;
    // Requests to the provider are no faults.
    const check = (name: string): Promise<void> => checkPage({ ...opened, faults: [] }, name);
    const forget = async (at: string): Promise<void> => page.deleteCookie(...(await page.cookies(at)));
    const follow = (act: Promise<void>) => Promise.all([page.waitForNavigation({ waitUntil: "load" }), act]);
    const signInAtProvider = async (name: string): Promise<void> => {
      await forget(provider.issuer);
      await page.goto(`${url}/sign-in?next=%2Fprofile`, { waitUntil: "load" });
      await follow(press(page, "link", `Sign in with ${host}`));
      await page.type("input[name=name]", name);
      await follow(page.click("button"));
    };

    await signInAtProvider("max");
    await seeText(page, `Signing in with ${host} failed. Your groups do not have permission`);
    await check("sign-in-provider");

    await signInAtProvider("kim");
    expect(page.url()).toBe(`${url}/profile`);
    await named(page, "link", "Kim Kuhn");
    // The provider asks whether to end its session, too, and lets people return.
    await follow(press(page, "button", "Sign out"));
    expect(page.url()).toStartWith(`${provider.issuer}/session/end?client_id=labd`);
    await follow(press(page, "button", "Sign out there"));
    expect(page.url()).toBe(`${url}/`);
    await named(page, "link", "Sign in");

    // The username is taken: an administrator links the account, and unlinks it.
    await signInAtProvider("ann");
    await seeText(page, "An account with your name is not linked to you.");
    await signIn(page, ADMIN.username, ADMIN.password);
    await arrive(page, "/profile");
    await page.goto(`${url}/administration/users`, { waitUntil: "load" });
    await pressInMenu(page, "Sign-in methods", "admin");
    await fill(page, "Subject at the provider", "ann");
    await check("administration-identity");
    await press(page, "button", "Link");
    await seeText(page, "Linked admin to ann at");
    await forget(url);
    await signInAtProvider("ann");
    expect(page.url()).toBe(`${url}/profile`);
    await named(page, "link", "admin");
    await page.goto(`${url}/administration/users`, { waitUntil: "load" });
    await pressInMenu(page, "Sign-in methods", "admin");
    await press(page, "button", "Unlink Provider (OpenID Connect)");
    // This ended all sessions of the account, among them that of the administrator.
    await seeText(page, "Sign in to see this page.");

    await provider.pause();
    await Bun.sleep(1000);
    await page.goto(`${url}/sign-in`, { waitUntil: "load" });
    await press(page, "link", `Sign in with ${host}`);
    await seeText(page, "The provider does not respond.");
    await fill(page, "Username", "somebody");
  },
  300_000,
);
