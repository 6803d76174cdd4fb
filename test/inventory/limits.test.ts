import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readTable } from "../../src/inventory/imports/import-file.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { LIMITS } from "../../src/inventory/model/limits.ts";
import { exceeded, type Limit, LIMITS as PLATFORM_LIMITS } from "../../src/platform/limits.ts";
import { workbook } from "../fixtures/workbook.ts";
import { type Lab, openLab } from "./harness.ts";

/** Every limit at its boundary: what is allowed works, one more is refused with the message of the limit. */

// Large inputs take seconds on a busy machine.
setDefaultTimeout(60_000);

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});

const created = async (list: string, body: Json): Promise<string> => {
  const answer = await lab.send("alice", "POST", list, body);
  expect([list, answer.status, answer.text]).toEqual([list, 201, expect.any(String)]);
  return String(answer.body.id);
};

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const repeated = (count: number, name: string, value = "x"): string =>
  many(count, (i) => `${name}=${value}${i}`).join("&");
const comparisons = (count: number): string =>
  `query_expression=${many(count, (i) => `{"category":"label","operator":"icontains","value":"${i}"}`).join(",")}`;

describe("limits of lists", () => {
  test.each<[string, Limit, (count: number) => string]>([
    ["comparisons of an expression", LIMITS.conditions, comparisons],
    ["expressions together", LIMITS.conditions, (n) => `${comparisons(100)}&${comparisons(n - 100)}`],
    ["parameters and expression", LIMITS.conditions, (n) => `${comparisons(n - 2)}&owner=a&owner=b&name=x`],
    [
      "words of several searches",
      LIMITS.conditions,
      (n) => `${repeated(10, "query", many(19, String).join("+"))}&${repeated(n - 190, "name")}`,
    ],
    ["values compared for equality", LIMITS.values, (n) => repeated(n, "owner")],
    ["values in a list with commas", LIMITS.values, (n) => `owner=${many(n, String).join(",")}`],
    ["ids with commas", LIMITS.values, (n) => `id=${many(n, () => Bun.randomUUIDv7()).join(",")}`],
    ["values of __in", LIMITS.values, (n) => `label__in=${many(n, String).join(",")}`],
    ["values compared otherwise", LIMITS.texts, (n) => repeated(n, "notes__content__icontains")],
    ["descriptions", LIMITS.texts, (n) => repeated(n, "description")],
    ["words", LIMITS.words, (n) => `query=${many(n, String).join("+")}`],
    ["fields in an ordering", LIMITS.terms, (n) => `ordering=${many(n, () => "label").join(",")}`],
    ["records on a page", LIMITS.rows, (n) => `page_size=${n}`],
  ])("enforces the limit of %s", async (_, limit, query) => {
    expect((await lab.ask("GET", `locations/?${query(limit.max)}`)).status).toBe(200);
    const over = await lab.ask("GET", `locations/?${query(limit.max + 1)}`);
    expect([over.status, over.body.message]).toEqual([400, expect.stringContaining(exceeded(limit))]);
  });

  test.each(["1000000000000", "00001001", "99999"])("rejects page_size=%s", async (size) => {
    const { status, body } = await lab.ask("GET", `locations/?page_size=${size}`);
    expect([status, body]).toEqual([
      400,
      { page_size: [exceeded(LIMITS.rows)], message: `page_size: ${exceeded(LIMITS.rows)}` },
    ]);
  });

  test("a page of a history has a maximum size", async () => {
    for (const path of ["batches/", "changes/"]) {
      expect((await lab.ask("GET", `${path}?page_size=1000`, { as: "alice" })).status).toBe(200);
      expect((await lab.ask("GET", `${path}?page_size=1001`, { as: "alice" })).status).toBe(400);
    }
  });
});

test("a page of a list with more than 1,000 records links to its streams", async () => {
  const own = await openLab();
  const create = (count: number) =>
    own.send(
      "alice",
      "POST",
      "locations/",
      many(count, (i) => ({ label: `Row ${i}`, description: "long" })),
    );
  const page = () => own.ask("GET", "locations/?description=long&page_size=max&format=api", { as: "alice" });
  await create(1000);
  expect((await page()).headers.get("content-type")).toContain("text/html");
  await create(1);
  const { status, text } = await page();
  expect(status).toBe(400);
  for (const format of ["json", "csv"])
    expect(text).toContain(`http://lab/api/v2/locations/?description=long&page_size=max&format=${format}`);
});

describe("limits of JSON Patches", () => {
  const type = (choices: Json): Promise<string> =>
    created("annotationtypes/", {
      name: `limit_${Bun.randomUUIDv7()}`,
      type: "TEXT",
      value_choices: choices,
    });
  const patch = (id: string, operations: Json) =>
    lab.send("alice", "PATCH", `annotationtypes/${id}/`, operations);

  test("a JSON Patch may have 1,000 operations", async () => {
    const id = await type([["a", "A"]]);
    const add = (count: number) =>
      many(count, (i) => ({ op: "replace", path: "/value_choices/0", value: [`n${i}`, "N"] }));
    expect((await patch(id, add(1000))).status).toBe(200);
    expect((await patch(id, add(1001))).body.message).toBe(`patch: ${exceeded(LIMITS.operations)}`);
  });

  test.each([22, 30])("a patch rejects %d copies that double a value", async (count) => {
    const id = await type(many(4, (i) => [`n${i}`, "x".repeat(20)]));
    const copies = many(count, () => ({ op: "copy", from: "/value_choices", path: "/value_choices/-" }));
    const { status, body } = await patch(id, copies);
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/^\[\d+\]: More than 250,000 characters of JSON/),
    ]);
  });

  test("counts values added by copying, not by moving", async () => {
    const text = "y".repeat(9000);
    const id = await type([["a", text]]);
    const size = JSON.stringify(["a", text]).length;
    const max = Math.floor(LIMITS.growth.max / size);
    const copy = (count: number) =>
      many(count, () => [
        { op: "copy", from: "/value_choices/0", path: "/value_choices/1" },
        { op: "remove", path: "/value_choices/1" },
      ]).flat();
    const move = many(400, () => ({ op: "move", from: "/value_choices/0", path: "/value_choices/0" }));
    // A removal counts the four characters of null.
    expect((await patch(id, [...copy(max - 2), ...move])).status).toBe(200);
    expect((await patch(id, copy(max + 1))).body.message).toContain(exceeded(LIMITS.growth));
  });
});

describe("bulk operations", () => {
  test.each([1000, 1001, 100_000])("limits the %d tests of a patch on one record to 1,000", async (count) => {
    const id = await created("locations/", { label: `Tested ${count}` });
    const tests = many(count, () => ({ op: "test", path: `/${id}/label`, value: `Tested ${count}` }));
    const { status, body } = await lab.send("alice", "PATCH", "locations/", tests);
    if (count === 1000) expect(status).toBe(200);
    else expect([status, body.message]).toEqual([400, `non_field_errors: ${exceeded(LIMITS.operations)}`]);
  });

  test("an error describes up to 1,000 rejected records", async () => {
    const bodies = many(2000, () => ({ colour: "red" }));
    const { status, text } = await lab.send("alice", "POST", "locations/", bodies);
    expect(status).toBe(400);
    const errors = JSON.parse(text) as object[];
    expect(errors).toHaveLength(2000);
    expect(errors.filter((error) => "colour" in error)).toHaveLength(1000);
  });
});

describe("unknown fields", () => {
  const unknown = (count: number) => ({
    label: "A",
    ...Object.fromEntries(many(count, (i) => [`unknown_${i}`, 1])),
  });

  test("an error names up to 20 unknown fields", async () => {
    const { body } = await lab.send("alice", "POST", "locations/", unknown(20));
    expect(Object.keys(body)).toHaveLength(21);
    expect(body.unknown_19).toEqual(['"unknown_19" is not a field of location.']);
  });

  test("counts unknown fields beyond the first 20", async () => {
    const { body } = await lab.send("alice", "POST", "locations/", unknown(1021));
    expect(Object.keys(body)).toHaveLength(22);
    expect(body.non_field_errors).toEqual(["And 1,001 more unknown fields."]);
  });

  test("counts unknown members of permissions beyond the first 20", async () => {
    const id = await created("locations/", { label: "Shared" });
    const { body } = await lab.send("alice", "PATCH", `locations/${id}/permissions/`, unknown(1019));
    expect(body.label).toEqual(['"label" is not a field of permissions. Choices: public, users, groups.']);
    expect(body.non_field_errors).toEqual(["And 1,000 more unknown fields."]);
  });
});

describe("limits of JSON", () => {
  const object = (count: number): string => `{${many(count, (i) => `"k${i}":1`).join(",")}}`;

  test.each(["locations/", "token-auth/"])(
    "a POST to %s has up to 10,000 members in an object",
    async (path) => {
      const post = (body: string) => lab.ask("POST", path, { as: "alice", body });
      expect((await post(object(10_000))).body.message).not.toBe(exceeded(PLATFORM_LIMITS.members));
      expect((await post(object(10_001))).body.message).toBe(exceeded(PLATFORM_LIMITS.members));
      const large = object(800_000);
      expect((await post(large)).status).toBe(413);
    },
  );

  test("counts the members of each object, and no colons in strings", async () => {
    const bodies = many(20_000, (i) => ({ id: `:"\\${i}` }));
    const { body } = await lab.send("alice", "PATCH", "locations/", bodies);
    expect(body.message).toContain("Not found");
  });

  test("a JSON body has up to a million lists and objects", async () => {
    const post = (count: number) =>
      lab.ask("POST", "locations/", { as: "alice", body: `[${"[],".repeat(count - 2)}[]]` });
    expect((await post(PLATFORM_LIMITS.containers.max)).body.message).toBe(exceeded(LIMITS.records));
    expect((await post(PLATFORM_LIMITS.containers.max + 1)).body.message).toBe(
      exceeded(PLATFORM_LIMITS.containers),
    );
  });
});

describe("nested locations", () => {
  test("nested locations are at most 50 deep, counted from above and from below", async () => {
    const chain = async (length: number): Promise<string[]> => {
      const ids: string[] = [];
      for (let i = 0; i < length; i++)
        ids.push(await created("locations/", { label: `L${i}`, parent: ids.at(-1) ?? null }));
      return ids;
    };
    const ids = await chain(LIMITS.depth.max);
    const over = await lab.send("alice", "POST", "locations/", { label: "Deeper", parent: ids.at(-1)! });
    expect(over.body).toEqual({
      parent: [exceeded(LIMITS.depth)],
      message: `parent: ${exceeded(LIMITS.depth)}`,
    });
    const [top] = await chain(3);
    const move = (parent: string) => lab.send("alice", "PATCH", `locations/${top}/`, { parent });
    expect((await move(ids[47])).body.message).toBe(`parent: ${exceeded(LIMITS.depth)}`);
    expect((await move(ids[46])).status).toBe(200);
    expect((await lab.send("alice", "PATCH", `locations/${top}/`, { label: "Renamed" })).status).toBe(200);
  });
});

describe("limits of imported files", () => {
  const importFile = async (file: Uint8Array<ArrayBuffer>) => {
    const { status, bytes } = await lab.bytes("POST", "consumables/import/?dry_run=1", {
      as: "alice",
      body: file,
    });
    return {
      status,
      length: bytes.length,
      body: JSON.parse(new TextDecoder().decode(bytes)) as Record<string, Json>,
    };
  };
  const tooLong = exceeded(LIMITS.cell);

  test.each([true, false])(
    "an XLSX file has cells of up to 32,767 characters (shared text: %p)",
    async (shared) => {
      const cell = (times: number) => importFile(workbook("description", { text: "é", times, shared }));
      const allowed = await cell(LIMITS.cell.max);
      // The field is shorter than the cell.
      expect((allowed.body.errors as { message: string }[])[0].message).toContain(
        "no more than 10000 characters",
      );
      const over = await cell(LIMITS.cell.max + 1);
      expect([over.status, over.body.message]).toEqual([413, `Row 2, column 1: ${tooLong}`]);
    },
  );

  test.each([",", ";", "\t"])(
    "a CSV file separated by %j has cells of up to 32,767 characters",
    async (separator) => {
      const cell = (value: string) =>
        importFile(new TextEncoder().encode(`name${separator}description\nx${separator}"${value}"\n`));
      const allowed = await cell("é".repeat(LIMITS.cell.max));
      expect((allowed.body.errors as { message: string }[])[0].message).toContain(
        "no more than 10000 characters",
      );
      // The quote that protects a formula does not count.
      expect((await cell(`'=${"é".repeat(LIMITS.cell.max - 1)}`)).status).toBe(200);
      const over = await cell("é".repeat(LIMITS.cell.max + 1));
      expect([over.status, over.body.message]).toEqual([413, `Row 2, column 2: ${tooLong}`]);
      const header = await importFile(
        new TextEncoder().encode(`name${separator}${"h".repeat(LIMITS.cell.max + 1)}\n`),
      );
      expect([header.status, header.body.message]).toEqual([413, `Row 1, column 2: ${tooLong}`]);
    },
  );

  test.each(["x".repeat(1_000_000), `<r><t>${"x".repeat(30_000)}</t></r>`.repeat(30)])(
    "rejects an XLSX file with a cell of 480 MB without unpacking it",
    async (text) => {
      const file = workbook("name", { text, times: Math.ceil(480_000_000 / text.length) });
      expect(file.length).toBeLessThan(1_500_000);
      const before = process.memoryUsage.rss();
      const { status, body } = await importFile(file);
      expect([status, body.message]).toEqual([413, tooLong]);
      expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
    },
  );

  test("shortens a long header in the import report", async () => {
    const { length, body } = await importFile(workbook("h".repeat(32_000), { text: "a", times: 1 }));
    const header = `${"h".repeat(200)}…`;
    expect(body.columns).toEqual([{ header, field: null, source: "none" }]);
    expect(body.errors).toMatchObject([{ row: 1, column: header }]);
    expect(length).toBeLessThan(3000);
  });
});

test("a write to more than 1,000 records returns all of them in a streamed response", async () => {
  const own = await openLab();
  const bodies = many(LIMITS.rows.max + 1, (i) => ({ label: `Row ${i}`, description: "piecewise" }));
  const answer = own.through(undefined);
  const headers = { Authorization: `Token ${own.tokens.alice}`, "Content-Type": "application/json" };
  const write = async (method: string, path: string, body: unknown, more: Record<string, string> = {}) => {
    const address = `http://lab/api/v2/locations/${path}`;
    const sent = { method, headers: { ...headers, ...more }, body: JSON.stringify(body) };
    const response = await answer(new Request(address, sent));
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body!) pieces.push(piece);
    return { pieces: pieces.length, records: JSON.parse(Buffer.concat(pieces).toString()) as Json };
  };
  const created = await write("POST", "", bodies);
  const labels = (created.records as { label: string }[]).map(({ label }) => label);
  expect(labels).toEqual(bodies.map(({ label }) => label));
  expect(created.pieces).toBeGreaterThan(5);
  const flat = await write("PATCH", "?description=piecewise&response_format=flat&fields=label", {
    barcode: "",
  });
  expect(flat.records).toEqual({ results: expect.arrayContaining([{ label: "Row 1000" }]) as never });
  const stored = await write("POST", "?fields=label", bodies, { "Idempotency-Key": "large" });
  expect(await write("POST", "?fields=label", bodies, { "Idempotency-Key": "large" })).toEqual(stored);
});

describe("limits of imported files", () => {
  const read = (table: string) =>
    readTable(Buffer.from(table), { onProgress() {}, check() {}, stores: false });

  test("rejects more than 200,000 rows", async () => {
    const rows = (count: number) => `name\n${"a\n".repeat(count)}`;
    expect((await read(rows(LIMITS.fileRows.max))).count).toBe(200_000);
    expect(read(rows(LIMITS.fileRows.max + 1))).rejects.toThrow(exceeded(LIMITS.fileRows));
  });

  test("rejects more than 200 columns", async () => {
    const columns = (count: number) => many(count, (i) => `column ${i}`).join(",");
    expect((await read(columns(LIMITS.columns.max))).headers).toHaveLength(200);
    expect(read(columns(LIMITS.columns.max + 1))).rejects.toThrow(`Row 1: ${exceeded(LIMITS.columns)}`);
  });
});

test("limits the labels of a file to 2,000", async () => {
  const own = await openLab();
  const create = (count: number) =>
    own.send(
      "alice",
      "POST",
      "consumables/",
      many(count, (i) => ({ name: `Tube ${i}`, model_type: "OTHER" })),
    );
  const labels = (query: string) =>
    own.ask("GET", `consumables/labels/?format=zpl&name=Tube&sheet=100x50&symbol=code128${query}`, {
      as: "alice",
    });
  await create(LIMITS.labels.max);
  const { status, text } = await labels("");
  expect([status, text.split("^XA").length - 1]).toEqual([200, 2000]);
  await create(1);
  const over = await labels("");
  expect([over.status, over.body.message]).toEqual([413, exceeded(LIMITS.labels)]);
  expect((await labels("&page_size=2000&page=2")).status).toBe(200);
  expect((await labels("&page_size=2001")).body.message).toBe(`page_size: ${exceeded(LIMITS.labels)}`);
});

test("limits a write to 100,000 records", async () => {
  const remove = (count: number) =>
    lab.send("alice", "DELETE", "locations/bulk_delete/", { ids: many(count, (i) => `id-${i}`) });
  expect((await remove(LIMITS.records.max)).status).toBe(404);
  const { status, body } = await remove(LIMITS.records.max + 1);
  expect([status, body.message]).toEqual([413, exceeded(LIMITS.records)]);
});
