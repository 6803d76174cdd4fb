import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHEETS } from "../../src/inventory/labels/sheet.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS, SAMPLE } from "./sample.ts";

/** Labels that independent programs can read, and the lookup of scanned codes. */

const READERS = ["/usr/bin/pdftoppm", "/usr/bin/zbarimg"].every(existsSync);
if (!READERS)
  process.stderr.write(
    "LABELS ARE NOT READ BACK: install poppler-utils and zbar-tools (pdftoppm, zbarimg).\n",
  );
const readingTest = test.skipIf(!READERS);

const TUBES = [
  { id: "5f1e627f-8aba-4e10-93ff-82dee93474e6", name: "α-Tubulin (µg), clone é-ł" },
  { id: "9b0d1c52-77aa-4d1e-8f00-0123456789ab", name: "T4 DNA ligase ".repeat(12).trim() },
  { id: "c4a9f0aa-1234-4aaa-8bbb-000000000001", name: "Buffer^~_FX\\", barcode: "LAB-000123" },
  { id: "d1e2f3a4-5678-4ccc-9ddd-000000000002", name: "Hidden tube", public: false, owned_by: "Genomics" },
  // It looks like the beginning of the id of another.
  { id: "e0000000-5678-4ccc-9ddd-000000000002", name: "Disguised", barcode: "9b0d1c52-77aa" },
].map((tube) => Object.assign(tube, { model_type: "OTHER", location: "drawer" }));

let lab: Lab;
const directory = mkdtempSync(join(tmpdir(), "labd-labels-"));
beforeAll(async () => {
  lab = await openLab({ sample: { ...SAMPLE, consumables: TUBES } });
});
afterAll(() => {
  lab.database.close();
  rmSync(directory, { recursive: true });
});

const make = (query: string, as?: string, list = "stocks/consumables") =>
  lab.bytes("GET", `${list}/labels/?${query}`, as === undefined ? {} : { as });

/** All codes in a file, as zbar reads them from an image at 300 dpi. */
async function scanCodes(bytes: Uint8Array): Promise<string[]> {
  const name = join(directory, crypto.randomUUID());
  await Bun.write(`${name}.pdf`, bytes);
  await Bun.$`pdftoppm -r 300 -gray -png ${name}.pdf ${name}`.quiet();
  const pages = readdirSync(directory)
    .filter((file) => file.endsWith(".png") && join(directory, file).startsWith(name))
    .sort();
  const found = await Promise.all(
    pages.map((page) => Bun.$`zbarimg --raw -q ${join(directory, page)}`.nothrow().text()),
  );
  return found.flatMap((text) => text.trim().split("\n"));
}

const makeAddress = (code: string): string => `http://lab/i/${code}`;
const CODES = ["5f1e627f-8aba", "9b0d1c52-77aa", "c4a9f0aa-1234", "e0000000-5678"];

readingTest(
  "prints codes that zbar reads, on all sizes",
  async () => {
    const read = async (query: string) => [query, (await scanCodes((await make(query)).bytes)).sort()];
    const addresses = CODES.map(makeAddress);
    const bars = ["5f1e627f8aba", "9b0d1c52-77aa", "9b0d1c5277aa", "LAB-000123"];
    const wanted: [string, string[]][] = [
      ["sheet=25x10", addresses],
      ["sheet=a4-5x13", addresses],
      ["sheet=a4-3x8", addresses],
      ["sheet=38x25&symbol=code128", bars],
      ["sheet=a4-5x13&symbol=code128", bars],
    ];
    expect(await Promise.all(wanted.map(([query]) => read(query)))).toEqual(wanted);
  },
  300_000,
);

test("creates a file for every sheet", async () => {
  for (const { name } of SHEETS) {
    const { status, headers } = await make(`sheet=${name}&name=Buffer`);
    const type = headers.get("content-type");
    expect({ name, status, type }).toEqual({ name, status: 200, type: "application/pdf" });
  }
  const { body } = await lab.ask("GET", "labels/");
  expect((body.results as { name: string }[]).map(({ name }) => name)).toEqual(
    SHEETS.map(({ name }) => name),
  );
});

readingTest("prints searchable text in European scripts, and shortens long names", async () => {
  const { bytes } = await make("sheet=a4-3x8");
  await Bun.write(join(directory, "text.pdf"), bytes);
  const text = await Bun.$`pdftotext -layout ${join(directory, "text.pdf")} -`.text();
  for (const part of ["α-Tubulin (µg), clone", "é-ł", "LAB-000123", "5f1e627f-8aba", "Freezer 1 › Shelf 1"])
    expect(text).toContain(part);
  expect(text).toContain("…");
  const fonts = await Bun.$`pdffonts ${join(directory, "text.pdf")}`.text();
  // Embedded, subset, with a way back to characters.
  expect(fonts).toMatch(/\+DejaVuSansCondensed .*yes yes yes/);
  expect(bytes.length).toBeLessThan(60_000);
});

readingTest("skips used labels, and adds pages", async () => {
  const pages = async (query: string) => {
    await Bun.write(join(directory, "pages.pdf"), (await make(query)).bytes);
    const info = await Bun.$`pdfinfo ${join(directory, "pages.pdf")}`.text();
    return [/Pages:\s+(\d+)/, /Page size:\s+(.*)/].map((pattern) => pattern.exec(info)![1]);
  };
  expect(await pages("sheet=a4-3x8&skip=20")).toEqual(["1", "595.276 x 841.89 pts (A4)"]);
  expect(await pages("sheet=a4-3x8&skip=21")).toEqual(["2", "595.276 x 841.89 pts (A4)"]);
  expect((await pages("sheet=25x10"))[0]).toBe("4");
});

test("prints the whole path of the place, as far as the caller may view it", async () => {
  const printed = async (as?: string) =>
    new TextDecoder().decode((await make("format=zpl&sheet=100x30&name=Disguised", as)).bytes);
  expect(await printed()).toContain("A 101 › Freezer 1 › Shelf 1 › drawer");
  const hide = await lab.send("admin", "PATCH", `locations/${IDS.shelf}/`, { public: false });
  expect(hide.status).toBe(200);
  expect(await printed()).toContain("other · A 101 › Freezer 1 › drawer");
  expect(await printed("admin")).toContain("Shelf 1");
  await lab.send("admin", "PATCH", `locations/${IDS.shelf}/`, { public: true });
});

test("prints the records in the order of the list", async () => {
  const names = async (query: string, as?: string) => {
    const zpl = new TextDecoder().decode((await make(`format=zpl&sheet=57x32&${query}`, as)).bytes);
    return [...zpl.matchAll(/FDMA,http:\/\/lab\/i\/(\S+)\^FS/g)].map(([, code]) => code);
  };
  expect(await names("ordering=-id")).toEqual(CODES.toReversed());
  expect(await names("ordering=id", "alice")).toContain("d1e2f3a4-5678");
  expect(await names("name=T4")).toEqual(["9b0d1c52-77aa"]);
  expect(await names(`id=${TUBES[0].id}&id=${TUBES[2].id}&ordering=id`)).toEqual([CODES[0], CODES[2]]);
  expect(await names("page=2&page_size=3&ordering=id")).toEqual([CODES[3]]);
  // Ids of which the beginning is that of others are written out.
  const places = new TextDecoder().decode((await make("format=zpl&sheet=57x32", undefined, "places")).bytes);
  expect(places).toContain(makeAddress(IDS.a101));
});

const lines = async (query: string, as?: string, list?: string) => {
  const zpl = new TextDecoder().decode((await make(`format=zpl&sheet=100x60&${query}`, as, list)).bytes);
  return [...zpl.matchAll(/\^A0N\S+\^FH_\^FD(.*)\^FS/g)].map(([, text]) => text);
};

test("prints the chosen lines in their order, the name first, with titles and units", async () => {
  const unit = lab.database.query("SELECT id FROM vocabulary_term LIMIT 1").get() as { id: string } | null;
  const values = { lot: "L-7", expiry: "2027-01-31", amount: 20, unit: unit?.id ?? null };
  const changed = await lab.send("admin", "PATCH", `consumables/${TUBES[2].id}/`, values);
  expect(changed.status).toBe(200);
  const { label = "" } = (unit ? (await lab.ask("GET", `terms/${unit.id}/`)).body : {}) as { label?: string };
  const fields = "lot,barcode,path,amount,name,expiry,owner,location__label";
  expect(await lines(`name=Buffer&fields=${fields}`)).toEqual([
    "Buffer_5E_7E_5FFX\\",
    "Lot L-7",
    "LAB-000123",
    "A 101 › Freezer 1 › Shelf 1 › drawer",
    `Amount 20 ${label}`.trim(),
    "Expiry 2027-01-31",
    "Owner system",
    "Location label drawer",
  ]);
  expect(await lines("name=Buffer&fields=barcode")).toEqual(["LAB-000123"]);
  expect(await lines(`id=${IDS.drawer}&fields=name,barcode`, undefined, "locations")).toEqual([
    "drawer",
    expect.stringMatching(/^[0-9a-f-]{13,36}$/),
  ]);
  // Empty values take no line.
  expect(await lines("name=Disguised&fields=name,lot,expiry,owner")).toEqual(["Disguised", "Owner system"]);
});

test("chosen lines print nothing that the caller may not view", async () => {
  const hide = await lab.send("admin", "PATCH", `locations/${IDS.drawer}/`, { public: false });
  expect(hide.status).toBe(200);
  expect(await lines("name=Buffer&fields=barcode,location,location__label,path")).toEqual(["LAB-000123"]);
  expect(await lines("name=Hidden&fields=name", "alice")).toEqual(["Hidden tube"]);
  expect((await make("name=Hidden&fields=name&format=zpl", "bob")).status).toBe(404);
  await lab.send("admin", "PATCH", `locations/${IDS.drawer}/`, { public: true });
});

test.each(["sheet=a4-5x13&skip=60", "sheet=50x25", "format=zpl&sheet=50x25&symbol=code128"])(
  "the preview has the size, the texts and the symbols of the print: %s",
  async (query) => {
    const { status, headers, bytes } = await make(`${query}&preview=true&ordering=id`);
    const svg = new TextDecoder().decode(bytes);
    expect([status, headers.get("content-type")]).toEqual([200, expect.stringContaining("image/svg+xml")]);
    const [width, height] = query.includes("a4") ? [210, 297] : [50, 25];
    expect(svg).toContain(`width="${width}mm" height="${height}mm" viewBox="0 0 ${width} ${height}"`);
    // Places that are left of the first page; a label of a roll is a page.
    expect(svg.match(/<path /g)).toHaveLength(query.includes("a4") ? 4 : 1);
    const shown = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
    if (query.startsWith("format=zpl")) {
      const printed = new TextDecoder().decode((await make(`${query}&ordering=id&page_size=1`)).bytes);
      expect(shown).toEqual([...printed.matchAll(/\^A0N\S+\^FH_\^FD(.*)\^FS/g)].map(([, text]) => text));
    } else expect(shown).toContain("5f1e627f-8aba");
  },
);

readingTest.each(["sheet=25x10", "format=zpl&sheet=50x25&symbol=code128"])(
  "scanners read the symbol of a preview: %s",
  async (query) => {
    const svg = new TextDecoder().decode((await make(`${query}&name=Buffer&preview=true`)).bytes);
    const scale = 20;
    const [width, height] = /viewBox="0 0 (\d+) (\d+)"/
      .exec(svg)!
      .slice(1)
      .map((mm) => Number(mm) * scale);
    const pixels = Buffer.alloc(width * height, 255);
    for (const [, ...lengths] of svg.matchAll(/M(\S+) (\S+?)h(\S+?)v(\S+?)h\S+?z/g)) {
      const [x, y, wide, high] = lengths.map((mm) => Number(mm) * scale);
      for (let row = Math.round(y); row < Math.round(y + high); row++)
        pixels.fill(0, row * width + Math.round(x), row * width + Math.round(x + wide));
    }
    const file = join(directory, "preview.pgm");
    await Bun.write(file, Buffer.concat([Buffer.from(`P5 ${width} ${height} 255\n`), pixels]));
    const found = await Bun.$`zbarimg --raw -q ${file}`.nothrow().text();
    expect(found.trim()).toBe(query.includes("code128") ? "LAB-000123" : makeAddress("c4a9f0aa-1234"));
  },
);

test("escapes text in ZPL and uses the resolution of the printer", async () => {
  const zpl = async (query: string) =>
    new TextDecoder().decode((await make(`format=zpl&name=Buffer&${query}`)).bytes);
  expect(await zpl("sheet=50x25&symbol=code128")).toMatchInlineSnapshot(`
    "^XA
    ^CI28
    ^PW400
    ^LL200
    ^LH0,0
    ^FO77,115^BY2^BCN,77,N,N,N,A^FH_^FDLAB-000123^FS
    ^FO8,8^A0N,31,31^FH_^FDBuffer_5E_7E_5FFX\\^FS
    ^FO8,44^A0N,23,23^FH_^FD…› Freezer 1 › Shelf 1 › drawer^FS
    ^FO8,71^A0N,23,23^FH_^FDLAB-000123^FS
    ^XZ
    "
  `);
  expect(await zpl("sheet=25x10&dpi=300")).toMatchInlineSnapshot(`
    "^XA
    ^CI28
    ^PW295
    ^LL118
    ^LH0,0
    ^FO12,12^BQN,2,3^FH_^FDMA,http://lab/i/c4a9f0aa-1234^FS
    ^FO99,12^A0N,29,29^FH_^FDBuffer_5E_7E_5FFX\\^FS
    ^FO99,46^A0N,22,22^FH_^FD…helf 1 › drawer^FS
    ^FO99,72^A0N,22,22^FH_^FDLAB-000123^FS
    ^XZ
    "
  `);
});

test.each([
  ["sheet=25x10&symbol=code128", 400, "25x10 is too small for a readable barcode of"],
  ["format=zpl&sheet=38x25&symbol=code128", 400, "at 203 dpi. Use larger labels, or symbol=qr."],
  ["sheet=a5", 400, "Choices: a4-3x8"],
  ["sheet=14.9x8", 400, "a size from 15x8 to 150x150"],
  ["sheet=15x7.9", 400, "a size from 15x8 to 150x150"],
  ["sheet=150.1x20", 400, "a size from 15x8 to 150x150"],
  ["format=zpl&sheet=a4-3x8", 400, "such as 50x25"],
  ["skip=24", 400, "0 to 23"],
  ["skip=-1", 400, "skip:"],
  ["sheet=25x10&skip=1", 400, "no used labels"],
  ["symbol=aztec", 400, "qr, code128"],
  ["format=png", 400, "pdf, zpl"],
  ["nam=x", 400, "not a parameter of this list"],
  ["name=nothing", 404, "No record matches"],
  ["as_of=2026-01-01", 400, "as they are now"],
  ["fields=name,colour", 400, "fields: "],
  ["fields=name,path,barcode,lot,expiry,owner,amount,status,supplier", 400, "at most 8 lines"],
])("rejects labels for %s with %d", async (query, status, message) => {
  const answer = await make(query);
  const body = JSON.parse(new TextDecoder().decode(answer.bytes)) as { message: string };
  expect([answer.status, body.message]).toEqual([status, expect.stringContaining(message)]);
});

const scanned = async (code: string, as?: string) => {
  const path = `scan/?code=${encodeURIComponent(code)}`;
  const { results } = (await lab.ask("GET", path, as === undefined ? {} : { as })).body;
  return (results as { segment: string; name: string; by: string }[]).map(
    ({ segment, name, by }) => `${segment} ${name} ${by}`,
  );
};

test("finds a record by URL, id, id prefix or barcode", async () => {
  const tubulin = ["stocks/consumables α-Tubulin (µg), clone é-ł id"];
  for (const code of [
    "5f1e627f-8aba",
    "5F1E627F8ABA",
    "5f1e627f",
    " 5f1e627f-8aba-4e10-93ff-82dee93474e6\r",
    "5f1e627f8aba4e1093ff82dee93474e6",
    "http://lab/i/5f1e627f-8aba",
    "https://elsewhere.example/labd/inventory/stocks-consumables/5f1e627f-8aba-4e10-93ff-82dee93474e6?edit=1",
  ])
    expect({ code, found: await scanned(code) }).toEqual({ code, found: tubulin });
  expect(await scanned("LAB-000123")).toEqual(["stocks/consumables Buffer^~_FX\\ barcode"]);
  // A barcode goes before an id, but not before an address.
  expect(await scanned("9b0d1c52-77aa")).toEqual(["stocks/consumables Disguised barcode"]);
  expect(await scanned("http://lab/i/9b0d1c52-77aa")).toEqual([expect.stringContaining("T4 DNA ligase")]);
  expect((await scanned("10000000-0000-4000")).length).toBeGreaterThan(10);
  const unknown = ["5f1e627", "5f1e627g-8aba", "nothing", "http://lab/i/", "http://lab/i/nothing", "%_\0x"];
  for (const code of unknown) expect({ code, found: await scanned(code) }).toEqual({ code, found: [] });
});

test("finds only records that the caller may view", async () => {
  expect(await scanned("d1e2f3a4-5678")).toEqual([]);
  expect(await scanned("d1e2f3a4-5678", "bob")).toEqual([]);
  expect(await scanned("d1e2f3a4-5678", "alice")).toEqual(["stocks/consumables Hidden tube id"]);
  expect((await lab.ask("GET", "scan/")).status).toBe(400);
});
