import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";

/** Stock that is running out, and its orders. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

type Values = Record<string, unknown>;
const send = async (as: string, method: string, path: string, body: object = {}, headers = {}) =>
  lab.ask(method, path, { as, body, headers });
const create = async (list: string, values: object): Promise<string> => {
  const { status, body } = await send("alice", "POST", `${list}/`, values);
  expect({ status, body }).toMatchObject({ status: 201 });
  return String(body.id);
};
const product = (values: object = {}) =>
  create("stocks/products", { name: "Ligase", supplier: "NEB", ...values });
const tube = (values: object) =>
  create("stocks/consumables", { name: "Tube", status: "AVAILABLE", ...values });
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const stockOf = async (query: string, as = "alice") =>
  (await lab.send(as, "GET", `stocks/products/running_out/?${query}`)).body as {
    total: number;
    counts: Values;
    results: Values[];
  };
const stateOf = async (id: string, as?: string) => (await stockOf(`product=${id}`, as)).results[0]?.state;

test.each<[object[], object, string | null]>([
  [[{ amount: 5 }], {}, null],
  [[{ amount: 0 }, { status: "EMPTY" }], {}, "empty"],
  [[], { minimum_amount: 1 }, "empty"],
  [[], {}, null],
  [[{ status: "LOW" }, { amount: 0 }], {}, "low"],
  [[{ status: "LOW" }, { amount: 5 }], {}, null],
  [[{}], { minimum_amount: 2 }, "low"],
  [[{}, {}], { minimum_amount: 2 }, null],
  [[{}, {}, { expiry: inDays(-1) }], { minimum_amount: 3 }, "low"],
  [[{ expiry: inDays(-1) }], {}, "expired"],
  [[{ expiry: inDays(-1) }, { expiry: inDays(0) }], {}, "expiring"],
  [[{ expiry: inDays(30) }], {}, "expiring"],
  [[{ expiry: inDays(31) }], {}, null],
  [[{ expiry: inDays(3) }, {}], {}, null],
  [[{ expiry: inDays(3) }, {}], { minimum_amount: 2 }, "expiring"],
])("tubes %j of a product with %j: %p", async (tubes, values, expected) => {
  const id = await product(values);
  for (const each of tubes) await tube({ ...each, product: id });
  expect(await stateOf(id)).toBe(expected);
});

test("amounts of a product add up across units", async () => {
  const category = await create("categories", { name: "volume", kind: "unit" });
  const milliliter = await create("terms", { name: "milliliter", category });
  const microliter = await create("terms", { name: "microliter", category });
  const id = await product({ unit: microliter, minimum_amount: 600, full_amount: 1000 });
  await tube({ product: id, amount: 0.5, unit: milliliter });
  expect(await stateOf(id)).toBe("low");
  await tube({ product: id, amount: 100, unit: microliter });
  expect((await stockOf(`product=${id}`)).results[0]).toMatchObject({
    state: null,
    left: 600,
    unit: "microliter",
    full: 1000,
    tubes: 2,
  });
});

test("amounts in one unit add up in decimals", async () => {
  const category = await create("categories", { name: "mass", kind: "unit" });
  const unit = await create("terms", { name: "milligram", label: "mg", category });
  const id = await product({ unit, minimum_amount: 600 });
  for (const amount of [20, 0.2, 30.1]) await tube({ product: id, amount, unit });
  expect((await stockOf(`product=${id}`)).results[0]).toMatchObject({ left: 50.3, unit: "milligram" });
});

test("the list has products and records without one, as the filters of the lists find them", async () => {
  const own = await openLab();
  const add = (values: object, list = "stocks/consumables") =>
    own.send("alice", "POST", `${list}/`, { name: "x", status: "AVAILABLE", ...values });
  const cases = [
    { status: "EMPTY" },
    { status: "LOW" },
    { amount: 1, minimum_amount: 2 },
    { expiry: inDays(-1) },
    { expiry: inDays(5) },
    { amount: 3 },
  ];
  const before = (await own.send("alice", "GET", "stocks/products/running_out/")).body;
  for (const list of ["stocks/consumables", "stocks/specimen"])
    for (const values of cases) await add(values, list);
  const { body } = await own.send("alice", "GET", "stocks/products/running_out/");
  const added = Object.entries(body.counts as Record<string, number>).map(([name, n]) => [
    name,
    n - (before.counts as Record<string, number>)[name],
  ]);
  expect(Object.fromEntries(added)).toEqual({ empty: 2, low: 4, expired: 2, expiring: 2 });
  for (const [filter, expected] of [
    ["below_minimum=true", "empty low"],
    ["expiry__lt=today", "expired"],
    ["expiry__gte=today&expiry__lte=30d", "expiring"],
  ])
    for (const list of ["stocks/consumables", "stocks/specimen"]) {
      const found = (await own.send("alice", "GET", `${list}/?${filter}&page_size=max`)).body
        .results as Values[];
      const listed = (body.results as Values[]).filter(
        ({ segment, state }) => segment === list && expected.includes(String(state)),
      );
      expect(listed.map(({ id }) => id).sort()).toEqual(found.map(({ id }) => id).sort());
    }
  own.database.close();
});

test("sums contain no tubes that the caller may not view", async () => {
  const id = await product({ minimum_amount: 2, public: true });
  await tube({ product: id, public: true });
  await tube({ product: id });
  expect(await stateOf(id)).toBeNull();
  expect((await stockOf(`product=${id}`, "bob")).results[0]).toMatchObject({
    state: "low",
    left: 1,
    tubes: 1,
  });
  const hidden = await product({ minimum_amount: 2 });
  const shown = await tube({ product: hidden, public: true, status: "EMPTY" });
  const { results } = await stockOf("count=1000", "bob");
  expect(results.find((row) => row.id === shown)).toMatchObject({
    segment: "stocks/consumables",
    state: "empty",
  });
  expect(results.find((row) => row.id === hidden)).toBeUndefined();
});

test("a request is ordered and received into the next free slots, once", async () => {
  const id = await product({
    catalogue_number: "M0202",
    price: 74,
    currency: "EUR",
    minimum_amount: 2,
    model_type: "ENZYME",
  });
  const requested = await send("alice", "POST", "stocks/orders/place/", {
    items: [{ product: id, quantity: 2 }],
  });
  expect(requested).toMatchObject({
    status: 201,
    body: [{ state: "REQUESTED", supplier: "NEB", price: 74, quantity: 2 }],
  });
  const order = String((requested.body as unknown as Values[])[0].id);
  expect((await send("alice", "POST", "stocks/orders/place/", { items: [{ product: id }] })).status).toBe(
    409,
  );
  const ordered = await send("alice", "POST", "stocks/orders/place/", {
    items: [{ order }],
    state: "ORDERED",
    account: "4711",
    arrives: "2026-12-24",
  });
  expect(ordered.body).toMatchObject([
    { id: order, state: "ORDERED", ordered_by: "alice", arrives: "2026-12-24" },
  ]);
  expect((await stockOf(`product=${id}`)).results[0].order).toMatchObject({ id: order, state: "ORDERED" });
  const box = await create("locations", { label: `Box ${id}`, grid_rows: 1, grid_columns: 3 });
  await tube({ location: box, position: "A1" });
  const delivery = { tubes: 2, lot: "L1", expiry: "2028-11-30", location: box };
  const receive = () =>
    send("alice", "POST", `stocks/orders/${order}/receive/`, delivery, {
      "Idempotency-Key": `receive-${order}`,
    });
  const first = await receive();
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject([
    { name: "Ligase 1", position: "A2", lot: "L1", expiry: "2028-11-30", product: id, model_type: "ENZYME" },
    { name: "Ligase 2", position: "A3" },
  ]);
  expect((await receive()).body).toEqual(first.body);
  expect((await lab.send("alice", "GET", `stocks/consumables/?product=${id}`)).body.total).toBe(2);
  expect((await stockOf(`product=${id}`)).results[0]).toMatchObject({ state: null, order: null });
  expect((await send("alice", "POST", `stocks/orders/${order}/receive/`, { tubes: 1 })).status).toBe(409);
  const undone = await send("alice", "POST", `batches/${first.headers.get("Batch-Id")}/undo/`);
  expect(undone.status).toBe(200);
  expect((await lab.send("alice", "GET", `stocks/orders/${order}/`)).body).toMatchObject({
    state: "ORDERED",
    received: null,
  });
});

test("the tubes of an order come one by one, each with its barcode, and are counted", async () => {
  const id = await product({ name: "Cas9" });
  const items = [{ product: id, quantity: 3 }];
  const placed = await send("alice", "POST", "stocks/orders/place/", { items, state: "ORDERED" });
  const order = String((placed.body as unknown as Values[])[0].id);
  const box = await create("locations", { label: `Box ${id}`, grid_rows: 1, grid_columns: 3 });
  const receive = (body: object) =>
    send("alice", "POST", `stocks/orders/${order}/receive/`, { location: box, lot: "L7", ...body });
  const counted = async () => (await lab.send("alice", "GET", `stocks/orders/${order}/`)).body;
  const first = await receive({ tubes: 1, barcodes: ["CAS-1"], complete: false });
  expect(first.body).toMatchObject([{ name: "Cas9 1", barcode: "CAS-1", position: "A1", lot: "L7" }]);
  expect(await counted()).toMatchObject({ state: "ORDERED", tubes_received: 1 });
  expect((await stockOf(`product=${id}`)).results[0].order).toMatchObject({ quantity: 3, tubes_received: 1 });
  for (const [body, message] of [
    [{ tubes: 1, barcodes: ["CAS-1"] }, "barcodes: Cas9 1 has the barcode CAS-1 already."],
    [{ tubes: 2, barcodes: ["CAS-2", "CAS-2 "] }, "barcodes: CAS-2 is given twice."],
    [{ tubes: 1, barcodes: [" "] }, "barcodes: A barcode is blank."],
    [{ tubes: 1, barcodes: ["CAS-2", "CAS-3"] }, "barcodes: More barcodes than tubes."],
  ] as const) {
    const { status, body: answer } = await receive(body);
    expect([status, answer.message]).toEqual([400, message]);
  }
  const others = await receive({ tubes: 2, barcodes: ["CAS-2", "CAS-3"] });
  expect(others.body).toMatchObject([{ barcode: "CAS-2", position: "A2" }, { barcode: "CAS-3" }]);
  expect(await counted()).toMatchObject({ state: "RECEIVED", tubes_received: 3 });
  const undone = await send("alice", "POST", `batches/${others.headers.get("Batch-Id")}/undo/`);
  expect(undone.status).toBe(200);
  expect(await counted()).toMatchObject({ state: "ORDERED", tubes_received: 1 });
  const edited = await send("alice", "PATCH", `stocks/orders/${order}/`, { tubes_received: 3 });
  expect(edited.status).toBe(400);
});

test("only those who may change or order a product mark it as ordered, and all who may view it request it", async () => {
  const id = await product({ public: true });
  const requested = await send("bob", "POST", "stocks/orders/place/", { items: [{ product: id }] });
  expect(requested.status).toBe(201);
  const items = [{ order: String((requested.body as unknown as Values[])[0].id) }];
  expect((await send("bob", "POST", "stocks/orders/place/", { items, state: "ORDERED" })).status).toBe(403);
  expect((await send("alice", "POST", "stocks/orders/place/", { items, state: "ORDERED" })).status).toBe(201);
  const undone = await send("bob", "POST", `batches/${requested.headers.get("Batch-Id")}/undo/`);
  expect(undone.status).toBe(409);
});

test("who may only order takes back own steps, until somebody changes the order", async () => {
  // Bob joins the group of alice, whose members may order but not change.
  const rights = { members_may: "view", members_order: true };
  expect((await send("admin", "PATCH", "groups/Genomics/", rights)).status).toBe(200);
  expect((await send("admin", "POST", "groups/Genomics/members/", ["bob"] as never)).status).toBeLessThan(
    300,
  );
  const id = await product();
  const requested = await send("alice", "POST", "stocks/orders/place/", { items: [{ product: id }] });
  const order = String((requested.body as unknown as Values[])[0].id);
  const step = async (as: string, path: string, body: object) => {
    const answer = await send(as, "POST", `stocks/orders/${path}`, body);
    expect(answer.status).toBe(201);
    return answer.headers.get("Batch-Id")!;
  };
  const placed = { items: [{ order, quantity: 3 }], state: "ORDERED", account: "4711" };
  const undo = async (as: string, batch: string) => (await send(as, "POST", `batches/${batch}/undo/`)).status;
  const read = async () => (await lab.send("alice", "GET", `stocks/orders/${order}/`)).body;
  expect((await send("bob", "PATCH", `stocks/orders/${order}/`, { quantity: 9 })).status).toBe(403);

  expect(await undo("bob", await step("bob", "place/", placed))).toBe(200);
  expect(await read()).toMatchObject({ state: "REQUESTED", ordered_by: null, quantity: 1, account: "" });
  const others = await step("alice", "place/", placed);
  expect(await undo("bob", others)).toBe(403);
  expect(await undo("alice", others)).toBe(200);
  const changed = await step("bob", "place/", placed);
  const received = await step("bob", `${order}/receive/`, { tubes: 1 });
  expect((await send("bob", "GET", `batches/${received}/`)).body.cannot_undo).toBeNull();
  expect(await undo("bob", received)).toBe(200);
  expect(await read()).toMatchObject({ state: "ORDERED", received_by: null });

  expect((await send("admin", "PATCH", `stocks/orders/${order}/`, { account: "4712" })).status).toBe(200);
  expect((await send("bob", "GET", `batches/${changed}/`)).body.cannot_undo).not.toBeNull();
  expect(await undo("bob", changed)).toBe(409);
  expect((await send("bob", "POST", `batches/${changed}/undo/`, { force: true })).status).toBe(403);
});

test("tubes that replace a record without a product get a product with it", async () => {
  const old = await tube({ name: "DNase", status: "EMPTY", supplier: "Sigma", catalogue_number: "D1" });
  const placed = await send("alice", "POST", "stocks/orders/place/", {
    items: [{ consumable: old }],
    state: "ORDERED",
  });
  const order = String((placed.body as unknown as Values[])[0].id);
  expect((await stockOf(`consumable=${old}`)).results[0].order).toMatchObject({ id: order });
  const received = await send("alice", "POST", `stocks/orders/${order}/receive/`, { tubes: 1 });
  const made = (received.body as unknown as Values[])[0];
  expect([made.name, made.supplier]).toEqual(["DNase", "Sigma"]);
  expect((await lab.send("alice", "GET", `stocks/consumables/${old}/`)).body.product).toBe(
    made.product as string,
  );
  expect((await stockOf(`consumable=${old}`)).results[0]).toMatchObject({ state: null, id: made.product });
});

test("consumables of one supplier and catalogue number are grouped, and the batch is undone", async () => {
  const tubes = [
    await tube({ supplier: "Merck", catalogue_number: "A9" }),
    await tube({ supplier: "merck", catalogue_number: "a9" }),
  ];
  const preview = await send("alice", "POST", "stocks/products/group/?dry_run=true");
  expect(preview.status).toBe(200);
  const grouped = await send("alice", "POST", "stocks/products/group/");
  expect((grouped.body.results as Values[]).find(({ tubes: count }) => count === 2)).toMatchObject({
    name: "Tube",
  });
  const read = async () =>
    Promise.all(
      tubes.map(async (id) => (await lab.send("alice", "GET", `stocks/consumables/${id}/`)).body.product),
    );
  expect(new Set(await read()).size).toBe(1);
  await send("alice", "POST", `batches/${grouped.headers.get("Batch-Id")}/undo/`);
  expect(await read()).toEqual([null, null]);
});

test.each<[object, string]>([
  [{ items: [{}] }, "items"],
  [{ items: [{ product: "00000000-0000-4000-8000-00000000ffff" }] }, "items"],
  [{ items: [] }, "items"],
])("placing %j is refused", async (body, field) => {
  const answer = await send("alice", "POST", "stocks/orders/place/", body);
  expect([answer.status, Object.keys(answer.body)[0]]).toEqual([400, field]);
});
