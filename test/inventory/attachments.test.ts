import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Lab, openLab } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Files of records, as LabID's client uses them. */

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const of = (model: string, id: string) => `attachments?app=stocks&model=${model}&object_id=${id}`;
const json = ({ bytes }: { bytes: Uint8Array }) => JSON.parse(new TextDecoder().decode(bytes));
const form = (name: string, content: string) => {
  const made = new FormData();
  made.append("file", new File([content], name, { type: "text/html" }));
  return made;
};

test("uploads, lists, downloads and deletes a file", async () => {
  const { body: fish } = await lab.send("alice", "POST", "specimens/", { name: "mine" });
  const at = of("specimen", String(fish.id));
  expect(
    json(await lab.bytes("GET", `${at}&deleted=false&page_size=max&ordering=-created`, { as: "alice" })),
  ).toEqual([]);
  const made = await lab.bytes("POST", at, { as: "alice", body: form("../ä x.html", "<b>1</b>") });
  expect(made.status).toBe(201);
  const entry = json(made);
  expect(entry).toMatchObject({ name: "ä x.html", size: 8, media_type: "text/html", created_by: "alice" });
  expect(json(await lab.bytes("GET", at, { as: "alice" }))).toEqual([entry]);
  const file = await lab.bytes("GET", `attachments/${entry.id}`, { as: "alice" });
  expect(new TextDecoder().decode(file.bytes)).toBe("<b>1</b>");
  expect(file.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''%C3%A4%20x.html");
  // What belongs to a record that may not be seen is not there.
  for (const path of [at, `attachments/${entry.id}/`]) {
    expect((await lab.bytes("GET", path, { as: "bob" })).status).toBe(404);
    expect((await lab.bytes("GET", path)).status).toBe(404);
  }
  expect((await lab.bytes("DELETE", `attachments/${entry.id}`, { as: "bob" })).status).toBe(404);
  expect((await lab.bytes("DELETE", `attachments/${entry.id}/`, { as: "alice" })).status).toBe(204);
  expect(json(await lab.bytes("GET", at, { as: "alice" }))).toEqual([]);
});

test("requires the right to change a named record", async () => {
  const send = (path: string, as?: string) =>
    lab.bytes("POST", path, { body: form("a", "b"), ...(as ? { as } : {}) });
  expect((await send(of("specimen", IDS.fish), "bob")).status).toBe(403);
  expect((await send(of("specimen", IDS.fish))).status).toBe(401);
  expect((await send(of("nothing", IDS.fish), "admin")).status).toBe(400);
  expect((await send(of("specimen", IDS.antibody), "admin")).status).toBe(404);
  expect((await send(of("specimen", IDS.fish), "admin")).status).toBe(201);
  expect(json(await lab.bytes("GET", of("specimen", IDS.fish)))).toBeArrayOfSize(1);
});
