import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab, PASSWORD } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Uses the browsable pages like a browser without scripts: reads their forms and submits them. */

let lab: Lab;
let cookie = "";
beforeEach(async () => {
  lab = await openLab({ passwords: true });
  cookie = "";
});
afterEach(() => lab.database.close());

const PAGE = "text/html,application/xhtml+xml,*/*;q=0.8";
const open = (address: string): Promise<Answered> =>
  lab.ask("GET", address, { headers: { Accept: PAGE, ...(cookie ? { Cookie: cookie } : {}) } });

const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

interface Form {
  action: string;
  method: string;
  fields: [string, string][];
}
/** The forms of a page with their initial values. */
const formsOf = (page: string): Form[] =>
  [...page.matchAll(/<form method="(\w+)" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, method, action, inner]) => {
      const inputs = [...inner.matchAll(/<input ([^>]*)>/g)]
        .filter(([, attributes]) => !attributes.includes("checkbox"))
        .map(([, attributes]): [string, string] => [
          /name="([^"]*)"/.exec(attributes)![1],
          unescaped(/value="([^"]*)"/.exec(attributes)?.[1] ?? ""),
        ]);
      const areas = [...inner.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>([^<]*)<\/textarea>/g)].map(
        ([, name, text]): [string, string] => [name, unescaped(text)],
      );
      return { method, action: unescaped(action), fields: [...inputs, ...areas] };
    },
  );

/** Submits a form with some fields changed, and follows the redirect. */
async function submit(
  form: Form,
  changes: [string, string][] = [],
  Origin = "http://lab",
): Promise<Answered> {
  const changed = new Set(changes.map(([name]) => name));
  const fields = new URLSearchParams([...form.fields.filter(([name]) => !changed.has(name)), ...changes]);
  if (form.method === "get") return follow(form.action, await open(`${form.action}?${fields}`));
  const sent = { Accept: PAGE, Origin, "Content-Type": "application/x-www-form-urlencoded" };
  const headers = { ...sent, ...(cookie ? { Cookie: cookie } : {}) };
  const answer = await lab.ask("POST", form.action, { body: fields.toString(), headers });
  const set = answer.headers.get("set-cookie");
  if (set) cookie = set.split(";")[0];
  return follow(form.action, answer);
}
const follow = async (from: string, answer: Answered): Promise<Answered> => {
  if (answer.status !== 303) return answer;
  return open(new URL(answer.headers.get("location")!, from).href);
};

async function signIn(): Promise<void> {
  const { text } = await open("http://lab/api/v2/locations/?format=api");
  const page = await submit(sessionForm(text), Object.entries({ username: "alice", password: PASSWORD }));
  expect(page.text).toContain("Signed in as <b>alice</b>");
}

/** The form, other than for sessions, that has a field with this value. */
const formWith = (page: string, value: string): Form =>
  formsOf(page).find(
    ({ action, fields }) => !action.endsWith("/session/") && fields.some((field) => field[1] === value),
  )!;
const sessionForm = (page: string): Form => formsOf(page).find(({ action }) => action.endsWith("/session/"))!;
const owned = async () =>
  (await lab.send("alice", "GET", "locations/?owner=alice")).body.results as { id: string; label: string }[];
const labels = async (): Promise<Json[]> => (await owned()).map(({ label }) => label);

describe("browsable pages", () => {
  test("links only to pages that exist", async () => {
    await signIn();
    const seen = new Set<string>();
    const wait = ["http://lab/api/v2/?format=api"];
    while (wait.length > 0 && seen.size < 60) {
      const address = wait.shift()!;
      if (seen.has(address)) continue;
      seen.add(address);
      const { status, text, headers } = await open(address);
      expect({ address, status }).toEqual({ address, status: 200 });
      if (!headers.get("content-type")?.startsWith("text/html")) continue;
      expect(text).not.toMatch(/<script|javascript:| on\w+=/i);
      for (const [, link] of text.matchAll(/href="(http[^"]+)"/g))
        if (!link.includes("/docs")) wait.push(unescaped(link));
    }
    expect(seen.size).toBeGreaterThan(30);
  });

  test("labels every input and declares the language", async () => {
    await signIn();
    for (const address of ["locations/", `locations/${IDS.secret}/`, "annotationtypes/"]) {
      const { text } = await open(`http://lab/api/v2/${address}`);
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const labelled = new Set([...text.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id));
      for (const [, attributes] of text.matchAll(/<(?:input|select|textarea) ([^>]*)>/g)) {
        if (attributes.includes('type="hidden"')) continue;
        expect(labelled).toContain(/id="([^"]+)"/.exec(attributes)?.[1] ?? attributes);
      }
      expect(text).toContain('<html lang="en">');
    }
  });

  test("omits empty filters and keeps other parameters", async () => {
    const { text } = await open("http://lab/api/v2/locations/?format=api&place__room=101&ordering=-label");
    const form = formsOf(text).find(({ method }) => method === "get")!;
    const page = await submit(form, [["query", "shelf"]]);
    expect(page.text).toContain("&quot;Shelf 1&quot;");
    expect(page.text).not.toContain("&quot;drawer&quot;");
    const again = formsOf(page.text).find(({ method }) => method === "get")!;
    expect(again.fields).toContainEqual(["place__room", "101"]);
    expect(again.fields).toContainEqual(["query", "shelf"]);
  });

  test("shows anonymous users no forms that write", async () => {
    for (const address of ["locations/?format=api", `locations/${IDS.shelf}/?format=api`]) {
      const { text } = await open(`http://lab/api/v2/${address}`);
      expect(
        formsOf(text).filter(({ method, action }) => method === "post" && !action.endsWith("/session/")),
      ).toEqual([]);
    }
  });
});

describe("writing by forms", () => {
  test("creates, updates, replaces and deletes one or more records by form, and signs out", async () => {
    await signIn();
    const list = async () => (await open("http://lab/api/v2/locations/?format=api&owner=alice")).text;
    for (const label of ["one", "two", "three"]) {
      const made = await submit(formWith(await list(), "POST"), [["_content", JSON.stringify({ label })]]);
      expect([made.status, made.text]).toEqual([200, expect.stringContaining(`&quot;${label}&quot;`)]);
    }
    expect(await labels()).toEqual(["one", "three", "two"]);
    const ids = (await owned()).map(({ id }) => id);
    const record = async () => (await open(`http://lab/api/v2/locations/${ids[0]}/?format=api`)).text;
    await submit(formWith(await record(), "PATCH"), [["_content", '{"label": "first"}']]);
    expect(await labels()).toEqual(["first", "three", "two"]);
    const replace = formWith(await record(), "PUT");
    expect(JSON.parse(Object.fromEntries(replace.fields)._content).label).toBe("first");
    expect((await submit(replace)).status).toBe(200);
    const some = ids.slice(1).map((id): [string, string] => ["id", id]);
    const changed: [string, string][] = [
      ["_content", '{"barcode": "B"}'],
      ["_method", "PATCH"],
    ];
    await submit(formWith(await list(), "{}"), [...some, ...changed]);
    expect((await lab.send("alice", "GET", "locations/?barcode=B")).body.total).toBe(2);
    await submit(formWith(await list(), "{}"), [...some, ["_method", "DELETE"]]);
    expect(await labels()).toEqual(["first"]);
    const gone = await submit(formWith(await record(), "DELETE"));
    expect([gone.status, gone.text]).toEqual([200, expect.stringContaining("<h1>locations</h1>")]);
    expect(await labels()).toEqual([]);
    const out = await submit(sessionForm(await list()));
    expect(out.text).toContain("Sign in to add and edit records");
  });

  test("asks before a form publishes records, and sends it again", async () => {
    await signIn();
    const { id } = (await lab.send("alice", "POST", "locations/", { label: "draft" })).body;
    const record = async () => (await open(`http://lab/api/v2/locations/${String(id)}/?format=api`)).text;
    const list = (await open("http://lab/api/v2/locations/?format=api&owner=alice")).text;
    for (const [form, change, isPublic] of [
      [formWith(await record(), "PATCH"), [["_content", '{"public": true}']], true],
      [formWith(await record(), "PATCH"), [["_content", '{"public": false}']], false],
      [
        formWith(list, "{}"),
        [
          ["id", id],
          ["_content", '{"public": true}'],
          ["_method", "PATCH"],
        ],
        true,
      ],
    ] as [Form, [string, string][], boolean][]) {
      const asked = await submit(form, change);
      if (isPublic) {
        expect([asked.status, asked.text]).toEqual([409, expect.stringContaining("&quot;exposes&quot;")]);
        expect((await submit(formWith(asked.text, "PATCH"))).status).toBe(200);
      }
      const { body } = await lab.send("alice", "GET", `locations/${String(id)}/?fields=public`);
      expect(body.public).toBe(isPublic);
    }
  });

  test("gives pages of different users different entity tags", async () => {
    const address = "http://lab/api/v2/locations/?format=api";
    const tag = (await open(address)).headers.get("etag")!;
    const again = { Accept: PAGE, "If-None-Match": tag };
    expect((await lab.ask("GET", address, { headers: again })).status).toBe(304);
    await signIn();
    expect((await lab.ask("GET", address, { headers: { ...again, Cookie: cookie } })).status).toBe(200);
  });

  test("shows errors as a page and writes nothing", async () => {
    await signIn();
    const { text } = await open("http://lab/api/v2/locations/?format=api");
    for (const [content, message] of [
      ["{}", "This field is required."],
      ["{", "JSON parse error"],
      ['{"label": "<b>", "x": 1}', "is not a field of location"],
    ]) {
      const page = await submit(formWith(text, "POST"), [["_content", content]]);
      expect([content, page.status]).toEqual([content, 400]);
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(page.text).toContain(message);
    }
    const bulk = (method: string, ...ids: string[]) =>
      submit(formWith(text, "{}"), [...ids.map((id): [string, string] => ["id", id]), ["_method", method]]);
    expect((await bulk("DELETE")).text).toContain("Choose at least one record.");
    expect((await bulk("DELETE", IDS.shelf)).status).toBe(403);
    expect((await bulk("TRACE", IDS.shelf)).status).toBe(405);
    expect(await labels()).toEqual([]);
  });

  test("rejects forms from other sites", async () => {
    await signIn();
    const { text } = await open("http://lab/api/v2/locations/?format=api");
    const fields: [string, string][] = [["_content", '{"label": "x"}']];
    expect((await submit(formWith(text, "POST"), fields, "https://evil.example")).status).toBe(403);
    expect(await labels()).toEqual([]);
  });
});

describe("forms of programs", () => {
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    lab.ask("POST", path, {
      as: "alice",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(fields).toString(),
    });

  test.each([undefined, "*/*", "application/json"])("get JSON with Accept: %s", async (accept) => {
    const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
    const made = await send("locations/", { label: "box", place: "A 101", public: "false" }, headers);
    expect([made.status, made.headers.get("content-type")]).toEqual([201, "application/json"]);
    expect(made.body).toMatchObject({ label: "box", place: IDS.a101 });
    const path = `locations/${String(made.body.id)}/`;
    expect(made.headers.get("location")).toEndWith(path);
    const content = { _method: "PATCH", _content: '{"label": "crate"}' };
    expect((await send(path, content, headers)).body.label).toBe("crate");
    const several = { _method: "PATCH", id: String(made.body.id), label: "tray" };
    expect(await send("locations/", several, headers)).toMatchObject({
      status: 200,
      body: [{ label: "tray" }],
    });
    for (const [fields, status, message] of [
      [{}, 400, "label: This field is required."],
      [{ label: "x", colour: "red" }, 400, "is not a field of location"],
      [{ _method: "TRACE" }, 405, "Must be POST"],
    ] as [Record<string, string>, number, string][]) {
      const refused = await send("locations/", fields, headers);
      expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining(message)]);
    }
    expect((await send(path, { _method: "DELETE" }, headers)).status).toBe(204);
    expect(await labels()).toEqual([]);
  });

  test("are redirected if they ask for HTML", async () => {
    const made = await send("locations/", { label: "box" }, { Accept: PAGE });
    expect([made.status, made.headers.get("location")]).toEqual([303, expect.stringContaining("format=api")]);
    const refused = await send("locations/", {}, { Accept: PAGE });
    expect([refused.status, refused.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
  });
});
