import { expect, test } from "bun:test";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { labd, scratch, serve } from "../executable/labd.ts";
import { startWorker } from "../executable/farm-hand.ts";
import { gather } from "../farm/crowd.ts";
import { hasRedis, RedisServer } from "../farm/redis-server.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import type { Page } from "puppeteer-core";
import { ADMIN, browserTest, checkPage, openPage, press, seeText } from "./browser.ts";

/** Signs in at another server than the demonstration, as its administrator. */
async function openFarm(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/sign-in`, { waitUntil: "load" });
  await page.evaluate(
    (body) =>
      fetch("/api/v2/session/", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      }).then(({ ok }) => ok),
    JSON.stringify(ADMIN),
  );
  await page.goto(`${url}/administration/farm`, { waitUntil: "load" });
}

browserTest("a server without a queue has no farm, and says what one is for", async () => {
  await using opened = await openPage("/administration/jobs", { signedIn: true });
  const { page, url } = opened;
  await seeText(page, "Worker 1:");
  expect(await page.$("nav.sections a[href$='/administration/farm']")).toBeNull();
  await page.goto(`${url}/administration/farm`, { waitUntil: "load" });
  await seeText(page, "This server scores for itself.");
});

(hasRedis ? browserTest : test.skip)(
  `workers are shown with what each runs, and why one takes no work${hasRedis ? "" : " (SKIPPED without redis-server)"}`,
  async () => {
    using place = scratch();
    const home = join(place.directory, "server");
    expect((await labd(["corpus", "add", "--sample", "--data-dir", home])).code).toBe(0);
    await using redis = await RedisServer.start(place.directory);
    const words = ["--queue", redis.url, "--admin-password", ADMIN.password];
    await using server = await serve(home, words);
    // It has the server's corpora, as on the same machine.
    await using one = startWorker(home, redis.url, ["--concurrency", "1"]);
    await using other = startWorker(join(place.directory, "none"), redis.url, ["--concurrency", "1"]);
    await Promise.all([one.says("takes work"), other.says("There is no source")]);
    for (let i = 0; i < 40; i++) {
      const querySequence = decode(randomProtein(random(700 + i), 35_000));
      const response = await fetch(`${server.url}/api/scoring/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ querySequence, patterns: ["P..P"] }),
      });
      expect(response.status).toBe(202);
    }
    await using opened = await openPage("/");
    const { page } = opened;
    await openFarm(page, server.url);
    await seeText(page, "The queue is there");
    await seeText(page, "1 of 1");
    await seeText(page, "takes no work. The server scores on sample, which is not here.");
    await page.waitForSelector("nav.sections a[href$='/administration/farm'][aria-current=page]");
    expect(await page.evaluate(() => document.body.innerText)).not.toContain("farm-secret");
    // Another server than the demonstration: its requests are no faults.
    await checkPage({ ...opened, faults: [] }, "administration-farm");
  },
  300_000,
);

(hasRedis ? browserTest : test.skip)(
  `of a thousand workers those that take no work come first, and all are a button away${hasRedis ? "" : " (SKIPPED without redis-server)"}`,
  async () => {
    using place = scratch();
    await using redis = await RedisServer.start(place.directory);
    const words = ["--queue", redis.url, "--admin-password", ADMIN.password];
    await using server = await serve(place.directory, words);
    using _crowd = await gather(redis.url, 1000, 30);
    await using opened = await openPage("/");
    const { page } = opened;
    await openFarm(page, server.url);
    await seeText(page, "Show all 1,000 workers");
    await seeText(page, "And 10 more");
    const rows = (): Promise<string[]> =>
      page.$$eval("tbody tr .tag", (tags) => tags.map(({ textContent }) => textContent!));
    const shown = await rows();
    expect([shown.length, shown.lastIndexOf("takes no work")]).toEqual([100, 29]);
    await press(page, "button", "Show all 1,000 workers");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1000);
  },
  300_000,
);
