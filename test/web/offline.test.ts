import { expect, test } from "bun:test";
import { OfflineCount } from "../../src/web/offline/count.ts";
import { idOnServer } from "../../src/web/offline/keep-outcome.ts";
import { slotsIn } from "../../src/web/offline/known-slots.ts";
import type { DeviceStore } from "../../src/web/offline/device-store.ts";
import {
  type Answer,
  applyAnyway,
  type Change,
  discard,
  enqueue,
  readQueue,
  sendQueue,
  type SendRequest,
} from "../../src/web/offline/queue.ts";
import {
  findCode,
  findRecord,
  freePositions,
  MOST,
  SNAPSHOT,
  type Snapshot,
  takeSnapshot,
  whereIs,
  withMove,
} from "../../src/web/offline/snapshot.ts";

const ME = "person-1";
const BOX = { id: "box", name: "Box 7" };
const move = (id: string, position: string, version = 1): Change => ({
  kind: "move",
  segment: "stocks/consumables",
  id,
  name: `Tube ${id}`,
  version,
  location: BOX,
  position,
});
const scan = (code: string): Change => ({
  kind: "scan",
  stocktake: { id: "take", name: "Freezer" },
  code,
  name: null,
  place: null,
});

function memoryStore(): DeviceStore {
  const values = new Map<string, unknown>();
  return {
    read: async <T>(key: string) => structuredClone(values.get(key)) as T | undefined,
    async update(key, change) {
      const after = change(structuredClone(values.get(key)) as never);
      if (after === undefined) values.delete(key);
      else values.set(key, structuredClone(after));
      return after;
    },
    clear: async () => values.clear(),
  };
}

interface Tube {
  version: number;
  location: string | null;
  position: string;
}

/** As the flat format prints records. */
const withoutNull = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));

/** A laboratory with tubes, where every request may fail first. */
function laboratory(tubes: Record<string, Tube>) {
  const faults: (Answer | "lost")[] = [];
  const log: string[] = [];
  const scans = new Map<string, string>();
  const answer = (status: number, message?: string, results?: object): Answer => ({
    status,
    body: { message, results },
  });
  const handle = (...[method, path, { body, headers = {} } = {}]: Parameters<SendRequest>): Answer => {
    const id = path.split("/").at(-2)!;
    if (method === "POST") {
      scans.set(headers["Idempotency-Key"], (body as { codes: string[] }).codes[0]);
      return answer(200, undefined, []);
    }
    if (id === "hidden") return answer(404, "Not found.");
    if (path.includes("/locations/")) return answer(200, undefined, { label: `Label of ${id}` });
    const tube = tubes[id];
    if (!tube) return answer(404, "Not found.");
    if (method === "GET") return answer(200, undefined, { ...withoutNull(tube), modified_by: "bea" });
    if (headers["If-Match"] !== `"${tube.version}"`) return answer(412, "The record has another version.");
    const { position } = body as Tube;
    if (Object.entries(tubes).some(([other, at]) => other !== id && at.position === position))
      return answer(400, `position: ${position} is occupied.`);
    Object.assign(tube, body, { version: tube.version + 1 });
    return answer(200, undefined, { version: tube.version });
  };
  const send: SendRequest = (method, path, options) => {
    log.push(`${method} ${path}`);
    const fault = faults.shift();
    if (fault && fault !== "lost") return Promise.resolve(fault);
    const done = handle(method, path, options);
    return Promise.resolve(fault ? answer(0) : done);
  };
  return { tubes, faults, log, scans, send };
}

async function queueOf(...changes: Change[]): Promise<DeviceStore> {
  const store = memoryStore();
  for (const [i, change] of changes.entries()) await enqueue(store, ME, { key: `key-${i}`, at: i, change });
  return store;
}
const conflictsIn = async (store: DeviceStore) =>
  (await readQueue(store, ME)).map(({ key, conflict }) => [key, conflict?.status]);

test("sends changes in order and empties the queue of their person only", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await queueOf(move("a", "A1"), scan("LO1"));
  await enqueue(store, "person-2", { key: "other", at: 0, change: scan("LO2") });
  expect(await sendQueue(store, ME, lab.send)).toBe(2);
  expect(lab.log).toEqual(["PATCH /api/v2/stocks/consumables/a/", "POST /api/v2/stocktakes/take/scans/"]);
  expect(lab.tubes.a).toEqual({ version: 2, location: "box", position: "A1" });
  expect([...lab.scans]).toEqual([["key-1", "LO1"]]);
  expect(await readQueue(store, ME)).toEqual([]);
  expect(await readQueue(store, "person-2")).toHaveLength(1);
});

test.each([0, 401, 408, 429, 502, 503])("status %i keeps all changes for later", async (status) => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await queueOf(move("a", "A1"), scan("LO1"));
  lab.faults.push({ status, body: {} });
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(lab.log).toHaveLength(1);
  expect(await conflictsIn(store)).toEqual([
    ["key-0", undefined],
    ["key-1", undefined],
  ]);
  expect(await sendQueue(store, ME, lab.send)).toBe(2);
});

test("a second move of a record follows the version that the first one made", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await queueOf(move("a", "A1"), move("a", "A2"));
  expect(await sendQueue(store, ME, lab.send)).toBe(2);
  expect(lab.tubes.a).toEqual({ version: 3, location: "box", position: "A2" });
});

test("a move whose answer was lost is done once and is no conflict", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await queueOf(move("a", "A1"));
  lab.faults.push("lost");
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(lab.tubes.a).toEqual({ version: 2, location: "box", position: "A1" });
});

test("shows who changed a record meanwhile, and moves it anyway on demand", async () => {
  const lab = laboratory({ a: { version: 5, location: "shelf", position: "C3" } });
  const store = await queueOf(move("a", "A1"), scan("LO1"));
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(lab.tubes.a.position).toBe("C3");
  const [{ conflict }] = await readQueue(store, ME);
  expect(conflict).toEqual({
    status: 412,
    message: "The record has another version.",
    now: { version: 5, where: "Label of shelf, C3", by: "bea" },
  });
  // Nothing happens until somebody decides.
  const requests = lab.log.length;
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(lab.log).toHaveLength(requests);
  await applyAnyway(store, ME, "key-0");
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(lab.tubes.a).toEqual({ version: 6, location: "box", position: "A1" });
});

test.each([
  ["shelf", "Label of shelf"],
  [null, "no location"],
  ["hidden", "a location that you may not view"],
])("a conflict with a record in %p says that it is in %p", async (location, where) => {
  const lab = laboratory({ a: { version: 5, location, position: "" } });
  const store = await queueOf(move("a", "A1"));
  await sendQueue(store, ME, lab.send);
  expect((await readQueue(store, ME))[0].conflict?.now?.where).toBe(where);
});

test("keeps rejected changes with the server's message until they are discarded or sent again", async () => {
  const lab = laboratory({
    a: { version: 1, location: null, position: "" },
    b: { version: 1, location: "box", position: "A1" },
  });
  const store = await queueOf(move("a", "A1"), move("gone", "A2"), scan("LO1"));
  lab.faults.push(undefined as never, undefined as never, {
    status: 409,
    body: { message: "The stocktake has been applied." },
  });
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect((await readQueue(store, ME)).map(({ conflict }) => conflict?.message)).toEqual([
    "position: A1 is occupied.",
    "Not found.",
    "The stocktake has been applied.",
  ]);
  await discard(store, ME, "key-1");
  lab.tubes.b.position = "A9";
  await applyAnyway(store, ME, "key-0");
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(await conflictsIn(store)).toEqual([["key-2", 409]]);
});

const FREEZER = "aebc178f-9012-5abc-8def-000000000001";
const TUBE = "5f1e627f-8aba-5e10-93ff-82dee93474e6";
const LISTS: Record<string, object[]> = {
  locations: [
    { id: FREEZER, label: "Rack 2", barcode: "LO1", version: 1, parent: null, equipment: "eq", place: "pl" },
    {
      id: "0b7dd2a5-0000-4000-8000-000000000002",
      label: "Box 7",
      barcode: "LO2",
      version: 3,
      parent: FREEZER,
      grid_rows: 2,
      grid_columns: 2,
      numbering: "A1",
    },
  ],
  equipment: [{ id: "eq", name: "-80 North", barcode: "", version: 1, place: "pl" }],
  "stocks/consumables": [
    {
      id: TUBE,
      name: "BsaI-HF",
      barcode: "CO6",
      version: 4,
      location: "0b7dd2a5-0000-4000-8000-000000000002",
      position: "A2",
    },
  ],
  places: [{ id: "pl", building: "A", room: "002" }],
  stocktakes: [{ id: "take", name: "Freezer", location: FREEZER }],
};
const readLists: Parameters<typeof takeSnapshot>[0] = async (segment) => {
  const results = (LISTS[segment] ?? []) as Record<string, unknown>[];
  return { total: results.length, results };
};

test("finds codes, paths and free positions in the snapshot", async () => {
  const known = await takeSnapshot(readLists, { id: ME, username: "ada" }, 7);
  const namesOf = (code: string) => findCode(known, code).map(({ name }) => name);
  const codes: [code: string, names: string[]][] = [
    [" CO6 ", ["BsaI-HF"]],
    [TUBE, ["BsaI-HF"]],
    [TUBE.toUpperCase().replaceAll("-", ""), ["BsaI-HF"]],
    ["5f1e627f", ["BsaI-HF"]],
    ["5f1e627", []],
    [`http://lab/i/${TUBE.slice(0, 13)}`, ["BsaI-HF"]],
    [`https://lab/labd/inventory/stocks-consumables/${TUBE}?a=b`, ["BsaI-HF"]],
    ["https://lab/x/5f1e627f", []],
    ["", []],
    ["CO7", []],
  ];
  for (const [code, names] of codes) expect([code, namesOf(code)]).toEqual([code, names]);
  const [tube] = findCode(known, "CO6");
  expect(whereIs(known, tube)).toBe("A 002 / -80 North / Rack 2 / Box 7, A2");
  const box = findRecord(known, tube.location)!;
  expect(freePositions(known, box)).toEqual(["A1", "B1", "B2"]);
  const moved = withMove(known, { id: TUBE, version: 5, location: { id: box.id }, position: "B1" });
  expect(freePositions(moved, box)).toEqual(["A1", "A2", "B2"]);
  const slots = slotsIn(moved, box);
  expect([slots.next, slots.space, slots.slots.map(({ record }) => record?.name ?? null)]).toEqual([
    "A1",
    { capacity: 4, used: 1, free: 3 },
    [null, null, "BsaI-HF", null],
  ]);
  expect([known.at, known.left, known.stocktakes[0].name]).toEqual([7, 0, "Freezer"]);
});

test("the snapshot is bounded and says how much it leaves out", async () => {
  let pages = 0;
  const known = await takeSnapshot(
    async (segment, { page = "1", page_size }) => {
      if (segment !== "stocks/specimen") return { total: 0, results: [] };
      pages++;
      const first = (Number(page) - 1) * Number(page_size);
      const results = Array.from({ length: Number(page_size) }, (_, i) => ({
        id: `id-${first + i}`,
        name: "x",
      }));
      return { total: 50_000, results };
    },
    { id: ME, username: "ada" },
    0,
  );
  const most = MOST["stocks/specimen"];
  expect([pages, known.records.length, known.left]).toEqual([most / 1000, most, 50_000 - most]);
});

const TAKE = { id: "local", name: "Freezer" };
const BEGIN: Change = { kind: "start", stocktake: TAKE, location: FREEZER };
const scanned = (code: string): Change => ({ kind: "scan", stocktake: TAKE, code, name: null, place: null });
const APPLY: Change = {
  kind: "apply",
  stocktake: TAKE,
  missing: "status",
  counted: { misplaced: 1, missing: 2 },
};
/** A server that counts, and takes everything unless an answer is given for the path. */
function stocktakes(counts: { misplaced: number; missing: number }, answers: Record<string, Answer> = {}) {
  const log: string[] = [];
  const send: SendRequest = async (method, path, { body } = {}) => {
    const step = path.replace("/api/v2/stocktakes/", "");
    log.push([method, step, ...(body ? [JSON.stringify(body)] : [])].join(" "));
    if (answers[step]) return answers[step];
    if (step.endsWith("count/")) return { status: 200, body: { counts } };
    return { status: 201, body: { results: { id: "server" } } };
  };
  return { log, send };
}

test("a stocktake that was begun, scanned and applied without a network gets the server's id", async () => {
  const store = await queueOf(BEGIN, scanned("CO6"), APPLY);
  const known = await takeSnapshot(readLists, { id: ME, username: "ada" }, 7);
  await store.update<Snapshot>(SNAPSHOT, () => known);
  const server = stocktakes({ misplaced: 1, missing: 2 });
  expect(await sendQueue(store, ME, server.send)).toBe(3);
  expect(server.log).toEqual([
    `POST  {"name":"Freezer","location":"${FREEZER}"}`,
    'POST server/scans/ {"codes":["CO6"],"place":null}',
    "GET server/count/",
    'POST server/apply/ {"missing":"status"}',
  ]);
  expect(await idOnServer(store, "local")).toBe("server");
  expect(await readQueue(store, ME)).toEqual([]);
  // The device knows what the server has taken.
  const { counts, stocktakes: open } = (await store.read<Snapshot>(SNAPSHOT))!;
  expect(counts?.server.counts).toMatchObject({ expected: 1, found: 1, missing: 0 });
  expect(open.map(({ id }) => id)).toEqual(["take"]);
});

test("a stocktake is not applied if the server counts otherwise, unless somebody decides so", async () => {
  const store = await queueOf(APPLY);
  const server = stocktakes({ misplaced: 0, missing: 2 });
  expect(await sendQueue(store, ME, server.send)).toBe(0);
  const [{ conflict }] = await readQueue(store, ME);
  expect(conflict?.message).toBe(
    "It was not applied: this device counted 2 missing and 1 misplaced, the server 2 and 0.",
  );
  await applyAnyway(store, ME, "key-0");
  expect(await sendQueue(store, ME, server.send)).toBe(1);
  expect(server.log).toEqual(["GET local/count/", 'POST local/apply/ {"missing":"status"}']);
});

test("what depends on a rejected change of a stocktake waits, and is discarded with its start", async () => {
  const store = await queueOf(BEGIN, scanned("CO6"), APPLY, scan("CO6"));
  const server = stocktakes(
    { misplaced: 1, missing: 2 },
    { "": { status: 403, body: { message: "You may not." } } },
  );
  expect(await sendQueue(store, ME, server.send)).toBe(1);
  expect(server.log.map((line) => line.split(" ")[1])).toEqual(["", "take/scans/"]);
  expect((await readQueue(store, ME)).map(({ conflict }) => conflict?.message)).toEqual([
    "You may not.",
    undefined,
    undefined,
  ]);
  await discard(store, ME, "key-0");
  expect(await readQueue(store, ME)).toEqual([]);
});

test("a rejected scan keeps its stocktake from being applied", async () => {
  const store = await queueOf(scanned("CO6"), scanned("CO7"), APPLY);
  const answers = { "local/scans/": { status: 400, body: { message: "codes: Too long." } } };
  const server = stocktakes({ misplaced: 1, missing: 2 }, answers);
  expect(await sendQueue(store, ME, server.send)).toBe(0);
  expect(server.log).toHaveLength(2);
  expect((await readQueue(store, ME)).map(({ conflict }) => conflict?.status)).toEqual([400, 400, undefined]);
});

test("counts a stocktake by what the device knows", async () => {
  const known = await takeSnapshot(readLists, { id: ME, username: "ada" }, 7);
  const box = known.records.find(({ name }) => name === "Box 7")!;
  const inBox = { id: "count", name: "Box", location: box.id };
  const judged = (location: string, code: string, place: { id: string; name: string } | null = null) =>
    new OfflineCount(known, { ...inBox, location }).judge({ code, place }).list;
  expect(judged(box.id, "CO6")).toBe("found");
  expect(judged(FREEZER, "CO6")).toBe("found");
  expect(judged(FREEZER, "CO6", { id: box.id, name: "Box 7" })).toBe("found");
  expect(judged(FREEZER, "LO2")).toBe("places");
  expect(judged(box.id, "LO1")).toBe("other");
  expect(judged("elsewhere", "CO6")).toBe("misplaced");
  expect(judged("elsewhere", "LO2")).toBe("misplaced");
  expect(judged(box.id, "nothing")).toBe("unknown");
  const count = new OfflineCount(known, inBox);
  const scans = [scan("nothing"), scan("CO6"), scan("CO6")].flatMap((change) =>
    change.kind === "scan" ? change : [],
  );
  const before = count.count(undefined, []);
  expect([before.counts.expected, before.missing.map(({ name }) => name)]).toEqual([1, ["BsaI-HF"]]);
  const after = count.count(before, scans);
  expect(after.counts).toEqual({
    expected: 1,
    found: 1,
    misplaced: 0,
    missing: 0,
    unknown: 1,
    other: 0,
    places: 0,
  });
  expect(after.found[0]).toMatchObject({ code: "CO6", at: { name: "Box 7" }, position: "A2" });
});
