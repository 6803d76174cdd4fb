import { expect, setDefaultTimeout } from "bun:test";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { arrive, browserTest, checkPage, fill, named, openPage, press, seeText } from "./browser.ts";

setDefaultTimeout(300_000);

/** p53, p21, p27, E7: from the sample, each with a motif of its own. */
const PROTEINS = ["P04637", "P38936", "P46527", "P03129"];
const FASTA = PROTEINS.map(
  (accession) =>
    `>${proteins
      .split(/^>/m)
      .find((entry) => entry.startsWith(accession))!
      .trim()}`,
).join("\n");
const MOTIFS = ["MDM2-SWIB", "PIP-box", "Cyclin-RxL", "LxCxE", "APC-KEN-box", "PDZ-class-1"];

browserTest(
  "many proteins and motifs: the table fills, outlives a reload while it is sent, and is shared by link",
  async () => {
    await using opened = await openPage(`/batch?${MOTIFS.map((name) => `class=${name}`).join("&")}`);
    const { page, url } = opened;
    await fill(page, "Sequences as FASTA, or accessions", FASTA);
    await seeText(page, "4 sequences, 853 residues");
    await seeText(page, "4 proteins × 6 motifs: 24 rows");
    await checkPage(opened, "batch-filled");

    // The queue is full after three jobs.
    let taken = 0;
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      const isSubmission = request.method() === "POST" && request.url() === `${url}/api/scoring/jobs`;
      if (!isSubmission || taken++ < 3) return void request.continue();
      void request.respond({
        status: 503,
        headers: { "Retry-After": "600" },
        contentType: "application/json",
        body: '{"message":"The queue is full.","code":"busy"}',
      });
    });
    await press(page, "button", "Score the batch");
    await arrive(page, "/batch/");
    await seeText(page, "The queue is full. The rest is sent when there is room.");
    await seeText(page, "3 of 8 jobs scored, 5 to be sent");
    await checkPage(opened, "batch-going");

    // There is room again.
    taken = -1000;
    await page.reload();
    await seeText(page, "8 jobs scored.");
    expect(taken).toBe(-1000 + 5);
    const table = (): Promise<string[][]> =>
      page.$$eval("tbody tr", (rows) =>
        rows.map((row) =>
          [...row.children].map((cell) =>
            (cell as HTMLElement).innerText
              .replace(/\s+/g, " ")
              .replace(/ in P\d+$/, "")
              .trim(),
          ),
        ),
      );
    const rows = await table();
    expect(rows.length).toBe(24);
    expect(rows[0].slice(0, 4)).toEqual(["P04637", "MDM2-SWIB", "conserved", "FSDLWKLL 19"]);
    expect(Number(rows[0][4])).toBeGreaterThan(Number(rows[0][5]));
    expect(rows.find(([protein, motif]) => protein === "P03129" && motif === "LxCxE")!.slice(2, 4)).toEqual([
      "conserved",
      "LYCYE 22",
    ]);
    expect(rows.filter(([, , verdict]) => verdict === "no match").length).toBeGreaterThan(5);
    await checkPage(opened, "batch-done");

    // Filter and order are in the address, and so in the link, which holds the jobs for another browser.
    await page.select(".filters select", "conserved");
    await press(page, "button", "z ↕");
    await press(page, "button", "z ↑");
    const best = await table();
    expect(best.every(([, , verdict]) => verdict === "conserved")).toBe(true);
    const z = best.map((row) => Number(row[6]));
    expect(z).toEqual(z.toSorted((a, b) => b - a));
    await press(page, "button", "Copy link");
    await page.waitForFunction(() => location.hash.length > 100);
    const link = new URL(page.url());
    expect(link.search).toBe("?verdict=conserved&sort=-z");
    await using other = await openPage(link.pathname + link.search + link.hash);
    await seeText(other.page, "8 jobs scored.");
    await seeText(other.page, `${best.length} of 24 rows`);

    // A row leads to its match, with why.
    await (await named(other.page, "link", "FSDLWKLL 19 in P04637")).click();
    await arrive(other.page, "/score/");
    await seeText(other.page, "FSDLWKLL at 19–26 is conserved");
    expect(other.faults).toEqual([]);
  },
);

browserTest("what is missing is said at its field; a batch of nobody's says how to get it", async () => {
  await using opened = await openPage("/batch");
  const { page } = opened;
  await press(page, "button", "Score the batch");
  await seeText(page, "Paste sequences or accessions first, or drop a file.");
  await press(page, "button", "Try p53 and E7 with three motifs");
  await seeText(page, "2 proteins × 3 motifs: 6 rows");
  await fill(page, "Sequences as FASTA, or accessions", "P04637 P03129, NOSUCH1");
  await seeText(page, "3 accessions, from the corpus");
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "2 jobs scored, 1 failed.");
  await seeText(page, "the corpus in use has no protein of this accession");

  // What is called off before it is sent is not sent by a reload.
  await page.goto(`${opened.url}/batch?pattern=P..P`);
  await fill(page, "Sequences as FASTA, or accessions", "P04637 P03129");
  await page.setRequestInterception(true);
  let refused = 0;
  page.on("request", (request) => {
    if (request.method() !== "POST" || !request.url().endsWith("/jobs")) return void request.continue();
    refused++;
    void request.respond({
      status: 503,
      contentType: "application/json",
      body: '{"message":"Full.","code":"busy"}',
    });
  });
  await press(page, "button", "Score the batch");
  await arrive(page, "/batch/");
  await seeText(page, "Full. The rest is sent when there is room.");
  await press(page, "button", "Stop");
  await seeText(page, "0 jobs scored, 2 failed.");
  refused = 0;
  await page.reload();
  await seeText(page, "0 jobs scored, 2 failed.");
  expect(refused).toBe(0);

  await using unknown = await openPage("/batch/nosuchbatch");
  await seeText(unknown.page, "This browser does not know the batch");
  await checkPage(unknown, "batch-unknown");
});
