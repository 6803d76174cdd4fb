import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "../harness.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

test.each<[amount: number | null | undefined, status: number]>([
  [-0.5, 400],
  [0, 201],
  [2.5, 201],
  [null, 201],
  [undefined, 201],
])("creating a consumable with the amount %p returns %d", async (amount, status) => {
  const { status: actual, body } = await lab.send("alice", "POST", "consumables/", { name: "x", amount });
  const error = ["Ensure this value is greater than or equal to 0."];
  expect([actual, status === 400 ? body.amount : (body.amount ?? null)]).toEqual([
    status,
    status === 400 ? error : (amount ?? null),
  ]);
});
