import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { labd } from "./labd.ts";

/** The imports of docs/coming-from.md as they are printed there, with sheets that have the columns of other programs. */

const SHEETS = {
  "quartzy.csv": `Item Name,Type,Vendor,Catalog #,Owner,Amount in Stock,Unit Size,Price,Location,Sub-location,Location Details,Technical Details,Serial Number,CAS Number,Lot Number,Expiration Date,URL
Anti-TP53 DO-1,Antibody,Santa Cruz,sc-126,Ana Petrova,3,200 µg,$350.00,Freezer 1,Shelf 2,B3,mouse monoclonal,,,L0123,2027-03-31,https://vendor.example/do-1
NaCl,Chemical,Sigma,S9888,Ana Petrova,2,1 kg,$45.20,Room 12,,,,,7647-14-5,BCBX1234,12/31/2029,
`,
  "elabftw.csv": `id,date,title,category,category_title,status_title,tags,metadata,elabid
7,2025-03-01,pUC19,3,Plasmid,Available,cloning,"{}",20250301-abc
`,
  "labid.csv": `"name","model_type","barcode","description"
"Anti-FLAG","ANTIBODY","CO0000077","mouse M2"
`,
};
const doc = readFileSync(join(import.meta.dir, "../../docs/coming-from.md"), "utf8");
let directory: string;
let env: Record<string, string>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-coming-from-"));
  env = { LABD_DATA_DIR: join(directory, "data"), PATH: process.env.PATH! };
  for (const [name, sheet] of Object.entries(SHEETS)) writeFileSync(join(directory, name), sheet);
  await labd(["user", "add", "ana"], { env });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Words of a command line of the documentation; a mapping stands in single quotes. */
const words = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].slice(1).map(([, quoted, word]) => quoted ?? word);

test.each(Object.keys(SHEETS))("%s is imported by the documented command", async (name) => {
  const command = doc.split("\n").find((line) => line.startsWith(`labd import ${name} `))!;
  const preview = await labd(words(command), { env, cwd: directory });
  const rows = name === "quartzy.csv" ? 2 : 1;
  expect([preview.code, preview.stdout]).toEqual([
    0,
    expect.stringContaining(`Would add ${rows}, change 0 and keep 0 of ${rows} row${rows === 1 ? "" : "s"}.`),
  ]);
  const written = await labd(
    words(command).filter((word) => word !== "--dry-run"),
    { env, cwd: directory },
  );
  expect([written.code, written.stdout]).toEqual([0, expect.stringContaining(`Added ${rows}`)]);
});

test("amount, unit, price and expiry of a sheet of Quartzy arrive", async () => {
  const file = join(directory, "exported.json");
  const exported = await labd(["export", "stocks/consumables", "--user", "ana", "--output", file], { env });
  expect([exported.code, exported.stderr]).toEqual([0, expect.any(String)]);
  const { results } = JSON.parse(readFileSync(file, "utf8")) as { results: Record<string, unknown>[] };
  expect(results.find(({ name }) => name === "NaCl")).toMatchObject({
    amount: 1,
    supplier: "Sigma",
    catalogue_number: "S9888",
    lot: "BCBX1234",
    expiry: "2029-12-31",
    price: 45.2,
  });
});
