import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseCsv } from "hucre/csv";
import { readXlsx } from "hucre/xlsx";
import { scratch, serve } from "../executable/labd.ts";
import { ADMIN, browserTest, checkPage, fill, named, openPage, press, seeText, signIn } from "./browser.ts";
import { chooseFile, download, follow } from "./inventory.ts";

/** Of sixty records, fifty plasmids. */
const ROWS = Array.from({ length: 60 }, (_, i) =>
  i < 50 ? `pLab${i + 1},Plasmid` : `Buffer ${i - 49},Reagent`,
);

browserTest(
  "fifty records get an annotation at once, which filters and exports them",
  async () => {
    using directory = scratch();
    const file = join(directory.directory, "plasmids.csv");
    writeFileSync(file, ["Name,Type", ...ROWS].join("\n"));
    await using server = await serve(directory.directory, ["--admin-password", ADMIN.password]);
    await using opened = await openPage("/sign-in", { server: server.url });
    const { page } = opened;
    await Promise.all([page.waitForNavigation(), signIn(page, ADMIN.username, ADMIN.password)]);
    await follow(page, "Consumables");
    await follow(page, "Import a spreadsheet");
    await chooseFile(page, "File to import", file);
    await press(page, "button", "Import 60 records");
    await seeText(page, "60 added");

    await follow(page, "Fields");
    await follow(page, "Add field");
    await fill(page, "Name", "Resistance");
    await press(page, "radio", "Text free, or fixed choices");
    await fill(page, "Choices optional", "Ampicillin\nKanamycin");
    await (await named(page, "combobox", "Used for optional")).select("stocks.consumable");
    await checkPage(opened, "journey-annotation-type");
    await Promise.all([page.waitForNavigation(), press(page, "button", "Add")]);
    await named(page, "heading", "Resistance");

    await follow(page, "Consumables");
    await fill(page, "Search names", "pLab");
    await seeText(page, "of 50");
    await press(page, "checkbox", "Select all on this page");
    await press(page, "button", "Edit");
    await (await named(page, "combobox", "Field")).select("annotations__resistance");
    await (await named(page, "combobox", "New value")).select("Kanamycin");
    await press(page, "button", "Preview");
    await seeText(page, "50 records will change");
    await checkPage(opened, "journey-annotation-preview");
    await press(page, "button", "Change 50 records");
    await seeText(page, "Changed 50 records.");

    await follow(page, "All 60");
    await seeText(page, "of 60");
    await press(page, "button", "Filter");
    await press(page, "checkbox", "Kanamycin");
    await seeText(page, "of 50");
    await press(page, "button", "More");
    await checkPage(opened, "journey-export");
    const makeFile = (format: string) => download(page, () => press(page, "link", `Export as ${format}`));
    const csv = await makeFile("CSV");
    expect(csv.name).toBe("stocks-consumables.csv");
    await press(page, "button", "More");
    const xlsx = await makeFile("XLSX");
    expect(xlsx.name).toBe("stocks-consumables.xlsx");
    const tables = [
      parseCsv(new TextDecoder().decode(csv.bytes)),
      (await readXlsx(xlsx.bytes)).sheets[0].rows,
    ];
    for (const [titles, ...records] of tables) {
      const columns = ["name", "model_type", "annotations__resistance"].map((name) => titles.indexOf(name));
      const wanted = ROWS.slice(0, 50).map((row) => [row.split(",")[0], "PLASMID", "Kanamycin"]);
      expect(records.map((row) => columns.map((column) => row[column]))).toEqual(wanted);
    }
    expect(opened.faults).toEqual([]);
  },
  300_000,
);
