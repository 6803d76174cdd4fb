import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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
/** Labels or names of the records of a list, in order. */
const names = async (path: string, as?: string): Promise<Json[]> => {
  const answer = await get(path, as);
  expect([path, answer.status, answer.status === 200 ? "" : answer.text]).toEqual([path, 200, ""]);
  return results(answer).map((record) => record.label ?? record.room ?? record.name);
};
const expression = (...items: [category: string, operator: string, value: Json][]): string =>
  `query_expression=${encodeURIComponent(
    items.map(([category, operator, value]) => JSON.stringify({ category, operator, value })).join(","),
  )}`;

describe("the response envelope", () => {
  test("a page of a list has the members and headers of the specification, in order", async () => {
    const { status, headers, body } = await get("locations/");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("vary")).toStartWith("Accept");
    expect(headers.get("allow")).toBe("GET, POST, PUT, PATCH, HEAD, OPTIONS");
    expect(Object.keys(body)).toEqual(["previous", "next", "current", "total", "total_pages", "results"]);
    expect(body).toMatchObject({ previous: null, next: null, current: 1, total: 3, total_pages: 1 });
  });

  test("links to the previous and next page keep the other parameters", async () => {
    const middle = await get("annotationtypes/?page=2&page_size=2&ordering=-name&format=json&public=true");
    expect(middle.body).toMatchObject({ current: 2, total: 6, total_pages: 3 });
    const link = (page: number) =>
      `http://lab/api/v2/annotationtypes/?format=json&ordering=-name&page=${page}&page_size=2&public=true`;
    expect([middle.body.previous, middle.body.next]).toEqual([link(1), link(3)]);
    const last = await get(String(middle.body.next));
    expect(last.body).toMatchObject({ current: 3, next: null });
    expect(results(last)).toBeArrayOfSize(2);
  });

  test("following `next` returns every record once", async () => {
    const seen: Json[] = [];
    let next: Json = "http://lab/api/v2/vocabularies/terms/?page_size=1";
    while (typeof next === "string") {
      const page = await get(next);
      seen.push(...results(page).map(({ name }) => name));
      next = page.body.next;
    }
    expect(seen).toBeArrayOfSize(3);
    expect(new Set(seen).size).toBe(3);
  });

  test.each([
    ["page_size=2", { current: 1, total: 6, total_pages: 3 }],
    ["page_size=2&page=last", { current: 3, next: null }],
    ["page_size=max", { current: 1, total: 6, total_pages: 1, next: null, previous: null }],
    ["page_size=all", { total_pages: 1 }],
    ["name=nothing", { current: 1, total: 0, total_pages: 1, next: null, previous: null, results: [] }],
  ])("%s", async (query, part) => {
    expect((await get(`annotationtypes/?${query}`)).body).toMatchObject(part);
  });

  test.each(["page=0", "page=-1", "page=abc", "page=2", "page=1.5", "page=99999999999999999999", "page="])(
    "returns 404 for the invalid page %s",
    async (query) => {
      const { status, body } = await get(`locations/?${query}`);
      expect([status, body]).toEqual([404, { detail: "Invalid page.", message: "Invalid page." }]);
    },
  );

  test("serves URLs with and without a slash, and uses the public URL in links", async () => {
    expect((await get("locations")).body.total).toBe(3);
    expect((await get("stocks/equipment")).body.total).toBe(2);
    const reach = { publicUrl: "https://lab.example.org", basePath: "/labd", trustProxy: false };
    const behind = await openLab({ reach });
    const { body } = await behind.ask("GET", "annotationtypes/?page_size=1");
    expect(body.next).toBe("https://lab.example.org/labd/api/v2/annotationtypes/?page=2&page_size=1");
    expect((body.results as Record<string, Json>[])[0].url).toStartWith(
      "https://lab.example.org/labd/api/v2/annotationtypes/",
    );
    behind.database.close();
  });
});

test("deep pages are the same on repeated requests and current after a write", async () => {
  const own = await openLab();
  const labels = Array.from({ length: 1200 }, (_, i) => `box ${(i * 37) % 1200}`);
  await own.ask("POST", "locations/", { as: "alice", body: labels.map((label) => ({ label })) });
  const read = async (query: string) => {
    const path = `locations/?${query}&fields=label&ordering=-label`;
    return results(await own.ask("GET", path, { as: "alice" })).map(({ label }) => label);
  };
  const check = async (...pages: number[]) => {
    const order = await read("page_size=max");
    for (const page of pages)
      expect(await read(`page=${page}&page_size=50`)).toEqual(order.slice(page * 50 - 50, page * 50));
    return order;
  };
  expect((await check(22, 22, 23, 22, 25, 21, 1)).length).toBe(1204);
  await own.ask("POST", "locations/", { as: "alice", body: { label: "zzz" } });
  expect((await check(22, 22, 22, 25))[0]).toBe("zzz");
  own.database.close();
});

describe("filters of the specification:", () => {
  test.each([
    ["locations/?id=" + IDS.shelf, ["Shelf 1"]],
    ["locations/?id=" + IDS.shelf.toUpperCase().replaceAll("-", ""), ["Shelf 1"]],
    [`locations/?id=${IDS.shelf}&id=${IDS.bench}`, ["Bench ÄÖ", "Shelf 1"]],
    [`locations/?id=${IDS.shelf}, ${IDS.bench},`, ["Bench ÄÖ", "Shelf 1"]],
    [`locations/?id=${IDS.shelf},${IDS.bench}&id=${IDS.drawer}`, ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?created=2026-01-01T00:00:00.000000%2B00:00", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?created=2026-01-01T01:00:00.000000+01:00", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?created=2026-01-01", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?created=2026-01-02", []],
    ["locations/?modified=2026-01-01", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?modified_by=system", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?created_by=alice", []],
    ["locations/?created_by=SYSTEM", []],
    ["locations/?deleted=true", []],
    ["locations/?deleted=False", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?deleted=all", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?deleted_date=2026-01-01", []],
    ["locations/?deleted_by=alice", []],
    ["locations/?public=True", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?public=0", []],
    ["locations/?owner=system", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?owned_by=SYSTEM_GROUP", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?owned_by=Genomics", []],
    ["locations/?owned_by=Genomics,SYSTEM_GROUP", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?owned_by=Genomics&owned_by=SYSTEM_GROUP", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?label=Shelf 1", ["Shelf 1"]],
    ["locations/?label=shelf 1", []],
    [`locations/?equipment=${IDS.freezer}`, ["Shelf 1", "drawer"]],
    ["locations/?equipment=Freezer 1", ["Shelf 1", "drawer"]],
    ["locations/?equipment=null", ["Bench ÄÖ"]],
    [`locations/?place=${IDS.a102}`, ["Bench ÄÖ"]],
    [`locations/?place_id=${IDS.a102}`, ["Bench ÄÖ"]],
    ["locations/?name=sHe", ["Shelf 1"]],
    ["locations/?name=bench ä", ["Bench ÄÖ"]],
    ["locations/?name=helf", []],
    ["locations/?description=ANTI", ["Shelf 1"]],
    ["locations/?query=HELF", ["Shelf 1"]],
    ["locations/?query=1 she", ["Shelf 1"]],
    ["locations/?query=1 drawer", []],
    ["places/?name=a", ["101", "102"]],
    ["places/?name=a 101", ["101"]],
    ["places/?name=101", ["101"]],
    ["places/?description=cold", ["101"]],
    ["places/?description=heidel", ["101", "102"]],
    ["places/?query=01", ["101"]],
    ["places/?deleted=true", []],
    ["places/?address=1", ["101", "102"]],
    ["places/?address=Institute", ["101", "102"]],
    ["annotationtypes/?name=OR", ["organ"]],
    ["annotationtypes/?description=words", ["Note"]],
    ["annotationtypes/?query=ot", ["Note"]],
    ["annotationtypes/?type=JSON", ["settings"]],
    ["annotationtypes/?label=Note", ["Note"]],
    ["annotationtypes/?public=true&owner=system&owned_by=SYSTEM_GROUP&type=TEXT", ["Note"]],
    ["annotationtypes/?model_name=stocks.specimen", []],
    ["annotationtypes/?model_type=", ["dilution", "Note", "organ", "settings", "stored_in", "weight"]],
    ["annotationtypes/?created_by=system&modified_by=system&type=TEXT", ["Note"]],
    ["annotationtypes/?cv_category=Tissue", ["organ"]],
    [`annotationtypes/?cv_category=${IDS.tissue}`, ["organ"]],
    ["annotationtypes/?field_meta=organ", ["organ"]],
    ["custompropertytypes/?mandatory=true", ["clone"]],
    ["custompropertytypes/?mandatory=false&model_type=ANTIBODY", ["host"]],
    ["custompropertytypes/?model_name=stocks.consumable", ["clone", "host"]],
    [
      `vocabularies/terms/?category_id=${IDS.tissue}&fields=id,name&response_format=flat`,
      ["kidney", "liver"],
    ],
    ["vocabularies/terms/?category__kind=unit&page_size=max&response_format=flat", ["gram"]],
  ])("%s", async (path, found) => {
    expect((await names(path.replaceAll(" ", "%20"))).sort()).toEqual([...found].sort());
  });
});

describe("lookups and spans:", () => {
  test.each([
    ["locations/?label__icontains=äö", ["Bench ÄÖ"]],
    ["locations/?label__contains=äö", []],
    ["locations/?label__startswith=Sh", ["Shelf 1"]],
    ["locations/?label__endswith=r", ["drawer"]],
    ["locations/?label__iexact=DRAWER", ["drawer"]],
    ["locations/?label__gt=Shelf", ["Shelf 1", "drawer"]],
    ["locations/?label__lt=Shelf", ["Bench ÄÖ"]],
    ["locations/?created__gte=2026-01-01&created__lt=2026-01-02", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?equipment__isnull=true", ["Bench ÄÖ"]],
    ["locations/?equipment__isnull=false", ["Shelf 1", "drawer"]],
    ["locations/?parent=Shelf 1", ["drawer"]],
    [`locations/?id__in=${IDS.shelf},${IDS.bench}`, ["Bench ÄÖ", "Shelf 1"]],
    ["locations/?label__in=drawer,Shelf 1,x", ["Shelf 1", "drawer"]],
    ["locations/?label__in=drawer&label__in=Shelf 1,x", ["Shelf 1", "drawer"]],
    ["locations/?label__in=DRAWER", []],
    ["locations/?place__room__in=102,Cellar", ["Bench ÄÖ"]],
    ["locations/?equipment__in=Cabinet,Freezer 1", ["Shelf 1", "drawer"]],
    ["locations/?equipment__in=null,Cabinet", ["Bench ÄÖ"]],
    [`locations/?place_id__in=${IDS.a101},${IDS.a102}&label__in=drawer`, ["drawer"]],
    ["locations/?created__in=2025-12-31,2026-01-01", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?public__in=false", []],
    ["annotationtypes/?mandatory_owned_by__in=Genomics,Imaging", []],
    ["vocabularies/terms/?position__in=0,7&category__in=Mass", ["gram"]],
    ["places/?address=1,7", ["101", "102"]],
    ["locations/?place__building=A&place__room=102", ["Bench ÄÖ"]],
    ["locations/?place__address__city__iexact=heidelberg", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?equipment__place__room=101", ["Shelf 1", "drawer"]],
    ["locations/?owner__username__istartswith=SYS", ["Bench ÄÖ", "Shelf 1", "drawer"]],
  ])("%s", async (path, found) => {
    expect((await names(path.replaceAll(" ", "%20"))).sort()).toEqual([...found].sort());
  });
});

describe("ordering:", () => {
  test.each([
    ["locations/", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?ordering=-label", ["drawer", "Shelf 1", "Bench ÄÖ"]],
    ["locations/?ordering=-place__room,label", ["Bench ÄÖ", "Shelf 1", "drawer"]],
    ["locations/?ordering=place__room&ordering=-label", ["drawer", "Shelf 1", "Bench ÄÖ"]],
    ["locations/?ordering=equipment__name,-label", ["Bench ÄÖ", "drawer", "Shelf 1"]],
    ["locations/?ordering=id", ["Shelf 1", "drawer", "Bench ÄÖ"]],
    ["locations/?ordering=-owner", ["Shelf 1", "drawer", "Bench ÄÖ"]],
    ["places/", ["101", "102"]],
    ["places/?ordering=-building,-room", ["102", "101"]],
    [`places/?ordering=-room${",building".repeat(9)}`, ["102", "101"]],
    ["annotationtypes/?ordering=type", ["dilution", "settings", "weight", "stored_in", "Note", "organ"]],
  ])("%s", async (path, found) => {
    expect(await names(path)).toEqual(found);
  });

  test("orders an exact name before longer ones", async () => {
    const own = await openLab();
    for (const name of ["organ", "organ", "organelle", "organ a"])
      await own.ask("POST", "annotationtypes/", { as: "admin", body: { name, type: "TEXT", label: name } });
    await own.ask("POST", "annotationtypes/", { as: "admin", body: { name: "Organ", type: "TEXT" } });
    const { body } = await own.ask("GET", "annotationtypes/?name=organ&fields=name", { as: "admin" });
    const found = (body.results as { name: string }[]).map(({ name }) => name);
    expect(found.join()).toBe("organ,organ,organ,Organ,organ a,organelle");
    own.database.close();
  });
});

describe("query_expression:", () => {
  test.each([
    [expression(["label", "startswith", "Sh"]), ["Shelf 1"]],
    [expression(["label", "iexact", "DRAWER"], ["place__building", "==", "A"]), ["drawer"]],
    [expression(["owner", "==", "system"], ["place__room", ">", "101"]), ["Bench ÄÖ"]],
    [expression(["owned_by", "icontains", "system"]), ["Bench ÄÖ", "Shelf 1", "drawer"]],
    [expression(["equipment", "==", "null"]), ["Bench ÄÖ"]],
    [expression(["created", ">=", "2026-01-01"], ["label", "<", "T"]), ["Bench ÄÖ", "Shelf 1"]],
    [expression(["created", "<", "2026-01-01"]), []],
    [expression(["deleted", "=", "true"]), []],
    [`${expression(["label", "icontains", "e"])}&${expression(["label", "contains", "a"])}`, ["drawer"]],
  ])("%s", async (query, found) => {
    expect((await names(`locations/?${query}`)).sort()).toEqual([...found].sort());
  });
});

describe("errors name the parameter and the choices:", () => {
  test.each([
    ["locations/?page_size=abc", "page_size", "Expected a number from 1 to 1,000, or max."],
    ["locations/?page_size=0", "page_size", "Expected a number"],
    ["locations/?page_size=-5", "page_size", "Expected a number"],
    ["locations/?page_size=1000000000000", "page_size", "More than 1,000 records on a page"],
    ["locations/?id=,", "id", "Expected values separated by commas"],
    [`locations/?id=${IDS.shelf},x`, "id", "Enter a valid UUID."],
    ["locations/?label__in=,", "label__in", "Expected values separated by commas"],
    ["locations/?public__in=true,maybe", "public__in", "Expected true or false"],
    ["locations/?url__in=x", "url__in", "is not a parameter"],
    ["locations/?rid__in=1", "rid__in", "is not a parameter"],
    ["locations/?in=x", "in", "is not a parameter"],
    ["locations/?labl=x", "labl", "Did you mean label"],
    ["locations/?place__rom=x", "place__rom", "Did you mean place__room"],
    ["locations/?label__like=x", "label__like", "is not a parameter"],
    ["locations/?url=x", "url", "is not a parameter"],
    ["locations/?rid=1", "rid", "is not a parameter"],
    ["locations/?owner__password_hash__gt=a", "owner__password_hash__gt", "is not a parameter"],
    [
      `locations/?ordering=${"label,".repeat(11)}`,
      "ordering",
      "More than 10 fields in an ordering. Order by fewer fields.",
    ],
    ["locations/?ordering=nothing", "ordering", "Choices: id, created_by"],
    ["locations/?ordering=owner__password_hash", "ordering", "is not a field"],
    ["locations/?ordering=label;drop", "ordering", "The given text is not a field"],
    ["locations/?id=1", "id", "Enter a valid UUID."],
    ["locations/?public=maybe", "public", "Expected true or false"],
    ["locations/?created=soon", "created", "Expected a date"],
    ["locations/?created__contains=2026", "created__contains", "does not apply"],
    ["locations/?equipment__isnull=x", "equipment__isnull", "Expected true or false"],
    ["locations/?deleted=x", "deleted", "Expected true, false or all."],
    ["locations/?can_change=x", "can_change", "Expected true or false"],
    ["locations/?label=a%00b", "label", "Expected text without NUL"],
    ["locations/?response_format=tall", "response_format", "Choices: flat, nested."],
    ["locations/?query_expression={", "query_expression", "not a comma-separated series"],
    ["vocabularies/terms/?position=x", "position", "Expected a whole number"],
  ])("%s", async (path, name, text) => {
    const { status, body } = await get(path);
    expect(status).toBe(400);
    expect(body[name]).toBeArrayOfSize(1);
    expect((body[name] as string[])[0]).toContain(text);
    expect(body.message).toBe(`${name}: ${(body[name] as string[])[0]}`);
  });

  test("limits paths, references and lists to what SQLite can process", async () => {
    const deep = (hops: number) => `${"parent__".repeat(hops)}label`;
    expect((await get(`locations/?${deep(5)}=x`)).status).toBe(200);
    expect((await get(`locations/?${deep(6)}=x`)).status).toBe(400);
    expect((await get(`locations/?ordering=${deep(70)}`)).status).toBe(400);
    const people = ["created_by", "modified_by", "owner", "owned_by", "deleted_by"];
    const references = ["parent", "place", "equipment", ...people];
    const spans = [1, 2, 3, 4].flatMap((hops) =>
      references.map((name) => `${"parent__".repeat(hops)}${name}__id__gt=0`),
    );
    const few = await get(`locations/?${spans.slice(0, 30).join("&")}`);
    expect(few.status).toBe(200);
    const more = ["place", "equipment__place"].flatMap((before) =>
      [...people, "address"].map((name) => `${before}__${name}__id__gt=0`),
    );
    const many = await get(`locations/?${[...spans, ...more].join("&")}`);
    const message = "The filters, fields and ordering span more than 40 references.";
    expect([many.status, many.body.message]).toEqual([400, message]);
    const ids = Array.from({ length: 1000 }, (_, i) => `label=${i}`);
    expect((await get(`locations/?${ids.join("&")}&label=drawer`)).status).toBe(400);
    const most = await get(`locations/?${ids.slice(1).join("&")}&label=drawer`);
    expect({ status: most.status, total: most.body.total }).toEqual({ status: 200, total: 1 });
    expect((await get(`locations/?query=${"a+".repeat(60)}`)).status).toBe(400);
  });

  test("does not repeat hostile names in errors", async () => {
    const { status, text, body } = await get("locations/?%3Cscript%3E=1");
    expect(status).toBe(400);
    expect(text).not.toContain("script>");
    expect(body.non_field_errors).toBeArray();
  });
});
