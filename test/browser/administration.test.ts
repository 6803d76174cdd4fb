import { afterAll, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { heldQueue } from "../executable/held-queue.ts";
import { scratch, serve } from "../executable/labd.ts";
import {
  ADMIN,
  ARTEFACTS,
  arrive,
  browserTest,
  checkPage,
  fill,
  named,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";

/** First set-up, the own profile, and what administrators look after. */

const files = scratch();
afterAll(() => files[Symbol.dispose]());
/** A file to choose. */
function file(name: string, content: string): string {
  const path = join(files.directory, name);
  writeFileSync(path, content);
  return path;
}

browserTest(
  "the link in the log makes the first administrator, and leads to the administration",
  async () => {
    using directory = scratch();
    await using server = await serve(directory.directory);
    while (!server.log().includes("/setup?key=")) await Bun.sleep(10);
    const link = server.log().match(/http\S+\/setup\?key=\S+/)![0];
    await using opened = await openPage("/");
    const { page } = opened;
    // Another server than the demonstration: its requests are no faults.
    await page.goto(link, { waitUntil: "load" });
    await page.waitForFunction(() => location.search === "");
    await fill(page, "Name to sign in with", "ada");
    await fill(page, "Full name optional", "Ada Lovelace");
    await fill(page, "Password", "short");
    await fill(page, "The same again", "shor");
    await seeText(page, "This is not the same as above.");
    await fill(page, "The same again", "short");
    await page.keyboard.press("Enter");
    await seeText(page, "Expected at least 8 characters.");
    opened.faults.length = 0;
    await checkPage({ ...opened, faults: [] }, "setup");
    await fill(page, "Password", "a long password");
    await fill(page, "The same again", "a long password");
    await page.keyboard.press("Enter");
    await arrive(page, "/administration");
    await seeText(page, "Runs for");
    await seeText(page, "First steps");
    await checkPage({ ...opened, faults: [] }, "administration-first-steps");
    await page.goto(`${server.url}/score`, { waitUntil: "load" });
    await seeText(page, "There is no corpus of proteins yet");
    expect((await page.goto(link))!.status()).toBe(404);
  },
  300_000,
);

browserTest(
  "everybody changes name and password, ends sessions, and makes tokens that are shown once",
  async () => {
    const { page: admin, [Symbol.asyncDispose]: close } = await openPage("/administration/users", {
      signedIn: true,
    });
    await press(admin, "button", "Add somebody");
    await fill(admin, "Name to sign in with", "grace");
    await press(admin, "button", "Add");
    // Without a password there is a link, by which grace chooses it.
    const field = await admin.waitForSelector(".shown-once input");
    const link = await field!.evaluate((input) => (input as HTMLInputElement).value);
    await close();

    await using opened = await openPage("/");
    const { page, url } = opened;
    await page.goto(link);
    await fill(page, "New password", "a long password");
    await fill(page, "The same again", "a long password");
    await checkPage(opened, "set-password");
    await press(page, "button", "Set the password and sign in");
    await arrive(page, "/profile");
    await fill(page, "Full name optional", "Grace Hopper");
    await press(page, "button", "Save");
    await seeText(page, "Your profile is saved.");
    // A second session, as of another browser.
    const again = await fetch(`${url}/api/v2/session/`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "User-Agent": "Firefox/130.0 (Linux)" },
      body: JSON.stringify({ username: "grace", password: "a long password" }),
    });
    const Cookie = again.headers.get("set-cookie")!.split(";")[0];
    const isIn = async (): Promise<number> =>
      (await fetch(`${url}/api/v2/session/`, { headers: { Cookie } })).status;
    await page.reload();
    await seeText(page, "Firefox on Linux");
    await fill(page, "What is it for?", "barcode scanner");
    await press(page, "button", "Make a token");
    const shown = await (await page.waitForSelector(".shown-once input"))!.evaluate(
      (input) => (input as HTMLInputElement).value,
    );
    expect(shown).toMatch(/^labd_[\w-]{43}$/);
    await seeText(page, "barcode scanner");
    await checkPage(opened, "profile");
    expect(await isIn()).toBe(200);
    await fill(page, "Current password", "not it");
    await fill(page, "New password", "another long password");
    await press(page, "button", "Change the password");
    await seeText(page, "This is not the password of the account.");
    await fill(page, "Current password", "a long password");
    await press(page, "button", "Change the password");
    await seeText(page, "Everywhere else you are signed out.");
    expect(await isIn()).toBe(401);
    await page.waitForFunction(() => !document.body.innerText.includes("Firefox on Linux"));
    // The new session's proof is used at once.
    await press(page, "button", "Revoke barcode scanner");
    await press(page, "button", "Revoke");
    await seeText(page, "You have none.");
    const refused = await fetch(`${url}/api/v2/tokens/`, { headers: { Authorization: `Token ${shown}` } });
    expect(refused.status).toBe(401);
    // Who is no administrator is told so, and by whom.
    for (const path of ["", "/users", "/tokens", "/corpora", "/motif-classes", "/jobs", "/backups"]) {
      await page.goto(`${url}/administration${path}`);
      await seeText(page, `This is for administrators, and grace is none. Ask ${ADMIN.username}.`);
    }
    await checkPage(opened, "administration-refused");
  },
  300_000,
);

browserTest(
  "people are added to groups, and shut out and let in again",
  async () => {
    await using opened = await openPage("/administration/users", { signedIn: true });
    const { page } = opened;
    await press(page, "button", "Add a group");
    await fill(page, "Group name", "Freezers");
    await fill(page, "What it is optional", "Who looks after the cold");
    await press(page, "button", "Add");
    await seeText(page, "Freezers is added.");
    await press(page, "button", "Add somebody");
    await fill(page, "Name to sign in with", "no spaces");
    await press(page, "button", "Add");
    await seeText(page, "beginning with a letter");
    await fill(page, "Name to sign in with", "rosalind");
    await fill(page, "Full name optional", "Rosalind Franklin");
    await press(page, "checkbox", "Freezers");
    await fill(page, "Password optional", "a long password");
    await checkPage(opened, "administration-user");
    await press(page, "button", "Add");
    await seeText(page, "rosalind is added.");
    await page.waitForFunction(() =>
      [...document.querySelectorAll("tr")].some(
        (row) => row.innerText.includes("Rosalind Franklin") && row.innerText.includes("Freezers"),
      ),
    );
    await press(page, "button", "Change Freezers");
    await press(page, "checkbox", "rosalind, Rosalind Franklin");
    await press(page, "button", "Save");
    await page.waitForFunction(() =>
      [...document.querySelectorAll("tr")].some((row) => /Freezers.*nobody/s.test(row.innerText)),
    );
    await press(page, "button", "Shut out rosalind");
    await checkPage(opened, "administration-confirm");
    await press(page, "button", "Shut out");
    await seeText(page, "shut out");
    await checkPage(opened, "administration-users");
    await press(page, "button", "Let in rosalind");
    await press(page, "button", "Let in");
    await seeText(page, "rosalind may sign in again.");
    // Nobody shuts out the last administrator.
    await press(page, "button", `Shut out ${ADMIN.username}`);
    await press(page, "button", "Shut out");
    await seeText(page, "This is the only active administrator.");
  },
  300_000,
);

browserTest(
  "a corpus is uploaded, verified and removed; the one in use stays",
  async () => {
    await using opened = await openPage("/administration/corpora", { signedIn: true });
    const { page } = opened;
    await seeText(page, "in use");
    const proteins = Array.from(
      { length: 300 },
      (_, i) => `>P${i}\nMSTNPKPQRKTKRNTNRRPQDVKFPGG${"AVL"[i % 3]}\n`,
    ).join("");
    const input = await page.waitForSelector("input[type=file]");
    await (input as import("puppeteer-core").ElementHandle<HTMLInputElement>).uploadFile(
      file("yeast-2026.fasta", proteins),
    );
    expect(
      await (await named(page, "textbox", "Name")).evaluate((field) => (field as HTMLInputElement).value),
    ).toBe("yeast-2026");
    await press(page, "checkbox", "Take it into use at once");
    await press(page, "button", "Add");
    await seeText(page, "300 proteins were added.");
    await press(page, "button", "Verify yeast-2026");
    await seeText(page, "yeast-2026 is whole");
    await checkPage(opened, "administration-corpora");
    await press(page, "button", "Remove yeast-2026");
    await press(page, "button", "Remove");
    await seeText(page, "yeast-2026 is removed.");
    await page.waitForFunction(() => !document.querySelector("table")!.innerText.includes("yeast-2026"));
  },
  300_000,
);

browserTest(
  "a table of motif classes shows a verdict on each row before it is taken",
  async () => {
    await using opened = await openPage("/administration/motif-classes", { signedIn: true });
    const { page } = opened;
    const choose = async (name: string, content: string): Promise<void> => {
      const input = await page.waitForSelector("input[type=file]");
      await (input as import("puppeteer-core").ElementHandle<HTMLInputElement>).uploadFile(
        file(name, content),
      );
    };
    const table = "ELMIdentifier\tRegex\nTEST_NEW\tP..P.K\nDEG_MDM2_SWIB_1\tF...W\n";
    await choose("cut-short.tsv", `${table}TEST_BAD\t((\n`);
    await seeText(page, "This ( is never closed");
    await seeText(page, "Nothing is imported while a row is wrong");
    await checkPage(opened, "administration-motif-classes");
    await choose("elm.tsv", table);
    await seeText(page, "another pattern (1)");
    await press(page, "button", "Import 2 classes");
    await seeText(page, "from elm.tsv");
    await press(page, "button", "Give the table up");
    await press(page, "button", "Give it up");
    await seeText(page, "They come with the program.");
  },
  300_000,
);

browserTest(
  "jobs, tokens, backups and health are shown as they are",
  async () => {
    await using opened = await openPage("/administration/jobs", { signedIn: true });
    const { page, url } = opened;
    await seeText(page, "Worker 1:");
    await seeText(page, "P04637");
    await checkPage(opened, "administration-jobs");

    await page.goto(`${url}/administration/backups`);
    await press(page, "button", "Make one now");
    await seeText(page, "is made, checked and read back.");
    await (await page.waitForSelector("button[aria-label^='Verify labd-']"))!.click();
    await seeText(page, "is whole and can be restored.");
    await checkPage(opened, "administration-backups");

    await page.goto(`${url}/administration/tokens`);
    await page.evaluate(() =>
      fetch("/api/v2/tokens/", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ name: "cron", scope: "read" }),
      }),
    );
    await page.reload();
    await press(page, "button", `Revoke cron of ${ADMIN.username}`);
    await press(page, "button", "Revoke");
    await press(page, "checkbox", "Show also those that are over or revoked");
    await page.waitForFunction(() => /cron.*revoked/s.test(document.querySelector("table")?.innerText ?? ""));
    await checkPage(opened, "administration-tokens");

    await page.goto(`${url}/administration`);
    await press(page, "button", "Look now");
    await seeText(page, "things are well.");
    await seeText(page, "What to do:");
    await checkPage(opened, "administration-health");
  },
  300_000,
);

browserTest(
  "a job that waits is seen without a reload, and called off",
  async () => {
    await using opened = await openPage("/administration/jobs?state=queued", { signedIn: true });
    const { page, url } = opened;
    await seeText(page, "No job waits.");
    const { directory } = await site();
    using _ = heldQueue(directory);
    const submitted: string[] = [];
    const last = 9;
    for (let i = 0; i <= last; i++) {
      const querySequence = decode(randomProtein(random(500 + i), 300));
      const response = await fetch(`${url}/api/scoring/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ identifier: `waits-${i}`, querySequence, patterns: ["P..P"] }),
      });
      expect(response.status).toBe(202);
      submitted.push(((await response.json()) as { id: string }).id);
    }
    // The newest is the last to have its turn.
    await (await page.waitForSelector(`button[aria-label='Call off waits-${last}']`))!.focus();
    await page.keyboard.press("Enter");
    await press(page, "button", "Call it off");
    await seeText(page, "The job is called off.");
    const job = await fetch(`${url}/api/scoring/jobs/${submitted[last]}`);
    expect(((await job.json()) as { state: string }).state).toBe("cancelled");
    await page.screenshot({ path: join(ARTEFACTS, "administration-jobs-busy-light.png") as `${string}.png` });
    await Promise.all(submitted.map((id) => fetch(`${url}/api/scoring/jobs/${id}`, { method: "DELETE" })));
  },
  300_000,
);

browserTest("the audit log tells who signed in, page by page, by name and by action", async () => {
  await using opened = await openPage("/administration/audit", { signedIn: true });
  const { page } = opened;
  await seeText(page, "note it elsewhere");
  await fill(page, "What, such as token", "sign_in");
  await fill(page, "Who", "admin");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.search === "?actor=admin&action=sign_in");
  await seeText(page, "sign_in");
  await checkPage(opened, "administration-audit");
  await fill(page, "Who", "nobody");
  await page.keyboard.press("Enter");
  await seeText(page, "No such entry");
  await fill(page, "From, such as 2026-11-01", "yesterday");
  await page.keyboard.press("Enter");
  await seeText(page, "Expected a date or a time");
});
