import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab } from "../harness.ts";

/** Sub-resources and memberships have versions, a past, undo, restoring and purging, as records do. */

type Named = Record<string, Json>;
interface Change extends Named {
  resource: string;
  op: string;
  id: string;
  user: string;
  version: number;
  before: Named | null;
  after: Named;
  token: { name: string } | null;
  of: { resource: string; id: string } | null;
}

let lab: Lab;
let fish: string;
beforeEach(async () => {
  lab = await openLab();
  fish = `specimens/${(await ask("POST", "specimens/", { name: "mine", public: true })).body.id}/`;
});
afterEach(() => lab.database.close());

const ask = async (method: string, path: string, body?: unknown, as = "alice", headers = {}) =>
  lab.ask(method, path, { as, headers, ...(body === undefined ? {} : { body }) });
const good = async (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> => {
  const answer = await ask(method, path, body, as);
  expect({ method, path, text: answer.status < 300 ? "" : answer.text }).toEqual({ method, path, text: "" });
  return answer;
};
const fetchChanges = async (path: string, as = "alice") =>
  (await good("GET", `${path}history/?page_size=max`, undefined, as)).body.results as Change[];
const later = () => lab.clock.set(lab.clock.now() + 60_000);
const contents = async (more = "", as = "alice") =>
  ((await good("GET", `${fish}notes/${more}`, undefined, as)).body.results as Named[]).map(
    ({ content }) => content,
  );

test("notes have versions, entity tags and a history, and can be restored", async () => {
  const made = await good("POST", `${fish}notes/`, { content: "one" });
  const note = `${fish}notes/${made.body.id}/`;
  const first = made.headers.get("batch-id");
  const tag = made.headers.get("etag")!;
  expect(tag).toStartWith('"1-');
  expect((await ask("GET", note, undefined, "alice", { "If-None-Match": tag })).status).toBe(304);
  later();
  expect((await ask("PATCH", note, { content: "two" }, "alice", { "If-Match": tag })).body.version).toBe(2);
  for (const method of ["PUT", "PATCH", "DELETE"])
    expect((await ask(method, note, { content: "three" }, "alice", { "If-Match": tag })).status).toBe(412);
  later();
  const removed = await good("DELETE", note);
  expect((await ask("GET", note)).status).toBe(404);
  expect(await contents()).toEqual([]);
  expect(await contents("?deleted=true")).toEqual(["two"]);
  expect(await contents(`?as_of=${first}`)).toEqual(["one"]);
  // Filters over notes apply to the past too.
  for (const [query, total] of [
    ["notes__content=two", 0],
    ["notes__content=one", 0],
    [`notes__content=one&as_of=${first}`, 1],
    [`notes__content=two&as_of=${first}`, 0],
  ])
    expect([query, (await good("GET", `specimens/?${query}`)).body.total]).toEqual([query, total]);
  const told = await fetchChanges(fish);
  expect(
    told.map(({ resource, op, version, user, token }) => [resource, op, version, user, token?.name]),
  ).toEqual([
    ["notes", "delete", 2 + 1, "alice", "test"],
    ["notes", "update", 2, "alice", "test"],
    ["notes", "create", 1, "alice", "test"],
    ["stocks/specimen", "create", 1, "alice", "test"],
  ]);
  expect(told[1]).toMatchObject({
    before: { content: "one" },
    after: { content: "two" },
    of: { resource: "stocks/specimen" },
  });
  expect(await fetchChanges(note)).toEqual(told.slice(0, 3));
  const restored = await good("POST", `${note}restore/`, { version: 1 });
  expect(restored.body).toMatchObject({ content: "one", version: 4 });
  expect((await ask("POST", `${note}restore/`, { version: 9 })).status).toBe(404);
  const undo = await ask("POST", `batches/${removed.headers.get("batch-id")}/undo/`, {});
  expect(undo.status).toBe(409);
  // The feed has the same changes, in the order of commits.
  const feed = (await good("GET", "changes/?resource=notes")).body.results as Change[];
  expect(feed.map(({ op }) => op)).toEqual(["create", "update", "delete", "restore"]);
  for (const [method, path] of [
    ["POST", `${note}restore/`],
    ["DELETE", note],
  ])
    expect((await ask(method, path, undefined, "bob")).status).toBe(403);
  await good("DELETE", note);
  expect((await ask("POST", `${note}purge/`)).status).toBe(403);
  expect((await ask("POST", `${note}purge/`, undefined, "admin")).status).toBe(204);
  expect((await fetchChanges(fish)).map(({ resource }) => resource)).toEqual(["stocks/specimen"]);
});

test("allows one value of each type, also after undo, and does not restore read-only values", async () => {
  const note = (value: string) => ({ annotation_type_id: "note", value });
  const first = await good("POST", `${fish}annotations/`, note("goat"), "admin");
  const removed = await good("DELETE", `${fish}annotations/${first.body.id}/`);
  await good("POST", `${fish}annotations/`, note("rabbit"), "admin");
  const undo = await ask("POST", `batches/${removed.headers.get("batch-id")}/undo/`, {});
  expect([undo.status, undo.text]).toEqual([409, expect.stringContaining("another value of this type")]);
  const organ = { annotation_type_id: "organ", value: "liver" };
  const { body } = await good("POST", `${fish}annotations/`, organ);
  const [{ after }] = await fetchChanges(`${fish}annotations/${String(body.id)}/`);
  expect(after.value).toEqual(body.value);
  const type = (await ask("GET", "annotationtypes/?name=note")).body.results as Named[];
  const [free] = (await good("GET", `${fish}annotations/`)).body.results as Named[];
  await good("PATCH", `annotationtypes/${type[0].id}/`, { readonly: true }, "admin");
  const path = `${fish}annotations/${String(free.id)}/`;
  expect((await ask("DELETE", path)).status).toBe(403);
  expect((await ask("POST", `${path}restore/`, { version: 1 })).status).toBe(403);
  expect((await ask("DELETE", path, undefined, "admin")).status).toBe(204);
});

test("a dry run writes nothing, and an idempotency key is used once", async () => {
  const tried = await good("POST", `${fish}notes/?dry_run=1`, { content: "x" });
  expect([tried.body.count, await contents()]).toEqual([1, []]);
  await good("POST", `${fish}notes/?confirm=${tried.body.confirm}`, { content: "x" });
  const key = { "Idempotency-Key": "k" };
  const once = await ask("POST", `${fish}notes/`, { content: "y" }, "alice", key);
  const again = await ask("POST", `${fish}notes/`, { content: "y" }, "alice", key);
  expect([again.text, again.headers.get("idempotency-replayed")]).toEqual([once.text, "true"]);
  expect(await contents()).toEqual(["x", "y"]);
});

test("keeps the contents of files while any version refers to them", async () => {
  const kept = () =>
    Number(lab.database.query("SELECT count(*) AS n FROM attachment_content").values()[0][0]);
  const id = fish.split("/")[1];
  const at = `attachments/?app=stocks&model=specimen&object_id=${id}`;
  const send = async (method: string, path: string, body: string) => {
    const { bytes, headers } = await lab.bytes(method, path, { as: "alice", body });
    return { ...(JSON.parse(new TextDecoder().decode(bytes)) as Named), batch: headers.get("batch-id") };
  };
  const read = async (path: string) =>
    new TextDecoder().decode((await lab.bytes("GET", path, { as: "alice" })).bytes);
  const made = await send("POST", at, "first");
  const file = `attachments/${(made as Named).id}/`;
  later();
  expect(await send("PUT", file, "second")).toMatchObject({ version: 2, size: 6, name: "file" });
  const both = [await read(file), await read(`${file}?as_of=${made.batch}`), kept()];
  expect(both).toEqual(["second", "first", 2]);
  const twin = (await send("POST", at, "second")) as Named;
  expect(kept()).toBe(2);
  await good("DELETE", file);
  expect([(await ask("GET", file)).status, await read(`${file}?deleted=true`)]).toEqual([404, "second"]);
  expect((await good("POST", `${file}restore/`, { version: 1 })).body).toMatchObject({ size: 5, version: 4 });
  expect(await read(file)).toBe("first");
  await good("DELETE", file);
  await good("POST", `${file}purge/`, undefined, "admin");
  // The other file has the same bytes as the second version.
  expect([kept(), await read(`attachments/${twin.id}/`)]).toEqual([1, "second"]);
  await good("DELETE", `specimens/${id}/`);
  await good("POST", `specimens/${id}/purge/`, undefined, "admin");
  expect(kept()).toBe(0);
  for (const table of ["attachment", "note", "annotation", "record_change WHERE host_kind = 'specimen'"])
    expect(lab.database.query(`SELECT count(*) AS n FROM ${table}`).values()).toEqual([[0]]);
});

test("shows the history of grants to users who may share, and restores only permissions that the caller could grant", async () => {
  const share = (users: Named[], as = "alice") => ask("PATCH", `${fish}permissions/`, { users }, as);
  const given = await share([{ user: "bob", change: true, delete: true }]);
  const [{ grant }] = given.body.users as Named[];
  const right = `${fish}permissions/${grant}/`;
  const taken = await share([{ user: "bob", view: false, change: false, delete: false }]);
  expect((await ask("GET", `${right}history/`, undefined, "bob")).status).toBe(403);
  expect((await fetchChanges(fish, "bob")).map(({ resource }) => resource)).toEqual(["stocks/specimen"]);
  expect((await fetchChanges(fish)).map(({ resource, op }) => [resource, op])).toEqual([
    ["permissions", "delete"],
    ["permissions", "create"],
    ["stocks/specimen", "create"],
  ]);
  const granted = { user: "bob", group: null, view: true, delete: true };
  expect((await fetchChanges(fish))[1].after).toMatchObject(granted);
  const then = `${fish}permissions/?as_of=${given.headers.get("batch-id")}`;
  expect((await good("GET", then)).body.users).toMatchObject([{ username: "bob", delete: true }]);
  // Carol may change, and not delete: she cannot bring back a right to delete by undoing.
  await good("POST", "users/", { username: "carol" }, "admin");
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
  await share([{ user: "carol", change: true }]);
  for (const [path, body] of [
    [`batches/${taken.headers.get("batch-id")}/undo/`, {}],
    [`${right}restore/`, { version: 1 }],
  ] as const)
    expect((await ask("POST", path, body, "carol")).status).toBe(403);
  await good("POST", `batches/${taken.headers.get("batch-id")}/undo/`, {});
  expect((await ask("PATCH", fish, { description: "bob's" }, "bob")).status).toBe(200);
  const tag = (await good("GET", `${fish}permissions/`)).headers.get("etag")!;
  await share([{ user: "carol", view: false, change: false }]);
  const stale = await ask("PUT", `${fish}permissions/`, { users: [] }, "alice", { "If-Match": tag });
  expect(stale.status).toBe(412);
});

test("memberships have a history, and their permissions end and return with them", async () => {
  const hidden = `specimens/${(await good("POST", "specimens/", { name: "group's" })).body.id}/`;
  const joined = await good("PUT", "groups/Genomics/members/bob/", {}, "admin");
  expect((await ask("GET", hidden, undefined, "bob")).status).toBe(200);
  const left = await good("DELETE", "groups/Genomics/members/bob/", undefined, "admin");
  expect((await ask("GET", hidden, undefined, "bob")).status).toBe(404);
  const members = async (more = "") =>
    ((await good("GET", `groups/Genomics/members/${more}`)).body.results as Named[]).map(
      ({ username }) => username,
    );
  expect([await members(), await members(`?as_of=${joined.headers.get("batch-id")}`)]).toEqual([
    ["alice"],
    ["alice", "bob"],
  ]);
  const told = await fetchChanges("groups/Genomics/");
  expect(told.map(({ op, user, after, before }) => [op, user, after.user ?? before?.user])).toEqual([
    ["delete", "admin", undefined],
    ["create", "admin", "bob"],
    ["create", "system", "alice"],
  ]);
  expect((await fetchChanges("users/bob/")).map(({ of }) => of?.resource).join()).toBe(
    "groups,groups,groups",
  );
  await good("POST", "groups/Genomics/members/alice/restore/", { version: 1 }, "admin");
  const undo = `batches/${left.headers.get("batch-id")}/undo/`;
  expect((await ask("POST", undo, {}, "bob")).status).toBe(403);
  await good("POST", undo, {}, "admin");
  expect((await ask("GET", hidden, undefined, "bob")).status).toBe(200);
  // Users cannot leave their primary group, by undo either.
  const made = await good("POST", "users/", { username: "carol", groups: ["Genomics"] }, "admin");
  expect((await ask("POST", `batches/${made.headers.get("batch-id")}/undo/`, {}, "admin")).status).toBe(409);
  // Memberships end with their group; a new group does not inherit the history.
  await good("POST", "groups/", { name: "Short" }, "admin");
  const short = await good("PUT", "groups/Short/members/bob/", {}, "admin");
  await good("DELETE", "groups/Short/", undefined, "admin");
  await good("POST", "groups/", { name: "Next" }, "admin");
  expect(await fetchChanges("groups/Next/")).toEqual([]);
  expect((await ask("POST", `batches/${short.headers.get("batch-id")}/undo/`, {}, "admin")).status).toBe(409);
});

test("a deleted record keeps its notes, and shows them after it is restored", async () => {
  await good("POST", `${fish}notes/`, { content: "one" });
  await good("DELETE", fish);
  expect((await ask("GET", `${fish}notes/`)).status).toBe(404);
  expect(await contents("?deleted=all")).toEqual(["one"]);
  expect((await ask("POST", `${fish}notes/`, { content: "two" })).status).toBe(404);
  const [{ id }] = (await good("GET", `${fish}notes/?deleted=all`)).body.results as Named[];
  expect((await ask("POST", `${fish}notes/${id}/restore/`, {})).status).toBe(409);
  await good("POST", `${fish}restore/`, {});
  expect(await contents()).toEqual(["one"]);
});

test("reports invalid fields, and accepts a response unchanged", async () => {
  const { body } = await good("POST", `${fish}notes/`, { content: "one" });
  const note = `${fish}notes/${body.id}/`;
  expect((await good("PUT", note, body)).body).toEqual(body);
  for (const [sent, field, text] of [
    [{ content: 5.5, text: "x" }, "text", '"text" is not a field of note. Choices: content.'],
    [{ content: {} }, "content", "Not a valid string."],
    [{ content: " " }, "content", "This field may not be blank."],
    [{}, "content", "This field is required."],
    [["one"], "non_field_errors", "Invalid data. Expected a dictionary, but got list."],
  ] as const) {
    const answer = await ask("PUT", note, sent);
    expect([answer.status, answer.body[field]]).toEqual([400, [text]]);
  }
  for (const sent of [[1], "x", { versions: 1 }])
    expect((await ask("POST", `${note}restore/`, sent)).status).toBe(400);
});

test("shows histories and sub-resources as pages in a browser", async () => {
  const { body } = await good("POST", `${fish}notes/`, { content: "<b>" });
  const html = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  for (const path of [
    fish,
    `${fish}notes/`,
    `${fish}notes/${body.id}/`,
    `${fish}history/`,
    "batches/",
    "changes/",
  ]) {
    const page = await ask("GET", path, undefined, "alice", html);
    const { headers, text } = page;
    expect([path, page.status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
    expect(JSON.parse(text)).toBeObject();
    const known = { ...html, "If-None-Match": headers.get("etag")! };
    const again = await ask("GET", path, undefined, "alice", known);
    expect(again.status).toBe(304);
    const json = await ask("GET", `${path}?format=json`, undefined, "alice", html);
    expect(json.headers.get("content-type")).toBe("application/json");
    expect(json.headers.get("etag")).not.toBe(headers.get("etag"));
  }
});
