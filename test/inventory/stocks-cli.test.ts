import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** The calls of the LabID command line client (stocks-cli 0.3.0), with its parameters. */

let lab: Lab;
let authorization = "";
beforeAll(async () => {
  lab = await openLab({ passwords: true });
  const credentials = { username: "alice", password: "correct horse" };
  const { body } = await lab.ask("POST", "token-auth/", { body: credentials });
  authorization = `Token ${String(body.token)}`;
});
afterAll(() => lab.database.close());

const call = (method: string, path: string, body?: unknown) =>
  lab.ask(method, path, {
    headers: { Authorization: authorization, Accept: "*/*" },
    ...(body ? { body } : {}),
  });
const named = (name: string) => ({ id: expect.any(String), name });
const FLAT = "response_format=flat&deleted=False";
const NOTHING = { id: null, name: null, model_type: null, model_name: null, app_name: null };
const FREEZER = {
  id: IDS.freezer,
  name: "Freezer 1",
  model_type: "FREEZER",
  model_name: "equipment",
  app_name: "stocks",
};
const ALICE = {
  id: expect.any(String),
  username: "alice",
  full_name: "Alice Archer",
  email: "",
  groups: [named("Genomics")],
  primary_group: named("Genomics"),
  is_active: true,
  is_superuser: false,
  is_staff: false,
  date_joined: "2026-01-01T00:00:00.000000+00:00",
};

test.each<[string, object]>([
  [`users/alice?${FLAT}`, { results: ALICE }],
  ["users/alice/", ALICE],
  [`resolver/${IDS.freezer}`, FREEZER],
  [`resolver/?query=${IDS.freezer}`, FREEZER],
  ["resolver/?query=Freezer 1", FREEZER],
  [`resolver/${IDS.shelf}/`, expect.objectContaining({ name: "Shelf 1", model_type: null })],
  ["resolver/00000000-0000-4000-8000-00000000ffff", NOTHING],
  ["resolver/x", NOTHING],
  ["resolver/?query=", NOTHING],
  ["resolver/?query=Freezer", NOTHING],
  ["version/", { version: "v2" }],
  [`annotationtypes/?name=weight&${FLAT}`, expect.objectContaining({ total: 1 })],
  [`annotationtypes/?name=nothing&${FLAT}`, expect.objectContaining({ total: 0 })],
  [`annotationtypes/?page_size=1&${FLAT}`, expect.objectContaining({ total: 6, total_pages: 6 })],
  [
    `annotationtypes/?page_size=max&name=or&fields=name,id&model_type=&owner=system&owned_by=SYSTEM_GROUP&${FLAT}`,
    expect.objectContaining({ results: [{ id: IDS.organ, name: "organ" }] }),
  ],
  [
    `vocabularies/terms/?page_size=max&category_id=${IDS.tissue}&${FLAT}`,
    expect.objectContaining({ total: 2 }),
  ],
  [
    `vocabularies/terms/${IDS.liver}?${FLAT}`,
    {
      results: expect.objectContaining({
        url: `http://lab/api/v2/vocabularies/terms/${IDS.liver}/`,
        dbxref_id: "UBERON:0002107",
      }),
    },
  ],
  [
    `assays/assays/${IDS.assay}?${FLAT}`,
    {
      results: expect.objectContaining({
        model_type: "NGSILLUMINAASSAY",
        state: { value: "REGISTERED" },
        multiplexed: true,
        owned_by: "SYSTEM_GROUP",
      }),
    },
  ],
  [
    `assays/experiments/?page_size=max&deleted=false&owner=system&owned_by=SYSTEM_GROUP&project_id=${IDS.project}`,
    expect.objectContaining({
      results: [
        expect.objectContaining({
          status: "IN PROGRESS",
          project: IDS.project,
          is_frozen: false,
          start_date: "2026-01-31",
          completed_date: null,
        }),
      ],
    }),
  ],
  ["assays/experiments/?page_size=max&deleted=true", expect.objectContaining({ total: 0 })],
  [`core/projects/${IDS.project}?${FLAT}`, { results: expect.objectContaining({ description: "" }) }],
  ["annotationtypes/?fields=name,id&page_size=max", expect.objectContaining({ total: 6 })],
  [
    "groups/?fields=name,id&page_size=max",
    expect.objectContaining({ results: expect.arrayContaining([named("Genomics")]) }),
  ],
  [
    `stocks/equipment/?page_size=max&name=Freezer&code=F-1&${FLAT}`,
    expect.objectContaining({ results: [expect.objectContaining({ name: "Freezer 1", code: "F-1" })] }),
  ],
  [`stocks/equipment/${IDS.freezer}?${FLAT}`, { results: expect.objectContaining({ code: "F-1" }) }],
  [
    `assays/experiments/?page_size=1&project_id=${IDS.project}&${FLAT}`,
    expect.objectContaining({ total: 1 }),
  ],
  [
    `annotationtypes/${IDS.organ}?${FLAT}`,
    { results: expect.objectContaining({ id: IDS.organ, name: "organ", cv_category: IDS.tissue }) },
  ],
])("GET %s", async (path, expected) => {
  const { status, body } = await call("GET", path);
  expect({ status, body }).toEqual({ status: 200, body: expected as Record<string, Json> });
});

/** Members that the client requires of a file, by their types; dates are read as such. */
const FILE: Record<string, string> = {
  url: "string",
  name: "string",
  created_by: "string",
  modified_by: "string",
  created: "string",
  modified: "string",
  peek: "string",
  size: "number",
  object_id: "string",
  content_type: "number",
  filetype: "string",
  mimetype: "string",
  download_url: "string",
  direct_url: "string",
  embedded: "boolean",
  is_export: "boolean",
  autogenerated: "boolean",
};

test("adds files to a record, and lists them in the client's format", async () => {
  const { body } = await call("POST", "stocks/specimen/?format=json&response_format=flat", {
    results: { name: "Tail clip" },
  });
  const { id } = body.results as { id: string };
  const of = `app=stocks&model=specimen&object_id=${id}`;
  const add = async (name: string, type: string, content: string | Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.append("file", new File([content], name, { type }));
    return (await lab.bytes("POST", `attachments/?${FLAT}&${of}`, { as: "alice", body: form })).status;
  };
  const long = "é".repeat(200);
  expect(await add("notes.TXT", "text/plain", `${long} and more`)).toBe(201);
  expect(await add("export.zip", "application/zip", new Uint8Array([0x50, 0x4b]))).toBe(201);
  expect(await add("reads.fastq", "text/plain", "x".repeat(70_000))).toBe(201);
  expect(await add("page.html", "text/plain", "<b>")).toBe(201);
  const list = async (query: string) => {
    const { status, text } = await call("GET", `attachments?page_size=max&deleted=false&${of}&${query}`);
    expect([query, status]).toEqual([query, 200]);
    return JSON.parse(text) as Record<string, Json>[];
  };
  const files = await list("embedded=false&ordering=-created");
  for (const file of files) {
    const types = Object.keys(FILE).map((name): [string, string] => [name, typeof file[name]]);
    expect(Object.fromEntries(types)).toEqual(FILE);
    expect(file).toMatchObject({ object_id: id, embedded: false, is_export: false, autogenerated: false });
    expect(file.download_url).toBe(`http://lab/api/v2/attachments/${String(file.id)}/`);
    expect(Number.isNaN(Date.parse(String(file.created)))).toBe(false);
  }
  const shown = files.map(({ name, filetype, mimetype, peek }) => [name, filetype, mimetype, peek]);
  expect(shown.toReversed()).toEqual([
    ["notes.TXT", "txt", "text/plain", long],
    ["export.zip", "zip", "application/zip", ""],
    ["reads.fastq", "fastq", "text/plain", ""],
    // The type is that of the upload, not that of the name.
    ["page.html", "html", "text/plain", "<b>"],
  ]);
  expect(await list("mimetype=application/zip")).toMatchObject([{ name: "export.zip" }]);
  // labd makes no exports of experiments.
  expect(await list("is_export=True&mimetype=application/zip&ordering=-created")).toEqual([]);
  expect(await list("is_export=False&autogenerated=false")).toBeArrayOfSize(4);
  expect((await call("GET", `attachments?${of}&embedded=maybe`)).status).toBe(400);
});

test("searches the annotations of a record, and finds the exact name first", async () => {
  const names = ["mass of tail", "mass", "tail mass"];
  for (const name of names)
    await lab.send("admin", "POST", "annotationtypes/", { name, type: "TEXT", public: true });
  const { body } = await call("POST", "stocks/specimen/?format=json&response_format=flat", {
    results: { name: "Fin" },
  });
  const annotations = `stocks/specimen/${String((body.results as { id: string }).id)}/annotations/`;
  for (const name of names) {
    const types = (await call("GET", `annotationtypes/?name=${name}&${FLAT}`)).body.results as {
      id: string;
    }[];
    const made = await call("POST", annotations, {
      annotation_type_id: types[0].id,
      value: `${name} of a fin`,
    });
    expect(made.status).toBe(201);
  }
  const found = async (query: string) =>
    ((await call("GET", `${annotations}?${FLAT}${query}`)).body.results as Record<string, Json>[]).map(
      ({ id, name, value }) => [typeof id, name, value],
    );
  expect(await found("")).toBeArrayOfSize(3);
  expect((await found("&search=mass"))[0]).toEqual(["string", "mass", "mass of a fin"]);
  expect(await found("&search=tail")).toBeArrayOfSize(2);
  expect(await found("&search=nothing")).toEqual([]);
});

test.each<[string, object, object]>([
  ["assays/experiments", { status: "IN PROGRESS" }, { status: "IN PROGRESS" }],
  ["assays/experiments", { status: { value: { value: "FAILED" } } }, { status: "FAILED" }],
  ["assays/experiments", {}, { status: "PLANNED", start_date: null, completed_date: null }],
  ["assays/experiments", { start_date: "2026-02-28" }, { start_date: "2026-02-28" }],
  ["assays/experiments", { start_date: "2026-02-28T00:00:00Z" }, { start_date: "2026-02-28" }],
  [
    "assays/experiments",
    { start_date: { name: "start_date", value: "2026-02-28", category: "property" } },
    { start_date: "2026-02-28" },
  ],
  ["assays/assays", { state: "NEW" }, { state: { value: "NEW" } }],
  ["assays/assays", { state: { value: "NEW" } }, { state: { value: "NEW" } }],
])("%s with %j is shown as %j", async (path, given, shown) => {
  const made = await call("POST", `${path}/?response_format=flat`, { results: { name: "x", ...given } });
  expect([made.status, made.body.results]).toEqual([201, expect.objectContaining(shown)]);
  // A record that was read can be sent back.
  const { id } = made.body.results as { id: string };
  const again = await call("PUT", `${path}/${id}/?response_format=flat`, made.body);
  expect([again.status, again.body.results]).toEqual([200, expect.objectContaining(shown)]);
});

test.each<[string, object, string]>([
  ["assays/experiments", { start_date: "2026-02-28T09:30:00Z" }, "Expected a date without a time"],
  ["assays/experiments", { start_date: "2026-02-30" }, "Expected a date"],
  ["assays/experiments", { status: "in progress" }, "Expected upper case letters, digits, _ and spaces."],
  ["assays/assays", { state: { value: "new" } }, "Expected upper case letters"],
  ["assays/assays", { multiplexed: "perhaps" }, "Must be a valid boolean."],
])("%s rejects %j", async (path, given, message) => {
  const refused = await call("POST", `${path}/`, { results: { name: "x", ...given } });
  expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(message)]);
});

test("files have the bare state and date", async () => {
  for (const [path, fields, line] of [
    ["assays/assays", "name,state,multiplexed", "Imaging,REGISTERED,true"],
    ["assays/experiments", "name,start_date,completed_date", "Time course,2026-01-31,"],
  ]) {
    const { text } = await call("GET", `${path}/?format=csv&fields=${fields}`);
    expect(text.split("\r\n")).toContain(line);
    const imported = await lab.bytes("POST", `${path}/import/?dry_run=1&match=none`, {
      as: "alice",
      body: text,
    });
    expect(JSON.parse(new TextDecoder().decode(imported.bytes)).errors).toEqual([]);
  }
});

test("an assay of before it could be multiplexed was not", async () => {
  const made = (await call("POST", "assays/assays/", { name: "Old" })).body;
  const text = "SELECT after FROM record_change WHERE object_kind = 'assay' ORDER BY seq DESC LIMIT 1";
  const [[after]] = lab.database.query(text).values() as [[string]];
  const { multiplexed: _, ...old } = JSON.parse(after);
  lab.database.run("UPDATE record_change SET after = ? WHERE after = ?", [JSON.stringify(old), after]);
  const then = await call("GET", `assays/assays/${String(made.id)}/?as_of=2026-01-01`);
  expect([then.status, then.body.multiplexed]).toEqual([200, false]);
});

test.each([
  [
    "GET",
    `stocks/consumables/?model_type=antibody&${FLAT}`,
    400,
    "Expected upper case letters, digits and _.",
  ],
  ["GET", `assays/experiments/?study_id=${IDS.fish}&${FLAT}`, 400, '"study_id" is not a parameter'],
  ["GET", `assays/nothing/?${FLAT}`, 404, '"nothing" is neither the id of a record nor a list'],
  ["POST", "assays/nothing/?format=json", 404, '"nothing" is neither the id of a record nor'],
])("%s %s gets %d with a message", async (method, path, status, message) => {
  const answer = await call(method, path, method === "GET" ? undefined : {});
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
});

test("returns the caller's account by id, and no other account to anonymous callers", async () => {
  const { body } = await call("GET", "users/alice");
  expect((await call("GET", `users/${String(body.id)}/`)).body).toEqual(ALICE);
  expect((await lab.ask("GET", "users/alice")).status).toBe(401);
  expect((await lab.ask("GET", `resolver/${IDS.secret}`)).body).toEqual(NOTHING);
});

test.each(["annotationtypes", "stocks/equipment", "vocabularies/terms"])("lists all %s", async (segment) => {
  const { body } = await call("GET", `${segment}/?page_size=max&${FLAT}`);
  expect(Object.keys(body)).toEqual(["previous", "next", "current", "total", "total_pages", "results"]);
  expect(body).toMatchObject({ previous: null, next: null, current: 1, total_pages: 1 });
  const records = body.results as Record<string, Json>[];
  expect(records).toBeArrayOfSize(Number(body.total));
  for (const record of records) expect(record.created).toBeString();
});

test("pages through a list by `next`", async () => {
  const seen = new Set<Json>();
  let next: Json = `http://lab/api/v2/annotationtypes/?page_size=4&${FLAT}`;
  while (typeof next === "string") {
    const { body } = await call("GET", next);
    for (const { id } of body.results as { id: string }[]) seen.add(id);
    next = body.next;
  }
  const { total } = (await call("GET", `annotationtypes/?page_size=1&${FLAT}`)).body;
  expect(seen.size).toBe(Number(total));
});

test("creates a record wrapped in `results`", async () => {
  const results = {
    name: "Freezer 2",
    model_type: "FREEZER",
    place: { id: IDS.a101 },
    owned_by: { name: "Genomics" },
  };
  const path = "stocks/equipment/?format=json&response_format=flat&type=FREEZER";
  const { status, body } = await call("POST", path, { results });
  expect(status).toBe(201);
  expect(body.results).toMatchObject({ name: "Freezer 2", place: IDS.a101, owned_by: "Genomics" });
});

test.each<[string, string, object | undefined, number]>([
  ["POST", "stocks/equipment/?format=json&response_format=flat", { results: {} }, 400],
  ["GET", "annotationtypes/?nothing=1", undefined, 400],
  ["POST", "token-auth/", { username: "alice", password: "no" }, 401],
  ["PUT", `annotationtypes/${IDS.organ}`, { name: "x", type: "TEXT" }, 403],
  ["GET", "annotationtypes/?page=9", undefined, 404],
  ["GET", `annotationtypes/${IDS.liver}?${FLAT}`, undefined, 404],
  ["GET", "users/nobody", undefined, 404],
  ["GET", "users/%", undefined, 404],
  ["GET", "users/%00", undefined, 404],
  ["GET", "users/ali%27ce", undefined, 404],
])("the error of %s %s has a message", async (method, path, body, status) => {
  const answer = await call(method, path, body);
  expect([answer.status, answer.body.message]).toEqual([status, expect.any(String)]);
});
