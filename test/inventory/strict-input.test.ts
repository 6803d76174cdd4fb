import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { readMicroseconds, systemClock } from "../../src/platform/clock.ts";
import { expectStatuses, type Lab, openLab, START } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Input that would be changed or half understood is refused, and answers say no more than the caller may know. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

test("refuses records named twice in a bulk change", async () => {
  const { shelf, drawer } = IDS;
  for (const body of [
    [
      { id: shelf, label: "a" },
      { id: drawer, label: "b" },
      { id: shelf, label: "c" },
    ],
    [
      { id: shelf, label: "a" },
      { id: shelf.toUpperCase(), label: "c" },
    ],
    { ids: [shelf, shelf], patch: [{ op: "replace", path: "/label", value: "a" }] },
    { items: [shelf, shelf.replaceAll("-", "")], label: "a" },
  ]) {
    const { status, body: answer } = await lab.send("admin", "PATCH", "locations/", body);
    expect([body, status, answer.message]).toEqual([
      body,
      400,
      expect.stringContaining("occurs more than once"),
    ]);
  }
  expect((await lab.send("admin", "GET", `locations/${shelf}/`)).body.label).toBe("Shelf 1");
});

test("refuses several values of a parameter that has one", async () => {
  await expectStatuses(lab, "admin", [
    ["GET locations/?can_change=true&can_change=false", 400],
    ["GET locations/?can_delete=true&can_delete=false&as_of=2026-01-01", 400],
    ["GET locations/?deleted=true&deleted=false", 400],
    ["GET locations/?page=1&page=2", 400],
    ["GET locations/?page_size=1&page_size=2", 400],
    [`GET locations/${IDS.shelf}/?response_format=flat&response_format=nested`, 400],
    [`PATCH locations/${IDS.shelf}/?dry_run=0&dry_run=1`, 400, { label: "x" }],
    // Repeated or additive parameters are no contradiction.
    ["GET locations/?can_change=true&can_change=true", 200],
    ["GET locations/?ordering=label&ordering=-created", 200],
    ["GET locations/?owned_by=Genomics&owned_by=Imaging", 200],
  ]);
  const { body } = await lab.send("admin", "GET", "locations/?can_change=true&can_change=false");
  expect(body.can_change).toEqual(["Several values were given; give one."]);
});

test("refuses a write with a misspelt dry_run parameter", async () => {
  const { shelf } = IDS;
  const before = await lab.send("admin", "GET", `locations/${shelf}/`);
  await expectStatuses(lab, "admin", [
    ["POST locations/?dryrun=1", 400, { label: "x" }],
    ["POST locations/build/?dryRun=1", 400, { levels: [{ name: "x" }] }],
    [`POST locations/${shelf}/free_slots/?dry-run=1`, 400, { records: ["x"] }],
    [`POST locations/${shelf}/notes/?dryrun=1`, 400, { content: "x" }],
    [`PATCH locations/${shelf}/permissions/?dryrun=1`, 400, { public: true }],
    [`PATCH locations/${shelf}/?dryrun=1`, 400, { label: "x" }],
    [`PUT locations/${shelf}/?dryrun=1`, 400, { label: "x" }],
    [`DELETE locations/${shelf}/?dryrun=1`, 400],
    ["PATCH locations/?dryrun=1", 400, [{ id: shelf, label: "x" }]],
    ["DELETE locations/bulk_delete/?dryrun=1", 400, { ids: [shelf] }],
    [`DELETE locations/bulk_delete/?id=${shelf}&dryrun=1`, 400],
    // A filter would not narrow what is named.
    [`DELETE locations/bulk_delete/?id=${shelf}&label=x`, 400],
    // Renderings, and what LabID's clients send.
    [`PATCH locations/${shelf}/?dry_run=1&format=json&response_format=flat`, 200, { label: "x" }],
    ["POST locations/?dry_run=1&type=BOX", 200, { label: "x" }],
    [`PATCH locations/${shelf}/?dry_run=1&other=1&strict=0`, 200, { label: "x" }],
  ]);
  const { body } = await lab.send("admin", "PATCH", `locations/${shelf}/?dryrun=1`, { label: "x" });
  expect(body.dryrun).toEqual([
    '"dryrun" is not a parameter of this request. Did you mean dry_run? Choices: format, response_format, fields, dry_run, confirm, changes.',
  ]);
  expect((await lab.send("admin", "GET", `locations/${shelf}/`)).body).toEqual(before.body);
});

test("refuses parameters that a request would not follow", async () => {
  await expectStatuses(lab, "admin", [
    [`GET locations/${IDS.shelf}/slots/?as_of=2026-01-01`, 400],
    [`GET locations/${IDS.shelf}/free_slots/?start=B1`, 400],
    ["GET locations/tree/?deleted=true", 400],
    ["GET search/?q=shelf&page=2", 400],
    ["GET scan/?code=x&list=locations", 400],
    ["GET search/?q=shelf&page=2&strict=0", 200],
    ["GET locations/tree/?response_format=flat&format=json", 200],
  ]);
});

test.each([
  ["an integer of a JSON value", "9007199254740993", 400],
  ["a negative one", "[1, -9007199254740993]", 400],
  ["a very long one", `{"a": ${"9".repeat(400)}}`, 400],
  ["the largest exact one", "9007199254740991", 201],
  ["digits in a text", '"9007199254740993, \\" 9007199254740993"', 201],
  ["a decimal", "[0.12345678901234567, 6.02214076e23, 12345678901234567.5]", 201],
])("integers that would be rounded: %s", async (_, value, status) => {
  const { body } = await lab.send("admin", "POST", "consumables/", { name: "x" });
  const sent = `{"annotation_type_id": "settings", "value": ${value}}`;
  const answer = await lab.send("admin", "POST", `consumables/${String(body.id)}/annotations/`, sent);
  expect([answer.status, answer.text]).toEqual([
    status,
    status === 400 ? expect.stringContaining("2^53") : answer.text,
  ]);
});

test("refuses integers beyond 2^53 in filters and files", async () => {
  await expectStatuses(lab, "admin", [
    ["GET consumables/?amount=9007199254740993", 400],
    ["GET consumables/?amount__gt=1e20", 200],
    ["GET vocabularies/terms/?position=9007199254740993", 400],
    ["POST consumables/", 400, { name: "x", amount: "9007199254740993" }],
  ]);
});

test("an error names the text that matches no record", async () => {
  const fetchMessage = async (place: Json) =>
    ((await lab.send("admin", "POST", "locations/", { label: "x", place })).body.place as string[])[0];
  expect(await fetchMessage('Room 5 (north), "cold"')).toBe(
    'Object with name="Room 5 (north), \\"cold\\"" does not exist.',
  );
  expect(await fetchMessage(`${"long ".repeat(100)}`)).toMatch(
    /^Object with name="(long )+.{0,5}…" does not exist\.$/,
  );
  const { body } = await lab.send("admin", "PATCH", `locations/${IDS.shelf}/permissions/`, {
    users: [{ user: "Eve Adams", view: true }],
  });
  expect(body.users).toEqual([
    expect.stringContaining('Object with username="Eve Adams" does not exist.') as never,
  ]);
});

test("counts deletion as a modification", async () => {
  const { body } = await lab.send("alice", "POST", "locations/", { label: "Gone", public: true });
  const path = `locations/${String(body.id)}/`;
  await lab.send("alice", "PATCH", `${path}permissions/`, {
    users: [{ user: "bob", view: true, delete: true }],
  });
  const later = START + 60_000;
  lab.clock.set(later);
  expect((await lab.send("bob", "DELETE", path)).status).toBe(204);
  const fields = "fields=modified,modified_by,deleted_date,deleted_by&response_format=flat&deleted=true";
  const at = "2026-01-01T00:01:00.000000+00:00";
  expect((await lab.send("alice", "GET", `${path}?${fields}`)).body.results).toEqual({
    modified: at,
    modified_by: "bob",
    deleted_date: at,
    deleted_by: "bob",
  });
  const found = await lab.send(
    "alice",
    "GET",
    `locations/?deleted=all&modified__gte=${encodeURIComponent(at)}&fields=id`,
  );
  expect(found.body.results).toEqual([{ id: body.id }]);
});

test("shows full names of people to signed-in callers only", async () => {
  await lab.send("alice", "POST", "locations/", { label: "Of Alice", public: true });
  const paths = [
    "locations/values/?field=owner__full_name",
    "locations/values/?field=created_by__full_name",
    "locations/?fields=id,owner__full_name&page_size=max",
    "locations/?response_format=nested&page_size=max",
    "locations/?fields=owner__full_name&format=csv",
    "locations/?fields=owner__full_name&as_of=2026-01-02",
    "locations/?response_format=nested&format=api",
  ];
  for (const path of paths) {
    expect([path, (await lab.ask("GET", path)).text]).toEqual([
      path,
      expect.not.stringContaining("Alice Archer"),
    ]);
    expect([path, (await lab.send("bob", "GET", path)).text]).toEqual([
      path,
      expect.stringContaining("Alice Archer"),
    ]);
  }
  const total = async (query: string, as?: string) =>
    (await lab.ask("GET", `locations/?${query}`, { as })).body.total;
  const expression = `query_expression=${JSON.stringify({ category: "owner__full_name", operator: "icontains", value: "arch" })}`;
  for (const query of ["owner__full_name=Alice Archer", "owner__full_name__istartswith=ali", expression])
    // Repeated, so that what is kept for one caller would be used for another.
    for (const as of [undefined, undefined, "bob", "bob", "alice", undefined])
      expect([query, as, await total(query, as)]).toEqual([query, as, as === undefined ? 0 : 1]);
  const first = async (as?: string) =>
    (
      (await lab.ask("GET", "locations/?ordering=owner__full_name,label&fields=label", { as })).body
        .results as Json[]
    )[0];
  for (const as of ["bob", "bob", undefined, undefined, "bob"])
    expect(await first(as)).toEqual({ label: as === undefined ? "Bench ÄÖ" : "Of Alice" });
});

test("the clock of the system counts microseconds", () => {
  const times = Array.from({ length: 2000 }, () => readMicroseconds(systemClock));
  expect(times.filter((time) => time % 1000 !== 0).length).toBeGreaterThan(1000);
  expect(new Set(times.map((time) => time % 1000)).size).toBeGreaterThan(20);
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
  expect(Math.abs(times.at(-1)! / 1000 - Date.now())).toBeLessThan(1000);
});

test("an address below an alias without a record gets 404 for every method", async () => {
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
    const sent = method === "GET" || method === "DELETE" ? {} : { body: { name: "x" } };
    const { status } = await lab.ask(method, "assays/nothing/", { as: "admin", ...sent });
    expect([method, status]).toEqual([method, 404]);
  }
  const { status, headers } = await lab.send("admin", "POST", `assays/${IDS.assay}/`, { name: "x" });
  expect([status, headers.get("allow")]).toEqual([405, expect.stringContaining("PATCH")]);
});

test("does not confirm the name of a hidden record, and keeps visible names unique", async () => {
  for (const [segment, more] of [
    ["vocabularies/categories", { kind: "term" }],
    ["fieldmeta", {}],
  ] as const) {
    const body = { ...more, name: "Project Zebra" };
    const hidden = await lab.send("alice", "POST", `${segment}/`, body);
    expect(hidden.status).toBe(201);
    expect((await lab.send("alice", "POST", `${segment}/`, body)).status).toBe(400);
    const own = await lab.send("bob", "POST", `${segment}/`, body);
    const other = await lab.send("bob", "POST", `${segment}/`, { ...body, name: "Unknown" });
    expect([own.status, other.status]).toEqual([201, 201]);
    const path = `${segment}/${String(other.body.id)}/`;
    expect((await lab.send("bob", "PATCH", path, { name: "Project Zebra" })).body.name).toEqual([
      expect.stringContaining("already exists"),
    ]);
    // Callers who see both types must choose one by its id.
    const type = { name: `z${more.kind}`, type: "TEXT", label: "Z", field_meta: "organ" };
    const named =
      segment === "fieldmeta"
        ? { ...type, field_meta: body.name }
        : { ...type, type: "VOCABULARYTERM", cv_category: body.name };
    expect((await lab.send("admin", "POST", "annotationtypes/", named)).text).toContain(
      "Several objects have this name",
    );
    expect((await lab.send("bob", "POST", "annotationtypes/", named)).status).toBe(201);
  }
});

test.each<[string, string, unknown, string]>([
  ["PATCH", "locations/permissions/", { ids: ["box of today"], users: [] }, 'Not found: "box of today".'],
  ["DELETE", "locations/bulk_delete/", { ids: ["box of today"] }, 'Not found: "box of today".'],
  ["POST", "annotationtypes/", { name: "x", type: "PLAIN TEXT" }, '"PLAIN TEXT" is not a valid choice.'],
  [
    "POST",
    `specimens/${IDS.fish}/annotations/`,
    { annotation_type_id: "organ", value: "left liver" },
    'value: "left liver" is not',
  ],
  ["POST", "locations/", { label: "x", place: "Room <7>" }, 'Object with name="Room <7>" does not exist.'],
  ["POST", "locations/import/", "label,Box number\nx,1\n", '"Box number" is not a field of location.'],
])("the error of %s %s names the given text", async (method, path, body, message) => {
  const headers: Record<string, string> = typeof body === "string" ? { "Content-Type": "text/csv" } : {};
  const { status, text } = await lab.ask(method, path, { as: "admin", body, headers });
  expect(status).toBeGreaterThanOrEqual(400);
  expect(text).toContain(JSON.stringify(message).slice(1, -1));
});
