import { expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ElementHandle } from "puppeteer-core";
import { browserTest, checkPage, openPage, press, seeText } from "./browser.ts";

browserTest("previews a file cell by cell, maps its columns, and undoes the import", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
  try {
    const wrong = join(directory, "wrong.csv");
    writeFileSync(
      wrong,
      "name;Kind;location;amount\nPrimer 1;OLIGO;Box oligos 1;5\nPrimer 2;oligo;nowhere;many\nPrimer 3;OLIGO;Box oligos 1;\n",
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
    await page.waitForSelector("select[aria-label='Field for Kind']");
    expect(await page.$eval("select[aria-label='Field for Kind']", (select) => select.value)).toBe("?");
    await page.select("select[aria-label='Field for Kind']", "model_type");
    await seeText(page, "A valid number is required.");
    expect(
      await page.$$eval("td:has(.error)", (cells) => cells.map((cell) => cell.firstChild?.textContent)),
    ).toEqual(["nowhere", "many"]);
    await checkPage(opened, "inventory-import-verdict");
    await file.uploadFile(right);
    await seeText(page, "2 new");
    await press(page, "button", "Import 2 records");
    await seeText(page, "2 added, 0 changed");
    await checkPage(opened, "inventory-import-done");
    const count = (): Promise<number> =>
      page.evaluate(
        async () => (await (await fetch("/api/v2/stocks/consumables/?name=Primer")).json()).total as number,
      );
    expect(await count()).toBe(2);
    await press(page, "button", "Undo");
    await seeText(page, "Undone.");
    expect(await count()).toBe(0);
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
