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
    `annotationtypes/${IDS.organ}?${FLAT}`,
    { results: expect.objectContaining({ id: IDS.organ, name: "organ", cv_category: IDS.tissue }) },
  ],
])("GET %s", async (path, expected) => {
  const { status, body } = await call("GET", path);
  expect({ status, body }).toEqual({ status: 200, body: expected as Record<string, Json> });
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
  expect(seen.size).toBe(6);
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
