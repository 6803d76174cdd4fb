import { expect, test } from "bun:test";
import type { InventorySample } from "../../src/inventory/index.ts";
import INVENTORY from "../../src/sample/inventory.json";
import { expectStatuses, openLab } from "./harness.ts";

test("administrators load the sample into an empty inventory, once, and can undo it", async () => {
  const lab = await openLab({ sample: {}, loadable: INVENTORY as InventorySample });
  const total = async () => (await lab.ask("GET", "stocks/consumables/?page_size=1")).body.total;
  await expectStatuses(lab, undefined, [["POST sample/", 401]]);
  await expectStatuses(lab, "alice", [["POST sample/", 403]]);
  expect(await total()).toBe(0);
  const { status, body, headers } = await lab.send("admin", "POST", "sample/");
  expect([status, Number(body.added) > INVENTORY.consumables.length]).toEqual([201, true]);
  expect(await total()).toBe(INVENTORY.consumables.length);
  const again = await lab.send("admin", "POST", "sample/");
  expect([again.status, again.body.message]).toEqual([
    409,
    "The inventory has places, which would be mixed with the sample. Try the sample in another installation.",
  ]);
  const undo = await lab.send("admin", "POST", `batches/${headers.get("Batch-Id")}/undo/`, {});
  expect([undo.status, await total()]).toEqual([200, 0]);
  expect((await lab.send("admin", "POST", "sample/")).body).toEqual(body);
  expect(await total()).toBe(INVENTORY.consumables.length);
  lab.database.close();
});
