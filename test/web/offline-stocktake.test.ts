import { expect, test } from "bun:test";
import { idOnServer } from "../../src/web/offline/keep-outcome.ts";
import {
  type Answer,
  type Change,
  discard,
  readQueue,
  sendQueue,
  type SendRequest,
} from "../../src/web/offline/queue.ts";
import { SNAPSHOT, type Snapshot, takeSnapshot } from "../../src/web/offline/snapshot.ts";
import { FREEZER, ME, loadQueue, readLists, scan } from "./offline-device.ts";

const TAKE = { id: "local", name: "Freezer" };
const BEGIN: Change = { kind: "start", stocktake: TAKE, location: FREEZER };
const scanned = (code: string): Change => ({ kind: "scan", stocktake: TAKE, code, name: null, place: null });
const APPLY: Change = { kind: "apply", stocktake: TAKE };
/** A server that takes everything unless an answer is given for the path. */
function stocktakes(answers: Record<string, Answer> = {}) {
  const log: string[] = [];
  const send: SendRequest = async (method, path, { body } = {}) => {
    const step = path.replace("/api/v2/stocktakes/", "");
    log.push([method, step, ...(body ? [JSON.stringify(body)] : [])].join(" "));
    if (answers[step]) return answers[step];
    return { status: 201, body: { results: { id: "server" } } };
  };
  return { log, send };
}

test("a stocktake that was started, scanned and applied without a network gets the server's id", async () => {
  const store = await loadQueue(BEGIN, scanned("CO6"), APPLY);
  const known = await takeSnapshot(readLists, { id: ME, username: "ada" }, 7);
  await store.update<Snapshot>(SNAPSHOT, () => known);
  const server = stocktakes();
  expect(await sendQueue(store, ME, server.send)).toBe(3);
  expect(server.log).toEqual([
    `POST  {"name":"Freezer","location":"${FREEZER}"}`,
    'POST server/scans/ {"codes":["CO6"],"place":null}',
    'POST server/apply/ {"missing":"keep"}',
  ]);
  expect(await idOnServer(store, "local")).toBe("server");
  expect(await readQueue(store, ME)).toEqual([]);
  // The device knows what the server has taken.
  const { stocktakes: open } = (await store.read<Snapshot>(SNAPSHOT))!;
  expect(open.map(({ id }) => id)).toEqual(["server", "take"]);
});

test("changes after a rejected change of a stocktake wait, and are discarded with its start", async () => {
  const store = await loadQueue(BEGIN, scanned("CO6"), APPLY, scan("CO6"));
  const server = stocktakes({ "": { status: 403, body: { message: "You may not." } } });
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
  const store = await loadQueue(scanned("CO6"), removal);
  const log: string[] = [];
  const send: SendRequest = async (method, path, { query } = {}) => {
    log.push(`${method} ${path} ${query?.code ?? ""}`.trim());
    return { status: method === "DELETE" ? status : 200, body: {} };
  };
  expect(await sendQueue(store, ME, send)).toBe(2);
  expect(log).toEqual(["POST /api/v2/stocktakes/local/scans/", "DELETE /api/v2/stocktakes/local/scans/ CO6"]);
});

test("a stocktake with a rejected scan is not applied", async () => {
  const store = await loadQueue(scanned("CO6"), scanned("CO7"), APPLY);
  const answers = { "local/scans/": { status: 400, body: { message: "codes: Too long." } } };
  const server = stocktakes(answers);
  expect(await sendQueue(store, ME, server.send)).toBe(0);
  expect(server.log).toHaveLength(2);
  expect((await readQueue(store, ME)).map(({ conflict }) => conflict?.status)).toEqual([400, 400, undefined]);
});
