import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  complaints,
  exampleCall,
  exampleErrors,
  hasExample,
  type Operation,
  type Paths,
} from "../described.ts";
import type { Answer } from "../../src/platform/http.ts";
import { RESOURCES } from "../../src/inventory/index.ts";
import { type Lab, openLab, readPaths } from "./harness.ts";

/**
 * Runs the example of every operation of the inventory. The example of POST creates the record that the other examples
 * name; before each of those, the record is brought into the state that the operation needs.
 */

interface Listed {
  method: string;
  path: string;
  operation: Operation;
}

let lab: Lab;
let answer: Answer;
let paths: Paths = {};
let listed: Listed[] = [];
beforeAll(async () => {
  lab = await openLab({ sample: {} });
  answer = lab.through(undefined);
  const { newId } = lab.clock;
  lab.clock.newId = () => String(ids.shift() ?? newId());
  paths = await readPaths(lab);
  listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  await lab.accounts.setPassword(lab.accounts.userId("alice"), "correct horse battery");
});
afterAll(() => lab.database.close());

let cookie = "";
async function ask(method: string, address: string, body?: string | FormData, type?: string) {
  const headers: Record<string, string> = { Authorization: `Token ${lab.tokens.admin}` };
  if (type !== undefined) headers["Content-Type"] = type;
  if (address.endsWith("/session")) Object.assign(headers, { Cookie: cookie, Origin: "http://lab" });
  const request = new Request(`http://lab${address}`, { method, headers, ...(body ? { body } : {}) });
  const response = await answer(request);
  cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const call = (method: string, path: string) => {
  const { address, body, type } = exampleCall(path, paths[path][method.toLowerCase()]);
  return ask(method, address, body, type);
};

/** Ids for the next new record and for the batch that it belongs to. */
let ids: unknown[] = [];

/** The example of the last part of a path, such as `{id}`. */
const exampleAt = (path: string): unknown =>
  Object.values(paths[path])[0].parameters.findLast((parameter) => parameter.in === "path")?.example;

const makeAddress = (path: string): string =>
  exampleCall(path, { parameters: Object.values(paths[path])[0].parameters } as Operation).address.split(
    "?",
  )[0];

const sendJson = (method: string, address: string, value: object) =>
  ask(method, address, JSON.stringify(value), "application/json");

/** Brings what a path names into existence, and deletes it if it is to be. */
async function arrange(path: string, isDeleted: boolean): Promise<void> {
  const item = /^.*\}/.exec(path)?.[0];
  if (item === undefined) return;
  const list = item.slice(0, item.lastIndexOf("/"));
  await arrange(list, false);
  const address = makeAddress(path).split("/").slice(0, item.split("/").length).join("/");
  const id = exampleAt(path);
  const isMissing = async () => (await ask("GET", address)).status === 404;
  if (item.endsWith("{grant}")) {
    // The example of PUT made it.
    if (isDeleted) await sendJson("PUT", address.slice(0, address.lastIndexOf("/")), { users: [] });
  } else if (item.endsWith("{member}")) {
    await ask(isDeleted ? "DELETE" : "PUT", address);
  } else if (item === "/api/v2/batches/{id}" && (await isMissing())) {
    ids = [crypto.randomUUID(), id];
    await sendJson("POST", "/api/v2/core/projects", { name: "x" });
  } else if (item === "/api/v2/imports/{id}" && (await isMissing())) {
    ids = [id];
    await ask("POST", "/api/v2/core/projects/import?background=1", "name\nx\n", "text/csv");
  } else if (paths[list]?.post) {
    await arrangeRecord(list, address, id);
    if (isDeleted) await ask("DELETE", address);
  }
}

/** Creates a record by the example of its list, or restores it. */
async function arrangeRecord(list: string, address: string, id: unknown): Promise<void> {
  if ((await ask("GET", address)).status === 200) return;
  const restored = await sendJson("POST", `${address}/restore`, {});
  ids = isUuid(id) ? [id] : [];
  if (restored.status !== 200) await call("POST", list);
}

/** Gives the place of an example a location with room, and a record to move there; returns what removes them from it. */
async function arrangeFreeSlot(list: string): Promise<() => Promise<void>> {
  const [location, consumable] = ["locations", "stocks/consumables"].map(
    (segment) => `/api/v2/${segment}/{id}`,
  );
  await arrange(location, false);
  await arrange(consumable, false);
  const inside = { "/api/v2/equipment": "equipment", "/api/v2/places": "place" }[list];
  const outer = inside && { equipment: null, [inside]: exampleAt(`${list}/{id}`) };
  await sendJson("PATCH", makeAddress(location), { capacity: 10, ...outer });
  return async () => {
    await sendJson("PATCH", makeAddress(consumable), { location: null });
    await sendJson("PATCH", makeAddress(location), { capacity: null, equipment: null, place: null });
  };
}

/** Records to which others refer could not be purged: those with aliquots, and assays of registered datasets. */
async function removeReferences(path: string, batch: string | null): Promise<void> {
  if (path.endsWith("/aliquots"))
    await sendJson("PATCH", `${path.split("/{")[0]}?aliquot_of__isnull=false`, { aliquot_of: null });
  if (path.endsWith("/register") && batch) await sendJson("POST", `/api/v2/batches/${batch}/undo`, {});
}

const isUuid = (id: unknown): boolean => /^[0-9a-f-]{36}$/.test(String(id));

/** Statuses of examples that cannot succeed. */
const OTHER_STATUSES: Record<string, number> = {
  // A small import has ended at once.
  cancelImport: 409,
  // The run has no assay.
  registerDatasetsOfInstrumentRun: 400,
  // No unit has such an id.
  mergeUnitsIntoOthers: 404,
  // The location has no grid.
  checkOrFillBoxFromRackScan: 400,
};

/** Lists the mistakes in the response to an example. */
async function findErrors({ method, path, operation }: Listed): Promise<string[]> {
  if (path === "/api/v2/session" && method !== "POST") await call("POST", path);
  const named = path.endsWith("bulk_delete") ? path.replace("bulk_delete", "{id}") : path;
  await arrange(named, /(restore|purge)$/.test(path));
  const cleanUp = path.endsWith("/free_slots") ? await arrangeFreeSlot(path.split("/{")[0]) : undefined;
  if (/\/(consume|refill|aliquots)$/.test(path)) {
    const record = `${path.slice(0, path.lastIndexOf("/"))}`;
    await sendJson("PATCH", makeAddress(record), { amount: 10 });
  }
  const child = Object.keys(paths).find((one) => one.startsWith(`${path}/{`));
  const creates = method === "POST" || (method === "PUT" && path.endsWith("permissions"));
  ids = creates && child && isUuid(exampleAt(child)) ? [exampleAt(child)] : [];
  const answered = await call(method, path);
  await cleanUp?.();
  await removeReferences(path, answered.headers.get("batch-id"));
  const expected = OTHER_STATUSES[operation.operationId];
  if (expected === undefined ? answered.status >= 300 : answered.status !== expected)
    return [`${method} ${path} ${answered.status}: ${answered.text.slice(0, 300)}`];
  return complaints(operation, method, path, answered);
}

/** Runs examples until no more succeed, because some need records that others create or remove. */
async function settle(examples: Listed[]): Promise<string[]> {
  const failed: Listed[] = [];
  const errors: string[] = [];
  for (const example of examples) {
    const found = await findErrors(example);
    errors.push(...found);
    if (found.length > 0) failed.push(example);
  }
  return failed.length === 0 || failed.length === examples.length ? errors : settle(failed);
}

test("every operation has an example, which conforms to its schema", () => {
  expect(listed.filter(({ operation }) => !hasExample(operation)).map(({ path }) => path)).toEqual([]);
  expect(listed.flatMap(({ operation }) => exampleErrors(operation))).toEqual([]);
});

test("every example succeeds with the documented response", async () => {
  const lists = new Set(RESOURCES.map(({ segment }) => `/api/v2/${segment}`));
  const isCreation = ({ method, path }: Listed) => method === "POST" && lists.has(path);
  const isRemoval = ({ method, path }: Listed) =>
    /DELETE|POST/.test(method) &&
    lists.has(path.replace(/\/(bulk_delete|\{id\}(\/(restore|purge))?)$/, "")) &&
    !lists.has(path);
  const others = listed.filter((each) => !isCreation(each) && !isRemoval(each));
  expect(await settle(listed.filter(isCreation))).toEqual([]);
  expect(await settle(others)).toEqual([]);
  // The import of places made another one, which refers to the address.
  await ask("DELETE", "/api/v2/places/bulk_delete?deleted=false");
  const { text } = await ask("GET", "/api/v2/places?deleted=true");
  for (const { id } of (JSON.parse(text) as { results: { id: string }[] }).results)
    await ask("POST", `/api/v2/places/${id}/purge`);
  // Records that must refer to others go first.
  const refers = ({ path }: Listed): boolean => /\/(places|terms)\b/.test(path);
  const removals = listed.filter(isRemoval);
  expect(await settle([...removals.filter(refers), ...removals.filter((each) => !refers(each))])).toEqual([]);
}, 60_000);
