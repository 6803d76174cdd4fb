import { expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ElementHandle } from "puppeteer-core";
import { elabftw } from "../inventory/eln-crates.ts";
import { messySheet } from "../inventory/messy-sheet.ts";
import { browserTest, checkPage, disclose, fill, openPage, press, seeText } from "./browser.ts";
import { chooseFile } from "./inventory.ts";
import { findLastBatch, undoSince, write } from "./connection.ts";

browserTest(
  "checks a messy spreadsheet, corrects it, imports the good rows, and undoes the import",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
    try {
      const path = join(directory, "Freezer south.xlsx");
      writeFileSync(path, await messySheet());
      await using opened = await openPage("/inventory/stocks-consumables/import", { signedIn: true });
      const { page } = opened;
      const last = await findLastBatch(page);
      await write(page, "POST", "/api/v2/locations/", { label: "Box 1", grid_rows: 9, grid_columns: 9 });
      await write(page, "POST", "/api/v2/consumables/", {
        name: "anti-MDM2 SMP14",
        model_type: "ANTIBODY",
        catalogue_number: "sc-965",
        lot: "J2214",
      });
      await write(page, "PATCH", "/api/v2/users/admin/", { full_name: "Ana Petrova" });
      const file = (await page.waitForSelector("input[type=file]")) as ElementHandle<HTMLInputElement>;
      await checkPage(opened, "inventory-import");
      await file.uploadFile(path);
      await seeText(page, "Check 20 rows");
      await seeText(page, "14 of 14 used, 12 guessed");
      await press(page, "button", "Remember this mapping");
      await seeText(page, "Remembered as Freezer south");
      await seeText(page, "19 new");
      await seeText(page, "1 needs a look");
      await seeText(page, "February 2027 has 28 days.");
      // The picture of the box: one row has no place.
      await page.waitForSelector("svg[aria-label='Box 1: 19 new']");
      await checkPage(opened, "inventory-import-check");
      // A wrong cell is corrected by an offer, another one by typing.
      await press(page, "button", "Use Box 1");
      await page.waitForFunction(() => !document.body.innerText.includes("is not a place"));
      await fill(page, "Expiry of row 21", "28 Feb 2027");
      await page.keyboard.press("Enter");
      await seeText(page, "20 new");
      await page.waitForFunction(() => !document.body.innerText.includes("needs a look"));
      await press(page, "button", "Correct Lot of row 5: K1221");
      await fill(page, "Lot of row 5", "K1222");
      await page.keyboard.press("Enter");
      await seeText(page, "K1222");
      // A person chooses to change the existing tube.
      await seeText(page, "Same name and catalogue number as anti-MDM2 SMP14");
      await press(page, "button", "Change existing");
      await seeText(page, "1 changes an existing record");
      await page.waitForSelector("svg[aria-label='Box 1: 19 new, 1 changed']");
      expect(await page.$eval(".same-as", (detail) => detail.textContent)).toContain("Lot: J2214 K0415");
      await checkPage(opened, "inventory-import-change");
      await press(page, "button", "Import 20 records");
      await seeText(page, "19 added, 1 changed, 0 unchanged");
      await seeText(page, "Added 19");
      await checkPage(opened, "inventory-import-done");
      const lots = (): Promise<string[]> =>
        page.evaluate(async () => {
          const found = await fetch("/api/v2/consumables/?lot__startswith=K&fields=lot&response_format=flat");
          return ((await found.json()).results as { lot: string }[]).map(({ lot }) => lot).toSorted();
        });
      expect(await lots()).toEqual(["K0415", "K1222"]);
      await press(page, "button", "Undo");
      await seeText(page, "Undone.");
      expect(await lots()).toEqual([]);
      // A slot that is taken is corrected in the page, too.
      await write(page, "POST", "/api/v2/consumables/", {
        name: "Taken",
        model_type: "OLIGO",
        location: "Box 1",
        position: "A1",
      });
      await disclose(page, "Another file");
      await chooseFile(page, "File to import", path);
      await page.waitForSelector("svg[aria-label='Box 1: 18 new, 1 needs a look']");
      await seeText(page, "A1 is occupied");
      await checkPage(opened, "inventory-import-taken");
      await fill(page, "Position of row 2", "H1");
      await page.keyboard.press("Enter");
      await page.waitForSelector("svg[aria-label='Box 1: 19 new, 1 already there']");
      await undoSince(page, last);
      await write(page, "PATCH", "/api/v2/users/admin/", { full_name: "" });
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

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
    const field = "select[aria-label='Field for Strength']";
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
          "/api/v2/stocks/consumables/?name=Anti-CD3&fields=id,annotations__Strength&response_format=flat",
        )
      ).json(),
    )) as { results: { id: string; annotations__Strength: string }[] };
    expect(results.map((each) => each.annotations__Strength)).toEqual(["0.5 mg/ml"]);
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

browserTest("corrects a place that many rows name, in all of them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
  try {
    const path = join(directory, "places.csv");
    const rows = ["a,Box 7", "b,-20 drawer 1", "c,Box 7", "d,Box 7"];
    writeFileSync(path, ["name,location", ...rows].join("\n"));
    await using opened = await openPage("/inventory/stocks-consumables/import", { signedIn: true });
    const { page } = opened;
    await chooseFile(page, "File to import", path);
    await seeText(page, "3 need a look");
    await fill(page, "Location of row 2", "-20 drawer 1");
    await page.keyboard.press("Enter");
    await press(page, "button", "In all 2 rows");
    await seeText(page, "4 new");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
