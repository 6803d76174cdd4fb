import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { ADDRESSES, call, FLAT, findList, made, named, NEW, openClient } from "../client.ts";
import type { Lab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** The calls of LabID's command line client for each of its 25 models, with its parameters. */

let lab: Lab;
beforeAll(async () => {
  lab = await openClient();
});
afterAll(() => lab.database.close());

const ENVELOPE = ["previous", "next", "current", "total", "total_pages", "results"];
/** Models that the client reads in their own ways, which other tests cover. */
const OTHERS = new Set(["attachment"]);

test.each(Object.keys(ADDRESSES).filter((model) => !OTHERS.has(model)))(
  "lists and counts %s",
  async (model) => {
    const list = await call("GET", `${ADDRESSES[model]}?${FLAT}&page_size=max`);
    expect([list.status, Object.keys(list.body)]).toEqual([200, ENVELOPE]);
    const records = list.body.results as Record<string, Json>[];
    expect(records.length).toBeGreaterThan(0);
    const count = await call("GET", `${ADDRESSES[model]}?${FLAT}&page_size=1`);
    expect(count.body.total).toBe(records.length);
  },
);

test.each(Object.keys(NEW))("fetches, finds, resolves and annotates %s", async (model) => {
  const id = made[model];
  const item = await call("GET", `${findList(model)}${id}?${FLAT}`);
  expect([item.status, item.body.results]).toEqual([
    200,
    expect.objectContaining({
      id,
      name: `${model} of the client`,
      created: expect.any(String),
      created_by: "alice",
    }),
  ]);
  const byName = await call("GET", `${findList(model)}?${FLAT}&page_size=max&name=${model} of the client`);
  expect(byName.body.results).toEqual([item.body.results]);
  const resolved = await call("GET", `resolver/${id}`);
  const [app_name] = ADDRESSES[model].split("/");
  const model_name = model === "storageequipment" ? "equipment" : model;
  expect(resolved.body).toMatchObject({ id, name: `${model} of the client`, model_name, app_name });
  const annotations = `${findList(model)}${id}/annotations/`;
  expect((await call("POST", annotations, { annotation_type_id: IDS.note, value: "seen" })).status).toBe(201);
  expect((await call("GET", `${annotations}?${FLAT}`)).body.results).toEqual([
    expect.objectContaining({ id: expect.any(String), name: "note", value: "seen" }),
  ]);
  const files = `attachments/?app=${app_name}&model=${model}&object_id=${id}`;
  expect((await lab.bytes("POST", files, { as: "alice", body: "x" })).status).toBe(201);
  // A record that was read can be sent back; records that others may not view stay hidden from them.
  const again = await call("PUT", `${findList(model)}${id}?${FLAT}`, item.body);
  expect([again.status, { ...(again.body.results as object), modified: 0 }]).toEqual([
    200,
    { ...(item.body.results as object), modified: 0 },
  ]);
  expect((await call("GET", `${findList(model)}${id}`, undefined, "bob")).status).toBe(404);
});

test("lists the dropboxes that the caller may view, bare unless a page is requested", async () => {
  const box = { path: "/data/genomics", group: { value: expect.objectContaining({ name: "Genomics" }) } };
  const list = async (query: string, as?: string) =>
    JSON.parse((await call("GET", `data_management/dropbox/?${FLAT}${query}`, undefined, as)).text);
  expect(await list("")).toEqual([expect.objectContaining(box)]);
  expect(await list("&username=alice")).toEqual([expect.objectContaining(box)]);
  expect(await list("&username=admin", "admin")).toEqual([]);
  expect(await list("", "bob")).toEqual([]);
  expect(await list("&page=1")).toMatchObject({ total: 1, results: [box] });
  // Of a user are those of the groups that the user is a member of, whoever made them.
  const shared = {
    name: "Shared box",
    path: "/data/shared",
    group: "Genomics",
    owned_by: "Genomics",
    public: true,
  };
  expect((await lab.send("admin", "POST", "data_management/dropbox/", shared)).status).toBe(201);
  const paths = async (user: string, as?: string) =>
    ((await list(`&username=${user}`, as)) as { path: string }[]).map(({ path }) => path);
  expect(await paths("alice")).toEqual(["/data/shared", "/data/genomics"]);
  expect(await paths("alice", "admin")).toEqual(["/data/shared", "/data/genomics"]);
  expect(await paths("alice", "bob")).toEqual(["/data/shared"]);
  expect(await paths("bob", "bob")).toEqual([]);
  const membership = "groups/Genomics/members/bob/";
  expect((await lab.send("admin", "PUT", membership, {})).status).toBe(204);
  expect(await paths("bob", "admin")).toEqual(["/data/shared", "/data/genomics"]);
  expect((await lab.send("admin", "DELETE", membership)).status).toBe(204);
  expect(await paths("bob", "admin")).toEqual([]);
  // The members of a group are not public.
  const asked = await lab.ask("GET", "data_management/dropbox/?page=1&members__username=alice");
  expect([asked.status, asked.body.total]).toEqual([200, 0]);
  expect((await call("GET", `data_management/dropbox/?${FLAT}&nothing=1`)).status).toBe(400);
});

test.each<[string, () => string, string[]]>([
  ["data_management/datasets", () => `study_id=${made.study}`, ["dataset"]],
  ["data_management/datasets", () => `project_id=${made.project}`, ["dataset"]],
  ["data_management/datasets", () => `datasetcollection_id=${made.datasetcollection}`, ["dataset"]],
  ["data_management/datasets", () => `assay=${made.assay}`, ["dataset"]],
  ["data_management/datasets", () => `sample_id=${made.sample}`, ["dataset"]],
  ["data_management/datasets", () => `study_id=${made.project}`, []],
  [
    "data_management/datasets",
    () => `samples__barcode=ACGT&studies__project__name__icontains=client`,
    ["dataset"],
  ],
  ["data_management/datasets", () => `samples=${made.study},${made.sample}`, ["dataset"]],
  ["data_management/datasets", () => `samples=sample of the client`, ["dataset"]],
  [
    "data_management/datasets",
    () => `query_expression={"not":{"category":"samples__barcode","operator":"==","value":"ACGT"}}`,
    [],
  ],
  ["data_management/datafiles", () => `dataset_id=${made.dataset}`, ["datafile"]],
  ["data_management/datafiles", () => `study_id=${made.study}`, ["datafile"]],
  ["data_management/datafilecopies", () => `study_id=${made.study}&is_primary_copy=True`, ["datafilecopy"]],
  ["data_management/datafilecopies", () => `project_id=${made.project}`, ["datafilecopy"]],
  ["data_management/datafilecopies", () => `assay_id=${made.assay}`, ["datafilecopy"]],
  ["data_management/datafilecopies", () => `dataset_id=${made.dataset}`, ["datafilecopy"]],
  [
    "data_management/datafilecopies",
    () => `datasetcollection_id=${made.datasetcollection}`,
    ["datafilecopy"],
  ],
  ["stocks/equipment", () => "technology=sequencing&platform=ILLUMINA&code=NB5", ["equipment"]],
  ["stocks/equipment", () => "technology=proteomics", []],
  ["stocks/instrumentmodels", () => "technology=sequencing&platform=ILLUMINA", ["instrumentmodel"]],
  ["assays/instrumentruns", () => "instrument=equipment of the client&owner=alice", ["instrumentrun"]],
  ["assays/assays", () => "run_dir=/runs/1", ["assay"]],
  ["assays/assays", () => `instrumentrun_id=${made.instrumentrun}`, ["assay"]],
  ["assays/instrumentruns", () => `equipment_id=${made.equipment}`, ["instrumentrun"]],
  ["assays/instrumentruns", () => `instrumentmodel_id=${made.instrumentmodel}`, ["instrumentrun"]],
  ["stocks/samples", () => `specimen_id=${made.specimen}`, ["sample"]],
  ["core/studies", () => `study_id=${made.study}`, ["study"]],
  ["data_management/archives", () => `storagevolume_id=${made.storagevolume}`, ["archive"]],
])("%s filtered as the client does (%#)", async (list, query, expected) => {
  const { status, body } = await call("GET", `${list}/?${FLAT}&page_size=max&${query()}`);
  const names = (body.results as { name: string }[] | undefined)?.map(({ name }) => name);
  expect([query(), status, names]).toEqual([query(), 200, expected.map((model) => `${model} of the client`)]);
});

test("takes the type of a new record from the body, and allows only DEFAULT in lists without types", async () => {
  const post = async (list: string, type: Json) => {
    const { status, body } = await lab.send("alice", "POST", `${list}/`, { name: "Typed", type });
    return [status, body.model_type ?? body.message ?? ""];
  };
  expect(await post("stocks/samples", { name: "EM" })).toEqual([201, "EM"]);
  expect(await post("stocks/samples", "EM")).toEqual([201, "EM"]);
  expect(await post("stocks/samples", "DEFAULT")).toEqual([201, ""]);
  expect(await post("core/studies", { name: "DEFAULT" })).toEqual([201, ""]);
  expect(await post("core/studies", "EM")).toEqual([400, expect.stringContaining("is not a field of study")]);
});

test("rejects filters by models to which no reference or several lead", async () => {
  for (const query of [`sample_id=${made.sample}`, `user_id=1`, "nothing_id=x"])
    expect([query, (await call("GET", `core/studies/?${query}`)).status]).toEqual([query, 400]);
});

test("lists the records that refer to a run, a dataset and a collection", async () => {
  const shown = async (model: string) =>
    (await call("GET", `${findList(model)}${made[model]}?${FLAT}`)).body.results;
  expect(await shown("instrumentrun")).toMatchObject({ assays: [named("assay")] });
  expect(await shown("dataset")).toMatchObject({ datafiles: [named("datafile")] });
  expect(await shown("datasetcollection")).toMatchObject({ datasets: [named("dataset")] });
  expect(await shown("datafile")).toMatchObject({ copies: [named("datafilecopy")] });
});

/** A sample and a dataset with it that bob may not view, but for the dataset, which is public. */
async function addShared(name: string): Promise<{ hidden: string; open: string; dataset: string }> {
  const createRecord = async (list: string, body: object): Promise<string> =>
    String((await lab.send("alice", "POST", `${list}/`, body)).body.id);
  const hidden = await createRecord("stocks/samples", { name: `${name} hidden`, barcode: name });
  const open = await createRecord("stocks/samples", { name: `${name} open`, public: true });
  const dataset = await createRecord("data_management/datasets", {
    name,
    public: true,
    samples: [hidden, open],
  });
  const grant = { users: [{ user: "bob", view: true, change: true }] };
  await lab.send("alice", "PUT", `data_management/datasets/${dataset}/permissions/`, grant);
  return { hidden, open, dataset };
}

test("a list of records shows and matches only records that the caller may view, and keeps hidden records on writes", async () => {
  const { hidden, open, dataset } = await addShared("Shared");
  const url = `data_management/datasets/${dataset}/`;
  const samplesFor = async (as: string) => (await lab.send(as, "GET", url)).body.samples;
  const [itsHidden, itsOpen] = [
    { id: hidden, name: "Shared hidden" },
    { id: open, name: "Shared open" },
  ];
  expect(await samplesFor("alice")).toEqual([itsHidden, itsOpen]);
  expect(await samplesFor("bob")).toEqual([itsOpen]);
  const total = async (as: string, query: string) =>
    (await lab.send(as, "GET", `data_management/datasets/?${query}`)).body.total;
  for (const query of [`samples=${hidden}`, "samples__barcode=Shared", "samples__name__icontains=hidden"])
    expect([query, await total("alice", query), await total("bob", query)]).toEqual([query, 1, 0]);
  const values = (await lab.send("bob", "GET", "data_management/datasets/?format=csv&fields=name,samples"))
    .text;
  expect(values).toContain("Shared open");
  expect(values).not.toContain("Shared hidden");
  const spanned = await lab.send("bob", "GET", "data_management/datafiles/?fields=dataset__samples");
  expect(spanned.status).toBe(200);
  // Bob empties what he can see.
  expect((await lab.send("bob", "PATCH", url, { samples: [] })).body.samples).toEqual([]);
  expect(await samplesFor("alice")).toEqual([itsHidden]);
  const refused = await lab.send("bob", "PATCH", url, { samples: [hidden, made.study] });
  expect([refused.status, refused.body.message]).toEqual([
    400,
    expect.stringContaining("object does not exist."),
  ]);
});

test("history, undo, dry run, entity tags, bulk changes and files follow from the declaration", async () => {
  const { hidden, open, dataset } = await addShared("Derived");
  const url = `data_management/datasets/${dataset}/`;
  const preview = await lab.send("alice", "PATCH", `${url}?dry_run=1`, { samples: [open] });
  expect(preview.body).toMatchObject({ dry_run: true, count: 1 });
  const tagged = (await lab.send("alice", "GET", url)).headers.get("etag")!;
  const changed = await lab.ask("PATCH", url, {
    as: "alice",
    headers: { "If-Match": tagged },
    body: { samples: [open, "Derived open"] },
  });
  expect(changed.status).toBe(200);
  const late = await lab.ask("PATCH", url, {
    as: "alice",
    headers: { "If-Match": tagged },
    body: { qc: "x" },
  });
  expect(late.status).toBe(412);
  const itsOpen = { id: open, name: "Derived open" };
  const { results } = (await lab.send("alice", "GET", `${url}history/`)).body;
  expect((results as object[])[0]).toMatchObject({
    before: { samples: [{ id: hidden, name: "Derived hidden" }, itsOpen] },
    after: { samples: [itsOpen] },
  });
  const batch = changed.headers.get("batch-id")!;
  expect((await lab.send("alice", "POST", `batches/${batch}/undo/`, {})).status).toBe(200);
  const bulk = await lab.send("alice", "PATCH", "data_management/datasets/?name=Derived", {
    samples: [open],
  });
  expect(bulk.body).toMatchObject([{ samples: [{ id: open }] }]);
  const csv = (await lab.send("alice", "GET", `data_management/datasets/?format=csv&id=${dataset}`)).text;
  const imported = await lab.bytes("POST", "data_management/datasets/import/", { as: "alice", body: csv });
  expect(JSON.parse(new TextDecoder().decode(imported.bytes))).toMatchObject({ errors: [], unchanged: 1 });
  lab.clock.set(Date.UTC(2026, 5, 1));
  await lab.send("alice", "PATCH", url, { samples: [] });
  const then = await lab.send("alice", "GET", `${url}?as_of=2026-01-01`);
  expect(then.body.samples).toEqual([{ id: open, name: "Derived open" }]);
});

test.each<[string, () => string, object, string]>([
  [
    "a list",
    () => `data_management/datasets/${made.dataset}/`,
    { samples: "x" },
    "Expected a list of at most",
  ],
  [
    "a long list",
    () => `data_management/datasets/${made.dataset}/`,
    { samples: Array(1001).fill("x") },
    "1000",
  ],
  [
    "a sample",
    () => `data_management/datasets/${made.dataset}/`,
    { samples: [7] },
    'name="7" does not exist',
  ],
  [
    "times",
    () => `assays/instrumentruns/${made.instrumentrun}/`,
    { end_datetime: "2020-01-01" },
    "must not be before",
  ],
  [
    "a technology",
    () => `stocks/instrumentmodels/${made.instrumentmodel}/`,
    { technology: "x" },
    "light microscopy",
  ],
  [
    "a checksum",
    () => `data_management/datafiles/${made.datafile}/`,
    { md5sum: "x" },
    "32 hexadecimal digits",
  ],
  ["a size", () => `data_management/datafiles/${made.datafile}/`, { byte: -1 }, "greater than or equal to 0"],
  [
    "a kind of run",
    () => `assays/assays/${made.assay}/`,
    { runtype: "x" },
    "single-end, paired-end, multi-end",
  ],
])("rejects %s that is wrong", async (_, url, body, message) => {
  const { status, body: answered } = await lab.send("alice", "PATCH", url(), body);
  expect([status, answered.message]).toEqual([400, expect.stringContaining(message)]);
});

test("pages show a list for clients if a public view of it exists", async () => {
  const view = { name: "Studies", list: "core/studies", public: true };
  expect((await lab.send("admin", "POST", "views/", view)).status).toBe(201);
  expect((await lab.send("bob", "GET", "views/?list=core/studies")).body).toMatchObject({ total: 1 });
  const { fields } = (await lab.send("bob", "OPTIONS", "assays/assays/")).body;
  expect(fields).toMatchObject({ flowcell: { for_clients: true }, state: { for_clients: false } });
});
