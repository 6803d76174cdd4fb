import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> =>
  lab.send(as, method, path, body);
const total = async (path: string, as = "admin"): Promise<Json> =>
  (await lab.ask("GET", path, { as })).body.total;

describe("creating records", () => {
  test("returns the record, its address and its owners", async () => {
    const { status, headers, body } = await send("POST", "locations/", { label: "  Box  ", place: IDS.a101 });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`http://lab/api/v2/locations/${body.id}/`);
    expect(headers.get("allow")).toBe("GET, POST, PUT, PATCH, HEAD, OPTIONS");
    expect(body).toMatchObject({
      label: "Box",
      place: IDS.a101,
      equipment: null,
      created_by: "alice",
      modified_by: "alice",
    });
    const fields = "owner,owned_by,public,version,permissions";
    expect((await send("GET", `locations/${body.id}/?fields=${fields}`)).body).toEqual({
      public: false,
      permissions: { public: false, actions: { change: true, delete: true } },
      owner: "alice",
      owned_by: "Genomics",
      version: 1,
    });
    expect((await lab.ask("GET", String(headers.get("location")), { as: "alice" })).body).toEqual(body);
  });

  test.each([
    ["an id", IDS.a101],
    ["a name", "A 101"],
    ["an object with id", { id: IDS.a101 }],
    ["an object with name", { name: "A 101" }],
    ["an object with value", { value: "A 101" }],
    ["a nested property", { name: "place", value: { id: IDS.a101, name: "A 101" }, category: "property" }],
  ])("a reference may be %s", async (_, place) => {
    expect((await send("POST", "locations/", { label: "Box", place })).body.place).toBe(IDS.a101);
  });

  test("accepts the same forms for users, groups and addresses", async () => {
    const owners = { owner: { username: "bob" }, owned_by: { name: "Imaging" } };
    const admin = await send("POST", "locations/?fields=owner,owned_by", { label: "x", ...owners }, "admin");
    expect(admin.body).toEqual({ owner: "bob", owned_by: "Imaging" });
    for (const address of [1, "1", "Institute", { id: 1 }])
      expect((await send("POST", "places/", { room: "7", address })).body).toMatchObject({
        address: 1,
        building: "",
      });
  });

  test("accepts and returns the wrapper of the flat format", async () => {
    const { status, body } = await send("POST", "locations/?format=json&response_format=flat", {
      results: { label: "Box" },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      results: expect.objectContaining({ label: "Box", created: "2026-01-01T00:00:00.000000+00:00" }),
    });
  });

  test("creates all records of a list or none of them", async () => {
    const good = await send("POST", "locations/", [{ label: "a" }, { label: "b" }]);
    expect(good.status).toBe(201);
    expect((good.body as unknown as { label: string }[]).map(({ label }) => label)).toEqual(["a", "b"]);
    const before = await total("locations/");
    const refused = await send("POST", "locations/", [{ label: "c" }, { label: "" }, {}]);
    expect([refused.status, refused.body as unknown]).toEqual([
      400,
      [{}, { label: ["This field may not be blank."] }, { label: ["This field is required."] }],
    ]);
    expect(await total("locations/")).toBe(before);
  });
});

describe("field errors:", () => {
  /** Valid bodies; a row replaces or removes one field. */
  const VALID: Record<string, object> = {
    locations: { label: "a" },
    places: { room: "1", address: 1 },
    annotationtypes: { name: "x", type: "TEXT" },
    custompropertytypes: { name: "x", type: "TEXT" },
    "vocabularies/categories": { name: "x" },
    "vocabularies/terms": { name: "x", category: "Tissue" },
  };
  test.each<[list: string, change: object | string, text: string]>([
    ["locations", { label: undefined }, "This field is required."],
    ["locations", "", "This field is required."],
    ["locations", { label: "" }, "This field may not be blank."],
    ["locations", { label: null }, "This field may not be null."],
    ["locations", { label: {} }, "Not a valid string."],
    ["locations", { label: "x".repeat(256) }, "Ensure this field has no more than 255 characters."],
    ["locations", { labl: "b" }, '"labl" is not a field of location. Did you mean label?'],
    ["locations", { rid: 3 }, '"rid" is not a field of location.'],
    ["locations", { place: IDS.bench }, `Invalid pk "${IDS.bench}" - object does not exist.`],
    ["locations", { place: "Nowhere" }, 'Object with name="Nowhere" does not exist.'],
    ["locations", { place: [1] }, "Expected an id, a name, or an object with one of them."],
    ["locations", { place: { id: "1" } }, "Enter a valid UUID."],
    ["locations", { public: "maybe" }, "Must be a valid boolean."],
    ["locations", { owner: "bob" }, "Only an administrator may change the owner."],
    ["locations", { owned_by: "Imaging" }, "You are not a member of this group."],
    ["locations", { owned_by: null }, "This field may not be null."],
    ["places", { address: 99 }, 'Invalid pk "99" - object does not exist.'],
    ["annotationtypes", { type: undefined }, "This field is required."],
    ["annotationtypes", { type: "POEM" }, '"POEM" is not a valid choice. Choices: TEXT, OBJECT'],
    ["annotationtypes", { visibility: "sometimes" }, "Expected upper case letters"],
    ["annotationtypes", { validations: [{ name: "required" }] }, "Expected a list of objects"],
    ["annotationtypes", { value_choices: [["a"]] }, "Expected null or a list of pairs"],
    ["annotationtypes", { type: "OBJECT", choices_target: "../../x" }, "Expected the segment of a list"],
    ["custompropertytypes", { model_name: undefined }, "This field is required."],
    ["vocabularies/categories", { name: "Tissue" }, "category with this name already exists."],
    ["vocabularies/categories", { kind: "sort" }, '"sort" is not a valid choice. Choices: term, unit.'],
    ["vocabularies/terms", { position: "first" }, "A valid integer is required."],
    ["locations", '"text"', "Invalid data. Expected a dictionary, but got string."],
    ["locations", "null", "Invalid data. Expected a dictionary, but got null."],
  ])("reports field errors of POST %s %p", async (list, change, text) => {
    const path = `${list}/`;
    const isText = typeof change === "string";
    const body = isText ? change : { ...VALID[list], ...change };
    // An empty body counts as an object.
    const field = isText ? (change === "" ? "label" : "non_field_errors") : Object.keys(change).at(-1)!;
    const before = await total(path);
    const answer = await send("POST", path, body);
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 400 });
    expect(answer.body[field]).toBeArrayOfSize(1);
    expect((answer.body[field] as string[])[0]).toStartWith(text);
    expect(answer.body.message).toStartWith(`${field}: ${text}`);
    expect(await total(path)).toBe(before);
  });

  test("reports all invalid fields at once", async () => {
    const { body } = await send("POST", "custompropertytypes/", { name: "", type: "X", mandatory: 7 });
    const named = ["mandatory", "message", "model_name", "model_type", "name", "type"];
    expect(Object.keys(body).sort()).toEqual(named);
  });

  test("treats __proto__ and constructor as plain names", async () => {
    const given = '{"label":"a","__proto__":{"x":1},"constructor":1}';
    const { status, body } = await send("POST", "locations/", given);
    expect(status).toBe(400);
    expect(body.message).toContain("is not a field of location");
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("malformed bodies:", () => {
  test.each([
    ["text/csv", "label\nx", 415, 'Unsupported media type "text/csv" in request. Send application/json.'],
    ["<b>/x", "{}", 415, "Unsupported media type of this name in request. Send application/json."],
    ["application/json", '{"label":', 400, "JSON parse error - Unexpected EOF."],
    [
      "application/json; charset=utf-8",
      "{'label':1}",
      400,
      "JSON parse error - Single quotes (') are not allowed in JSON.",
    ],
  ])("rejects %s %s", async (type, body, status, detail) => {
    const headers = { "Content-Type": type };
    const answer = await lab.ask("POST", "locations/", { as: "alice", body, headers });
    expect([answer.status, answer.body]).toEqual([status, { detail, message: detail }]);
  });

  test("rejects an unacceptable format before anything is written", async () => {
    const before = await total("locations/");
    const headers = { Accept: "image/png" };
    const refused = await lab.ask("POST", "locations/", { as: "alice", body: { label: "x" }, headers });
    expect(refused.status).toBe(406);
    expect((await send("POST", "locations/?format=xml", { label: "x" })).status).toBe(404);
    expect(await total("locations/")).toBe(before);
  });
});
