import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab, START } from "./harness.ts";

/** Stock that was taken out: who has it, its reserved slot, its return, and who may release the slot. */

const LIST = "stocks/consumables/";
const HOUR = 3_600_000;
let lab: Lab;
let box: string;

beforeAll(async () => {
  lab = await openLab();
  await lab.accounts.addUser({ username: "carol", fullName: "Carol Clark", group: "Genomics" });
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
  box = await create("locations/", { label: "Box", grid_rows: 2, grid_columns: 2 });
});
afterAll(() => lab.database.close());

async function create(path: string, body: object): Promise<string> {
  const { status, body: made } = await lab.send("alice", "POST", path, { owned_by: "Genomics", ...body });
  expect({ status, made }).toMatchObject({ status: 201 });
  return String(made.id);
}
const tube = (position: string) => create(LIST, { name: `Taq ${position}`, location: box, position });
const act = (as: string, id: string, action: string, body: object = {}) =>
  lab.send(as, "POST", `${LIST}${id}/${action}${action.includes("?") ? "" : "/"}`, body);
const FIELDS = "taken_out,taken_out_by,taken_out_since,due_back,location,position";
const read = async (id: string) =>
  (await lab.send("alice", "GET", `${LIST}${id}/?response_format=flat&fields=${FIELDS}`)).body
    .results as Record<string, unknown>;
const time = (hours: number) => new Date(START + hours * HOUR).toISOString().replace("Z", "000+00:00");
const undo = (as: string, headers: Headers) =>
  lab.send(as, "POST", `batches/${headers.get("batch-id")}/undo/`, {});

test("a tube that is taken out keeps its slot, until it is put back", async () => {
  lab.clock.set(START);
  const id = await tube("A1");
  const out = await act("carol", id, "take_out");
  expect(out.status).toBe(200);
  const place = { location: box, position: "A1" };
  const holder = { taken_out_by: "carol", taken_out_since: time(0), due_back: time(24) };
  expect(await read(id)).toEqual({ taken_out: true, ...holder, ...place });
  const { body } = await lab.send("alice", "GET", `locations/${box}/slots/`);
  expect((body.slots as { position: string }[])[0]).toMatchObject({
    position: "A1",
    free: false,
    record: { id, taken_out: true },
  });
  const other = await lab.send("alice", "POST", LIST, { name: "x", location: box, position: "A1" });
  expect([other.status, String(other.body.message)]).toEqual([400, expect.stringContaining("occupied")]);

  lab.clock.set(START + HOUR);
  // Somebody else takes it over; the same person says when it is due.
  expect((await act("alice", id, "take_out", { due_back: time(3) })).status).toBe(200);
  expect(await read(id)).toMatchObject({
    taken_out_by: "alice",
    taken_out_since: time(1),
    due_back: time(3),
  });
  expect((await act("alice", id, "take_out", { due_back: time(5) })).status).toBe(200);
  expect(await read(id)).toMatchObject({ taken_out_since: time(1), due_back: time(5) });
  // A confirmation is for the time that the dry run was about.
  const { body: planned } = await act("alice", id, "take_out/?dry_run=1", { due_back: time(5) });
  const confirm = (due_back?: string) =>
    act("alice", id, `take_out/?confirm=${String(planned.confirm)}`, { due_back });
  expect([(await confirm(time(6))).status, (await confirm(time(5))).status]).toEqual([409, 200]);
  const past = await act("alice", id, "take_out", { due_back: time(0) });
  expect([past.status, past.body.message]).toEqual([400, "due_back: Give a time in the future."]);

  const back = await act("carol", id, "put_back");
  expect(back.status).toBe(200);
  const free = { taken_out: false, taken_out_by: null, taken_out_since: null, due_back: null };
  expect(await read(id)).toEqual({ ...free, ...place });
  const again = await act("carol", id, "put_back");
  expect([again.status, again.body.message]).toEqual([409, "It is not taken out."]);
  // Each of them is one batch that its author undoes.
  expect((await undo("carol", back.headers)).status).toBe(200);
  expect(await read(id)).toMatchObject({ taken_out: true, taken_out_by: "alice" });
});

test("moving a tube to another place, or putting it there, puts it back", async () => {
  const id = await tube("A2");
  await act("carol", id, "take_out");
  await lab.send("carol", "PATCH", `${LIST}${id}/`, { position: "B2" });
  expect(await read(id)).toMatchObject({ taken_out: false, position: "B2" });
  await act("carol", id, "take_out");
  expect((await act("carol", id, "put_back", { location: box, position: "A2" })).status).toBe(200);
  expect(await read(id)).toMatchObject({ taken_out: false, position: "A2" });
  await act("carol", id, "take_out");
  expect((await act("carol", id, "put_back", { location: box, position: "A2" })).status).toBe(200);
  expect(await read(id)).toMatchObject({ taken_out: false, position: "A2" });
});

test("those who may use the box release the slot of a tube that is taken out, and of no other", async () => {
  const [out, stays] = [await tube("B1"), await tube("B2")];
  await act("alice", out, "take_out");
  const release = (as: string, body: object) => lab.send(as, "POST", `locations/${box}/evict/`, body);
  expect((await release("bob", { positions: ["B1"] })).status).toBe(404);
  expect((await release("carol", { records: [stays] })).status).toBe(403);
  // Always, so that the answer does not tell whether there are hidden tubes.
  expect((await release("carol", { hidden: true })).status).toBe(403);
  expect((await release("carol", { positions: ["B1"] })).status).toBe(200);
  expect(await read(out)).toMatchObject({
    taken_out: true,
    taken_out_by: "alice",
    location: null,
    position: "",
  });
  expect((await act("alice", out, "put_back", { location: box, position: "B1" })).status).toBe(200);
  expect(await read(out)).toMatchObject({ taken_out: false, location: box, position: "B1" });
});

test("a tube without a location is taken out and put back, too", async () => {
  const id = await create(LIST, { name: "On the bench" });
  expect((await act("carol", id, "take_out")).status).toBe(200);
  expect((await act("carol", id, "put_back")).status).toBe(200);
  expect(await read(id)).toMatchObject({ taken_out: false, location: null });
});

test("a hidden tube is not released, and not revealed to be out", async () => {
  const own = await create("locations/", { label: "Shared box", grid_rows: 1, grid_columns: 2 });
  await lab.send("alice", "PATCH", `locations/${own}/permissions/`, { users: [{ user: "bob", view: true }] });
  const [out, stays] = [
    await create(LIST, { name: "out", location: own, position: "A1" }),
    await create(LIST, { name: "in", location: own, position: "A2" }),
  ];
  await act("alice", out, "take_out");
  for (const position of ["A1", "A2"]) {
    const { status, body } = await lab.send("bob", "POST", `locations/${own}/evict/`, {
      positions: [position],
    });
    expect([status, body.message]).toEqual([403, "You do not have permission to perform this action."]);
  }
  expect(stays).not.toBe(out);
});

test("lists find what is out, and what is overdue", async () => {
  const id = await create(LIST, { name: "Late" });
  // The server's own clock decides what is overdue.
  lab.clock.set(Date.now() - 25 * HOUR);
  await act("carol", id, "take_out");
  const punctual = await create(LIST, { name: "Punctual" });
  lab.clock.set(Date.now());
  await act("carol", punctual, "take_out");
  const names = async (filter: string) => {
    const { body } = await lab.send("carol", "GET", `${LIST}?${filter}&ordering=due_back&fields=name`);
    return (body.results as { name: string }[]).map(({ name }) => name);
  };
  expect(await names("taken_out=true&taken_out_by=carol&location=")).toEqual(["Late", "Punctual"]);
  expect(await names("due_back__lt=now&taken_out_by=carol")).toEqual(["Late"]);
  expect(await names("due_back__gte=now")).toEqual(["Punctual"]);
});

test("the history says what happened", async () => {
  const id = await create(LIST, { name: "Told", location: box });
  await act("carol", id, "take_out");
  await act("alice", id, "put_back");
  const { body } = await lab.send("alice", "GET", `batches/?page_size=2`);
  expect((body.results as { summary?: string }[]).map((batch) => JSON.stringify(batch))).toEqual([
    expect.stringContaining("put Told back"),
    expect.stringContaining("took Told out"),
  ]);
});

test("a tube is handed to a person who may use it, and the handing is undone", async () => {
  lab.clock.set(START);
  const id = await create(LIST, { name: "Ligase", location: box });
  await act("alice", id, "take_out");
  lab.clock.set(START + HOUR);
  const handed = await act("alice", id, "take_out", { taken_out_by: "carol", due_back: time(30) });
  expect(handed.status).toBe(200);
  const holder = { taken_out_by: "carol", taken_out_since: time(1), due_back: time(30) };
  expect(await read(id)).toMatchObject(holder);
  const sentences = async () => {
    const { body } = await lab.send("alice", "GET", "batches/?page_size=2");
    return JSON.stringify(body.results);
  };
  expect(await sentences()).toContain("handed Ligase to Carol Clark");
  for (const [person, message] of [
    ["nobody", "taken_out_by: There is no active account nobody."],
    ["bob", "taken_out_by: Bob Baker may not use this record. Share it with them first."],
  ]) {
    const { status, body } = await act("alice", id, "take_out", { taken_out_by: person });
    expect([status, body.message]).toEqual([400, message]);
  }
  // Those who may not use it learn nothing about others.
  expect((await act("bob", id, "take_out", { taken_out_by: "nobody" })).status).toBe(404);
  expect((await undo("alice", handed.headers)).status).toBe(200);
  expect(await read(id)).toMatchObject({ taken_out_by: "alice", taken_out_since: time(0) });
  await act("carol", id, "take_out");
  expect(await sentences()).toContain("took Ligase over");
});

test("a group says after how many days its stock is due back", async () => {
  lab.clock.set(START);
  const set = (days: number) => lab.send("admin", "PATCH", "groups/Genomics/", { due_back_days: days });
  const refused = await set(0);
  expect([refused.status, refused.body.message]).toEqual([
    400,
    "due_back_days: Give a number from 1 to 365.",
  ]);
  expect((await set(7)).status).toBe(200);
  const id = await create(LIST, { name: "Lent for a week" });
  await act("carol", id, "take_out");
  expect(await read(id)).toMatchObject({ due_back: time(7 * 24) });
});
