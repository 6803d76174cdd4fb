import { expect, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { listMatches, type Result, VERDICT_HELP } from "../../src/web/score/result.ts";
import { findVerdict } from "../../src/scoring/table/verdict.ts";
import { heldQueue } from "../executable/held-queue.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import {
  ARTEFACTS,
  arrive,
  browserTest,
  checkPage,
  disclose,
  fill,
  named,
  openPage,
  press,
  seeText,
  site,
} from "./browser.ts";
import { scored, submitted } from "./submit.ts";

setDefaultTimeout(300_000);

const P53 = "MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGPDEAPRMPEAA";

browserTest("leads from an example to its result", async () => {
  await using opened = await openPage("/score");
  const { page } = opened;
  await checkPage(opened, "score-empty");
  await press(page, "button", "Try p53 with MDM2’s motif");
  await seeText(page, "P04637, 393 residues");
  await seeText(page, "P, then 2 of any residue, P");
  await seeText(page, "one match by chance in 450 residues; most matches are likely random");
  await press(page, "button", "Add a pattern");
  await fill(page, "Pattern 2", "F..(W");
  await seeText(page, "Unclosed (");
  expect(await page.$eval("mark", (mark) => mark.textContent)).toBe("(");
  await checkPage(opened, "score-filled");
  await press(page, "button", "Remove pattern 2");
  // Short inputs are in the address; the sequence survives a reload, but only in this tab.
  await page.waitForFunction(() => location.search === "?class=MDM2-SWIB&pattern=P..P");
  await page.reload();
  await seeText(page, "P04637, 393 residues");
  await press(page, "button", "Score");
  expect(await arrive(page, "/score/")).toMatch(/\/score\/[0-9a-f-]{36}$/);
  await seeText(page, "1 of 7 matches is likely functional: FSDLWKLL at 19–26, 3 possible.");
  await seeText(page, "In place in 20 of 23 homologs");
  await checkPage(opened, "result");
});

browserTest("finds a motif by searching, and shows missing input at its field", async () => {
  await using opened = await openPage("/score");
  const { page } = opened;
  await press(page, "button", "Score");
  await seeText(page, "Paste a protein, or choose an example above.");
  await fill(page, "Sequence, FASTA or accession", "MKT %");
  await seeText(page, "“%” is not an amino-acid letter.");
  await fill(page, "Sequence, FASTA or accession", "NOSUCH1");
  await seeText(page, "None of the 496 proteins of the corpus has the accession NOSUCH1.");
  await fill(page, "Search motifs", "retinoblastoma pocket");
  await seeText(page, "1 of 48 motifs");
  await page.keyboard.press("Enter");
  await named(page, "button", "Remove LxCxE");
  await press(page, "button", "Score");
  await seeText(page, "he corpus in use has no protein with this accession");
  await fill(page, "Sequence, FASTA or accession", "P03129");
  // The line that the protein gets moves the button.
  await seeText(page, "P03129, 98 residues");
  await press(page, "button", "Score");
  await arrive(page, "/score/");
  await seeText(page, "likely functional: LYCYE at 22–26.");
});

browserTest("shows the place of a waiting job in the queue, and cancels it", async () => {
  const { directory } = await site();
  using _ = heldQueue(directory);
  const id = await submitted({ identifier: "cancelled", querySequence: P53, patterns: ["P..P"] });
  await using opened = await openPage(`/score/${id}`, { isOwner: true });
  await seeText(opened.page, "Waiting: place 1 in the queue.");
  await opened.page.screenshot({ path: join(ARTEFACTS, "result-waiting-light.png") as `${string}.png` });
  await press(opened.page, "button", "Cancel");
  await seeText(opened.page, "Scoring was cancelled");
  await checkPage(opened, "result-cancelled");
});

browserTest("follows a job step by step to its result", async () => {
  const { directory } = await site();
  using held = heldQueue(directory);
  const querySequence = P53 + decode(randomProtein(random(99), 34_000));
  const last = await submitted({ identifier: "last", querySequence, patterns: ["FSDLWKLL"] });
  await using opened = await openPage(`/score/${last}`);
  const { page } = opened;
  await seeText(page, "Waiting: place 1 in the queue.");
  // Steps may be over between two looks: what was shown is gathered as it changes.
  await page.evaluate(() => {
    const seen = new Set<string>();
    const look = (): void => {
      const text = document.querySelector("main")?.textContent ?? "";
      for (const part of text.match(/Step \d of 3/g) ?? []) seen.add(part);
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    Object.assign(globalThis, { seen });
  });
  held.release();
  await seeText(page, "FSDLWKLL 19–26");
  const seen = await page.evaluate(() => [...(globalThis as unknown as { seen: Set<string> }).seen]);
  expect(seen).toContain("Step 1 of 3");
});

browserTest("restores match, filter, order and residues from a link", async () => {
  const id = await scored({ accession: "P04637", patterns: ["P..P"], motifClasses: ["MDM2-SWIB"] });
  const { url } = await site();
  const result = (await (await fetch(`${url}/api/scoring/jobs/${id}/result`)).json()) as Result;
  const matches = listMatches(result);
  const third = matches[2];
  const alike = matches
    .filter((match) => findVerdict(match) === findVerdict(third))
    .toSorted((x, y) => y.z! - x.z!);
  const verdict = findVerdict(third).replaceAll(" ", "+");
  await using opened = await openPage(`/score/${id}?match=3&verdict=${verdict}&order=-z&from=60&to=100`);
  const { page } = opened;
  await page.waitForFunction(() => document.querySelector("#match")?.textContent === "PAAP 77–80");
  await seeText(page, `${alike.length} of 7`);
  const first = (): Promise<string> => page.$eval("tbody th[scope=row] a", (link) => link.innerText);
  expect(await first()).toContain(`${alike[0].start}–${alike[0].end}`);
  expect(await page.$eval(".tracks", (track) => track.getAttribute("aria-label"))).toContain(
    "Residues 60 to 100 of 393",
  );
  await checkPage(opened, "result-link");

  // Zooming and moving by keyboard, and back to all of it.
  await (await page.waitForSelector(".tracks"))!.focus();
  await page.keyboard.press("-");
  await page.keyboard.press("<");
  await page.waitForFunction(() => /from=22&to=103/.test(location.search));
  await page.keyboard.press("0");
  expect(new URL(page.url()).searchParams.has("from")).toBe(false);

  // Another order, another match; the button back undoes the choice.
  await page.click(".answer .chip[aria-pressed=true]");
  await press(page, "button", "P");
  const [least] = matches.toSorted((x, y) => x.overallPValue! - y.overallPValue!);
  expect(await first()).toContain(`${least.start}–${least.end}`);
  await page.click("[aria-label='FSDLWKLL at 19 to 26, likely functional']");
  await seeText(page, "In place in 20 of 23 homologs");
  expect(new URL(page.url()).searchParams.get("match")).toBe("7");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#match")?.textContent === "PAAP 77–80");

  // Dragging over a range zooms in on it.
  const box = (await (await page.waitForSelector(".tracks svg"))!.boundingBox())!;
  await page.mouse.move(box.x + 128 + (box.width - 128) * 0.25, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 128 + (box.width - 128) * 0.5, box.y + 60, { steps: 4 });
  await page.mouse.up();
  // On a busy machine the page takes a moment to follow.
  await page.waitForFunction(() => new URL(location.href).searchParams.has("from"));
  const drawn = new URL(page.url()).searchParams;
  expect([Number(drawn.get("from")), Number(drawn.get("to"))]).toEqual([99, 197]);

  // The brush over the whole protein is dragged, and one of its edges.
  const readSpan = (): [number, number] => {
    const { searchParams } = new URL(page.url());
    return [Number(searchParams.get("from")), Number(searchParams.get("to"))];
  };
  const pixels = (box.width - 128) / 393;
  const findX = (residue: number): number => box.x + 128 + (residue - 0.5) * pixels;
  const dragBrush = async (from: number, to: number): Promise<void> => {
    const before = page.url();
    await page.mouse.move(findX(from), box.y + 12);
    await page.mouse.down();
    await page.mouse.move(findX(to), box.y + 12, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction((before) => location.href !== before, {}, before);
  };
  await dragBrush(150, 200);
  expect(readSpan()).toEqual([149, 247]);
  await dragBrush(247, 300);
  expect(readSpan()).toEqual([149, 300]);
  // Control and the wheel zoom around the pointer; one finger moves.
  await page.mouse.move(findX(1), box.y + 80);
  await page.keyboard.down("Control");
  await page.mouse.wheel({ deltaY: -100 });
  await page.keyboard.up("Control");
  await page.waitForFunction(() => !location.search.includes("to=300"));
  const [left, right] = readSpan();
  expect([left, right - left + 1]).toEqual([149, Math.round(152 / 1.25)]);
  const moved = await page.touchscreen.touchStart(findX(197), box.y + 80);
  for (const residue of [190, 180, 150, 99]) await moved.move(findX(residue), box.y + 80);
  await moved.end();
  await page.waitForFunction((left) => !location.search.includes(`from=${left}`), {}, left);
  expect(Math.abs(readSpan()[0] - (149 + 122 / 4))).toBeLessThanOrEqual(2);
  // Another match comes into view.
  await press(page, "button", "Next match");
  await page.waitForFunction(() => /\d+–\d+$/.test(document.querySelector("#match")?.textContent ?? ""));
  const [start, end] = await page.$eval("#match", (head) => head.textContent!.match(/\d+/g)!.map(Number));
  expect(readSpan()[0]).toBeLessThanOrEqual(start);
  expect(readSpan()[1]).toBeGreaterThanOrEqual(end);

  // The form has what was asked, to be changed and scored again.
  await press(page, "link", "Edit and score again");
  await arrive(page, "/score");
  await seeText(page, "P04637, 393 residues");
  await named(page, "button", "Remove MDM2-SWIB");
  await page.waitForFunction(() => location.search === "?class=MDM2-SWIB&pattern=P..P");
  expect(opened.faults).toEqual([]);
});

browserTest("opens help by keyboard, and describes the tracks to screen readers", async () => {
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage(`/score/${id}`);
  const { page } = opened;
  await seeText(page, "Likely functional");
  const summary = await page.waitForSelector(".match-panel summary");
  await summary!.focus();
  await page.keyboard.press("Enter");
  await seeText(page, VERDICT_HELP[0][1]);
  const labels = await page.$$eval(".tracks g[role=img]", (tracks) =>
    tracks.map((track) => track.getAttribute("aria-label")!),
  );
  // The transactivation domain and the ends are disordered; the DNA-binding domain (94 to 292) is folded.
  expect(labels[0]).toMatch(/^Predicted disorder of 0.5 or more: 1–\d+, /);
  expect(labels[1]).toMatch(/^Predicted pLDDT of 70 or more: /);
  await checkPage(opened, "result-explained");
});

browserTest("judges a match without homologs by its context, and says so", async () => {
  const querySequence = decode(randomProtein(random(3), 200));
  const id = await scored({ identifier: "alone", querySequence, patterns: ["[ST]..."] });
  await using opened = await openPage(`/score/${id}`);
  const { page } = opened;
  await seeText(page, "Few homologs: mostly context.");
  await seeText(page, "random matches score");
  const kept = await page.$$eval("tbody .kept", (cells) => cells.map((cell) => cell.textContent));
  expect(new Set(kept)).toEqual(new Set(["no homologs"]));
  await checkPage(opened, "result-alone");
});

browserTest("leads from a part of a protein to the whole, with the same motifs", async () => {
  const querySequence = P53.slice(0, 60);
  const id = await scored({
    identifier: "part",
    querySequence,
    patterns: ["P..P"],
    motifClasses: ["MDM2-SWIB"],
  });
  await using opened = await openPage(`/score/${id}`);
  const { page } = opened;
  await seeText(page, "The query is residues 1–60 of P04637 (TP53, Homo sapiens).");
  await checkPage(opened, "result-part");
  await press(page, "link", "Score P04637");
  await seeText(page, "P04637, 393 residues");
  await page.waitForFunction(() => location.search === "?protein=P04637&class=MDM2-SWIB&pattern=P..P");
});

browserTest("offers downloads of a result by an earlier version, and to score again", async () => {
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage("/score");
  const { page, url } = opened;
  const address = `${url}/api/scoring/jobs/${id}/result`;
  const result = (await (await fetch(address)).json()) as Result;
  const { order: _, ...alignment } = result.alignment;
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (request.url() !== address) return void request.continue();
    void request.respond({
      contentType: "application/json",
      body: JSON.stringify({ ...result, method: "labd-2", alignment }),
    });
  });
  await page.goto(`${url}/score/${id}`);
  await seeText(page, "This result was scored by an earlier version");
  await named(page, "link", "GFF3");
  await press(page, "link", "Score again");
  await seeText(page, "P04637, 393 residues");
  expect(opened.faults).toEqual([]);
});

browserTest("offers to score again by the method in use", async () => {
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage("/score");
  const { page, url } = opened;
  const address = `${url}/api/scoring/jobs/${id}/result`;
  const result = (await (await fetch(address)).json()) as Result;
  for (const match of result.patterns.flatMap(({ matches }) => matches)) delete match.probability;
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (request.url() !== address) return void request.continue();
    void request.respond({
      contentType: "application/json",
      body: JSON.stringify({ ...result, method: "labd-3" }),
    });
  });
  await page.goto(`${url}/score/${id}`);
  await seeText(page, "labd-3 is an earlier method, whose P values are less exact.");
  await checkPage(opened, "result-by-earlier-method");
  await press(page, "link", "Score again");
  await seeText(page, "P04637, 393 residues");
});

browserTest("prints programs that get the same result", async () => {
  const id = await scored({
    identifier: "p53's <start>",
    querySequence: P53,
    patterns: ["P..P"],
    motifClasses: ["MDM2-SWIB"],
  });
  await using opened = await openPage(`/score/${id}`);
  const { page, url } = opened;
  const table = await (await fetch(`${url}/api/scoring/jobs/${id}/result?format=tsv`)).text();
  const makeCall = async (language: string): Promise<string> => {
    await press(page, "button", language);
    return page.$eval(`pre[data-call=${language}]`, (pre) => pre.textContent!);
  };
  const run = async (command: string[], text: string): Promise<string> => {
    const process = Bun.spawn(command, { stdin: new Blob([text]), stdout: "pipe", stderr: "inherit" });
    return new Response(process.stdout).text();
  };
  await disclose(page, "Use from a program");
  expect(await run(["sh"], await makeCall("curl"))).toBe(table);
  const rows = withoutComments(table).trim().split("\n").slice(1);
  expect(rows.length).toBe(2);
  if (Bun.which("python3") !== null) {
    const printed = (await run(["python3", "-"], await makeCall("Python"))).trim().split("\n");
    const starts = rows.map((row) => {
      const [, pattern, start, , match] = row.split("\t");
      return `${pattern} ${start} ${match}`;
    });
    // The table is ordered by z, the result by pattern.
    expect(printed.map((line) => line.split(" ").slice(0, 3).join(" ")).toSorted()).toEqual(
      starts.toSorted(),
    );
  }
  const httr = ["Rscript", "-e", "library(httr); library(jsonlite)"];
  if (Bun.which("Rscript") !== null && Bun.spawnSync(httr, { stderr: "ignore" }).exitCode === 0) {
    const printed = (await run(["Rscript", "-"], await makeCall("R"))).trim().split("\n");
    expect(printed.length).toBe(rows.length + 1);
    expect(printed[2]).toMatch(/p53's <start> +MDM2-SWIB +19 +FSDLWKLL /);
  }
  await page.waitForFunction(
    () => performance.getEntriesByName(`${location.origin}/soap/ConservationScorer?wsdl=1`).length > 0,
  );
  const soap = await run(["sh"], await makeCall("SOAP"));
  expect(soap).toContain("p53's &lt;start&gt;");
  expect(soap).toMatch(/matchedText>FSDLWKLL</);
});
