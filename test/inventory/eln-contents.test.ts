import { expect, test } from "bun:test";
import { ElnContents } from "../../src/inventory/imports/eln-contents.ts";
import { readEln } from "../../src/inventory/imports/eln-reader.ts";
import { Problem } from "../../src/problem.ts";
import type { JsonObject } from "../../src/inventory/model/field.ts";
import { crate, fileNode, oneDataset } from "./eln-crates.ts";
import { type Lab, openLab } from "./harness.ts";

/** Contents of the files of an archive are read once, in pieces, before anything is written. */

const SIZE = 20_000_000;
const text = "labd ".repeat(SIZE / 5);

/** An archive whose two records name the same file of 20 MB, and what reading its contents asked and gave. */
async function read(stores: boolean, check: () => void) {
  const node = { ...fileNode("a/f.txt", text), name: "f.txt" };
  const graph = oneDataset({ hasPart: [{ "@id": "./a/f.txt" }] }, node);
  const { records } = await readEln(crate(graph, { "a/f.txt": text }));
  const [record] = records;
  const contents = await ElnContents.read({ records: [record, record] }, { check, stores });
  return { contents, content: contents.of(record.files[0]) };
}

test("reads a file once and in pieces, and keeps it if it is to be stored", async () => {
  let checks = 0;
  const { contents, content } = await read(true, () => checks++);
  expect(content.size).toBe(SIZE);
  // Once for each piece of at most a MiB, and not again for the second record.
  expect(checks).toBeWithin(SIZE / 1_048_576, 60);
  expect(Buffer.from(content.bytes!()).equals(Buffer.from(text))).toBe(true);
  contents.close();
});

test("a dry run stores nothing", async () => {
  const { contents, content } = await read(false, () => {});
  expect(content).toEqual({
    sha256: new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    size: SIZE,
  });
  contents.close();
});

test("ends in the middle of a file once the import is cancelled", async () => {
  let checks = 0;
  const cancelled = new Problem("import_cancelled", "The import was cancelled.");
  const check = (): void => {
    if (++checks === 5) throw cancelled;
  };
  const ended: unknown = await read(true, check).catch((error: unknown) => error);
  expect([ended, checks]).toEqual([cancelled, 5]);
});

/** An archive of records that all name the same files, which have this text. */
function sharing(records: number, files: readonly string[], content: string): Uint8Array<ArrayBuffer> {
  const named = files.map((path) => fileNode(path, content, { name: path }));
  const parts = Array.from({ length: records }, (_, i) => ({
    "@id": `./${i}/`,
    "@type": "Dataset",
    name: `Sharing ${i}`,
    hasPart: named.map((file) => ({ "@id": file["@id"] })),
  }));
  const root = { "@id": "./", "@type": "Dataset", hasPart: parts.map((part) => ({ "@id": part["@id"] })) };
  return crate([root, ...parts, ...named], Object.fromEntries(files.map((path) => [path, content])));
}

async function send(lab: Lab, body: Uint8Array<ArrayBuffer>, query = "") {
  const path = `consumables/import/?${query}`;
  const { status, bytes } = await lab.bytes("POST", path, { as: "alice", body });
  return { status, report: JSON.parse(new TextDecoder().decode(bytes)) as JsonObject };
}

test("stores a file once that many records name", async () => {
  const lab = await openLab();
  const file = sharing(1000, ["zeros"], "\0".repeat(SIZE));
  const contents = () => lab.database.query("SELECT length(content) AS size FROM attachment_content").all();
  const before = contents();
  // Inflating it for each record would take minutes.
  const dry = await send(lab, file, "dry_run=1");
  expect([dry.status, dry.report.created, contents()]).toEqual([200, 1000, before]);
  const { status, report } = await send(lab, file);
  expect([status, report.created, contents()]).toEqual([200, 1000, [...before, { size: SIZE }]]);
  const found = (await lab.send("alice", "GET", "consumables/?name=Sharing%20999")).body.results;
  const [{ id }] = found as [JsonObject];
  const files = (await lab.send("alice", "GET", `consumables/${String(id)}/attachments/`)).body.results;
  expect(files).toMatchObject([{ name: "zeros", size: SIZE }]);
  lab.database.close();
}, 20_000);

test("refuses an archive whose records name too many files", async () => {
  const lab = await openLab();
  const files = Array.from({ length: 150 }, (_, i) => `f${i}`);
  const { status, report } = await send(lab, sharing(150, files, "x"));
  expect([status, report.message]).toEqual([413, expect.stringContaining("name 22500 files")]);
  lab.database.close();
});
