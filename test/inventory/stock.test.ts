import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Answered, expectStatuses, type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Stock: amounts, their history, aliquots, and the lists of what runs out. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const CONSUMABLES = "stocks/consumables/";
const readError = ({ body }: Answered, field: string) => (body[field] as string[] | undefined)?.[0] ?? body;
const add = async (values: object, list = CONSUMABLES, as = "alice") => {
  const { status, body } = await lab.send(as, "POST", list, { name: "Taq", model_type: "ENZYME", ...values });
  expect({ status, body }).toMatchObject({ status: 201 });
  return `${list}${String(body.id)}/`;
};
const act = (path: string, action: string, body: object, as = "alice") =>
  lab.send(as, "POST", `${path}${action}/`, body);
const read = async (path: string) => (await lab.send("alice", "GET", `${path}?fields=*`)).body;

describe("amounts", () => {
  test("consuming and refilling change the amount, and the status that follows it", async () => {
    const path = await add({ amount: 0.3, minimum_amount: 0.15, status: "AVAILABLE" });
    const steps: [string, object, number, string][] = [
      ["consume", { amount: 0.1 }, 0.2, "AVAILABLE"],
      ["consume", { amount: 0.1 }, 0.1, "LOW"],
      ["consume", { amount: 0.1 }, 0, "EMPTY"],
      ["refill", { amount: 5, lot: "L2", expiry: "2027-01-31" }, 5, "AVAILABLE"],
    ];
    for (const [action, body, amount, status] of steps) {
      const answer = await act(path, action, body);
      expect([answer.status, answer.body.amount, answer.body.status]).toEqual([200, amount, status]);
    }
    expect(await read(path)).toMatchObject({ lot: "L2", expiry: "2027-01-31", below_minimum: false });
    const other = await add({ amount: 1, status: "RESERVED" });
    expect((await act(other, "consume", { amount: 1 })).body.status).toBe("RESERVED");
  });

  test.each<[object, string, object, string, string]>([
    [{ amount: 1 }, "consume", { amount: 1.5 }, "amount", "Only 1 is left."],
    [{}, "consume", { amount: 1 }, "amount", "The record has no amount. Set its amount and unit first."],
    [{}, "refill", { amount: 1 }, "amount", "The record has no amount. Set its amount and unit first."],
    [{ amount: 1 }, "aliquots", { count: 3, amount: 0.5 }, "amount", "Only 1 is left."],
    [
      { amount: 1 },
      "aliquots",
      { count: 1, location: IDS.gram },
      "location",
      "This location does not exist, or you may not view it. Give another location.",
    ],
  ])("of %p, %s %p is refused", async (values, action, body, field, error) => {
    const path = await add(values);
    const answer = await act(path, action, body);
    expect([answer.status, readError(answer, field)]).toEqual([400, error]);
    expect((await read(path)).version).toBe(1);
  });

  test("adds and takes out amounts in other units of the same dimension", async () => {
    const { body: units } = await lab.send("alice", "POST", "categories/", { name: "volume", kind: "unit" });
    const { body: unit } = await lab.send("alice", "POST", "terms/", {
      name: "µl",
      category: String(units.id),
    });
    const path = await add({ amount: 300, unit: String(unit.id), status: "AVAILABLE" });
    const steps: [string, object, number][] = [
      ["consume", { amount: 0.1, unit: "mL" }, 200],
      ["consume", { amount: 30_000, unit: "nL" }, 170],
      ["refill", { amount: 1, unit: "ml" }, 1170],
      ["consume", { amount: 70 }, 1100],
    ];
    for (const [action, body, amount] of steps) {
      const answer = await act(path, action, body);
      expect([answer.status, answer.body.amount, answer.body.unit]).toEqual([200, amount, String(unit.id)]);
    }
    const made = await act(path, "aliquots", { count: 3, amount: 0.2, unit: "mL" });
    const shown = Object.values(made.body) as { amount?: number; unit?: string }[];
    expect(shown.flatMap(({ amount, unit: its }) => (amount === undefined ? [] : [[amount, its]]))).toEqual(
      Array.from({ length: 3 }, () => [200, String(unit.id)]),
    );
    expect((await read(path)).amount).toBe(500);
    for (const [action, body] of [
      ["consume", { amount: 1, unit: "mg" }],
      ["aliquots", { count: 1, amount: 1, unit: "mg" }],
    ] as const)
      expect(readError(await act(path, action, body), "unit")).toBe(
        "The record is measured in µL. Choices: µL, L, mL, nL.",
      );
    expect(readError(await act(path, "consume", { amount: 1, unit: "mL" }), "amount")).toBe(
      "Only 500 µL is left.",
    );
  });

  test.each<[string, object, string]>([
    ["consume", { amount: 0 }, "amount: Must be more than 0."],
    ["consume", { amount: -1 }, "amount: Must be more than 0."],
    [
      "consume",
      { amount: 1, unit: "gram" },
      "unit: The record has no unit. Leave the unit out, or set that of the record first.",
    ],
    ["consume", {}, "amount: This field is required."],
    ["refill", { amount: 1, received: "today" }, "received: Must be a date, such as 2026-01-31."],
    ["aliquots", { count: 0 }, "count: Must be at least 1."],
    ["aliquots", { count: 1001 }, "count: Must be at most 1000."],
    ["thaw", { count: 1 }, "count: Unknown field."],
  ])("%s %p is invalid", async (action, body, message) => {
    const answer = await act(await add({ amount: 5 }), action, body);
    expect([answer.status, answer.body.message]).toEqual([400, message]);
  });

  test.each<[Record<string, Json>, string, string]>([
    [{ minimum_amount: -1 }, "minimum_amount", "Ensure this value is greater than or equal to 0."],
    [{ price: -0.01 }, "price", "Ensure this value is greater than or equal to 0."],
    [{ freeze_thaw_count: -1 }, "freeze_thaw_count", "Ensure this value is greater than or equal to 0."],
    [{ amount: "0,25" }, "amount", "A valid number is required. Write it with a point, such as 0.25."],
    [{ amount: "1,5 mL" }, "amount", "A valid number is required."],
    [{ currency: "Euro" }, "currency", "Expected a currency code such as EUR."],
    [{ expiry: "soon" }, "expiry", "Expected a date, such as 2026-01-31."],
    [{ expiry: "2026-01-31T09:30:00Z" }, "expiry", "Expected a date without a time, such as 2026-01-31."],
  ])("refuses %p", async (values, field, error) => {
    const { status, body } = await lab.send("alice", "POST", CONSUMABLES, { name: "x", ...values });
    expect([status, Object.keys(body), body[field]]).toEqual([400, [field, "message"], [error]]);
  });

  test("concurrent withdrawals never exceed the amount, and every accepted withdrawal counts", async () => {
    const path = await add({ amount: 5 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => act(path, "consume", { amount: 1 })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 400, 400, 400]);
    expect((await read(path)).amount).toBe(0);
  });

  test("a repeated request with the same key is executed once, and an outdated version is refused", async () => {
    const path = await add({ amount: 5 });
    const send = (headers: Record<string, string>) =>
      lab.ask("POST", `${path}consume/`, { as: "alice", body: { amount: 1 }, headers });
    for (let i = 0; i < 2; i++) expect((await send({ "Idempotency-Key": path })).status).toBe(200);
    expect((await read(path)).amount).toBe(4);
    expect((await send({ "If-Match": '"1"' })).status).toBe(412);
  });

  test("only users who may change a record may change its stock", async () => {
    const path = await add({ amount: 5, public: true });
    await expectStatuses(lab, "bob", [
      [`POST ${path}consume/`, 403, { amount: 1 }],
      [`POST ${path}aliquots/`, 403, { count: 1 }],
      [`POST ${path}thaw/`, 403, {}],
    ]);
    const hidden = await add({ amount: 5 });
    await expectStatuses(lab, "bob", [[`POST ${hidden}consume/`, 404, { amount: 1 }]]);
  });

  test("the history shows the changes of the amount", async () => {
    const path = await add({ amount: 5 });
    await act(path, "consume", { amount: 2 });
    await lab.send("alice", "PATCH", path, { name: "Renamed" });
    await act(path, "refill", { amount: 10 });
    const { body } = await lab.send("alice", "GET", `${path}history/?field=amount`);
    const amounts = (body.results as { after: Record<string, Json> }[]).map(({ after }) => after.amount);
    expect([body.total, amounts]).toEqual([3, [13, 3, 5]]);
    expect((await lab.send("alice", "GET", `${path}history/?field=amuont`)).status).toBe(400);
  });
});

describe("aliquots", () => {
  test("share the properties of a record, take its amount, and are undone together", async () => {
    const path = await add(
      { amount: 1, unit: "gram", lot: "L1", supplier: "S", status: "AVAILABLE" },
      CONSUMABLES,
    );
    const preview = await lab.send("alice", "POST", `${path}aliquots/?dry_run=1`, { count: 3, amount: 0.2 });
    expect(preview.body.count).toBe(4);
    const made = await act(path, "aliquots", { count: 3, amount: 0.2, name: "Tube" });
    expect(made.status).toBe(201);
    const shown = made.body as unknown as Record<string, Json>[];
    expect(
      shown.map(({ name, amount, lot, supplier, unit, status }) => [
        name,
        amount,
        lot,
        supplier,
        unit,
        status,
      ]),
    ).toEqual([1, 2, 3].map((n) => [`Tube ${n}`, 0.2, "L1", "S", IDS.gram, "AVAILABLE"]));
    expect(`${CONSUMABLES}${String(shown[0].aliquot_of)}/`).toBe(path);
    expect((await read(path)).amount).toBe(0.4);
    const [again] = (await act(path, "aliquots", { count: 1 })).body as unknown as Record<string, Json>[];
    expect([again.name, again.amount]).toEqual(["Taq 4", null]);
    const of = path.split("/").at(-2);
    expect((await lab.send("alice", "GET", `${CONSUMABLES}?aliquot_of=${of}`)).body.total).toBe(4);
    expect(
      (await lab.send("alice", "POST", `batches/${made.headers.get("Batch-Id")}/undo/`, {})).status,
    ).toBe(200);
    expect((await read(path)).amount).toBe(1);
    expect((await lab.send("alice", "GET", `${CONSUMABLES}?aliquot_of=${of}`)).body.total).toBe(1);
  });

  test("aliquots outlive the record that they come from", async () => {
    const path = await add({});
    const [aliquot] = (await act(path, "aliquots", { count: 1 })).body as unknown as Record<string, Json>[];
    await expectStatuses(lab, "alice", [
      [`DELETE ${path}`, 204],
      [`PATCH ${CONSUMABLES}${String(aliquot.id)}/`, 200, { lot: "L" }],
      [`DELETE ${CONSUMABLES}${String(aliquot.id)}/`, 204],
      [`POST ${CONSUMABLES}${String(aliquot.id)}/restore/`, 200, {}],
    ]);
    expect((await lab.send("admin", "POST", `${path}purge/`, {})).status).toBe(409);
  });

  test("aliquots that the caller may not view, and a hidden source, are neither listed nor counted", async () => {
    const path = await add({ public: false });
    const of = path.split("/").at(-2);
    const made = (await act(path, "aliquots", { count: 3 })).body as unknown as Record<string, Json>[];
    const [seen] = made.map(({ id }) => String(id));
    await expectStatuses(lab, "alice", [[`PATCH ${CONSUMABLES}${seen}/`, 200, { public: true }]]);
    const list = async (filter: string, as?: string) => {
      const { body } = await lab.ask("GET", `${CONSUMABLES}?${filter}`, { as });
      return [body.total, (body.results as { id: string }[]).map(({ id }) => id)];
    };
    expect((await list(`aliquot_of=${of}`, "alice"))[0]).toBe(3);
    expect(await list(`aliquot_of=${of}`)).toEqual([1, [seen]]);
    expect(await list(`id=${of}`)).toEqual([0, []]);
    expect((await lab.ask("GET", `${path}references/`)).status).toBe(404);
    await expectStatuses(lab, "alice", [[`PATCH ${path}`, 200, { public: true }]]);
    const { body } = await lab.ask("GET", `${path}references/`);
    expect([body.total, body.results]).toMatchObject([1, [{ total: 1, records: [{ id: seen }] }]]);
  });

  test("aliquots fill the free slots of a box", async () => {
    const box = await add(
      { label: "Box", grid_rows: 2, grid_columns: 2, name: undefined, model_type: undefined },
      "locations/",
    );
    const location = box.split("/")[1];
    const path = await add({ location, position: "A1" }, "stocks/specimen/");
    const { body } = await act(path, "aliquots", { count: 3 });
    expect((body as unknown as Record<string, Json>[]).map(({ position }) => position)).toEqual([
      "A2",
      "B1",
      "B2",
    ]);
    expect(readError(await act(path, "aliquots", { count: 1 }), "location")).toBe(
      "One record, but no free slot.",
    );
    const [free] = (await act(path, "aliquots", { count: 1, location: null })).body as unknown as Record<
      string,
      Json
    >[];
    expect([free.location, free.position]).toEqual([null, ""]);
  });

  test.each([
    ["admin", "Genomics"],
    ["bob", "Imaging"],
  ])("aliquots made by %s belong to %s", async (as, group) => {
    const path = await add({ owned_by: "Genomics" });
    await lab.send("alice", "PATCH", `${path}permissions/`, { users: [{ user: "bob", change: true }] });
    const { body } = await lab.send(as, "POST", `${path}aliquots/`, { count: 1 });
    const [{ owned_by }] = body as unknown as Record<string, Json>[];
    expect(owned_by).toBe(group);
  });

  test("aliquots start with the freeze–thaw cycles of their record", async () => {
    const path = await add({}, "stocks/specimen/");
    await act(path, "thaw", {});
    expect((await act(path, "thaw", {})).body.freeze_thaw_count).toBe(2);
    const [aliquot] = (await act(path, "aliquots", { count: 1 })).body as unknown as Record<string, Json>[];
    expect(aliquot.freeze_thaw_count).toBe(2);
  });
});

describe("lists", () => {
  const DAY = 86_400_000;
  const dayIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
  const named = async (query: string, as: string | undefined) => {
    const { status, body } = await lab.ask(
      "GET",
      `${CONSUMABLES}?name=List&fields=name&response_format=flat&${query}`,
      as ? { as } : {},
    );
    return status === 200
      ? (body.results as { name: string }[]).map(({ name }) => name.slice(5))
      : body.message;
  };
  beforeAll(async () => {
    await add({ name: "List soon", expiry: dayIn(20), public: true });
    await add({ name: "List past", expiry: dayIn(-1), amount: 1, minimum_amount: 2 });
    await add({ name: "List late", expiry: dayIn(40), amount: 2, minimum_amount: 2, public: true });
    await add({ name: "List bob", amount: 0, minimum_amount: 0.1, public: true }, CONSUMABLES, "bob");
    const shared = await add({ name: "List shared" }, CONSUMABLES, "bob");
    const users = [{ user: "alice", view: true }];
    await expectStatuses(lab, "bob", [[`PATCH ${shared}permissions/`, 200, { users }]]);
    await add({ name: "List genomics", owned_by: "Genomics" }, CONSUMABLES, "admin");
  });

  test.each<[string, string | undefined, string[] | string]>([
    ["expiry__lte=30d&expiry__gte=today", "alice", ["soon"]],
    ["expiry__lt=today", "alice", ["past"]],
    ["expiry__lt=today", "bob", []],
    ["expiry=20d", "alice", ["soon"]],
    [
      'query_expression={"category":"expiry","operator":"<=","value":"30d"}&ordering=expiry',
      "alice",
      ["past", "soon"],
    ],
    [
      "expiry__lte=30x",
      "alice",
      "expiry__lte: Expected a date (2026-01-31) or a time (2026-01-31T09:30:00.000000+00:00), or a day counted from today (today, 30d, -7d), or now.",
    ],
    ["below_minimum=true", "alice", ["bob", "past"]],
    ["below_minimum=true", "bob", ["bob"]],
    ["below_minimum=true", undefined, ["bob"]],
    ["mine=true", "alice", ["late", "past", "soon"]],
    ["mine=true", "bob", ["bob", "shared"]],
    ["mine=true", undefined, []],
    ["mine=false", "bob", ["late", "soon"]],
    ["shared_with_me=true", "alice", ["genomics", "shared"]],
    ["shared_with_me=true", "bob", []],
    ["shared_with_me=true", undefined, []],
    ["shared_with_me=false&mine=false", "alice", ["bob"]],
    ["mine=maybe", "alice", "mine: Expected true or false."],
  ])("%s shows %s the records %p", async (query, as, expected) => {
    expect(await named(query, as)).toEqual(expected);
  });

  test("the list of recent changes starts at the given day", async () => {
    lab.clock.set(Date.now());
    await add({ name: "List new" });
    expect(await named("modified__gte=-7d", "alice")).toEqual(["new"]);
  });

  test("the filter follows the amount, and its history is complete", async () => {
    const path = await add({ name: "List follows", amount: 5, minimum_amount: 1 });
    const changed = await lab.send("alice", "PATCH", `${CONSUMABLES}?name=List follows`, { amount: 0.5 });
    expect(changed.status).toBe(200);
    expect(await named("below_minimum=true", "alice")).toContain("follows");
    const past = await lab.send(
      "alice",
      "GET",
      `${path}?fields=below_minimum&as_of=${changed.headers.get("Batch-Id")}`,
    );
    expect(past.body).toEqual({ below_minimum: true });
  });
});
