import { afterAll, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { heldQueue } from "../executable/held-queue.ts";
import { scratch, serve } from "../executable/labd.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import {
  ADMIN,
  arrive,
  artefact,
  browserTest,
  checkPage,
  fill,
  named,
  openPage,
  post,
  press,
  pressInMenu,
  secretOn,
  seeRow,
  seeText,
  site,
  upload,
} from "./browser.ts";
import { waitFor } from "../wait.ts";

const TIMEOUT = 300_000;
const PASSWORD = "a long password";

const files = scratch();
afterAll(() => files[Symbol.dispose]());
/** A file to choose. */
function file(name: string, content: string): string {
  const path = join(files.directory, name);
  writeFileSync(path, content);
  return path;
}

browserTest(
  "the link in the log creates the first administrator and leads to the administration pages",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory);
    await waitFor(() => server.log().includes("/setup?key="));
    const link = server.log().match(/http\S+(\/setup\?key=\S+)/)![1];
    await using opened = await openPage(link, { server: server.url });
    const { page } = opened;
    await page.waitForFunction(() => location.search === "");
    await page.reload();
    await fill(page, "Username", "ada");
    await fill(page, "Full name optional", "Ada Lovelace");
    await fill(page, "Password", "short");
    await fill(page, "Repeat password", "shor");
    await seeText(page, "The passwords differ.");
    await fill(page, "Repeat password", "short");
    await page.keyboard.press("Enter");
    await seeText(page, "xpected at least 8 characters.");
    await checkPage(opened, "setup");
    await fill(page, "Password", PASSWORD);
    await fill(page, "Repeat password", PASSWORD);
    await page.keyboard.press("Enter");
    await arrive(page, "/administration");
    await seeText(page, "Uptime");
    await seeText(page, "First steps");
    await checkPage(opened, "administration-first-steps");
    expect((await page.goto(server.url + link))!.status()).toBe(404);
    await seeText(page, "This link has been used or has expired");
  },
  TIMEOUT,
);

browserTest(
  "people change their name and password, end sessions, and create tokens that are shown once",
  async () => {
    const { page: admin, [Symbol.asyncDispose]: close } = await openPage("/administration/users", {
      signedIn: true,
    });
    await press(admin, "button", "Add user");
    await fill(admin, "Username", "grace");
    await admin.keyboard.press("Enter");
    const link = new URL(await secretOn(admin));
    await close();

    await using opened = await openPage(link.pathname + link.search);
    const { page, url } = opened;
    await fill(page, "New password", PASSWORD);
    await fill(page, "Repeat password", PASSWORD);
    await checkPage(opened, "set-password");
    await press(page, "button", "Set password and sign in");
    await arrive(page, "/profile");
    await fill(page, "Full name optional", "Grace Hopper");
    await press(page, "button", "Save");
    await seeText(page, "Saved your profile.");
    // A session of another browser.
    const other = await fetch(`${url}/api/v2/session/`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "User-Agent": "Firefox/130.0 (Linux)" },
      body: JSON.stringify({ username: "grace", password: PASSWORD }),
    });
    const Cookie = other.headers.get("set-cookie")!.split(";")[0];
    const statusOfOther = async (): Promise<number> =>
      (await fetch(`${url}/api/v2/session/`, { headers: { Cookie } })).status;
    await page.reload();
    await seeText(page, "Firefox on Linux");
    await fill(page, "Purpose", "barcode scanner");
    await press(page, "button", "Create token");
    const token = await secretOn(page);
    expect(token).toMatch(/^labd_[\w-]{43}$/);
    await seeText(page, "barcode scanner");
    await checkPage(opened, "profile");
    expect(await statusOfOther()).toBe(200);
    await fill(page, "Current password", "not it");
    await fill(page, "New password", "another long password");
    await press(page, "button", "Change password");
    await seeText(page, "This is not the password of the account.");
    await fill(page, "Current password", PASSWORD);
    await press(page, "button", "Change password");
    await seeText(page, "All your other sessions have ended.");
    expect(await statusOfOther()).toBe(401);
    await page.waitForFunction(() => !document.body.innerText.includes("Firefox on Linux"));
    // The new session's CSRF token is used right away.
    await press(page, "button", "Revoke: barcode scanner");
    await press(page, "button", "Revoke");
    await seeText(page, "You have no tokens.");
    const refused = await fetch(`${url}/api/v2/tokens/`, { headers: { Authorization: `Token ${token}` } });
    expect(refused.status).toBe(401);
    for (const path of ["", "/users", "/tokens", "/corpora", "/motif-classes", "/jobs", "/backups"]) {
      await page.goto(`${url}/administration${path}`);
      await page.waitForSelector(".banner-danger[role=alert]");
      await seeText(page, ADMIN.username);
    }
    await checkPage(opened, "administration-refused");
  },
  TIMEOUT,
);

browserTest(
  "administrators add people to groups, and disable and enable accounts",
  async () => {
    await using opened = await openPage("/administration/users", { signedIn: true });
    const { page } = opened;
    await press(page, "button", "Add group");
    await fill(page, "Group name", "Freezers");
    await fill(page, "Description optional", "Looks after the freezers");
    await page.keyboard.press("Enter");
    await seeText(page, "Added Freezers.");
    await press(page, "button", "Add user");
    await fill(page, "Username", "no spaces");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[aria-invalid=true]");
    await fill(page, "Username", "rosalind");
    await fill(page, "Full name optional", "Rosalind Franklin");
    await press(page, "checkbox", "Freezers");
    await fill(page, "Password optional", PASSWORD);
    await checkPage(opened, "administration-user");
    await page.keyboard.press("Enter");
    await seeText(page, "Added rosalind.");
    await seeRow(page, /Rosalind Franklin.*Freezers/);
    await press(page, "button", "Edit: Freezers");
    await press(page, "checkbox", "Rosalind Franklin (rosalind)");
    await press(page, "button", "Save");
    await seeRow(page, /Freezers\s+Looks after the freezers\s+–/);
    await pressInMenu(page, "Disable account", "rosalind");
    await checkPage(opened, "administration-confirm");
    await press(page, "button", "Disable account");
    await seeRow(page, /rosalind.*disabled/);
    await checkPage(opened, "administration-users");
    await pressInMenu(page, "Enable account", "rosalind");
    await press(page, "button", "Enable account");
    await seeText(page, "Enabled rosalind.");
    await pressInMenu(page, "Disable account", ADMIN.username);
    await press(page, "button", "Disable account");
    await seeText(page, "This is the only active administrator.");
  },
  TIMEOUT,
);

browserTest(
  "a corpus is uploaded, verified and removed",
  async () => {
    await using opened = await openPage("/administration/corpora", { signedIn: true });
    const { page } = opened;
    await seeText(page, "in use");
    const proteins = Array.from(
      { length: 300 },
      (_, i) => `>P${i}\nMSTNPKPQRKTKRNTNRRPQDVKFPGG${"AVL"[i % 3]}\n`,
    );
    await upload(page, file("yeast-2026.fasta", proteins.join("")));
    const name = await named(page, "textbox", "Name");
    expect(await name.evaluate((field) => (field as HTMLInputElement).value)).toBe("yeast-2026");
    await press(page, "checkbox", "Use it immediately");
    await press(page, "button", "Add corpus");
    await seeText(page, "300 proteins were added.");
    await press(page, "button", "Verify: yeast-2026");
    await seeText(page, "yeast-2026 is intact");
    await checkPage(opened, "administration-corpora");
    await press(page, "button", "Remove: yeast-2026");
    await press(page, "button", "Remove");
    await seeText(page, "Removed yeast-2026.");
    await page.waitForFunction(() => !document.querySelector("table")!.innerText.includes("yeast-2026"));
  },
  TIMEOUT,
);

browserTest(
  "a table of motif classes is previewed before it is imported",
  async () => {
    await using opened = await openPage("/administration/motif-classes", { signedIn: true });
    const { page } = opened;
    const table = "ELMIdentifier\tRegex\nTEST_NEW\tP..P.K\nDEG_MDM2_SWIB_1\tF...W\n";
    await upload(page, file("broken.tsv", `${table}TEST_BAD\t((\n`));
    await seeText(page, "TEST_BAD");
    await seeText(page, "Nothing was imported: correct the invalid row");
    await checkPage(opened, "administration-motif-classes");
    await upload(page, file("elm.tsv", table));
    await seeText(page, "Pattern differs (1)");
    await press(page, "button", "Import 2 classes");
    await seeText(page, "from elm.tsv");
    await press(page, "button", "Remove table");
    await press(page, "button", "Remove elm.tsv");
    await seeText(page, "These classes come with labd.");
  },
  TIMEOUT,
);

browserTest(
  "backups, tokens and the system check work from their pages",
  async () => {
    await using opened = await openPage("/administration/backups", { signedIn: true });
    const { page, url } = opened;
    await press(page, "button", "Back up now");
    await (await page.waitForSelector("button[aria-label^='Verify: labd-']"))!.click();
    await seeText(page, "can be restored");
    await checkPage(opened, "administration-backups");

    expect(await post(page, "/api/v2/tokens/", { name: "cron", scope: "read" })).toBe(201);
    await page.goto(`${url}/administration/tokens`);
    await press(page, "button", `Revoke: cron of ${ADMIN.username}`);
    await press(page, "button", "Revoke");
    await seeText(page, "Revoked cron.");
    await press(page, "checkbox", "Show expired and revoked tokens");
    await seeRow(page, /cron.*revoked/);
    await checkPage(opened, "administration-tokens");

    await page.goto(`${url}/administration`);
    await press(page, "button", "Check now");
    await page.waitForSelector(".hint");
    await checkPage(opened, "administration-health");
  },
  TIMEOUT,
);

browserTest(
  "a waiting job appears without a reload and can be cancelled",
  async () => {
    await using opened = await openPage("/administration/jobs", { signedIn: true });
    const { page, url } = opened;
    await seeText(page, "P04637");
    await checkPage(opened, "administration-jobs");
    await page.goto(`${url}/administration/jobs?state=queued`);
    await seeText(page, "No job is in this state.");
    using _ = heldQueue((await site()).directory);
    const submitted: string[] = [];
    const last = 9;
    for (let i = 0; i <= last; i++) {
      const querySequence = decode(randomProtein(random(500 + i), 300));
      const response = await fetch(`${url}/api/scoring/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ identifier: `waits-${i}`, querySequence, patterns: ["P..P"] }),
      });
      submitted.push(((await response.json()) as { id: string }).id);
    }
    // The newest job starts last.
    await (await named(page, "button", `Cancel job: waits-${last}`)).focus();
    await page.keyboard.press("Enter");
    await press(page, "button", "Cancel job");
    await seeText(page, "Cancelled the job.");
    const job = await fetch(`${url}/api/scoring/jobs/${submitted[last]}`);
    expect(((await job.json()) as { state: string }).state).toBe("cancelled");
    await page.screenshot({ path: artefact("administration-jobs-busy-light") });
    await Promise.all(submitted.map((id) => fetch(`${url}/api/scoring/jobs/${id}`, { method: "DELETE" })));
  },
  TIMEOUT,
);

browserTest("the audit log is filtered by user, action and time", async () => {
  await using opened = await openPage("/administration/audit", { signedIn: true });
  const { page } = opened;
  const select = async (name: string, value: string) => (await named(page, "combobox", name)).select(value);
  await page.waitForFunction(() => document.querySelector("select")!.options.length > 2);
  await select("Action", "sign_in");
  await select("Person", "admin");
  await press(page, "button", "Filter");
  await page.waitForFunction(() => location.search === "?actor=admin&action=sign_in");
  await seeRow(page, /admin signed in/);
  await checkPage(opened, "administration-audit");
  await select("Action", "webhook");
  await press(page, "button", "Filter");
  await seeText(page, "No matching entries");
  await page.goto(`${page.url().split("?")[0]}?since=yesterday`);
  await page.waitForSelector(".banner-danger");
});
