import { expect, setDefaultTimeout } from "bun:test";
import { listMatches, type Result } from "../../src/web/score/result.ts";
import { browserTest, checkPage, openPage, press, seeText } from "./browser.ts";
import { scored } from "./submit.ts";

setDefaultTimeout(300_000);

browserTest("draws every homolog with its state, and saves pictures", async () => {
  const id = await scored({ accession: "P04637", motifClasses: ["MDM2-SWIB"] });
  await using opened = await openPage(`/score/${id}`);
  const { page, url } = opened;
  await seeText(page, "Homologs as a table");
  const result = (await (await fetch(`${url}/api/scoring/jobs/${id}/result`)).json()) as {
    homologs: { accession: string; organism: string | null }[];
    patterns: { matches: { contributions: object; atHomologs: { homolog: number; state: string }[] }[] }[];
  };
  const readName = ({ accession, organism }: { accession: string; organism: string | null }): string =>
    organism === null ? accession : organism.length > 18 ? `${organism.slice(0, 18)}…` : organism;
  const states = new Map(
    result.patterns[0].matches[0].atHomologs.map((at) => [readName(result.homologs[at.homolog]), at.state]),
  );
  // Until the picture knows its size, it draws only the rows of a low one.
  await page.waitForFunction(
    (count) => document.querySelectorAll(".alignment g:has(> .state-mark)").length >= count,
    {},
    states.size,
  );
  const drawn = await page.$$eval(".alignment g:has(> .state-mark)", (rows) =>
    rows.map((row) => [
      row.querySelector(".name")!.firstChild!.textContent,
      row.querySelector(".state-mark")!.classList[1],
    ]),
  );
  expect(new Map(drawn as [string, string][])).toEqual(states);
  // The tree has every homolog once all clades are unfolded, by the keyboard.
  const countRows = (): Promise<number> => page.$$eval(".clades li", (rows) => rows.length);
  for (let rows = await countRows(); rows <= states.size; rows = await countRows()) {
    await page.focus(".clades button");
    await page.keyboard.press("Enter");
    await page.waitForFunction((before) => document.querySelectorAll(".clades li").length > before, {}, rows);
    expect(await page.evaluate(() => document.activeElement!.outerHTML.slice(0, 200))).toContain("clade");
  }
  const kept = [...states.values()].filter((state) => state === "conserved").length;
  expect((await page.$$('.clades [aria-label="1 kept"]')).length).toBe(kept + 1);
  // Every kind of evidence has its row, and as printed they add up to z.
  const { contributions } = result.patterns[0].matches[0];
  const printed = await page.$$eval(".evidence tr > td.num", (cells) =>
    cells.map((cell) => Math.round(100 * Number(cell.textContent!.replace("−", "-")))),
  );
  const z = printed.pop();
  expect(printed.length).toBe(Object.keys(contributions).length);
  expect(printed.reduce((sum, part) => sum + part, 0)).toBe(z!);
  await page.click("details:has(tbody) > summary");
  await page.waitForSelector("details[open] table");
  expect((await page.$$("details[open] tbody tr")).length).toBe(states.size);

  // The file that a person would save, intercepted.
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
  const { start, end } = listMatches(result)[5];
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
  await page.keyboard.press(">");
  await inView({ from: 20 }, {});
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
  expect(rows[0]).toBe(">P04637 TP53 Homo sapiens");
  // The first residues, with gaps where others have an insertion.
  expect(rows[1]).toContain("-");
  expect(result.alignment.query).toStartWith(rows[1].replaceAll("-", ""));
  expect(opened.faults).toEqual([]);
});
