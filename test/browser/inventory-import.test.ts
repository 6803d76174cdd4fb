import { expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ElementHandle } from "puppeteer-core";
import { elabftw } from "../inventory/eln-crates.ts";
import { browserTest, checkPage, openPage, press, seeText } from "./browser.ts";

browserTest("previews a file cell by cell, maps its columns, and undoes the import", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
  try {
    const wrong = join(directory, "wrong.csv");
    writeFileSync(
      wrong,
      "name;Karma;location;amount\nPrimer 1;OLIGO;Box oligos 1;5\nPrimer 2;oligo;nowhere;many\nPrimer 3;OLIGO;Box oligos 1;\n",
    );
    const right = join(directory, "right.csv");
    writeFileSync(
      right,
      "name;model_type;location;amount\nPrimer 1;OLIGO;Box oligos 1;5\nPrimer 2;OLIGO;Box oligos 1;\n",
    );
    await using opened = await openPage("/inventory/stocks-consumables/import", { signedIn: true });
    const { page } = opened;
    const file = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
    await checkPage(opened, "inventory-import");
    await file.uploadFile(wrong);
    await page.waitForSelector("select[aria-label='Field for Karma']");
    expect(await page.$eval("select[aria-label='Field for Karma']", (select) => select.value)).toBe("?");
    await page.select("select[aria-label='Field for Karma']", "model_type");
    await seeText(page, "A valid number is required.");
    expect(
      await page.$$eval("td:has(.error)", (cells) => cells.map((cell) => cell.firstChild?.textContent)),
    ).toEqual(["nowhere", "many"]);
    await checkPage(opened, "inventory-import-verdict");
    await file.uploadFile(right);
    await seeText(page, "2 new");
    // Columns that need no decision are folded.
    await seeText(page, "All 4 recognised");
    await page.waitForFunction(
      () => document.querySelector(".disclosed select")?.checkVisibility() === false,
    );
    await checkPage(opened, "inventory-import-right");
    await press(page, "button", "Import 2 records");
    await seeText(page, "2 added, 0 changed");
    await checkPage(opened, "inventory-import-done");
    const count = (): Promise<number> =>
      page.evaluate(
        async () => (await (await fetch("/api/v2/stocks/consumables/?name=Primer")).json()).total as number,
      );
    expect(await count()).toBe(2);
    const changed = join(directory, "changed.csv");
    writeFileSync(changed, "name;amount\nPrimer 1;7\nPrimer 9;1\n");
    await page.goto(new URL("/inventory/stocks-consumables/import", page.url()).href);
    const another = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
    await another.uploadFile(changed);
    await seeText(page, "1 row has the name of an existing record");
    await page.select("select:has(option[value=name])", "name");
    await seeText(page, "1 row finds no record by name");
    expect(await page.$eval("tr:has(del)", (row) => row.textContent)).toContain("Amount: 5 7");
    await checkPage(opened, "inventory-import-changes");
    await press(page, "button", "Import 2 records");
    await seeText(page, "1 added, 1 changed");
    await press(page, "button", "Undo");
    await seeText(page, "Undone.");
    expect(await count()).toBe(2);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

browserTest("shows the progress of a long import, also after a reload, and cancels it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
  try {
    const long = join(directory, "long.csv");
    const rows = Array.from({ length: 100_000 }, (_, i) => `Long ${i};OTHER;Box oligos 1`);
    writeFileSync(long, `name;model_type;location\n${rows.join("\n")}\n`);
    await using opened = await openPage("/inventory/stocks-consumables/import", { signedIn: true });
    const { page } = opened;
    const file = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
    await file.uploadFile(long);
    await page.waitForSelector("progress");
    await page.waitForFunction(() => location.search.includes("import="));
    await page.reload();
    await page.waitForSelector("progress");
    await checkPage(opened, "inventory-import-progress");
    await press(page, "button", "Cancel");
    await seeText(page, "Cancelled");
    const { total } = (await page.evaluate(async () =>
      (await fetch("/api/v2/stocks/consumables/?name=Long")).json(),
    )) as { total: number };
    expect(total).toBe(0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

browserTest("imports an archive of another notebook, and exports the record again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
  try {
    const archive = join(directory, "export.eln");
    writeFileSync(archive, elabftw());
    await using opened = await openPage("/inventory/stocks-consumables/import", { signedIn: true });
    const { page } = opened;
    const file = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
    await file.uploadFile(archive);
    const field = "select[aria-label='Field for Concentration']";
    await page.waitForSelector(field);
    expect(await page.$eval(field, (select) => (select as HTMLSelectElement).value)).toBe("notes");
    await page.select(field, "new");
    await seeText(page, "1 record of eLabFTW");
    await checkPage(opened, "inventory-import-archive");
    await press(page, "button", "Import 1 record");
    await seeText(page, "with 3 notes and 2 files");
    await checkPage(opened, "inventory-import-archive-done");
    const { results } = (await page.evaluate(async () =>
      (
        await fetch(
          "/api/v2/stocks/consumables/?name=Anti-CD3&fields=id,annotations__Concentration&response_format=flat",
        )
      ).json(),
    )) as { results: { id: string; annotations__Concentration: string }[] };
    expect(results.map((each) => each.annotations__Concentration)).toEqual(["0.5 mg/ml"]);
    await page.goto(new URL(`/inventory/stocks-consumables/${results[0].id}`, page.url()).href);
    await seeText(page, "It's the good lot.");
    const [magic, type] = await page.evaluate(async () => {
      const link = [...document.querySelectorAll("a")].find((each) => each.textContent?.includes(".eln"))!;
      const response = await fetch(link.href);
      return [(await response.text()).slice(0, 2), response.headers.get("content-type")];
    });
    expect([magic, type]).toEqual(["PK", "application/vnd.eln+zip"]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
