import { expect, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { matchesOf, type Result, VERDICT_HELP, verdictOf } from "../../src/web/score/result.ts";
import { heldQueue } from "../executable/held-queue.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import {
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

setDefaultTimeout(300_000);

const P53 = "MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGPDEAPRMPEAA";

/** Submits a job past the page and gives its identifier. */
async function submitted(submission: object): Promise<string> {
  const { url } = await site();
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(submission);
  const answer = await fetch(`${url}/api/scoring/jobs`, { method: "POST", headers, body });
  return ((await answer.json()) as { id: string }).id;
}

/** The same, once it has ended. */
async function scored(submission: object): Promise<string> {
  const id = await submitted(submission);
  const { url } = await site();
  await (await fetch(`${url}/api/scoring/jobs/${id}/events`)).text();
  return id;
}

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
  // What is short is in the address; the sequence outlives a reload, but only here.
  await page.waitForFunction(() => location.search === "?class=MDM2-SWIB&pattern=P..P");
  await page.reload();
  await seeText(page, "P04637, 393 residues");
  await press(page, "button", "Score");
  expect(await arrive(page, "/score/")).toMatch(/\/score\/[0-9a-f-]{36}$/);
  await seeText(page, "1 of 7 matches is likely functional: FSDLWKLL at 19–26.");
  await seeText(page, "Kept in 20 of 24 homologs");
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
  await seeText(page, "The corpus has no protein with the accession NOSUCH1.");
  await fill(page, "Search motifs", "retinoblastoma pocket");
  await seeText(page, "1 of 48 motifs");
  await page.keyboard.press("Enter");
  await named(page, "button", "Remove LxCxE");
  await press(page, "button", "Score");
  await seeText(page, "he corpus in use has no protein with this accession");
  await fill(page, "Sequence, FASTA or accession", "P03129");
  await press(page, "button", "Score");
  await arrive(page, "/score/");
  await seeText(page, "likely functional: LYCYE at 22–26.");
});

browserTest("shows the place of a waiting job in the queue, and cancels it", async () => {
  const { directory } = await site();
  using _ = heldQueue(directory);
  const id = await submitted({ identifier: "cancelled", querySequence: P53, patterns: ["P..P"] });
  await using opened = await openPage(`/score/${id}`);
  await seeText(opened.page, "Waiting: place 1 in the queue.");
  await opened.page.screenshot({ path: join(ARTEFACTS, "result-waiting-light.png") as `${string}.png` });
  await press(opened.page, "button", "Cancel");
  await seeText(opened.page, "The job was cancelled");
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
  const matches = matchesOf(result);
  const third = matches[2];
  const alike = matches
    .filter((match) => verdictOf(match) === verdictOf(third))
    .toSorted((x, y) => y.z! - x.z!);
  const verdict = verdictOf(third).replaceAll(" ", "+");
  await using opened = await openPage(`/score/${id}?match=3&verdict=${verdict}&sort=-z&from=60&to=100`);
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
  await page.keyboard.press("ArrowLeft");
  const span = new URL(page.url()).searchParams;
  expect([Number(span.get("from")), Number(span.get("to"))]).toEqual([24, 105]);
  await page.keyboard.press("0");
  expect(new URL(page.url()).searchParams.has("from")).toBe(false);

  // Another order, another match; the button back undoes the choice.
  await page.click(".answer .chip[aria-pressed=true]");
  await press(page, "button", "CS");
  const [least] = matches.toSorted((x, y) => x.score! - y.score!);
  expect(await first()).toContain(`${least.start}–${least.end}`);
  await page.click("[aria-label='FSDLWKLL at 19 to 26, likely functional']");
  await seeText(page, "Kept in 20 of 24 homologs");
  expect(new URL(page.url()).searchParams.get("match")).toBe("7");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#match")?.textContent === "PAAP 77–80");

  // What is drawn over with the mouse is shown larger.
  const box = (await (await page.waitForSelector(".tracks svg"))!.boundingBox())!;
  await page.mouse.move(box.x + 128 + (box.width - 128) * 0.25, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 128 + (box.width - 128) * 0.5, box.y + 60, { steps: 4 });
  await page.mouse.up();
  // On a busy machine the page takes a moment to follow.
  await page.waitForFunction(() => new URL(location.href).searchParams.has("from"));
  const drawn = new URL(page.url()).searchParams;
  expect([Number(drawn.get("from")), Number(drawn.get("to"))]).toEqual([99, 197]);

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

browserTest("draws every homolog with its state, and saves pictures", async () => {
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage(`/score/${id}`);
  const { page, url } = opened;
  await seeText(page, "Homologs as a table");
  const result = (await (await fetch(`${url}/api/scoring/jobs/${id}/result`)).json()) as {
    homologs: { accession: string; organism: string | null }[];
    patterns: { matches: { contributions: object; atHomologs: { homolog: number; state: string }[] }[] }[];
  };
  const nameOf = ({ accession, organism }: { accession: string; organism: string | null }): string =>
    organism === null ? accession : organism.length > 18 ? `${organism.slice(0, 18)}…` : organism;
  const states = new Map(
    result.patterns[0].matches[0].atHomologs.map((at) => [nameOf(result.homologs[at.homolog]), at.state]),
  );
  const drawn = await page.$$eval(".alignment g:has(> .state-mark)", (rows) =>
    rows.map((row) => [
      row.querySelector(".name")!.firstChild!.textContent,
      row.querySelector(".state-mark")!.classList[1],
    ]),
  );
  expect(new Map(drawn as [string, string][])).toEqual(states);
  // Every kind of evidence has its row, and as printed they add up to z.
  const { contributions } = result.patterns[0].matches[0];
  const printed = await page.$$eval(".evidence tr > td.num", (cells) =>
    cells.map((cell) => Math.round(100 * Number(cell.textContent!.replace("−", "-")))),
  );
  const z = printed.pop();
  expect(printed.length).toBe(Object.keys(contributions).length);
  expect(printed.reduce((sum, part) => sum + part, 0)).toBe(z!);
  await page.click("details.card summary");
  await page.waitForSelector("details[open] table");
  expect((await page.$$("details[open] tbody tr")).length).toBe(states.size);

  // What a person would save, caught on its way.
  await page.evaluate(() => {
    const saved: { name: string; blob: Promise<string>; size: number }[] = [];
    const blobs = new Map<string, Blob>();
    const make = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob: Blob) => {
      const address = make(blob);
      blobs.set(address, blob);
      return address;
    };
    HTMLAnchorElement.prototype.click = function () {
      const blob = blobs.get(this.href)!;
      saved.push({ name: this.download, blob: blob.text(), size: blob.size });
    };
    Object.assign(globalThis, { saved });
  });
  const pictures = ["the alignment", "the protein"];
  for (const title of pictures) {
    await press(page, "button", `Save ${title} as SVG`);
    await press(page, "button", `Save ${title} as PNG`);
  }
  await page.waitForFunction(() => (globalThis as unknown as { saved: unknown[] }).saved.length === 4);
  const saved = await page.evaluate(() =>
    Promise.all(
      (globalThis as unknown as { saved: { name: string; blob: Promise<string>; size: number }[] }).saved.map(
        async ({ name, blob, size }) => ({ name, size, text: (await blob).slice(0, 200_000) }),
      ),
    ),
  );
  const names = ["P04637-match-1", "P04637-protein"].flatMap((name) => [`${name}.svg`, `${name}.png`]);
  expect(saved.map(({ name }) => name).sort()).toEqual(names.sort());
  for (const { name, text, size } of saved) {
    if (name.endsWith(".svg")) {
      expect(text).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
      // Colours are written out: a file has no style sheet.
      expect(text).not.toContain("var(");
      expect(text).toContain("rgb(");
    } else {
      expect(text).toContain("PNG");
      expect(size).toBeGreaterThan(10_000);
    }
  }
  expect(opened.faults).toEqual([]);
});

browserTest("scrolls, colours and copies the alignment, and opens an insertion", async () => {
  const id = await scored({ accession: "P04637", patterns: ["P..P"], motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage(`/score/${id}?match=6`);
  const { page, url } = opened;
  const result = (await (await fetch(`${url}/api/scoring/jobs/${id}/result`)).json()) as Result;
  const { start, end } = matchesOf(result)[5];
  /** Waits until the heading says that residues up to these are in view. */
  const inView = (least: { from?: number; to?: number }, most: { from?: number; to?: number } = least) =>
    page.waitForFunction(
      (least, most) => {
        const headings = [...document.querySelectorAll("h2")].map((heading) => heading.textContent);
        const found = headings.join().match(/residues (\d+)–(\d+) of 393/);
        const isBetween = (value: number, from = 0, to = 393): boolean => value >= from && value <= to;
        return (
          found &&
          isBetween(Number(found[1]), least.from, most.from) &&
          isBetween(Number(found[2]), least.to, most.to)
        );
      },
      {},
      least,
      most,
    );
  const atMatch = [{ to: end + 5 }, { from: start - 5 }] as const;
  await inView(...atMatch);
  await (await page.waitForSelector(".alignment"))!.focus();
  await page.keyboard.press("Home");
  await inView({ from: 1 });
  await page.keyboard.press("ArrowRight");
  await inView({ from: 2 });
  await page.keyboard.press("End");
  await inView({ to: 393 });
  await press(page, "button", "Show match");
  await inView(...atMatch);
  await page.select("select[aria-label=Colours]", "clustal");
  await page.waitForSelector(".alignment .clustal-yellow");
  expect(new URL(page.url()).searchParams.get("colour")).toBe("clustal");
  await (await page.waitForSelector(".alignment"))!.focus();
  await page.keyboard.press("Home");
  await inView({ from: 1 });
  const mark = await page.waitForSelector(".alignment [role=button][aria-label*='inserted after residue']");
  await mark!.evaluate((element) => (element as SVGElement).focus());
  await page.keyboard.press("Enter");
  await page.waitForSelector(".alignment .inserted");
  await checkPage(opened, "result-alignment");

  await page.evaluate(() => {
    navigator.clipboard.writeText = async (copied) => void Object.assign(globalThis, { copied });
  });
  await (await page.waitForSelector(".alignment"))!.focus();
  await page.keyboard.press("Home");
  await inView({ from: 1 });
  await press(page, "button", "Copy the part in view");
  await seeText(page, "as FASTA.");
  const copied = await page.evaluate(() => (globalThis as unknown as { copied: string }).copied);
  const rows = copied.trim().split("\n");
  expect(rows.length).toBe(2 * (result.homologs.length + 1));
  expect(rows[0]).toBe(">P04637");
  // The first residues, with gaps where others have an insertion.
  expect(rows[1]).toContain("-");
  expect(result.alignment.query).toStartWith(rows[1].replaceAll("-", ""));
  expect(opened.faults).toEqual([]);
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
  const callOf = async (language: string): Promise<string> => {
    await press(page, "button", language);
    return page.$eval(`pre[data-call=${language}]`, (pre) => pre.textContent!);
  };
  const run = async (command: string[], text: string): Promise<string> => {
    const process = Bun.spawn(command, { stdin: new Blob([text]), stdout: "pipe", stderr: "inherit" });
    return new Response(process.stdout).text();
  };
  await seeText(page, "Use from a program");
  expect(await run(["sh"], await callOf("curl"))).toBe(table);
  const rows = table.trim().split("\n").slice(1);
  expect(rows.length).toBe(2);
  if (Bun.which("python3") !== null) {
    const printed = (await run(["python3", "-"], await callOf("Python"))).trim().split("\n");
    const [, pattern, start, , match] = rows[1].split("\t");
    expect(printed.length).toBe(rows.length);
    expect(printed[1]).toStartWith(`${pattern} ${start} ${match} `);
  }
  const httr = ["Rscript", "-e", "library(httr); library(jsonlite)"];
  if (Bun.which("Rscript") !== null && Bun.spawnSync(httr, { stderr: "ignore" }).exitCode === 0) {
    const printed = (await run(["Rscript", "-"], await callOf("R"))).trim().split("\n");
    expect(printed.length).toBe(rows.length + 1);
    expect(printed[2]).toMatch(/p53's <start> +MDM2-SWIB +19 +FSDLWKLL /);
  }
  await page.waitForFunction(
    () => performance.getEntriesByName(`${location.origin}/soap/ConservationScorer?wsdl=1`).length > 0,
  );
  const soap = await run(["sh"], await callOf("SOAP"));
  expect(soap).toContain("p53's &lt;start&gt;");
  expect(soap).toMatch(/matchedText>FSDLWKLL</);
});
