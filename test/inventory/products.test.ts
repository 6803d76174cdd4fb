import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";

/** Products, and the filter for stock that is empty or low. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const create = (list: string, values: object) =>
  lab.send("alice", "POST", `${list}/`, { name: "T4 ligase", ...values });

test("a product has hazards, a safety data sheet, and consumables that refer to it", async () => {
  const product = await create("stocks/products", {
    supplier: "NEB",
    hazards: ["GHS07", "GHS08"],
    safety_sheet: "https://neb.example/sds/M0202.pdf",
    minimum_amount: 20,
  });
  expect(product).toMatchObject({ status: 201, body: { hazards: ["GHS07", "GHS08"] } });
  const tube = await create("stocks/consumables", { product: product.body.id });
  expect(tube.body.product).toBe(product.body.id);
  const removed = await lab.send("alice", "DELETE", `stocks/products/${String(product.body.id)}/`);
  expect(removed.status).toBe(409);
});

test.each<[object, string]>([
  [{ hazards: ["GHS10"] }, "hazards"],
  [{ hazards: ["GHS01", "GHS01"] }, "hazards"],
  [{ hazards: "GHS01" }, "hazards"],
  [{ safety_sheet: "http://neb.example/sds.pdf" }, "safety_sheet"],
  [{ safety_sheet: "javascript:alert(1)" }, "safety_sheet"],
  [{ safety_sheet: "https://user@neb.example/" }, "safety_sheet"],
  [{ minimum_amount: -1 }, "minimum_amount"],
  [{ full_amount: -1 }, "full_amount"],
])("a product with %j is refused", async (values, field) => {
  const { status, body } = await create("stocks/products", values);
  expect([status, Object.keys(body)]).toEqual([400, expect.arrayContaining([field])]);
});

test.each<[object, boolean]>([
  [{ status: "EMPTY" }, true],
  [{ status: "LOW", amount: 5 }, true],
  [{ status: "AVAILABLE", amount: 0 }, true],
  [{ status: "AVAILABLE", amount: 1, minimum_amount: 2 }, true],
  [{ status: "AVAILABLE", amount: 2, minimum_amount: 2 }, false],
  [{ status: "FROZEN" }, false],
])("a record with %j is below its minimum: %p", async (values, expected) => {
  for (const list of ["stocks/consumables", "stocks/specimen"]) {
    const { body } = await create(list, values);
    const found = await lab.send("alice", "GET", `${list}/?below_minimum=true&id=${String(body.id)}`);
    expect(found.body.total).toBe(expected ? 1 : 0);
  }
});

test("an order is a request until it is ordered", async () => {
  expect((await create("stocks/orders", { quantity: 2 })).body).toMatchObject({
    state: "REQUESTED",
    quantity: 2,
  });
  for (const values of [{ state: "ORDERED" }, { ordered: "2026-11-20" }, { quantity: 0 }])
    expect((await create("stocks/orders", values)).status).toBe(400);
});
