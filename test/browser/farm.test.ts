import { expect, test } from "bun:test";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { startWorker } from "../executable/farm-worker.ts";
import { labd, scratch, serve } from "../executable/labd.ts";
import { gather } from "../farm/crowd.ts";
import { hasRedis, RedisServer } from "../farm/redis-server.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { ADMIN, browserTest, checkPage, openPage, post, press, seeText } from "./browser.ts";

const redisTest = hasRedis ? browserTest : test.skip;
const skipped = hasRedis ? "" : " (SKIPPED without redis-server)";
const PATH = "/administration/farm";
const TAB = `nav.tabs a[href$='${PATH}']`;

browserTest("without a queue the farm has no tab, and its page explains this", async () => {
  await using opened = await openPage("/administration/jobs", { signedIn: true });
  const { page, url } = opened;
  await seeText(page, "Worker 1");
  expect(await page.$(TAB)).toBeNull();
  await page.goto(url + PATH, { waitUntil: "load" });
  await seeText(page, "This server has no queue");
});

redisTest(
  `shows what each worker runs, and why one takes no work${skipped}`,
  async () => {
    using place = scratch();
    const home = join(place.directory, "server");
    expect((await labd(["corpus", "add", "--sample", "--data-dir", home])).code).toBe(0);
    await using redis = await RedisServer.start(place.directory);
    await using server = await serve(home, ["--queue", redis.url, "--admin-password", ADMIN.password]);
    // This worker reads the server's corpora, as one on the same machine; the other has none.
    await using one = startWorker(home, redis.url, ["--concurrency", "1"]);
    await using _other = startWorker(join(place.directory, "none"), redis.url, ["--concurrency", "1"]);
    await one.logs("takes work");
    await using opened = await openPage(PATH, { signedIn: true, server: server.url });
    const { page } = opened;
    for (let i = 0; i < 40; i++) {
      const querySequence = decode(randomProtein(random(700 + i), 35_000));
      expect(await post(page, "/api/scoring/jobs", { querySequence, patterns: ["P..P"] })).toBe(202);
    }
    await seeText(page, "connected");
    await seeText(page, "1 of 1");
    await seeText(page, "accepts no jobs. The server scores on sample, which is missing here.");
    await page.waitForSelector(`${TAB}[aria-current=page]`);
    expect(await page.evaluate(() => document.body.innerText)).not.toContain("farm-secret");
    await checkPage(opened, "administration-farm");
  },
  300_000,
);

redisTest(
  `shows 100 of 1,000 workers first, those that take no work at the top${skipped}`,
  async () => {
    using place = scratch();
    await using redis = await RedisServer.start(place.directory);
    const options = ["--queue", redis.url, "--admin-password", ADMIN.password];
    await using server = await serve(place.directory, options);
    using _crowd = await gather(redis.url, 1000, 30);
    await using opened = await openPage(PATH, { signedIn: true, server: server.url });
    const { page } = opened;
    await seeText(page, "And 10 more");
    await seeText(page, "Show all 1,000 workers");
    const shown = await page.$$eval("tbody tr .tag", (tags) => tags.map(({ textContent }) => textContent!));
    expect([shown.length, shown.lastIndexOf("accepts no jobs")]).toEqual([100, 29]);
    await press(page, "button", "Show all 1,000 workers");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1000);
  },
  300_000,
);
