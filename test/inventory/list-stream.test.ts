import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCsv } from "hucre/csv";
import { readXlsx } from "hucre/xlsx";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Lab, openLab } from "./harness.ts";

/** Long lists are streamed in chunks. A database in memory, which renders them at once, is the reference. */

const COUNT = 1300;
const directory = mkdtempSync(join(tmpdir(), "labd-streams-"));
let lab: Lab;
let whole: Lab;
beforeAll(async () => {
  lab = await openLab({ path: join(directory, "labd.sqlite") });
  whole = await openLab();
  for (const each of [lab, whole]) {
    // Some are the groups' own, so that callers differ in what they see and may do.
    const records = Array.from({ length: COUNT }, (_, i) => ({
      label: `Box ${i} "ä"`,
      place: "A 101",
      public: i % 20 !== 0,
      ...(i % 20 === 0 ? { owned_by: "Genomics" } : {}),
    }));
    const made = await each.send("alice", "POST", "locations/", records);
    expect(made.status).toBe(201);
  }
});
afterAll(() => {
  lab.database.close();
  whole.database.close();
  rmSync(directory, { recursive: true, force: true });
});

const labels = (text: string): Json[] =>
  (JSON.parse(text) as { results: { label: Json }[] }).results.map(({ label }) => label);

const MAX = "locations/?page_size=max";
const isStreamed = (tag: string | null): boolean => tag?.startsWith('W/"s') ?? false;

test("streamed and unstreamed lists have the same bytes", async () => {
  const forms = [
    "",
    "&response_format=flat",
    "&response_format=nested",
    "&fields=label,place__room,permissions&ordering=-label",
    "&label__icontains=box&page=last",
    "&page=1",
  ];
  for (const form of forms)
    for (const as of [undefined, "alice", "bob", "admin"]) {
      const options = as === undefined ? {} : { as };
      const answers = await Promise.all([lab, whole].map((each) => each.ask("GET", MAX + form, options)));
      const [streamed, printed] = answers;
      expect({ form, as, is: isStreamed(streamed.headers.get("etag")) }).toEqual({ form, as, is: true });
      expect(isStreamed(printed.headers.get("etag"))).toBe(false);
      expect(streamed.text).toBe(printed.text);
      expect(Number(streamed.body.total)).toBeGreaterThan(1200);
      for (const name of ["content-type", "allow", "vary"])
        expect(streamed.headers.get(name)).toBe(printed.headers.get(name));
    }
});

test("renders short lists in one piece", async () => {
  const short = await lab.ask("GET", `${MAX}&label=Box 7 "ä"`);
  expect([short.body.total, isStreamed(short.headers.get("etag"))]).toEqual([1, false]);
  expect((await lab.ask("GET", `${MAX}&page=2`)).status).toBe(404);
});

test("keeps the entity tag for each caller until the next write", async () => {
  const first = await lab.send("alice", "GET", MAX);
  const tag = first.headers.get("etag")!;
  const again = (as: string) => lab.ask("GET", MAX, { as, headers: { "If-None-Match": tag } });
  expect([(await again("alice")).status, (await again("bob")).status]).toEqual([304, 200]);
  const made = await lab.send("alice", "POST", "places/", { building: "B", room: "1", address: "Institute" });
  expect(made).toMatchObject({ status: 201 });
  expect((await again("alice")).status).toBe(200);
  const head = await lab.send("alice", "HEAD", MAX);
  expect([head.status, head.text, head.headers.get("content-type")]).toEqual([200, "", "application/json"]);
});

test("streams a list as of the time of the request, despite later writes", async () => {
  const before = labels((await lab.ask("GET", MAX)).text);
  const response = await lab.get(MAX);
  const reader = response.body!.getReader();
  const parts: Uint8Array[] = [(await reader.read()).value!];
  const [last] = (await lab.ask("GET", "locations/?ordering=-label&page_size=1")).body.results as {
    id: string;
  }[];
  const removed = await lab.send("admin", "DELETE", "locations/bulk_delete/?label__startswith=Box");
  expect([removed.status, Number(removed.body.deleted) > 1000]).toEqual([200, true]);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
  }
  expect(parts.length).toBeGreaterThan(6);
  const text = Buffer.concat(parts).toString();
  expect(labels(text)).toEqual(before);
  expect(text).toContain(last.id);
  const batch = removed.headers.get("batch-id")!;
  expect((await lab.ask("GET", MAX)).body.total).toBe(3);
  await lab.send("admin", "POST", `batches/${batch}/undo/`, {});
  expect(labels((await lab.ask("GET", MAX)).text)).toEqual(before);
  // The state in between can still be asked for, and is a long list too where it was one.
  const then = await lab.ask("GET", `${MAX}&deleted=true&as_of=${batch}`);
  expect([isStreamed(then.headers.get("etag")), labels(then.text).length]).toEqual([true, before.length - 3]);
});

test("streams a file as of the time of the request, despite later writes", async () => {
  for (const format of ["csv", "xlsx"]) {
    const path = `locations/?format=${format}&fields=label,barcode,place__room`;
    const file = async (response: Response, write?: () => Promise<unknown>) => {
      const reader = response.body!.getReader();
      const parts = [(await reader.read()).value!];
      await write?.();
      for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
      const bytes = Buffer.concat(parts);
      return format === "csv" ? parseCsv(bytes.toString()) : (await readXlsx(bytes)).sheets[0].rows;
    };
    const before = await file(await lab.get(path));
    expect(before.length).toBeGreaterThan(1200);
    const change = { barcode: `after ${format}` };
    const during = await file(await lab.get(path), async () => {
      const query = "locations/?label__startswith=Box";
      expect((await lab.send("admin", "PATCH", query, change)).status).toBe(200);
    });
    expect(during).toEqual(before);
    const after = await file(await lab.get(path));
    expect(after.filter((row) => row.includes(change.barcode)).length).toBeGreaterThan(1200);
  }
});

test("limits concurrent streams, and releases streams of disconnected clients", async () => {
  const before = (await lab.ask("GET", MAX)).text;
  for (let round = 0; round < 3; round++) {
    const open: Response[] = [];
    const read = async (as?: string) => {
      const response = await lab.get(MAX, as);
      if (response.status === 200) open.push(response);
      else expect([response.status, response.headers.get("retry-after")]).toEqual([503, "10"]);
    };
    for (let i = 0; i < 10; i++) await read();
    expect(open.length).toBe(8);
    for (let i = 0; i < 10; i++) await read("alice");
    expect(open.length).toBe(16);
    expect((await lab.get("locations/?format=csv", "bob")).status).toBe(503);
    // Pages are read by whoever wants them.
    expect((await lab.get("locations/?page_size=1000")).status).toBe(200);
    for (const { body } of open) await body!.cancel();
    expect((await lab.ask("GET", MAX)).text).toBe(before);
    for (const format of ["csv", "xlsx"])
      for (const part of [false, true]) {
        const { body } = await lab.get(`locations/?format=${format}`);
        const reader = body!.getReader();
        if (part) await reader.read();
        await reader.cancel();
      }
  }
  // The log can be written back whole: nobody reads an older state.
  const [state] = lab.database.query("PRAGMA wal_checkpoint(TRUNCATE)").all() as { busy: number }[];
  expect(state.busy).toBe(0);
});
