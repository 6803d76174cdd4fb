import { expect, test } from "bun:test";
import { OfflineCount } from "../../src/web/offline/count.ts";
import { idOnServer } from "../../src/web/offline/keep-outcome.ts";
import {
  type Answer,
  applyAnyway,
  type Change,
  discard,
  readQueue,
  sendQueue,
  type SendRequest,
} from "../../src/web/offline/queue.ts";
import { SNAPSHOT, type Snapshot, takeSnapshot } from "../../src/web/offline/snapshot.ts";
import { FREEZER, ME, queueOf, readLists, scan } from "./offline-device.ts";

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

test("a stocktake that was started, scanned and applied without a network gets the server's id", async () => {
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

test.each([204, 404])("a scan is removed after it was sent, also if the answer is %i", async (status) => {
  const removal: Change = { kind: "remove", stocktake: TAKE, code: "CO6", name: "BsaI-HF" };
  const store = await queueOf(scanned("CO6"), removal);
  const log: string[] = [];
  const send: SendRequest = async (method, path, { query } = {}) => {
    log.push(`${method} ${path} ${query?.code ?? ""}`.trim());
    return { status: method === "DELETE" ? status : 200, body: {} };
  };
  expect(await sendQueue(store, ME, send)).toBe(2);
  expect(log).toEqual(["POST /api/v2/stocktakes/local/scans/", "DELETE /api/v2/stocktakes/local/scans/ CO6"]);
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
  const remove = (code: string) => ({ kind: "remove", stocktake: TAKE, code, name: null }) as const;
  const without = count.count(after, [remove("CO6"), remove("nothing")]);
  expect([without.counts, without.missing]).toEqual([before.counts, before.missing]);
});
