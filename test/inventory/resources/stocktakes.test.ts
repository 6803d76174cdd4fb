import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectStatuses, type Lab, openLab } from "../harness.ts";
import { IDS, SAMPLE } from "../sample.ts";

/** Stocktakes compare scanned codes with the recorded contents of a location. */

const id = (letter: string): string => `${letter.repeat(8)}-${letter.repeat(4)}-4aaa-8aaa-000000000000`;
const tube = (letter: string, name: string, location: string | null, more: object = {}) => ({
  id: id(letter),
  name,
  model_type: "OTHER",
  owned_by: "Genomics",
  ...(location === null ? {} : { location }),
  ...more,
});

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({
    sample: {
      ...SAMPLE,
      consumables: [
        tube("a", "In the drawer", "drawer", { barcode: "TUBE-1" }),
        tube("b", "On the shelf", "Shelf 1"),
        tube("c", "Also on the shelf", "Shelf 1"),
        tube("d", "On the bench", "Bench ÄÖ"),
        tube("e", "Nowhere", null),
        tube("f", "Hidden on the shelf", "Shelf 1", { public: false }),
      ],
    },
  });
});
afterAll(() => lab.database.close());

const begin = async (as: string, location = IDS.shelf) => {
  const made = await lab.send(as, "POST", "stocktakes/", { name: "Shelf", location });
  expect([made.status, made.body.state]).toEqual([201, "OPEN"]);
  return `stocktakes/${String(made.body.id)}/`;
};
const scan = async (of: string, as: string, codes: string[], place?: string) => {
  const { status, body } = await lab.send(as, "POST", `${of}scans/`, { codes, place: place ?? null });
  expect([status, body.results]).toEqual([200, expect.any(Array)]);
  const results = body.results as { verdict: string; again: boolean; record: { name: string } | null }[];
  return results.map(
    ({ verdict, again, record }) => `${record?.name ?? "–"}: ${verdict}${again ? " again" : ""}`,
  );
};
const count = async (of: string, as: string) => {
  const { body } = await lab.send(as, "GET", `${of}count/`);
  const names = (list: string) =>
    (body[list] as unknown as { name?: string; code: string }[]).map(({ name, code }) => name ?? code).sort();
  return Object.fromEntries(
    ["found", "misplaced", "missing", "unknown", "other"].map((list) => [list, names(list)]),
  );
};
const createPlace = async (letter: string): Promise<Record<string, unknown>> => {
  const path = `stocks/consumables/${id(letter)}/?fields=location__label,status`;
  return (await lab.send("admin", "GET", path)).body;
};

test("compares scans with recorded locations and applies the changes as one batch", async () => {
  const of = await begin("admin");
  expect(await scan(of, "admin", ["TUBE-1", "bbbbbbbb-bbbb", "http://lab/i/dddddddd-dddd"])).toEqual([
    "In the drawer: found",
    "On the shelf: found",
    "On the bench: misplaced",
  ]);
  expect(await scan(of, "admin", ["TUBE-1", "eeeeeeee", "nothing", IDS.antibody, IDS.project])).toEqual([
    "In the drawer: found again",
    "Nowhere: misplaced",
    "–: unknown",
    "–: unknown",
    "Atlas: other",
  ]);
  expect(await scan(of, "admin", [IDS.drawer, IDS.freezer, IDS.bench])).toEqual([
    "drawer: place",
    "Freezer 1: other",
    "Bench ÄÖ: misplaced",
  ]);
  const remove = `DELETE ${of}scans/?code=${IDS.bench}`;
  await expectStatuses(lab, "admin", [
    [remove, 204],
    [remove, 404],
  ]);
  expect(await count(of, "admin")).toEqual({
    found: ["In the drawer", "On the shelf"],
    misplaced: ["Nowhere", "On the bench"],
    missing: ["Also on the shelf", "Hidden on the shelf"],
    unknown: [IDS.antibody, "nothing"],
    other: ["Atlas", "Freezer 1"],
  });

  const body = { missing: "status" };
  const tried = await lab.send("admin", "POST", `${of}apply/?dry_run=1`, body);
  expect([tried.status, tried.body.count]).toEqual([200, 5]);
  expect((await createPlace("d")).location__label).toBe("Bench ÄÖ");
  const confirm = String(tried.body.confirm);
  const apply = () =>
    lab.ask("POST", `${of}apply/?confirm=${confirm}`, {
      as: "admin",
      body,
      headers: { "Idempotency-Key": "applied once" },
    });
  const done = await apply();
  expect(done.status).toBe(200);
  const again = await apply();
  expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([200, "true"]);
  expect(await createPlace("d")).toMatchObject({ location__label: "Shelf 1" });
  expect(await createPlace("e")).toMatchObject({ location__label: "Shelf 1" });
  expect(await createPlace("c")).toMatchObject({ location__label: "Shelf 1", status: "MISSING" });
  expect((await lab.send("admin", "GET", of)).body.state).toBe("APPLIED");

  // The report stays what it was, whatever becomes of the records.
  const csv = (await lab.send("admin", "GET", `${of}count/?format=csv`)).text.split("\r\n");
  expect(csv[0]).toBe("result,list,id,name,barcode,code,recorded_in,found_in,done,position");
  expect(csv).toContain(
    `misplaced,stocks/consumables,${id("d")},On the bench,,http://lab/i/dddddddd-dddd,Bench ÄÖ,Shelf 1,moved,`,
  );
  expect(csv).toContain(
    `missing,stocks/consumables,${id("c")},Also on the shelf,,,Shelf 1,,marked as missing,`,
  );
  await expectStatuses(lab, "admin", [
    [`POST ${of}scans/`, 409, { codes: ["x"] }],
    [`DELETE ${of}scans/?code=TUBE-1`, 409],
    [`POST ${of}apply/`, 409, {}],
    [`POST batches/${done.headers.get("Batch-Id")}/undo/`, 200, {}],
  ]);
  expect((await createPlace("d")).location__label).toBe("Bench ÄÖ");
  expect(await createPlace("c")).toMatchObject({ location__label: "Shelf 1", status: "" });
  expect((await lab.send("admin", "GET", of)).body.state).toBe("OPEN");
  expect((await count(of, "admin")).misplaced).toEqual(["Nowhere", "On the bench"]);
});

test("moves an item into the box in which it was scanned", async () => {
  const of = await begin("admin");
  expect(await scan(of, "admin", ["bbbbbbbb", "TUBE-1"], IDS.drawer)).toEqual([
    "On the shelf: misplaced",
    "In the drawer: found",
  ]);
  expect(await scan(of, "admin", ["TUBE-1"], IDS.shelf)).toEqual(["In the drawer: found again"]);
  const { body } = await lab.send("admin", "POST", `${of}apply/`, { missing: "clear" });
  expect(body.counts).toMatchObject({ expected: 4, found: 1, misplaced: 1, missing: 2 });
  expect((await createPlace("b")).location__label).toBe("drawer");
  expect((await createPlace("c")).location__label).toBeNull();
  const wrong = await lab.send("admin", "POST", `${await begin("admin")}scans/`, {
    code: "x",
    place: IDS.bench,
  });
  expect([wrong.status, Object.keys(wrong.body)]).toEqual([400, ["place", "message"]]);
});

test("respects the permissions of the caller", async () => {
  const of = await begin("bob");
  // Neither the lists nor a code tell of what is hidden.
  expect(await scan(of, "bob", ["ffffffff", "dddddddd"])).toEqual(["–: unknown", "On the bench: misplaced"]);
  expect(JSON.stringify(await count(of, "bob"))).not.toContain("Hidden");
  const { status, body } = await lab.send("bob", "POST", `${of}apply/`, { missing: "clear" });
  expect(status).toBe(200);
  expect((body.misplaced as { done: string }[]).map(({ done }) => done)).toEqual(["not permitted"]);
  expect((await createPlace("d")).location__label).toBe("Bench ÄÖ");
  for (const [as, status] of [
    [undefined, 401],
    ["alice", 404],
  ] as const)
    await expectStatuses(lab, as, [
      [`GET ${of}count/`, 404],
      [`POST ${of}scans/`, status, { code: "x" }],
    ]);
  // Others may continue a shared stocktake.
  const own = await begin("bob");
  const share = { users: [{ user: "alice", view: true, change: true }] };
  await expectStatuses(lab, "bob", [[`PATCH ${own}permissions/`, 200, share]]);
  expect(await scan(own, "alice", ["ffffffff"])).toEqual(["Hidden on the shelf: misplaced"]);
  // Alice's scan would reveal the id of a record that bob may not view.
  expect((await count(own, "bob")).unknown).toEqual([]);
});

test("shows each reader only the visible part of an applied report", async () => {
  await expectStatuses(lab, "admin", [
    [`PATCH stocks/consumables/${id("f")}/`, 200, { location: IDS.drawer }],
  ]);
  const of = await begin("admin");
  expect(await scan(of, "admin", ["TUBE-1", "eeeeeeee"], IDS.drawer)).toHaveLength(2);
  expect((await scan(of, "admin", ["ffffffff"]))[0]).toStartWith("Hidden on the shelf");
  const { body } = await lab.send("admin", "POST", `${of}apply/`, {});
  expect(body.counts).toMatchObject({ expected: 3, found: 2, misplaced: 1, missing: 1 });
  await expectStatuses(lab, "admin", [[`PATCH ${of}`, 200, { public: true }]]);
  const hidden = ["Hidden", id("f"), "ffffffff"];
  for (const [as, sees] of [
    ["admin", true],
    ["alice", true],
    ["bob", false],
    [undefined, false],
  ] as const)
    for (const path of [
      `${of}count/`,
      `${of}count/?format=csv`,
      `${of}?fields=report`,
      `${of}?fields=report&format=csv`,
      `${of}?fields=report&as_of=2026-01-01T00:00:00Z`,
      `stocktakes/?fields=report&id=${of.split("/")[1]}`,
      `${of}history/`,
    ]) {
      const { status, text } = await lab.ask("GET", path, as === undefined ? {} : { as });
      expect({ as, path, status, found: text.includes("In the drawer") }).toEqual({
        as,
        path,
        status: 200,
        found: true,
      });
      const leaked = hidden.filter((word) => text.includes(word));
      expect({ as, path, leaked }).toEqual({ as, path, leaked: sees ? hidden : [] });
    }
  const seen = (await lab.send("bob", "GET", `${of}count/`)).body;
  expect(seen.counts).toMatchObject({ expected: 2, found: 1, misplaced: 1, missing: 1 });
  // Nor does it name a hidden location in which an item was scanned.
  await expectStatuses(lab, "admin", [
    [`PATCH locations/${IDS.drawer}/`, 200, { public: false, owned_by: "Genomics" }],
  ]);
  const { misplaced } = (await lab.send("bob", "GET", `${of}count/`)).body;
  expect(misplaced).toEqual([expect.not.objectContaining({ to: expect.anything() })]);
  await expectStatuses(lab, "admin", [[`PATCH locations/${IDS.drawer}/`, 200, { public: true }]]);
  // No filter reaches what is inside the report.
  await expectStatuses(lab, "bob", [
    ["GET stocktakes/?report__icontains=Hidden", 400],
    ["GET stocktakes/?report__isnull=true", 400],
    ["GET stocktakes/values/?field=report", 400],
    ["GET stocktakes/?ordering=report", 400],
    [
      `GET stocktakes/?query_expression=${encodeURIComponent('{"category":"report","operator":"icontains","value":"Hidden"}')}`,
      400,
    ],
  ]);
  // A record's names before its publication stay hidden, as does its history.
  const published = { public: true, name: "Shown on the shelf" };
  await expectStatuses(lab, "admin", [[`PATCH stocks/consumables/${id("f")}/`, 200, published]]);
  const later = await lab.send("bob", "GET", `${of}count/`);
  expect([later.body.counts, later.text]).toEqual([seen.counts, expect.not.stringMatching(/Hidden|f{8}/)]);
  expect((await lab.send("alice", "GET", `${of}count/`)).text).toContain("Hidden on the shelf");
  // A reader who may not view the counted location gets no report.
  await expectStatuses(lab, "admin", [
    [`PATCH locations/${IDS.shelf}/`, 200, { public: false, owned_by: "Genomics" }],
  ]);
  await expectStatuses(lab, "bob", [[`GET ${of}count/`, 404]]);
  expect((await lab.send("bob", "GET", `${of}?fields=report`)).body).toEqual({ report: null });
  await expectStatuses(lab, "admin", [[`PATCH locations/${IDS.shelf}/`, 200, { public: true }]]);
});

test("keeps its result read-only, and names invalid parameters", async () => {
  const of = await begin("alice");
  for (const [as, method, path, body] of [
    ["alice", "PATCH", of, { state: "APPLIED" }],
    ["alice", "PATCH", of, { location: IDS.bench }],
    ["alice", "POST", `${of}scans/`, { codes: [] }],
    ["alice", "POST", `${of}scans/`, { codes: [1] }],
    ["alice", "POST", `${of}scans/`, { scan: "x" }],
    ["alice", "POST", `${of}apply/`, { missing: "burn" }],
    ["alice", "POST", "stocktakes/", { location: "00000000-0000-4000-8000-0000000000ff", name: "Nowhere" }],
    ["alice", "POST", "stocktakes/", { location: "shelf", name: "Nowhere" }],
    ["bob", "POST", "stocktakes/", { location: IDS.secret, name: "Nowhere" }],
  ] as const) {
    const answer = await lab.send(as, method, path, body);
    expect([body, answer.status, Object.keys(answer.body)[0]]).toEqual([body, 400, Object.keys(body)[0]]);
  }
  const nowhere = "00000000-0000-4000-8000-0000000000ff";
  for (const [location, error] of [
    [IDS.bench, "The location of a stocktake cannot be changed."],
    [nowhere, `Invalid pk "${nowhere}" - object does not exist.`],
  ]) {
    const answer = await lab.send("alice", "PUT", of, { name: "Shelf", location });
    expect(answer).toMatchObject({ status: 400, body: { location: [error] } });
  }
  await expectStatuses(lab, "alice", [[`PATCH ${of}`, 200, { report: { counts: {} } }]]);
  expect((await lab.send("alice", "GET", `${of}?fields=report`)).body.report).toBeNull();
  const made = await lab.send("alice", "POST", "locations/", {
    label: "Soon gone",
    place: "A 101",
    public: true,
  });
  const gone = await begin("alice", String(made.body.id));
  await expectStatuses(lab, "admin", [[`DELETE locations/${String(made.body.id)}/`, 204]]);
  await expectStatuses(lab, "alice", [[`GET ${gone}count/`, 404]]);
});

test("a request with an Idempotency-Key adds its scans once", async () => {
  const of = await begin("admin");
  const request = { as: "admin", body: { codes: ["TUBE-1"] }, headers: { "Idempotency-Key": "phone-1" } };
  const first = await lab.ask("POST", `${of}scans/`, request);
  const again = await lab.ask("POST", `${of}scans/`, request);
  expect([first.status, again.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(again.body).toEqual(first.body);
  expect(await scan(of, "admin", ["TUBE-1"])).toEqual(["In the drawer: found again"]);
});

test("lists items in the order of slots", async () => {
  const box = { label: "Walk", parent: IDS.shelf, grid_rows: 30, grid_columns: 12, owned_by: "Genomics" };
  const { body } = await lab.send("admin", "POST", "locations/", box);
  for (const position of ["AA1", "B1", "A10", "Z3", "A2", "A1"])
    await lab.send("admin", "POST", "stocks/consumables/", {
      name: `Tube ${position}`,
      model_type: "OTHER",
      owned_by: "Genomics",
      location: body.id,
      position,
      barcode: `WALK-${position}`,
    });
  const of = await begin("alice", String(body.id));
  const walked = ["A1", "A2", "A10", "B1", "Z3", "AA1"];
  const positions = async (as: string, list: string) => {
    const { body } = await lab.send(as, "GET", `${of}count/`);
    return (body[list] as unknown as { position: string }[]).map(({ position }) => position);
  };
  expect(await positions("alice", "missing")).toEqual(walked);
  const found = ["Z3", "A10", "A2"];
  expect(
    await scan(
      of,
      "admin",
      found.map((position) => `WALK-${position}`),
    ),
  ).not.toContain("–: unknown");
  expect(await positions("alice", "found")).toEqual(["A2", "A10", "Z3"]);
  expect((await lab.send("alice", "POST", `${of}apply/`, {})).status).toBe(200);
  expect(await positions("alice", "missing")).toEqual(["A1", "B1", "AA1"]);
});
