import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RESOURCES } from "../../../src/inventory/index.ts";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterAll(() => lab.database.close());

const get = (path: string, as?: string): Promise<Answered> => lab.ask("GET", path, as ? { as } : {});
const results = ({ body }: Answered): Record<string, Json>[] => body.results as Record<string, Json>[];

describe("renderings:", () => {
  test("the parameter `fields` selects fields in record order, including hidden and spanned ones", async () => {
    const only = await get(`locations/?fields=label,id,nothing&id=${IDS.drawer}&strict=0`);
    expect(only.text).toContain(`"results":[{"id":"${IDS.drawer}","label":"drawer"}]`);
    const more = await get(`locations/?fields=label,parent,place__building,place__address&id=${IDS.drawer}`);
    expect(results(more)).toEqual([
      { label: "drawer", parent: IDS.shelf, place__building: "A", place__address: 1 },
    ]);
    const all = await get(`locations/?fields=*&id=${IDS.drawer}`);
    expect(Object.keys(results(all)[0])).toContain("deleted_by");
    expect(Object.keys(results(all)[0])).not.toContain("rid");
  });

  test("`created` and `modified` are objects by default, strings in flat and properties in nested format", async () => {
    const path = `locations/${IDS.shelf}/`;
    const at = "2026-01-01T00:00:00.000000+00:00";
    expect((await get(path)).body.created).toEqual({ name: "created", value: at, category: "property" });
    expect((await get(`${path}?response_format=flat`)).body).toMatchObject({
      results: { created: at, label: "Shelf 1" },
    });
    expect(results(await get("locations/?response_format=flat"))[0].modified).toBe(at);
    const nested = (await get(`${path}?response_format=nested&fields=*`)).body;
    expect(nested.label).toEqual({ name: "label", value: "Shelf 1", category: "property" });
    expect(nested.created).toEqual({ name: "created", value: at, category: "property" });
    expect(nested.place).toMatchObject({
      name: "place",
      value: { id: IDS.a101, name: "A 101", deleted: false, app_name: "stocks", model_name: "place" },
    });
    expect(nested.equipment).toMatchObject({ value: { name: "Freezer 1", model_type: "FREEZER" } });
    expect(nested.owner).toMatchObject({ value: { username: "system", full_name: null } });
    const seen = (await lab.send("alice", "GET", `${path}?response_format=nested&fields=*`)).body;
    expect(seen.owner).toMatchObject({ value: { username: "system", full_name: "labd" } });
    expect(nested.parent).toEqual({ name: "parent", value: null, category: "property" });
  });

  test("shows all fields that records have in the specification", async () => {
    const { body } = await get(`annotationtypes/${IDS.weight}/`);
    expect(body).toEqual({
      url: `http://lab/api/v2/annotationtypes/${IDS.weight}/?format=api`,
      id: IDS.weight,
      created_by: "system",
      modified_by: "system",
      created: { name: "created", value: "2026-01-01T00:00:00.000000+00:00", category: "property" },
      modified: { name: "modified", value: "2026-01-01T00:00:00.000000+00:00", category: "property" },
      name: "weight",
      choice_label: "weight",
      description: "",
      public: true,
      permissions: { public: true, actions: {} },
      unit_choices_api: `http://lab/api/v2/vocabularies/terms/?category_id=${IDS.mass}&page_size=max&fields=id,name&response_format=flat`,
      type: "NUMBERUNIT",
      label: "weight",
      help_text: "",
      default: "",
      has_default: false,
      multiple: false,
      is_protocol_parameter: false,
      autocomplete: "",
      searchable: false,
      readonly: false,
      sortable: true,
      cv_category: null,
      mandatory: true,
      validations: [{ name: "required", arguments: [], error_message: "weight is required." }],
      visibility: "ALWAYS",
      edit_visibility: "ALWAYS",
      list_visibility: "ALWAYS",
      value_choices: null,
      choices_value: "id",
      choices_label: "name",
      choices_api: null,
      preferred_view_widget: "NUMBERUNIT",
      preferred_edit_widget: "NUMBERUNIT",
      preferred_list_widget: "NUMBERUNIT",
      field_meta: "00000000-0000-4000-8000-000000000003",
      owner: "system",
      owned_by: "SYSTEM_GROUP",
    });
    const place = await get(`places/${IDS.a101}/`);
    expect(place.body).toMatchObject({ building: "A", room: "101", address: 1 });
    expect((await get("addresses/1/")).body).toMatchObject({ id: 1, name: "Institute", city: "Heidelberg" });
  });

  test("links to choices work, and keep the format", async () => {
    const types = results(await get("annotationtypes/?format=json"));
    expect(types[0].url).toEndWith("/?format=json");
    const linked = types
      .flatMap(({ choices_api, unit_choices_api }) => [choices_api, unit_choices_api])
      .filter(Boolean);
    expect(linked).toBeArrayOfSize(3);
    const found = await Promise.all(linked.map((link) => get(String(link))));
    expect(found.map((answer) => results(answer).map(({ name }) => name)).sort()).toEqual([
      ["Cabinet", "Freezer 1"],
      ["gram"],
      ["kidney", "liver"],
    ]);
  });

  test("CSV has a header line and one line for each record", async () => {
    const { headers, text } = await get("locations/?format=csv&fields=label,equipment,public,created");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(text.split("\r\n")[0]).toBe("created,label,equipment,public");
    expect(text).toContain(`2026-01-01T00:00:00.000000+00:00,drawer,${IDS.freezer},true\r\n`);
  });

  test("returns one record as CSV", async () => {
    const { headers, text } = await get(`locations/${IDS.shelf}/?format=csv&fields=label,public`);
    expect(headers.get("content-disposition")).toBe('attachment; filename="locations.csv"');
    expect(text).toBe("label,public\r\nShelf 1,true\r\n");
  });

  test("escapes formulas and quotes separators in CSV", async () => {
    const own = await openLab();
    await own.ask("POST", "locations/", { as: "alice", body: [{ label: '=1+"2"' }, { label: "a,b\nc" }] });
    const { text } = await own.ask("GET", "locations/?format=csv&fields=label&owner=alice", { as: "alice" });
    expect(text).toBe('label\r\n"\'=1+""2"""\r\n"a,b\nc"\r\n');
    own.database.close();
  });

  test.each([
    ["text/html,application/xhtml+xml,*/*;q=0.8", "", "text/html; charset=utf-8"],
    ["application/json", "", "application/json"],
    ["*/*", "", "application/json"],
    ["application/json;q=0.5, text/html;q=0.9", "", "text/html; charset=utf-8"],
    ["text/*", "", "text/html; charset=utf-8"],
    ["application/json", "format=api", "application/json"],
    ["*/*", "format=api", "text/html; charset=utf-8"],
    ["text/html", "format=json", "application/json"],
  ])("Accept: %s with %p returns %s", async (accept, query, type) => {
    const { headers } = await lab.ask("GET", `locations/?${query}`, { headers: { Accept: accept } });
    expect(headers.get("content-type")).toBe(type);
  });

  test("rejects unacceptable formats and can_view", async () => {
    const image = await lab.ask("GET", "locations/", { headers: { Accept: "image/png" } });
    expect(image.status).toBe(406);
    expect(image.body.detail).toStartWith("Could not satisfy the request Accept header.");
    expect((await get("locations/?format=xml")).status).toBe(404);
    for (const value of ["true", "false", ""]) {
      const { status, body } = await get(`locations/?can_view=${value}`, "alice");
      expect({ status, same: body.detail === body.message }).toEqual({ status: 406, same: true });
    }
  });
});

describe("HEAD and OPTIONS:", () => {
  test("HEAD returns the headers of GET without the body", async () => {
    const whole = await get("locations/");
    const head = await lab.ask("HEAD", "locations/");
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: "" });
    for (const name of ["content-type", "allow", "vary"])
      expect(head.headers.get(name)).toBe(whole.headers.get(name));
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(whole.text)));
    expect((await lab.ask("HEAD", `locations/${IDS.shelf}/`)).status).toBe(200);
    expect((await lab.ask("HEAD", "locations/?page=9")).status).toBe(404);
  });

  test("OPTIONS describes bodies to users who may send them", async () => {
    const nobody = await lab.ask("OPTIONS", "locations/");
    expect(nobody.headers.get("allow")).toBe("GET, POST, PUT, PATCH, HEAD, OPTIONS");
    expect(nobody.body).toMatchObject({ name: "locations", parses: ["application/json"] });
    expect(nobody.body.actions).toBeUndefined();
    const alice = await lab.ask("OPTIONS", "annotationtypes/", { as: "alice" });
    expect(alice.body.actions).toMatchObject({
      POST: {
        id: { read_only: true, required: false },
        name: { type: "string", required: true, read_only: false, max_length: 255, label: "Name" },
        type: { type: "choice", required: true },
        mandatory: { type: "boolean" },
      },
    });
    const item = await lab.ask("OPTIONS", `locations/${IDS.shelf}/`, { as: "alice" });
    expect(item.headers.get("allow")).toBe("GET, PUT, PATCH, DELETE, HEAD, OPTIONS");
    expect(item.body.actions).toBeUndefined();
    const admin = await lab.ask("OPTIONS", `locations/${IDS.shelf}/`, { as: "admin" });
    expect(Object.keys(admin.body.actions as object)).toEqual(["PUT"]);
  });
});

test("every URL listed at the root works", async () => {
  const { body } = await get("");
  expect(Object.keys(body)).toEqual([...RESOURCES.map(({ segment }) => segment), "users", "groups"]);
  // Users and groups need credentials.
  for (const [segment, address] of Object.entries(body))
    expect((await get(String(address))).status).toBe(["users", "groups"].includes(segment) ? 401 : 200);
  expect((await get("http://lab/api/v2")).body).toEqual(body);
});

test.each([
  "nothing/",
  "locations/x/y/",
  "locations//",
  `locations/${IDS.secret}/`,
  "locations/1/",
  `locations/${IDS.note}/`,
  "addresses/abc/",
  "locations/%/",
  "locations/%E0%A4%A",
  "locations/%00/",
  "locations/%2F/",
])("returns 404 for %s", async (path) => {
  const { status, body } = await get(path);
  expect([status, body.detail]).toEqual([404, expect.stringMatching(/^Not found\./)]);
});
