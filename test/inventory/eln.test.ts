import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../src/inventory/model/field.ts";
import { elnFaults, openEln } from "../eln-rules.ts";
import { crate, elabftw, fileNode, oneDataset } from "./eln-crates.ts";
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

async function download(path: string, as = "alice") {
  const { status, headers, bytes } = await lab.bytes("GET", path, { as });
  expect([status, headers.get("content-type")]).toEqual([200, "application/vnd.eln+zip"]);
  const archive = openEln(bytes);
  const read = (name: string): Json =>
    JSON.parse(archive.files.get(`${archive.root}/${name}`)!.toString()) as Json;
  return { ...archive, headers, bytes, read };
}

const refs = (value: unknown): string[] => (value as { "@id": string }[]).map((each) => each["@id"]);

describe("an archive", () => {
  test("an archive has the record with its notes, history and files, and their checksums", async () => {
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

  test.each(["stocks/consumables/", "locations/", "annotationtypes/", "experiments/", "vocabularies/terms/"])(
    "an archive of %s keeps every rule of ELN and RO-Crate",
    async (list) => {
      const { bytes, headers, graph } = await download(`${list}?format=eln&page_size=20&page=1`, "admin");
      const [, name] = /filename="(.*)\.eln"/.exec(headers.get("content-disposition")!)!;
      expect(elnFaults(bytes, name)).toEqual([]);
      expect(graph.length).toBeGreaterThan(10);
    },
  );

  test("archives keep the rules with all kinds of annotations, and without records", async () => {
    const values = { host: "goat", weight: "5 gram", organ: "liver", note: "a b" };
    for (const [annotation_type_id, value] of Object.entries(values))
      expect(
        await lab.send("alice", "POST", `stocks/consumables/${id}/annotations/`, {
          annotation_type_id,
          value,
        }),
      ).toMatchObject({ status: 201 });
    const { bytes, graph } = await download(`stocks/consumables/${id}/?format=eln`);
    expect(elnFaults(bytes, "stocks-consumables")).toEqual([]);
    const shown = graph
      .filter(({ propertyID }) => String(propertyID).startsWith("annotations."))
      .map(({ name, value, unitText }) => [name, value, unitText]);
    expect(shown).toContainEqual(["weight", 5, "gram"]);
    expect(shown).toContainEqual(["organ", "liver", undefined]);
    const none = await download("stocks/consumables/?format=eln&lot=none");
    expect(elnFaults(none.bytes, "stocks-consumables")).toEqual([]);
  });

  test("the checker rejects archives that break rules", () => {
    const broken = oneDataset(
      { author: [{ "@id": "#nobody" }], hasPart: [{ "@id": "./a/b/" }, { "@id": "./a/gone.txt" }] },
      { "@id": "./a/b/", "@type": "Dataset", name: "b" },
      fileNode("a/gone.txt", "x", { name: "gone.txt", dateCreated: "05:12:23:11:26:11" }),
    );
    const archives = [elabftw(), crate(broken, {}, { context: ["https://schema.org"] })];
    const all = archives.flatMap((bytes) => elnFaults(bytes, "other"));
    const rules = new Set(all.map((fault) => fault.slice(fault.indexOf(": ") + 2)));
    for (const rule of [
      "the folder SHOULD have the name of the archive",
      "./ MUST have a license",
      "a Dataset MUST NOT contain other Datasets",
      "keywords MUST be a string",
      "contentSize MUST be the number of bytes, as a string",
      "variableMeasured is not flat",
      "sdPublisher SHOULD refer to an Organization",
      "author MUST refer to people or organizations",
      "ids of files MUST be encoded relative paths",
      "dateCreated MUST be an instant",
      "described files MUST be there",
      "@context MUST be that of RO-Crate",
      "contextual entities SHOULD have a name",
      "step is not in the context",
    ])
      expect(rules).toContain(rule);
  });

  test("an archive has only records that the caller may view, selected like the list", async () => {
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
  ])("an import refuses an archive with %s", async (path, name) => {
    const { status, body } = await lab.send("admin", "GET", path);
    expect(status).toBeGreaterThanOrEqual(400);
    if (name !== undefined) expect(body).toHaveProperty(name);
  });
});
