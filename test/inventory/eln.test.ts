import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { crc32, inflateRawSync } from "node:zlib";
import type { Json, JsonObject } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Archives of the ELN file format: ZIP files with an RO-Crate 1.1. */

let lab: Lab;
let id: string;
beforeAll(async () => {
  lab = await openLab();
  const body = { name: "Taq µ/1", model_type: "ENZYME", amount: 2, description: "Stored cold" };
  const made = await lab.send("alice", "POST", "stocks/consumables/", body);
  expect(made.status).toBe(201);
  id = String(made.body.id);
  await lab.send("alice", "PATCH", `stocks/consumables/${id}/`, { lot: "L7" });
  await lab.send("alice", "POST", `stocks/consumables/${id}/notes/`, { content: "Thawed twice." });
  const form = new FormData();
  form.set("file", new File(["abc".repeat(100)], "../gel picture.txt", { type: "text/plain" }));
  const added = await lab.bytes("POST", `stocks/consumables/${id}/attachments/`, { as: "alice", body: form });
  expect(added.status).toBe(201);
});
afterAll(() => lab.database.close());

/** The files of a ZIP archive by name, whose checksums are right. */
function unzip(bytes: Uint8Array): Map<string, Buffer> {
  const zip = Buffer.from(bytes);
  const end = zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
  const found = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, length] = [zip.readUInt16LE(at + 10), zip.readUInt16LE(at + 28)];
    const name = zip.toString("utf8", at + 46, at + 46 + length);
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    const content = method === 0 ? data : inflateRawSync(data);
    expect([name, content.length, crc32(content)]).toEqual([
      name,
      zip.readUInt32LE(at + 24),
      zip.readUInt32LE(at + 16),
    ]);
    found.set(name, content);
    at += 46 + length;
  }
  expect(at).toBe(end);
  return found;
}

async function download(path: string, as = "alice") {
  const { status, headers, bytes } = await lab.bytes("GET", path, { as });
  expect([status, headers.get("content-type")]).toEqual([200, "application/vnd.eln+zip"]);
  const files = unzip(bytes);
  const [root] = [...files.keys()][0].split("/");
  const read = (name: string): Json => JSON.parse(files.get(`${root}/${name}`)!.toString()) as Json;
  const graph = (read("ro-crate-metadata.json") as JsonObject)["@graph"] as JsonObject[];
  return {
    headers,
    files,
    root,
    read,
    graph,
    node: (name: string) => graph.find((each) => each["@id"] === name)!,
  };
}

const refs = (value: Json): string[] => (value as { "@id": string }[]).map((each) => each["@id"]);

describe("an archive", () => {
  test("has the record with its notes, history and files, and their checksums", async () => {
    const { files, root, read, graph, node } = await download(`stocks/consumables/${id}/?format=eln`);
    expect(root).toBe("stocks-consumables");
    const dataset = graph.find(({ identifier, "@type": type }) => identifier === id && type === "Dataset")!;
    expect(dataset).toMatchObject({
      name: "Taq µ/1",
      text: "Stored cold",
      genre: "stocks/consumables",
      author: { "@id": "#user-alice" },
      url: `http://lab/api/v2/stocks/consumables/${id}/`,
    });
    const parts = refs(dataset.hasPart);
    expect(parts.length).toBe(3);
    for (const part of parts) {
      const bytes = files.get(`${root}/${part.slice(2)}`)!;
      expect(node(part)).toMatchObject({
        "@type": "File",
        contentSize: String(bytes.length),
        sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex"),
      });
    }
    expect(node(parts[2])).toMatchObject({ name: "gel picture.txt", encodingFormat: "text/plain" });
    expect(files.get(`${root}/${parts[2].slice(2)}`)!.toString()).toBe("abc".repeat(100));
    expect(read(parts[0].slice(2))).toMatchObject({
      name: "Taq µ/1",
      lot: "L7",
      notes: [{ content: "Thawed twice." }],
    });
    const history = read(parts[1].slice(2)) as JsonObject[];
    expect(history.map(({ op, resource }) => `${String(op)} ${String(resource)}`)).toEqual([
      "create attachments",
      "create notes",
      "update stocks/consumables",
      "create stocks/consumables",
    ]);
    expect(JSON.stringify(history)).not.toContain("labd_");
    expect(refs(dataset.comment).map((each) => node(each).text)).toEqual(["Thawed twice."]);
    expect(
      refs(dataset.variableMeasured).map((each) => [node(each).propertyID, node(each).value]),
    ).toContainEqual(["lot", "L7"]);
  });

  test("follows the specifications of ELN and RO-Crate", async () => {
    const { files, root, graph, node } = await download("stocks/consumables/?format=eln");
    for (const name of files.keys()) expect(name).toMatch(/^stocks-consumables\/[A-Za-z0-9._/-]+$/);
    const ids = graph.map((each) => String(each["@id"]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(node("ro-crate-metadata.json")).toMatchObject({
      about: { "@id": "./" },
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
      version: "1.0",
      sdPublisher: { "@id": "#publisher" },
    });
    for (const name of ["name", "description", "datePublished", "license", "hasPart"])
      expect(node("./")).toHaveProperty(name);
    expect(refs(node("./").hasPart).length).toBe(3);
    for (const each of graph) {
      expect(each["@type"]).toBeString();
      const linked = JSON.stringify(each).matchAll(/\{"@id":"([^"]*)"\}/g);
      for (const [, to] of linked) if (!to.startsWith("https:")) expect(ids).toContain(to);
      expect(Object.values(each)).not.toContain("");
      if (each["@type"] === "File") expect(files.has(`${root}/${String(each["@id"]).slice(2)}`)).toBe(true);
    }
    expect(files.size).toBe(1 + graph.filter((each) => each["@type"] === "File").length);
  });

  test("has only records that the caller may view, selected like the list", async () => {
    const { graph } = await download("locations/?format=eln", "bob");
    expect(JSON.stringify(graph)).not.toContain(IDS.secret);
    const selected = await download("stocks/consumables/?format=eln&lot=L7");
    expect(refs(selected.node("./").hasPart).length).toBe(1);
    expect(selected.headers.get("content-disposition")).toBe('attachment; filename="stocks-consumables.eln"');
    const none = await download("stocks/consumables/?format=eln&lot=none");
    expect(none.files.size).toBe(1);
    expect(await lab.send("bob", "GET", `stocks/consumables/${id}/?format=eln`)).toMatchObject({
      status: 404,
    });
  });

  test.each([
    ["users/?format=eln", "format"],
    ["stocks/consumables/?format=eln&as_of=2026-01-01", "as_of"],
    [`stocks/consumables/${IDS.bench}/notes/?format=eln`, undefined],
  ])("%s is refused", async (path, name) => {
    const { status, body } = await lab.send("admin", "GET", path);
    expect(status).toBeGreaterThanOrEqual(400);
    if (name !== undefined) expect(body).toHaveProperty(name);
  });
});
