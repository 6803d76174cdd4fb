import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { expectStatuses, type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** Annotations, notes and files are filtered, searched, ordered and paged like records. */

const RECORD = `consumables/${IDS.antibody}`;
const FILES = `attachments/?app=stocks&model=consumable&object_id=${IDS.antibody}`;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  for (const [i, content] of ["frozen at -80", "thawed once", "frozen again"].entries()) {
    lab.clock.set(Date.UTC(2026, 0, 2 + i));

    await lab.send("admin", "POST", `${RECORD}/notes/`, { content });
    await lab.bytes("POST", FILES, { as: "admin", body: content, type: "text/plain" });
  }
  await lab.send("admin", "POST", `${RECORD}/annotations/`, {
    annotation_type_id: "note",
    value: "made by hand",
  });
  await lab.send("admin", "POST", `${RECORD}/annotations/`, { annotation_type_id: "organ", value: "liver" });
  await lab.send("admin", "POST", `${RECORD}/annotations/`, { annotation_type_id: "host", value: "goat" });
});
afterAll(() => lab.database.close());

const list = async (path: string, as = "admin") => {
  const { status, body, text } = await lab.send(as, "GET", path);
  expect({ path, text: status === 200 ? "" : text }).toEqual({ path, text: "" });
  return body;
};
const contents = async (query: string) =>
  ((await list(`${RECORD}/notes/?${query}`)).results as { content: string }[]).map(({ content }) => content);
const names = async (query: string, as?: string) =>
  ((await list(`${RECORD}/annotations/?${query}`, as)).results as { name: string }[]).map(({ name }) => name);

test.each([
  ["", ["frozen at -80", "thawed once", "frozen again"]],
  ["search=FROZEN", ["frozen at -80", "frozen again"]],
  ["search=frozen again", ["frozen again"]],
  ["search=nothing", []],
  ["query=thawed", ["thawed once"]],
  ["content__startswith=thawed", ["thawed once"]],
  ["created__gte=2026-01-03", ["thawed once", "frozen again"]],
  ["created_by=alice", []],
  ["ordering=-created", ["frozen again", "thawed once", "frozen at -80"]],
  ["ordering=content", ["frozen again", "frozen at -80", "thawed once"]],
  ["page_size=2&page=2", ["frozen again"]],
  ["page_size=2&page=last&ordering=-created", ["frozen at -80"]],
  ['query_expression={"category":"content","operator":"endswith","value":"once"}', ["thawed once"]],
])("notes/?%s", async (query, expected) => {
  expect(await contents(query)).toEqual(expected);
});

test("pages have the envelope of lists", async () => {
  const { results, ...page } = await list(`${RECORD}/notes/?page_size=2`);
  expect(results).toBeArrayOfSize(2);
  const next = `http://lab/api/v2/stocks/${RECORD}/notes/?page=2&page_size=2`;
  expect(page).toEqual({ previous: null, next, current: 1, total: 3, total_pages: 2 });
});

test("annotations are found by their type and value", async () => {
  expect(await names("")).toEqual(["note", "organ", "host"]);
  expect(await names("name=org")).toEqual(["organ"]);
  expect(await names("search=goat")).toEqual(["host"]);
  expect(await names("annotation_type__type=TEXT&ordering=annotation_type__name")).toEqual(["host", "note"]);
  expect(await names(`annotation_type_id=${IDS.organ}`)).toEqual(["organ"]);
  expect(await names("value__icontains=HAND")).toEqual(["note"]);
});

test("a type that the caller may not view is no filter", async () => {
  await expectStatuses(lab, "admin", [
    [`PATCH annotationtypes/${IDS.organ}/`, 200, { public: false, owned_by: "Genomics" }],
  ]);
  for (const query of [
    "name=organ",
    "search=organ",
    "annotation_type__name=organ",
    "annotation_type__type=VOCABULARYTERM",
  ])
    expect({ query, names: await names(query, "bob") }).toEqual({ query, names: [] });
  expect(await names("name=organ", "alice")).toEqual(["organ"]);
  await expectStatuses(lab, "admin", [[`PATCH annotationtypes/${IDS.organ}/`, 200, { public: true }]]);
});

test("the list of files is a bare array with paging in headers", async () => {
  const get = async (query: string) => {
    const { status, headers, text } = await lab.send("admin", "GET", `${FILES}&${query}`);
    expect({ query, status, text: status === 200 ? "" : text }).toEqual({ query, status: 200, text: "" });
    return { files: JSON.parse(text) as { created: string; size: number }[], headers };
  };
  const days = ({ files }: Awaited<ReturnType<typeof get>>) =>
    files.map(({ created }) => created.slice(0, 10));
  expect(days(await get("deleted=false&page_size=max&ordering=-created"))).toEqual([
    "2026-01-04",
    "2026-01-03",
    "2026-01-02",
  ]);
  expect(days(await get("ordering=created"))).toEqual(["2026-01-02", "2026-01-03", "2026-01-04"]);
  expect(days(await get("size__gt=12"))).toEqual(["2026-01-02"]);
  expect(days(await get("search=nothing"))).toEqual([]);
  const first = await get("page_size=2");
  expect(days(first)).toEqual(["2026-01-04", "2026-01-03"]);
  expect(first.headers.get("x-total-count")).toBe("3");
  expect(first.headers.get("link")).toMatch(
    /^<http:\/\/lab\/api\/v2\/attachments\/\?.*page=2.*>; rel="next"$/,
  );
});

test("rejects parameters that would be ignored", async () => {
  await expectStatuses(
    lab,
    "admin",
    ["notes/?", "annotations/?"]
      .map((part) => `${RECORD}/${part}`)
      .concat(`${FILES}&`)
      .flatMap((path) =>
        [
          "serch=x",
          "can_change=true",
          "fields=id",
          "explain=1",
          "format=csv",
          "page_size=9999",
          "ordering=rid",
          "created=soon",
        ].map((query): [string, number] => [`GET ${path}${query}`, 400]),
      ),
  );
  await expectStatuses(lab, "admin", [[`GET ${RECORD}/notes/?page=9`, 404]]);
});

test("rejects an ambiguous name of a type, and lists the candidates", async () => {
  const more = { type: "NUMBER", label: "Buffer", field_meta: "organ" };
  const own = await lab.send("admin", "POST", "annotationtypes/", { ...more, name: "twice" });
  const property = { ...more, name: "twice", model_type: "OTHER" };
  const fish = await lab.send("admin", "POST", "custompropertytypes/", {
    ...property,
    model_name: "stocks.specimen",
  });
  const annotate = async (type: Json) =>
    lab.send("admin", "POST", `${RECORD}/annotations/`, { annotation_type_id: type, value: 1 });
  // A type of other records is no candidate.
  expect((await annotate("twice")).body.annotation_type_id).toBe(String(own.body.id));
  const other = await lab.send("admin", "POST", "custompropertytypes/", {
    ...property,
    model_name: "stocks.consumable",
  });
  const refused = await annotate("twice");
  expect(refused.status).toBe(400);
  const [message] = refused.body.annotation_type_id as string[];
  expect(message).toStartWith("Several types have this name. Give the id of one: ");
  expect(message).toContain(`${String(own.body.id)} (annotation type, labelled "Buffer")`);
  expect(message).toContain(
    `${String(other.body.id)} (custom property type of stocks.consumable OTHER, labelled "Buffer")`,
  );
  expect(message).not.toContain(String(fish.body.id));
  expect((await annotate(other.body.id)).status).toBe(201);
});

test("the files of a record also have a list address like its notes", async () => {
  const path = `${RECORD}/attachments/`;
  const { body } = await lab.send("admin", "GET", `${path}?page_size=2&ordering=created`);
  const { text } = await lab.send("admin", "GET", `${FILES}&ordering=created`);
  expect(body).toEqual({
    previous: null,
    next: `http://lab/api/v2/stocks/${path}?ordering=created&page=2&page_size=2`,
    current: 1,
    total: 3,
    total_pages: 2,
    results: (JSON.parse(text) as Json[]).slice(0, 2),
  });
  expect((await lab.ask("GET", `locations/${IDS.secret}/attachments/`, { as: "bob" })).status).toBe(404);
  const made = await lab.bytes("POST", path, { as: "admin", body: "a,b", type: "text/csv" });
  expect(made.status).toBe(201);
  const { id } = JSON.parse(new TextDecoder().decode(made.bytes)) as { id: string };
  expect((await lab.bytes("GET", `attachments/${id}/`, { as: "admin" })).bytes.toString()).toBe(
    new TextEncoder().encode("a,b").toString(),
  );
  expect((await lab.bytes("POST", path, { as: "bob", body: "x" })).status).toBe(403);
});

test("the list of imports behaves like other lists", async () => {
  expect((await lab.send("admin", "GET", "imports/")).body).toEqual({
    previous: null,
    next: null,
    current: 1,
    total: 0,
    total_pages: 1,
    results: [],
  });
});
