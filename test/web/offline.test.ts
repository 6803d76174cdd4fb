import { expect, test } from "bun:test";
import { slotsIn } from "../../src/web/offline/known-slots.ts";
import type { DeviceStore } from "../../src/web/offline/device-store.ts";
import type { MovedRecord } from "../../src/web/offline/move.ts";
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
  MOST,
  takeSnapshot,
  whereIs,
  withMove,
} from "../../src/web/offline/snapshot.ts";
import { ME, loadQueue, readLists, scan, TUBE } from "./offline-device.ts";

const BOX = { id: "box", name: "Box 7" };
const tube = (id: string, position: string, version = 1): MovedRecord => ({
  segment: "stocks/consumables",
  id,
  name: `Tube ${id}`,
  version,
  position,
});
const move = (id: string, position: string): Change => ({
  kind: "move",
  location: BOX,
  records: [tube(id, position)],
});
const stock = (action: "consume" | "take_out" | "put_back", id: string): Change => ({
  kind: "stock",
  action,
  records: [{ segment: "stocks/consumables", id, name: `Tube ${id}`, version: 1 }],
  body: action === "consume" ? { amount: 5 } : {},
  text: action,
});
const takeOut = (id: string): Change => ({ kind: "move", location: null, records: [tube(id, "")] });
const exchange = (...records: MovedRecord[]): Change => ({ kind: "move", location: BOX, records });
interface Filling {
  records: string[];
  positions: string[];
  versions: number[];
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
  const done = new Map<string, Answer>();
  const answer = (status: number, message?: string, results?: object): Answer => ({
    status,
    body: { message, results },
  });
  const fill = (body: Filling, key: string): Answer => {
    const { records, positions, versions } = body;
    if (done.has(key)) return done.get(key)!;
    if (records.some((id, i) => tubes[id].version !== versions[i])) return answer(412, "Changed.");
    records.forEach((id, i) =>
      Object.assign(tubes[id], { location: "box", position: positions[i], version: versions[i] + 1 }),
    );
    const results = records.map((id) => ({ id, version: tubes[id].version }));
    done.set(key, answer(200, undefined, results));
    return done.get(key)!;
  };
  const handle = (...[method, path, { body, headers = {} } = {}]: Parameters<SendRequest>): Answer => {
    const id = path.split("/").at(-2)!;
    if (id === "free_slots") return fill(body as Filling, headers["Idempotency-Key"]);
    if (["consume", "take_out", "put_back"].includes(id)) {
      const key = headers["Idempotency-Key"];
      if (!done.has(key))
        done.set(key, answer(200, undefined, { version: ++tubes[path.split("/").at(-3)!].version }));
      return done.get(key)!;
    }
    if (method === "DELETE") return answer(204);
    if (method === "POST") {
      scans.set(headers["Idempotency-Key"], (body as { codes: string[] }).codes[0]);
      return answer(200, undefined, []);
    }
    const tube = tubes[id];
    if (!tube) return answer(404, "Not found.");
    const where = tube.location && { location__unique_path: `Label of ${tube.location}` };
    if (method === "GET")
      return answer(200, undefined, { ...withoutNull(tube), ...where, modified_by: "bea" });
    if (headers["If-Match"] !== `"${tube.version}"`) return answer(412, "The record has another version.");
    const { position } = body as Tube;
    if (position && Object.entries(tubes).some(([other, at]) => other !== id && at.position === position))
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

const conflictsIn = async (store: DeviceStore) =>
  (await readQueue(store, ME)).map(({ key, conflict }) => [key, conflict?.status]);

test("sends changes in order and empties the queue of their person only", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await loadQueue(move("a", "A1"), scan("LO1"));
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
  const store = await loadQueue(move("a", "A1"), scan("LO1"));
  lab.faults.push({ status, body: {} });
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(lab.log).toHaveLength(1);
  expect(await conflictsIn(store)).toEqual([
    ["key-0", undefined],
    ["key-1", undefined],
  ]);
  expect(await sendQueue(store, ME, lab.send)).toBe(2);
});

test("stock is used, taken out and put back once, and a later move follows the version", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await loadQueue(
    stock("take_out", "a"),
    stock("consume", "a"),
    stock("put_back", "a"),
    move("a", "A1"),
  );
  lab.faults.push("lost");
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(await sendQueue(store, ME, lab.send)).toBe(4);
  const path = "POST /api/v2/stocks/consumables/a";
  expect(lab.log).toEqual([
    ...["take_out", "take_out", "consume", "put_back"].map((action) => `${path}/${action}/`),
    "PATCH /api/v2/stocks/consumables/a/",
  ]);
  expect(lab.tubes.a).toEqual({ version: 5, location: "box", position: "A1" });
});

test("a second move of a record follows the version that the first one made", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await loadQueue(move("a", "A1"), move("a", "A2"));
  expect(await sendQueue(store, ME, lab.send)).toBe(2);
  expect(lab.tubes.a).toEqual({ version: 3, location: "box", position: "A2" });
});

test("a move whose answer was lost is applied once, without a conflict", async () => {
  const lab = laboratory({ a: { version: 1, location: null, position: "" } });
  const store = await loadQueue(move("a", "A1"));
  lab.faults.push("lost");
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(lab.tubes.a).toEqual({ version: 2, location: "box", position: "A1" });
});

test("shows who changed a record meanwhile, and moves it nevertheless on request", async () => {
  const lab = laboratory({ a: { version: 5, location: "shelf", position: "C3" } });
  const store = await loadQueue(move("a", "A1"), scan("LO1"));
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(lab.tubes.a.position).toBe("C3");
  const [{ conflict }] = await readQueue(store, ME);
  expect(conflict).toEqual({
    status: 412,
    message: "bea has changed Tube a. It is now in Label of shelf, C3.",
    versions: { a: 5 },
  });
  // Nothing happens until somebody decides.
  const requests = lab.log.length;
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(lab.log).toHaveLength(requests);
  await applyAnyway(store, ME, "key-0");
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect(lab.tubes.a).toEqual({ version: 6, location: "box", position: "A1" });
});

test("swaps two records once although the answer was lost, and later moves use their new versions", async () => {
  const lab = laboratory({
    a: { version: 1, location: "box", position: "A1" },
    b: { version: 4, location: "box", position: "A2" },
  });
  const store = await loadQueue(exchange(tube("a", "A2"), tube("b", "A1", 4)), takeOut("a"));
  lab.faults.push("lost");
  expect(await sendQueue(store, ME, lab.send)).toBe(0);
  expect(await sendQueue(store, ME, lab.send)).toBe(2);
  expect(lab.tubes).toEqual({
    a: { version: 3, location: null, position: "" },
    b: { version: 5, location: "box", position: "A1" },
  });
});

test("does not swap records after another change to one of them, unless the user confirms", async () => {
  const lab = laboratory({
    a: { version: 1, location: "box", position: "A1" },
    b: { version: 5, location: "shelf", position: "" },
  });
  const store = await loadQueue(exchange(tube("a", "A2"), tube("b", "A1", 4)));
  await sendQueue(store, ME, lab.send);
  const [{ conflict }] = await readQueue(store, ME);
  expect(conflict).toEqual({
    status: 412,
    message: "bea has changed Tube b. It is now in Label of shelf.",
    versions: { a: 1, b: 5 },
  });
  await applyAnyway(store, ME, "key-0");
  expect(await sendQueue(store, ME, lab.send)).toBe(1);
  expect([lab.tubes.a.position, lab.tubes.b.position]).toEqual(["A2", "A1"]);
});

test.each([
  ["shelf", "Label of shelf"],
  [null, "no location"],
])("a conflict with a record in %p names its location %p", async (location, where) => {
  const lab = laboratory({ a: { version: 5, location, position: "" } });
  const store = await loadQueue(move("a", "A1"));
  await sendQueue(store, ME, lab.send);
  expect((await readQueue(store, ME))[0].conflict?.message).toEndWith(`It is now in ${where}.`);
});

test("keeps rejected changes with the server's message until they are discarded or sent again", async () => {
  const lab = laboratory({
    a: { version: 1, location: null, position: "" },
    b: { version: 1, location: "box", position: "A1" },
  });
  const store = await loadQueue(move("a", "A1"), move("gone", "A2"), scan("LO1"));
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

test("finds codes, paths and free positions in the snapshot", async () => {
  const known = await takeSnapshot(readLists, { id: ME, username: "ada" }, 7);
  const readNames = (code: string) => findCode(known, code).map(({ name }) => name);
  const codes: [code: string, names: string[]][] = [
    [" CO6 ", ["BsaI-HF"]],
    [TUBE, ["BsaI-HF"]],
    [TUBE.toUpperCase().replaceAll("-", ""), ["BsaI-HF"]],
    ["5f1e627f", ["BsaI-HF"]],
    ["5f1e627", []],
    [`http://lab/i/${TUBE.slice(0, 13)}`, ["BsaI-HF"]],
    [`https://lab/labd/inventory/stocks-consumables/${TUBE}?a=b`, ["BsaI-HF"]],
    ["https://lab/", []],
    ["", []],
    ["CO7", []],
  ];
  for (const [code, names] of codes) expect([code, readNames(code)]).toEqual([code, names]);
  const [tube] = findCode(known, "CO6");
  expect(whereIs(known, tube)).toBe("A 002 › -80 North › Rack 2 › Box 7, A2");
  const box = findRecord(known, tube.location)!;
  const free = (of: typeof known) =>
    slotsIn(of, box).slots.flatMap((slot) => (slot.free ? slot.position : []));
  expect(free(known)).toEqual(["A1", "B1", "B2"]);
  const moved = withMove(known, { location: box, records: [{ ...tube, version: 5, position: "B1" }] });
  expect(free(moved)).toEqual(["A1", "A2", "B2"]);
  const slots = slotsIn(moved, box);
  expect([slots.next, slots.space, slots.slots.map(({ record }) => record?.name ?? null)]).toEqual([
    "A1",
    { capacity: 4, used: 1, free: 3 },
    [null, null, "BsaI-HF", null],
  ]);
  const waiting = withMove(known, { location: box, records: [{ ...tube, position: "B1" }] }, true);
  const { record } = slotsIn(waiting, box).slots[2];
  expect([record?.change, record?.waits]).toEqual([true, true]);
  expect([known.at, known.left, known.stocktakes[0].name]).toEqual([7, 0, "Freezer"]);
});

test("the snapshot knows what is left after uses that wait, in any unit of the record", async () => {
  const known = await takeSnapshot(readLists, { id: ME, username: "ada" }, 7);
  const [tube] = findCode(known, "CO6");
  const measured = Object.assign(tube, { amount: 100, unit: "microliter" });
  const use = (of: typeof known, body: { amount: number; unit?: string }) =>
    withMove(of, { kind: "stock", action: "consume", records: [tube], body, text: "" }, true);
  const left = (of: typeof known) => findRecord(of, measured.id)!.amount;
  const once = use(known, { amount: 20 });
  expect([left(once), left(use(once, { amount: 0.03, unit: "mL" }))]).toEqual([80, 50]);
  // The server will refuse these.
  expect([left(use(once, { amount: 81 })), left(use(once, { amount: 1, unit: "mg" }))]).toEqual([80, 80]);
});

test("the snapshot is bounded and states how many records it omits", async () => {
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
