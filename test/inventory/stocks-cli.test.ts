import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** The calls of the LabID command line client (stocks-cli 0.3.0), in its order and with its parameters. */

let lab: Lab;
let authorization = "";
beforeAll(async () => {
  lab = await openLab({ passwords: true });
});
afterAll(() => lab.database.close());

const call = (method: string, path: string, body?: unknown) =>
  lab.ask(method, path, {
    headers: { Authorization: authorization, Accept: "*/*" },
    ...(body ? { body } : {}),
  });
const ENVELOPE = ["previous", "next", "current", "total", "total_pages", "results"];

test("returns a token for the right password, and 401 for a wrong one", async () => {
  expect((await lab.ask("POST", "token-auth/", { body: { username: "alice", password: "no" } })).status).toBe(
    401,
  );
  const { status, body } = await lab.ask("POST", "token-auth/", {
    body: { username: "alice", password: "correct horse" },
  });
  expect(status).toBe(200);
  authorization = `Token ${body.token}`;
});

test("returns the account of the caller", async () => {
  const { status, body } = await call("GET", "users/alice?response_format=flat&deleted=False");
  expect(status).toBe(200);
  const alice = {
    id: expect.any(String),
    username: "alice",
    full_name: "Alice Archer",
    email: "",
    groups: [{ id: expect.any(String), name: "Genomics" }],
    primary_group: { id: expect.any(String), name: "Genomics" },
    is_active: true,
    is_superuser: false,
    is_staff: false,
    date_joined: "2026-01-01T00:00:00.000000+00:00",
  };
  expect(body).toEqual({ results: alice });
  const { id } = body.results as { id: string };
  expect((await call("GET", `users/${id}/`)).body).toEqual(alice);
  for (const name of ["nobody", "%", "%00", "ali%27ce"])
    expect((await call("GET", `users/${name}`)).status).toBe(404);
  expect((await lab.ask("GET", "users/alice")).status).toBe(401);
});

test("resolves ids and names", async () => {
  expect((await call("GET", `resolver/${IDS.freezer}`)).body).toEqual({
    id: IDS.freezer,
    name: "Freezer 1",
    model_type: "FREEZER",
    model_name: "equipment",
    app_name: "stocks",
  });
  expect((await call("GET", `resolver/${IDS.shelf}/`)).body).toMatchObject({
    name: "Shelf 1",
    model_type: null,
  });
  const nothing = { id: null, name: null, model_type: null, model_name: null, app_name: null };
  expect((await call("GET", "resolver/00000000-0000-4000-8000-00000000ffff")).body).toEqual(nothing);
  expect((await call("GET", "resolver/x")).body).toEqual(nothing);
  for (const typed of [IDS.freezer, "Freezer 1"])
    expect((await call("GET", `resolver/?query=${typed}`)).body).toMatchObject({
      id: IDS.freezer,
      model_name: "equipment",
    });
  for (const typed of ["", "Freezer", "no such record"])
    expect((await call("GET", `resolver/?query=${typed}`)).body).toEqual(nothing);
  expect((await lab.ask("GET", `resolver/${IDS.secret}`)).body).toEqual(nothing);
});

test("returns the API version", async () => {
  expect((await call("GET", "version/")).body).toEqual({ version: "v2" });
});

test("lists all records in the flat form", async () => {
  for (const path of ["annotationtypes", "stocks/equipment", "vocabularies/terms"]) {
    const { status, body } = await call("GET", `${path}/?response_format=flat&deleted=False&page_size=max`);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(ENVELOPE);
    expect(body).toMatchObject({ previous: null, next: null, current: 1, total_pages: 1 });
    const records = body.results as Record<string, Json>[];
    expect(records.length).toBe(Number(body.total));
    for (const record of records) expect(record.created).toBeString();
  }
});

test("accepts the filters of the client", async () => {
  const filters = "name=or&fields=name,id&model_type=&owner=system&owned_by=SYSTEM_GROUP";
  const { body } = await call(
    "GET",
    `annotationtypes/?response_format=flat&deleted=False&page_size=max&${filters}`,
  );
  expect(body.results).toEqual([{ id: IDS.organ, name: "organ" }]);
  const terms = await call(
    "GET",
    `vocabularies/terms/?response_format=flat&deleted=False&page_size=max&category_id=${IDS.tissue}`,
  );
  expect(terms.body.total).toBe(2);
});

test("counts records", async () => {
  const { body } = await call("GET", "annotationtypes/?response_format=flat&deleted=false&page_size=1");
  expect(body).toMatchObject({ total: 6, total_pages: 6 });
});

test("pages through a list by `next`", async () => {
  let next: Json = "http://lab/api/v2/annotationtypes/?response_format=flat&deleted=False&page_size=4";
  const seen: Json[] = [];
  while (typeof next === "string") {
    const { body } = await call("GET", next);
    seen.push(...(body.results as Record<string, Json>[]).map(({ id }) => id));
    next = body.next;
  }
  expect(new Set(seen).size).toBe(6);
});

test("finds an annotation type by name", async () => {
  const path = (name: string) => `annotationtypes/?name=${name}&response_format=flat&deleted=False`;
  expect((await call("GET", path("weight"))).body.total).toBe(1);
  expect((await call("GET", path("nothing"))).body.total).toBe(0);
});

test("returns a record without a trailing slash", async () => {
  const { body } = await call("GET", `annotationtypes/${IDS.organ}?response_format=flat&deleted=False`);
  expect(Object.keys(body)).toEqual(["results"]);
  expect(body.results).toMatchObject({ id: IDS.organ, name: "organ", cv_category: IDS.tissue });
  expect((await call("GET", `annotationtypes/${IDS.liver}?response_format=flat&deleted=False`)).status).toBe(
    404,
  );
});

test("creates a record wrapped in `results`", async () => {
  const { status, body } = await call(
    "POST",
    "stocks/equipment/?format=json&response_format=flat&type=FREEZER",
    {
      results: {
        name: "Freezer 2",
        model_type: "FREEZER",
        place: { id: IDS.a101 },
        owned_by: { name: "Genomics" },
      },
    },
  );
  expect(status).toBe(201);
  expect(body.results).toMatchObject({ name: "Freezer 2", place: IDS.a101, owned_by: "Genomics" });
});

test("sends a message with every error", async () => {
  const refusals = [
    await call("POST", "stocks/equipment/?format=json&response_format=flat", { results: {} }),
    await call("GET", "annotationtypes/?nothing=1"),
    await lab.ask("POST", "stocks/equipment/", { body: { results: {} } }),
    await call("PUT", `annotationtypes/${IDS.organ}`, { name: "x", type: "TEXT" }),
    await call("GET", "annotationtypes/?page=9"),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([400, 400, 401, 403, 404]);
  for (const { body } of refusals) expect(body.message).toBeString();
});
