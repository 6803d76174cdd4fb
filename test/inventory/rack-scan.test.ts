import { afterEach, beforeEach, expect, test } from "bun:test";
import type { CheckedRack } from "../../src/inventory/api/route-rack.ts";
import { BOX, CONSUMABLES, id, openBoxes, PLAIN, readError, requestsTo, SPECIMEN } from "./boxes.ts";
import type { Answered, Lab } from "./harness.ts";

/** Checking and filling a box with the file of a rack scanner. */

let lab: Lab;
beforeEach(async () => {
  lab = await openBoxes();
  for (const [segment, ...numbers] of [
    [CONSUMABLES, 11, 12, 14, 15],
    [SPECIMEN, 21, 22],
  ] as const)
    for (const n of numbers)
      expect((await patch(`${segment}${id(n)}/`, { barcode: `FX${n}` })).status).toBe(200);
});
afterEach(() => lab.database.close());
const { patch, where } = requestsTo(() => lab);

const scan = (body: object, as = "admin", of = BOX, query = ""): Promise<Answered> =>
  lab.send(as, "POST", `locations/${of}/rack_scan/${query}`, body);
const fill = ({ confirm, ...body }: { file: string; missing?: string; confirm: string }, as?: string) =>
  scan(body, as, BOX, `?confirm=${confirm}`);
const check = async (file: string, as?: string, missing = "keep") =>
  (await scan({ file, missing }, as, BOX, "?dry_run=1")).body as unknown as CheckedRack;
const inWords = ({ results }: CheckedRack): string[] =>
  results.map(({ position, code, result, record, from }) =>
    [position, code, result, record?.name, from && `from ${from}`].filter(Boolean).join(" "),
  );

/** Box 1 has 11 in A1, the hidden 12 in A2 and 21 in B2; 14, 15 and 22 are in Heap. */
const FILE = "Position,Tube ID\nA01,FX21\nA03,FX14\nB01,FX99\nB02,NO TUBE\nC01,FX11\nC02,NO READ\n";

test("compares a file with the box: matched, moved, missing, unknown, unread", async () => {
  expect(inWords(await check(FILE))).toEqual([
    "A1 FX21 moved Tube 21 from B2",
    "A3 FX14 moved Tube 14 from Heap",
    "B1 FX99 unknown",
    "C1 FX11 moved Tube 11 from A1",
    "C2 unread",
    "A2 missing Tube 12",
  ]);
  expect(inWords(await check("A1,FX11\nA2,FX12\nB2,FX21\n"))).toEqual([
    "A1 FX11 matched Tube 11",
    "A2 FX12 matched Tube 12",
    "B2 FX21 matched Tube 21",
  ]);
  // A tube whose code could not be read is not missing.
  expect(inWords(await check("A1,FX11\nA2,NO READ\nB2,FX21\n"))[1]).toBe("A2 unread Tube 12");
  expect(await where(CONSUMABLES, 11)).toBe("Box 1 A1");
});

test("moves the tubes in one batch, which is undone as a whole", async () => {
  const { confirm } = await check(FILE);
  const done = await fill({ file: FILE, confirm });
  expect(done.status).toBe(200);
  expect(await where(SPECIMEN, 21)).toBe("Box 1 A1");
  expect(await where(CONSUMABLES, 14)).toBe("Box 1 A3");
  expect(await where(CONSUMABLES, 11)).toBe("Box 1 C1");
  expect(await where(CONSUMABLES, 12)).toBe("Box 1 A2");
  expect(inWords(await check(FILE))[0]).toBe("A1 FX21 matched Tube 21");
  const undone = await lab.send("admin", "POST", `batches/${done.headers.get("batch-id")}/undo/`, {});
  expect(undone.status).toBe(200);
  expect(await where(SPECIMEN, 21)).toBe("Box 1 B2");
  expect(await where(CONSUMABLES, 14)).toBe("Heap");
  expect(await where(CONSUMABLES, 11)).toBe("Box 1 A1");
});

test("missing tubes stay in the box, without a slot that is taken, or are taken out", async () => {
  const file = "A1,FX14\nB2,FX21\n";
  const { confirm } = await check(file);
  const kept = await fill({ file, confirm });
  expect(await where(CONSUMABLES, 11)).toBe("Box 1");
  expect(await where(CONSUMABLES, 12)).toBe("Box 1 A2");
  await lab.send("admin", "POST", `batches/${kept.headers.get("batch-id")}/undo/`, {});
  const again = await check(file, "admin", "take_out");
  expect([again.count, again.records]).toEqual([3, 3]);
  await fill({ file, missing: "take_out", confirm: again.confirm });
  expect(await where(CONSUMABLES, 11)).toBe("null");
  expect(await where(CONSUMABLES, 12)).toBe("null");
  expect(await where(SPECIMEN, 21)).toBe("Box 1 B2");
});

test("a tube that is taken out is not missing, and its slot stays reserved", async () => {
  expect((await lab.send("admin", "POST", `${CONSUMABLES}${id(11)}/take_out/`, {})).status).toBe(200);
  expect(inWords(await check("A1,FX14\nA2,FX12\nB2,FX21\n"))).toEqual([
    "A1 FX14 blocked Tube 14 from Heap",
    "A2 FX12 matched Tube 12",
    "B2 FX21 matched Tube 21",
  ]);
});

test("refuses what changed since the check, and moves nothing", async () => {
  const { confirm } = await check(FILE);
  expect((await patch(`${CONSUMABLES}${id(14)}/`, { name: "Renamed" })).status).toBe(200);
  const refused = await fill({ file: FILE, confirm });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("have changed since the dry run");
  expect(await where(SPECIMEN, 21)).toBe("Box 1 B2");
  const other = await check(FILE, "admin", "take_out");
  expect((await patch(`${SPECIMEN}${id(22)}/`, { location: BOX, position: "C3" })).status).toBe(200);
  const late = { file: FILE, missing: "take_out", confirm: other.confirm };
  expect((await fill(late)).status).toBe(409);
  expect((await fill({ file: "A1,FX11\n", confirm: (await check(FILE)).confirm })).status).toBe(409);
});

test("does not reveal hidden tubes, and does not move them or into their slots", async () => {
  // Bob may not view tube 12 in A2, and may change no tube.
  const seen = await check("A1,FX12\nA2,FX11\nB2,FX21\n", "bob");
  expect(inWords(seen)).toEqual([
    "A1 FX12 unknown",
    "A2 FX11 blocked Tube 11 from A1",
    "B2 FX21 matched Tube 21",
  ]);
  expect(JSON.stringify(seen)).not.toContain(id(12));
  expect((await fill({ file: "A1,FX11\n", confirm: "x" }, "bob")).status).toBe(409);
  expect((await scan({ file: "A1,FX11\n" }, "bob", id(99))).status).toBe(404);
});

test("says which rack the file is of", async () => {
  await patch(`locations/${BOX}/`, { barcode: "R1" });
  const { rack, barcode } = await check("Rack ID,Well,Code\nR2,A1,FX11\n");
  expect([rack, barcode]).toEqual(["R2", "R1"]);
});

test("refuses files and locations that do not fit", async () => {
  expect(readError(await scan({ file: "D1,FX11\nA1,FX12\n" }), "file")).toBe(
    'Row 1: "D1" is not a position of the box. Its positions: A1 to C3.',
  );
  expect(readError(await scan({ file: "A1,FX11\n" }, "admin", PLAIN), "file")).toBe(
    "The location has no grid. Give it rows and columns first.",
  );
  expect((await scan({ file: "A1,FX11\n", missing: "lose" })).status).toBe(400);
});
