import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { labd, processorTime, scratch, serve, type Server } from "./labd.ts";

/** History, bulk work and undo as a client meets them: over a socket, with a process that may be killed. */

const place = scratch();
let server: Server;
let token: string;
beforeAll(async () => {
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["user", "add", "kim", "--admin"], { env });
  token = (await labd(["token", "add", "kim"], { env })).stdout.trim();
  server = await serve(place.directory);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/api/v2/${path}`, {
    method,
    headers: { Authorization: `Token ${token}`, "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const json = async (answer: Response | Promise<Response>): Promise<Record<string, unknown>> =>
  (await (await answer).json()) as Record<string, unknown>;
const total = async (path: string): Promise<unknown> => (await json(ask("GET", path))).total;

describe("one record", () => {
  test("tags, conditional writes, keys, patches, history, as_of, restore, purge", async () => {
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const made = await ask("POST", "locations/", { label: "Box" }, key);
    const again = await ask("POST", "locations/", { label: "Box" }, key);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    const record = await json(made);
    expect(await json(again)).toEqual(record);
    const path = `locations/${String(record.id)}/`;
    expect((await ask("GET", path, undefined, { "If-None-Match": made.headers.get("etag")! })).status).toBe(
      304,
    );
    const patched = await ask("PATCH", path, [{ op: "replace", path: "/label", value: "Case" }], {
      "Content-Type": "application/json-patch+json",
      "If-Match": made.headers.get("etag")!,
    });
    expect(patched.status).toBe(200);
    expect((await ask("DELETE", path, undefined, { "If-Match": made.headers.get("etag")! })).status).toBe(
      412,
    );
    const { results } = await json(ask("GET", `${path}history/`));
    expect(results).toMatchObject([
      { op: "update", user: "kim", before: { label: "Box" }, after: { label: "Case" } },
      { op: "create" },
    ]);
    const old = await json(ask("GET", `${path}?as_of=${made.headers.get("batch-id")}`));
    expect(old).toEqual(record);
    expect(await json(ask("POST", `${path}restore/`, { version: 1 }))).toMatchObject({ label: "Box" });
    expect((await ask("DELETE", path)).status).toBe(204);
    expect((await ask("POST", `${path}purge/`)).status).toBe(204);
    expect((await ask("GET", `${path}history/`)).status).toBe(404);
  });
});

describe("many records", () => {
  const COUNT = 10_000;
  const tubes = "locations/?name=Tube&page_size=1";

  test(`${COUNT} are made, tried out, changed, deleted and brought back, each in seconds`, async () => {
    const timed = async (work: () => Promise<Response>): Promise<Response> => {
      const started = processorTime(server.process);
      const answer = await work();
      expect({ status: answer.status < 300, text: answer.status < 300 ? "" : await answer.text() }).toEqual({
        status: true,
        text: "",
      });
      expect(processorTime(server.process) - started).toBeLessThan(15_000);
      return answer;
    };
    await timed(() =>
      ask(
        "POST",
        "locations/",
        Array.from({ length: COUNT }, (_, i) => ({ label: `Tube ${i}` })),
      ),
    );
    const change = { description: "frozen" };
    const dry = await json(timed(() => ask("PATCH", "locations/?name=Tube&dry_run=1", change)));
    expect(dry.count).toBe(COUNT);
    expect(await total(`${tubes}&description=frozen`)).toBe(0);
    await timed(() => ask("PATCH", `locations/?name=Tube&confirm=${String(dry.confirm)}`, change));
    expect(await total(`${tubes}&description=frozen`)).toBe(COUNT);
    const removed = await timed(() => ask("DELETE", "locations/bulk_delete/?name=Tube"));
    const batch = removed.headers.get("batch-id");
    expect((await json(removed)).deleted).toBe(COUNT);
    await timed(() => ask("POST", `batches/${batch}/undo/`));
    expect(await total(tubes)).toBe(COUNT);
    expect(await total(`batches/${batch}/?page_size=1`)).toBe(COUNT);
  }, 300_000);

  test("a process killed amid a bulk change leaves all of it or nothing", async () => {
    const before = await total("batches/?kind=bulk_update");
    let changed = 0;
    for (const delay of [40, 150, 400, 800]) {
      const label = `after ${delay}`;
      const request = ask("PATCH", "locations/?name=Tube", { description: label }).then(
        () => "answered",
        () => "cut off",
      );
      await Bun.sleep(delay);
      await server.end("SIGKILL");
      const end = await request;
      server = await serve(place.directory);
      const done = Number(await total(`${tubes}&description=${label}`));
      expect([0, COUNT]).toContain(done);
      // What was answered was on the disk.
      if (end === "answered") expect(done).toBe(COUNT);
      if (done > 0) changed++;
      // The history tells the same as the records.
      const { results } = await json(ask("GET", "batches/?kind=bulk_update&page_size=1"));
      if (done > 0) expect(results).toMatchObject([{ changes: { locations: COUNT } }]);
      expect(await total(tubes)).toBe(COUNT);
    }
    expect(await total("batches/?kind=bulk_update")).toBe(Number(before) + changed);
  }, 300_000);
});
