import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectStatuses, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

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
  const made = await lab.bytes("POST", at, { as: "alice", body: form("../../ä x.html", "<b>1</b>") });
  expect(made.status).toBe(201);
  const entry = json(made);
  expect(entry).toMatchObject({ name: "ä x.html", size: 8, media_type: "text/html", created_by: "alice" });
  expect(json(await lab.bytes("GET", at, { as: "alice" }))).toEqual([entry]);
  const file = await lab.bytes("GET", `attachments/${entry.id}`, { as: "alice" });
  expect(new TextDecoder().decode(file.bytes)).toBe("<b>1</b>");
  expect(file.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''%C3%A4%20x.html");
  // Uploaded files must not run as pages or scripts of this server.
  expect(file.headers.get("content-type")).toBe("application/octet-stream");
  expect(file.headers.get("content-security-policy")).toStartWith("sandbox;");
  expect(file.headers.get("cache-control")).toBe("private, no-cache");
  // Files of a record that the caller may not view.
  for (const as of ["bob", undefined])
    await expectStatuses(lab, as, [
      [`GET ${at}`, 404],
      [`GET attachments/${entry.id}/`, 404],
    ]);
  await expectStatuses(lab, "bob", [[`DELETE attachments/${entry.id}`, 404]]);
  await expectStatuses(lab, "alice", [[`DELETE attachments/${entry.id}/`, 204]]);
  expect(json(await lab.bytes("GET", at, { as: "alice" }))).toEqual([]);
});

test("requires the permission to change a named record", async () => {
  for (const [model, id, as, status] of [
    ["specimen", IDS.fish, "bob", 403],
    ["specimen", IDS.fish, undefined, 401],
    ["nothing", IDS.fish, "admin", 400],
    ["specimen", IDS.antibody, "admin", 404],
    ["specimen", IDS.fish, "admin", 201],
  ] as const) {
    const sent = { body: form("a", "b"), ...(as ? { as } : {}) };
    expect([model, as, (await lab.bytes("POST", of(model, id), sent)).status]).toEqual([model, as, status]);
  }
  expect(json(await lab.bytes("GET", of("specimen", IDS.fish)))).toBeArrayOfSize(1);
});
