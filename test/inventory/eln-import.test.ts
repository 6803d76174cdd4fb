import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../src/inventory/model/field.ts";
import type { ImportReport } from "../../src/inventory/imports/import-report.ts";
import { crate, elabftw, fileNode, linkedRecords, oneDataset, makeZip } from "./eln-crates.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Archives of the ELN file format become records with annotations, notes and files: all of them or none. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());
/** Undoes what a test has imported. */
async function undoAll(): Promise<void> {
  for (const { id, kind, undone_by } of await fetchRows("batches/?user=alice"))
    if (undone_by === null && kind !== "undo") await lab.send("alice", "POST", `batches/${String(id)}/undo/`);
}

type Answer = ImportReport & { message?: string };
const LIST = "stocks/consumables";

async function send(body: Uint8Array<ArrayBuffer>, query = "", as = "alice", list = LIST) {
  const matched = query.includes("match=") ? query : `${query}&match=name`;
  const { status, bytes } = await lab.bytes("POST", `${list}/import/?${matched}`, { as, body });
  return { status, report: JSON.parse(new TextDecoder().decode(bytes)) as Answer };
}

const fetchRows = async (path: string, as = "alice"): Promise<JsonObject[]> =>
  (await lab.send(as, "GET", path)).body.results as JsonObject[];
/** A record of the list with what belongs to it. */
async function fetchRecord(name: string, list = LIST, as = "alice") {
  const [found, another] = await fetchRows(`${list}/?name__exact=${encodeURIComponent(name)}&fields=*`, as);
  expect([name, another]).toEqual([name, undefined as unknown as JsonObject]);
  const part = (of: string): Promise<JsonObject[]> => fetchRows(`${list}/${String(found.id)}/${of}/`, as);
  return {
    values: found,
    notes: (await part("notes")).map(({ content }) => String(content)),
    annotations: Object.fromEntries((await part("annotations")).map((each) => [each.name, each.value])),
    files: (await part("attachments"))
      .map(({ name, media_type, size }) => [name, media_type, size])
      .toSorted(),
  };
}
const total = async (list = LIST): Promise<Json> =>
  (await lab.send("admin", "GET", `${list}/?page_size=1`)).body.total;

describe("archives of eLabFTW", () => {
  afterEach(undoAll);

  test("imports text, comments, extra fields, steps, links and files of eLabFTW", async () => {
    const { status, report } = await send(elabftw());
    expect([status, report.created, report.errors]).toEqual([200, 1, []]);
    expect(report.archive).toMatchObject({
      source: "eLabFTW",
      list: null,
      files: 2,
      notes: 3,
      records: [{ row: 1, name: "Anti-CD3ε", effect: "created", files: 2, notes: 3 }],
      left_out: [{ row: 1, column: "host", message: expect.stringContaining("Kept in a note.") }],
    });
    const { values, notes, annotations, files } = await fetchRecord("Anti-CD3ε");
    expect(values).toMatchObject({ description: "", owner: "alice", public: false });
    expect(annotations).toEqual({});
    expect(files).toEqual([
      ["export-elabftw.json", "application/json", 16],
      ["gel 1.png", "image/png", 3],
    ]);
    expect(notes[0]).toBe("Use\n\nDilute 1:500 & keep at 4 °C.\n\n- blot\n- FACS");
    expect(notes[1]).toBe("It's the good lot.\n\n— Toto Le Sysadmin, 2023-09-28T03:44:54+02:00");
    expect(notes[2].split("\n")).toEqual([
      "Imported from: eLabFTW, https://elab.test/database.php?mode=view&id=167",
      "Author: Toto Le Sysadmin",
      "Created: 2023-09-28T03:45:02+02:00",
      "Changed: 2023-10-02T14:51:49+02:00",
      "Identifier: 20230928-955880c1",
      "Kind: resource",
      "Status: In stock",
      "Keywords: antibody, T cell",
      "Link: Plasmid - pRSF, https://elab.test/database.php?id=51",
      "Step 1: Titrate (finished)",
      "export-elabftw.json: JSON export",
      "Strength: 0.5 mg/ml",
      "host: Rabbit",
    ]);
  });

  test("imports older and newer archives: plain ids, several types, encoded paths, no folder", async () => {
    const text = "x";
    const graph = [
      { "@id": "./", "@type": ["Dataset"], hasPart: ["./a%20b/"] },
      {
        "@id": "./a%20b/",
        "@type": ["Dataset", "RepositoryObject"],
        hasPart: ["./a%20b/f%201.txt", "./gone.txt"],
      },
      { ...fileNode("a%20b/f%201.txt", text), "@type": ["File"] },
      { "@id": "./gone.txt", "@type": "File", name: "gone.txt" },
      { "@id": "./gone.txt", "@type": "File", name: "other" },
    ];
    const context = ["https://w3id.org/ro/crate/1.2/context", { more: "https://example.org/more" }];
    const { report } = await send(crate(graph, { "a b/f 1.txt": text }, { context }));
    expect(report.archive!.left_out.map(({ message }) => message)).toEqual([
      "./gone.txt is described twice; the first description counts.",
      "The file gone.txt is not in the archive.",
    ]);
    expect((await fetchRecord("a b")).files).toEqual([["f 1.txt", "text/plain", 1]]);

    const descriptor = {
      "@id": "ro-crate-metadata.json",
      about: { "@id": "./" },
      sdPublisher: { name: "eLabFTW" },
    };
    const document = {
      "@context": "https://w3id.org/ro/crate/1.0/context",
      "@graph": [descriptor, ...oneDataset({ name: "Flat" })],
    };
    const flat = makeZip({
      "ro-crate-metadata.json": JSON.stringify(document),
      "a/g.txt": text,
      "__MACOSX/._f.txt": "",
    });
    expect((await send(flat)).report.archive).toMatchObject({ source: "eLabFTW", files: 1, left_out: [] });
    expect((await fetchRecord("Flat")).files.map(([name]) => name)).toEqual(["g.txt"]);
  });

  test("imports early archives of eLabFTW, which list files beside their datasets", async () => {
    const paths = ["2022-05-29 - Some-experiment", "2022-05-29 - Some-experiment/export.csv"];
    const graph = [
      { "@id": "./", "@type": ["Dataset"], hasPart: paths.map((path) => `./${path}`) },
      { "@id": `./${paths[0]}`, "@type": "Dataset", name: "Some experiment", text: "<h1>Goal</h1>" },
      fileNode(paths[1], "a,b", { name: "export.csv", description: "CSV Export" }),
    ];
    const { report } = await send(
      crate(graph, { [paths[1]]: "a,b", [`${paths[0]}/raw/gel.txt`]: "-", "README.txt": "" }),
    );
    expect(report.archive!.left_out.map(({ message }) => message)).toEqual([
      "The file README.txt belongs to no record.",
    ]);
    const { files, notes } = await fetchRecord("Some experiment");
    expect(files.map(([name]) => name)).toEqual(["export.csv", "gel.txt"]);
    expect(notes.at(-1)).toContain("export.csv: CSV Export");
  });

  test("a dry run returns the same report and writes nothing", async () => {
    const before = await total();
    const tried = await send(elabftw(), "dry_run=1");
    expect([tried.report.created, tried.report.batch, await total()]).toEqual([1, null, before]);
    const done = await send(elabftw());
    const { archive, columns } = tried.report;
    expect({ archive, columns }).toEqual({ archive: done.report.archive, columns: done.report.columns });
  });

  test("an import of an archive is undone as one batch, and repeating it has no effect", async () => {
    const before = await total();
    const mapped = `mapping=${encodeURIComponent('{"Link":"aliquot_of"}')}`;
    const { batch } = (await send(linkedRecords(), mapped)).report;
    const again = (await send(linkedRecords(), mapped)).report;
    expect([again.created, again.updated, again.unchanged, again.batch]).toEqual([0, 0, 2, null]);
    expect((await lab.send("alice", "POST", `batches/${String(batch)}/undo/`)).status).toBe(200);
    expect(await total()).toBe(before);
    const kept = lab.database.query(
      "SELECT count(*) AS n FROM note WHERE deleted = 0 AND content LIKE 'Imported%'",
    );
    expect(kept.get()).toEqual({ n: 0 });
  });

  test("updates records of the same name if that is chosen", async () => {
    expect((await lab.send("alice", "POST", `${LIST}/`, { name: "A", lot: "L1" })).status).toBe(201);
    const file = crate(oneDataset({ text: "One", variableMeasured: [{ propertyID: "lot", value: "L2" }] }));
    const { report } = await send(file);
    expect([report.created, report.updated, report.archive!.records[0].effect]).toEqual([0, 1, "updated"]);
    expect(report.changes[0].changes).toEqual([{ field: "lot", before: "L1", after: "L2" }]);
    expect((await fetchRecord("A")).values.lot).toBe("L2");
    expect((await send(file, "match=none")).report.created).toBe(1);
  });

  test("two datasets with the same name become two records", async () => {
    const parts = ["a", "b"].map((id) => ({ "@id": `./${id}/`, "@type": "Dataset", name: "Same", text: id }));
    const root = { "@id": "./", "@type": "Dataset", hasPart: parts.map((part) => ({ "@id": part["@id"] })) };
    const sent = ["none", "name"].map((match) => send(crate([root, ...parts]), `match=${match}`));
    expect((await Promise.all(sent)).map(({ report }) => report.created)).toEqual([2, 0]);
  });
});

describe("properties", () => {
  afterEach(undoAll);

  const properties = (...all: [name: string, value: Json, more?: JsonObject][]) =>
    crate(
      oneDataset({
        variableMeasured: all.map(([name, value, more]) =>
          Object.assign({ "@type": "PropertyValue", propertyID: name, value }, more),
        ),
      }),
    );

  test("columns are matched to fields and annotation types by name", async () => {
    await send(
      properties(["supplier", "ACME"], ["host", "goat"], ["x/y", 5, { name: "barcode" }], ["public", true]),
    );
    const { values, annotations, notes } = await fetchRecord("A");
    expect(values).toMatchObject({ supplier: "ACME", barcode: "5", public: false });
    expect(annotations).toEqual({ host: "goat" });
    // Only the owner of a record decides who may view it.
    expect(notes[0]).toEndWith("./a/\npublic: true");
  });

  test("extra fields are mapped to fields, new annotation types, notes or nothing, as the caller chooses", async () => {
    const file = properties(["a", "L9"], ["size", 5], ["when", "2026-01-02"], ["dull", "x"], ["lot", "L1"]);
    const mapping = { a: "lot", size: "new", when: "new", dull: null, lot: "notes" };
    const query = `mapping=${encodeURIComponent(JSON.stringify(mapping))}`;
    const tried = (await send(file, `dry_run=1&${query}`)).report;
    expect(tried.columns.slice(1)).toEqual([
      { header: "a", field: "lot", source: "chosen" },
      { header: "size", field: "new", source: "chosen" },
      { header: "when", field: "new", source: "chosen" },
      { header: "dull", field: null, source: "chosen" },
      { header: "lot", field: "notes", source: "chosen" },
    ]);
    expect((await fetchRows("annotationtypes/?name=size")).length).toBe(0);
    const { batch } = (await send(file, query)).report;
    const { values, annotations, notes } = await fetchRecord("A");
    expect([values.lot, annotations]).toEqual(["L9", { size: 5, when: "2026-01-02" }]);
    expect(notes[0]).toEndWith("./a/\nlot: L1");
    const types = await fetchRows("annotationtypes/?name__in=size,when&ordering=name&fields=name,type");
    expect(types.map(({ type }) => type)).toEqual(["NUMBER", "DATE"]);
    expect((await lab.send("alice", "POST", `batches/${String(batch)}/undo/`)).status).toBe(200);
    expect((await fetchRows("annotationtypes/?name=size")).length).toBe(0);
    const wrong = await send(file, `mapping=${encodeURIComponent('{"a":"lott"}')}`);
    expect([wrong.status, wrong.report.message]).toEqual([400, expect.stringContaining("Did you mean lot?")]);
  });

  test("values of links refer to other records of the archive", async () => {
    const query = `mapping=${encodeURIComponent('{"Link":"aliquot_of"}')}`;
    // A record of the same name that was there before is another one.
    await lab.send("alice", "POST", `${LIST}/`, { name: "OMBE-1" });
    const { report } = await send(linkedRecords(), `match=none&${query}`);
    expect([report.created, report.archive!.left_out]).toEqual([2, []]);
    const { values } = await fetchRecord("Measurement");
    const [, source] = await fetchRows(`${LIST}/?name=OMBE-1&ordering=created&fields=id`);
    expect(values.aliquot_of).toBe(source.id);
  });

  test("values that a field refuses are kept in a note", async () => {
    const { report } = await send(
      properties(["amount", "many"], ["location", "Nowhere"], ["expiry", "2027-01-01"]),
    );
    expect(report.archive!.left_out.map(({ column }) => column)).toEqual(["amount", "location"]);
    const { values, notes } = await fetchRecord("A");
    expect(values).toMatchObject({ amount: null, location: null, expiry: "2027-01-01" });
    expect(notes[0]).toEndWith("amount: many\nlocation: Nowhere");
  });

  test("long texts of notebooks become files", async () => {
    const text = "<p>word</p>".repeat(3000);
    const variableMeasured = [{ propertyID: "elab/metadata", value: JSON.stringify(["y".repeat(1000)]) }];
    const comment = [{ "@type": "Comment", text: "x".repeat(10_001) }];
    await send(crate(oneDataset({ text, comment, variableMeasured })));
    const { notes, files } = await fetchRecord("A");
    expect(files.map(([name]) => name)).toEqual(["comment.txt", "elab-metadata.json", "text.txt"]);
    expect(notes.at(-1)).toEndWith("\nelab/metadata: in the file elab-metadata.json");
    expect(notes[0]).toEndWith("The file text.txt has all 17,998 characters.");
    await send(crate(oneDataset({ name: "Table", text: "<table><tr><td>1</td><td>2</td></tr></table>" })));
    const rich = await fetchRecord("Table");
    expect([rich.notes[0], rich.files[0][0]]).toEqual(["1\t2", "text.html"]);
  });
});

describe("archives that are refused", () => {
  const dataset = oneDataset({ hasPart: [{ "@id": "./a/f.txt" }] });
  const nothing = "ro-crate-metadata.json";
  test.each<[string, Uint8Array<ArrayBuffer>, string]>([
    [
      "no metadata",
      makeZip({ "x/readme.txt": "" }),
      "The archive has no ro-crate-metadata.json in its folder",
    ],
    ["two folders", makeZip({ [`a/${nothing}`]: "{}", [`b/${nothing}`]: "{}" }), "several folders"],
    [
      "a file beside the folder",
      makeZip({ [`a/${nothing}`]: "{}", "b.txt": "" }),
      'outside its folder: "b.txt"',
    ],
    [
      "a path upwards",
      makeZip({ [`a/${nothing}`]: "{}", "a/../../b.txt": "" }),
      'outside its folder: "a/../../b.txt"',
    ],
    [
      "an absolute path",
      makeZip({ [`a/${nothing}`]: "{}", "/etc/passwd": "" }),
      'outside its folder: "/etc/passwd"',
    ],
    [
      "a Windows path",
      makeZip({ [`a/${nothing}`]: "{}", "C:\\b.txt": "" }),
      'outside its folder: "C:\\\\b.txt"',
    ],
    ["no JSON", makeZip({ [`a/${nothing}`]: "{" }), "ro-crate-metadata.json - "],
    [
      "no context",
      crate(dataset, {}, { context: "https://schema.org" }),
      'has the context "https://schema.org"',
    ],
    [
      "no graph",
      makeZip({ [`a/${nothing}`]: '{"@context":"https://w3id.org/ro/crate/1.1/context"}' }),
      "no @graph",
    ],
    [
      "another program",
      crate(dataset, {}, { publisher: { "@type": "Organization", name: "SampleDB" } }),
      'The archive was written by "SampleDB". Archives of labd and eLabFTW can be imported',
    ],
    ["an unnamed program", crate(dataset, {}, { publisher: { "@id": "#me" } }), "by an unnamed program"],
    ["no root", crate([]), 'does not describe the folder "./"'],
    [
      "a wrong checksum",
      crate([...dataset, { ...fileNode("a/f.txt", "abc"), sha256: "ab" }], { "a/f.txt": "abc" }),
      "Row 1: f.txt: The SHA-256 of the file is ba7816bf",
    ],
    [
      "a wrong size",
      crate([...dataset, { "@id": "./a/f.txt", "@type": "File", contentSize: "9" }], { "a/f.txt": "abc" }),
      "Row 1: f.txt: The file has 3 bytes, not 9",
    ],
  ])("%s", async (_name, file, message) => {
    const { status, report } = await send(file);
    expect([status, report.message]).toEqual([400, expect.stringContaining(message)]);
  });

  /** The archive with bytes of its first entry of the central directory replaced. */
  function altered(at: number, value: number, bytes = 4): Uint8Array<ArrayBuffer> {
    const zip = Buffer.from(
      crate([...dataset, fileNode("a/f.txt", "abc".repeat(50))], { "a/f.txt": "abc".repeat(50) }),
    );
    const directory = zip.readUInt32LE(zip.length - 6);
    zip.writeUIntLE(value, directory + at, bytes);
    return new Uint8Array(zip);
  }

  test("rejects archives that are damaged, encrypted, compressed in unsupported ways, or larger than declared", async () => {
    for (const [file, message] of [
      [altered(16, 1), "damaged: its size or checksum is wrong"],
      [altered(24, 10), "is damaged"],
      [altered(8, 1, 2), "is encrypted"],
      [altered(10, 99, 2), "compressed with method 99"],
      [altered(24, 600_000_000), "Export it in parts"],
      [altered(42, 7_000_000), "truncated"],
    ] as const) {
      const { status, report } = await send(file);
      expect([message, status, report.message]).toEqual([
        message,
        message.includes("parts") ? 413 : 400,
        expect.stringContaining(message),
      ]);
    }
    const whole = crate(dataset);
    expect((await send(whole.slice(0, -30))).report.message).toStartWith("The file is truncated");
  });

  test("rejects metadata that refer to one text too often", async () => {
    const parts = Array.from({ length: 900 }, (_, i) => ({
      "@id": `./${i}/`,
      "@type": "Dataset",
      name: `${i}`,
      comment: [{ "@id": "#c" }],
    }));
    const root = { "@id": "./", "@type": "Dataset", hasPart: parts.map((part) => ({ "@id": part["@id"] })) };
    const { status, report } = await send(
      crate([root, ...parts, { "@id": "#c", "@type": "Comment", text: "x".repeat(120_000) }]),
    );
    expect([status, report.message]).toEqual([413, "ro-crate-metadata.json repeats its texts too often."]);
  });

  test("rejects too many records, lists without notes, and records of other users", async () => {
    const many = Array.from({ length: 1001 }, (_, i) => ({
      "@id": `./${i}/`,
      "@type": "Dataset",
      name: `${i}`,
    }));
    const root = { "@id": "./", "@type": "Dataset", hasPart: many.map((part) => ({ "@id": part["@id"] })) };
    expect((await send(crate([root, ...many]))).report.message).toStartWith("The archive has 1001 records.");
    const [of] = await fetchRows(`locations/?id=${IDS.shelf}&fields=label`);
    const foreign = await send(
      crate(oneDataset({ name: of.label, text: "Mine now" })),
      "",
      "bob",
      "locations",
    );
    expect([foreign.status, foreign.report.message]).toEqual([
      400,
      expect.stringContaining("You do not have permission"),
    ]);
  });
});
