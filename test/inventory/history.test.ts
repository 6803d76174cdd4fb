import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Answered, type Lab, letUse, openLab, START } from "./harness.ts";
import { IDS } from "./sample.ts";

/** Histories, batches and past states of records, for callers who may view the record. */

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

let seconds = 0;
const send = (method: string, path: string, body?: unknown, as = "alice"): Promise<Answered> => {
  lab.clock.set(START + ++seconds * 1000);
  return lab.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
};
const get = (path: string, as = "alice"): Promise<Answered> => lab.ask("GET", path, { as });
const rows = (answer: Answered) => answer.body.results as Record<string, unknown>[];
const add = async (label = "Box"): Promise<string> =>
  String((await send("POST", "locations/", { label })).body.id);
/** A time at which nothing happens. */
const moment = (): string => {
  lab.clock.set(START + ++seconds * 1000);
  return new Date(START + seconds * 1000).toISOString();
};

describe("the history of a record", () => {
  test("lists changes with author, time and token, latest first", async () => {
    const id = await add();
    const changed = await send("PATCH", `locations/${id}/`, { label: "Case", place: IDS.a101 });
    await send("DELETE", `locations/${id}/`);
    const history = await get(`locations/${id}/history/`);
    expect(history.body).toMatchObject({ total: 3, current: 1, total_pages: 1, next: null });
    expect(rows(history)).toMatchObject([
      { op: "delete", version: 3, before: { deleted: false }, after: { deleted: true, deleted_by: "alice" } },
      {
        op: "update",
        version: 2,
        before: { label: "Box", place: null },
        after: { label: "Case", place: IDS.a101 },
        batch: changed.headers.get("batch-id"),
        user: "alice",
        token: { name: "test" },
        resource: "locations",
        id,
      },
      { op: "create", version: 1, before: null, after: { label: "Box", owner: "alice", deleted: false } },
    ]);
    expect(rows(history)[1].at).toBe((changed.body.modified as { value: string }).value);
    const second = await get(`locations/${id}/history/?page=2&page_size=2`);
    expect(rows(second).map(({ version }) => version)).toEqual([1]);
  });

  test("shows history to users who may view the record, and the token only to its owner", async () => {
    const id = await add();
    expect((await get(`locations/${id}/history/`, "bob")).status).toBe(404);
    expect((await lab.ask("GET", `locations/${id}/history/`)).status).toBe(404);
    await send("PATCH", `locations/${id}/`, { public: true });
    const history = await get(`locations/${id}/history/`, "bob");
    expect(rows(history).map(({ token }) => token)).toEqual([null]);
  });

  test("shows changes before publication only to users who could view the record then", async () => {
    const path = `locations/${await add("draft-secret")}/`;
    const between = moment();
    const notes = await Promise.all(
      ["kept note", "deleted-secret"].map((content) => send("POST", `${path}notes/`, { content })),
    );
    const gone = `${path}notes/${String(notes[1].body.id)}/`;
    await send("DELETE", gone);
    const upload = `attachments/?app=stocks&model=location&object_id=${path.split("/")[1]}`;
    const { bytes } = await lab.bytes("POST", `${upload}&name=file-secret`, { as: "alice", body: "x" });
    const file = `attachments/${String(JSON.parse(new TextDecoder().decode(bytes)).id)}/`;
    await send("DELETE", file);
    await send("PATCH", path, { label: "renamed-secret" });
    // The change that publishes must not show its own old values either.
    await send("PATCH", path, { public: true, label: "Box" }, "admin");
    await send("PATCH", path, { description: "later" });
    const paths = [
      path,
      `${path}history/`,
      `${path}?as_of=${between}`,
      `locations/?deleted=all&page_size=max&as_of=${between}`,
      "changes/",
      "batches/?page_size=max",
      `${path}notes/?deleted=all`,
      `${path}notes/?deleted_by=alice`,
      `${path}notes/?as_of=${between}`,
      `${gone}?deleted=all`,
      `${gone}history/`,
      `${upload}&deleted=all`,
      `${file}?deleted=all`,
      `${file}history/`,
    ];
    for (const as of ["bob", undefined])
      for (const one of paths) {
        const { text } = await lab.ask("GET", one, as === undefined ? {} : { as });
        expect({ as, one, leaked: text.match(/\w+-secret/g) }).toEqual({ as, one, leaked: null });
      }
    for (const one of [`${path}history/`, `${path}notes/?deleted=all`, `${gone}?deleted=all`])
      expect((await get(one)).text).toContain("-secret");
    const seen = rows(await get(`${path}history/`, "bob"));
    expect(seen).toMatchObject([
      { op: "update", before: { description: "" }, after: { description: "later" } },
      { op: "update", before: null, after: { label: "Box", public: true } },
    ]);
    // An editor cannot restore a version from before.
    await send("PATCH", `${path}permissions/`, { users: [{ user: "bob", view: true, change: true }] });
    expect((await send("POST", `${path}restore/`, { version: 1 }, "bob")).status).toBe(404);
    expect((await send("POST", `${path}restore/`, { version: 1 })).status).toBe(200);
  });

  test("shows the history since an earlier publication and while the record belonged to the caller's group", async () => {
    const path = `locations/${await add("first")}/`;
    await send("PATCH", path, { public: true });
    await send("PATCH", path, { label: "second" });
    await send("PATCH", path, { public: false });
    await send("PATCH", path, { label: "third" });
    await send("PATCH", path, { owned_by: "Imaging" }, "admin");
    await send("PATCH", path, { label: "fourth" });
    const labels = rows(await get(`${path}history/`, "bob")).map(
      ({ after }) => (after as { label?: string }).label,
    );
    // The versions of the time at which it was public, and those since it is of Imaging.
    expect(labels).toEqual(["fourth", "third", "second", "first"]);
    expect((await lab.ask("GET", `${path}history/`)).status).toBe(404);
  });
});

describe("batches", () => {
  test("lists batches with their changes, limited to records that the caller may view", async () => {
    const made = await send("POST", "locations/", [{ label: "a" }, { label: "b", public: true }]);
    const id = made.headers.get("batch-id")!;
    const mine = await get(`batches/${id}/`);
    const shown = { id, kind: "bulk_create", user: "alice", undoes: null, undone_by: null };
    expect(mine.body).toMatchObject({ ...shown, changes: { locations: 2 }, total: 2 });
    expect(rows(mine).map(({ after }) => (after as { label: string }).label)).toEqual(["a", "b"]);
    const theirs = await get(`batches/${id}/`, "bob");
    expect(theirs.body).toMatchObject({ changes: { locations: 1 }, total: 1 });
    const secret = await send("POST", "locations/", { label: "c" });
    expect((await get(`batches/${secret.headers.get("batch-id")}/`, "bob")).status).toBe(404);
    const list = await get("batches/?user=alice&kind=create");
    expect(rows(list).map((batch) => batch.id)).toEqual([secret.headers.get("batch-id")]);
    expect((await get("batches/?user=alice&kind=create", "bob")).body.total).toBe(0);
  });
});

describe("as_of", () => {
  test("returns records and lists as of a time, with filters, orderings and spans of that time", async () => {
    const id = await add("Box");
    const before = await get(`locations/${id}/?fields=*`);
    const then = moment();
    await send("PATCH", `locations/${id}/`, { label: "Case", place: IDS.a101 });
    await send("PATCH", `places/${IDS.a101}/`, { room: "999" }, "admin");
    const between = moment();
    await send("DELETE", `locations/${id}/`);
    const old = await get(`locations/${id}/?fields=*&as_of=${then}`);
    expect(old.body).toEqual(before.body);
    const list = await get(`locations/?place__room=999&ordering=-label&as_of=${between}&fields=label`);
    expect(rows(list).map(({ label }) => label)).toEqual(["drawer", "Shelf 1", "Case"]);
    for (const [at, label, total] of [
      [then, "Box", 1],
      [then, "Case", 0],
      [between, "Case", 1],
      [moment(), "Case", 0],
    ] as const)
      expect((await get(`locations/?label=${label}&as_of=${at}`)).body.total).toBe(total);
    expect((await get(`locations/${id}/?as_of=${moment()}`)).status).toBe(404);
  });

  test("past lists support the same filters and formats as current ones", async () => {
    await letUse(lab, "alice", IDS.shelf);
    const id = await add("Büchse");
    const values = { description: "Grüne Würfel", place: IDS.a101, parent: IDS.shelf };
    await send("PATCH", `locations/${id}/`, values);
    const then = moment();
    await send("PATCH", `locations/${id}/`, { label: "x", description: "y", place: null, parent: null });
    await send("PATCH", `equipment/${IDS.freezer}/`, { name: "Scrap" }, "admin");
    for (const [filter, total] of [
      ["query=BÜCHSE", 1],
      ["description=würfel", 1],
      ["description__icontains=GRÜNE", 1],
      ["name=büch&place=A 101", 1],
      ["parent__label=Shelf 1&place__address__city=Heidelberg", 2],
      ["equipment__name__startswith=Freezer", 2],
      ["parent__equipment__name__icontains=freezer", 2],
      ["modified__gte=2026-01-01&owner=alice&owned_by=Genomics&parent__isnull=false", 1],
    ] as const)
      for (const form of ["", "&response_format=nested", "&fields=label,parent__label", "&format=csv"]) {
        const path = `locations/?${filter}${form}&page_size=max`;
        const past = await get(`${path}&as_of=${then}`);
        expect({ path, status: past.status }).toEqual({ path, status: 200 });
        if (form === "&format=csv") continue;
        expect({ path, total: past.body.total }).toEqual({ path, total });
        const present = await get(path);
        expect({ path, same: present.text === past.text }).toEqual({ path, same: false });
      }
  });

  test("applies today's permissions to past records", async () => {
    const id = await add("Box");
    await send("PATCH", `locations/${id}/`, { public: true });
    const open = moment();
    await send("PATCH", `locations/${id}/`, { public: false });
    const path = `locations/?label=Box&as_of=${open}&fields=label,public,permissions`;
    expect((await get(path, "bob")).body.total).toBe(0);
    expect(rows(await get(path))).toEqual([
      { label: "Box", public: true, permissions: { public: true, actions: { change: true, delete: true } } },
    ]);
    expect((await get(`${path}&can_change=false`)).body.total).toBe(0);
  });

  test("reads every list as of a time, and rejects a malformed time", async () => {
    const now = moment();
    const root = await get("", "admin");
    for (const segment of Object.keys(root.body)) {
      if (/users|groups|batches|changes/.test(segment)) continue;
      const path = `${segment}/?fields=*&page_size=max`;
      const past = await get(`${path}&as_of=${now}`, "admin");
      expect([segment, rows(past)]).toEqual([segment, rows(await get(path, "admin"))]);
    }
    const wrong = await get("locations/?as_of=yesterday");
    expect([wrong.status, Object.keys(wrong.body)]).toEqual([400, ["as_of", "message"]]);
    expect((await lab.ask("GET", "locations/?as_of=1999-01-01")).body.total).toBe(0);
  });
});

describe("restoring a version", () => {
  const annotate = (path: string, value: string | null) => send("PATCH", path, { annotations__genus: value });
  const genus = async (path: string) => (await get(`${path}?fields=annotations__genus,label`)).body;

  test("restores its metadata, and the state that a batch left", async () => {
    await send("POST", "annotationtypes/", { name: "genus", type: "TEXT", public: true }, "admin");
    await send(
      "POST",
      "annotationtypes/",
      { name: "hidden", type: "TEXT", owner: "admin", owned_by: "SYSTEM_GROUP" },
      "admin",
    );
    const path = `locations/${await add("one")}/`;
    const first = await annotate(path, "Mus");
    await send("PATCH", path, { label: "two" });
    const second = await annotate(path, "Rattus");
    await annotate(path, null);
    await send("POST", `${path}annotations/`, { annotation_type_id: "hidden", value: "kept" }, "admin");
    expect((await send("POST", `${path}restore/`, { version: 1 })).status).toBe(200);
    expect(await genus(path)).toMatchObject({ label: "one", annotations__genus: "Mus" });
    const back = await send("POST", `${path}restore/`, { batch: second.headers.get("batch-id") });
    expect(back.status).toBe(200);
    expect(await genus(path)).toMatchObject({ label: "two", annotations__genus: "Rattus" });
    await send("POST", `batches/${back.headers.get("batch-id")}/undo/`, {});
    expect(await genus(path)).toMatchObject({ label: "one", annotations__genus: "Mus" });
    const hidden = await lab.ask("GET", `${path}?fields=annotations__hidden`, { as: "admin" });
    expect(hidden.body).toMatchObject({ annotations__hidden: "kept" });
    for (const batch of ["no-such-batch", crypto.randomUUID()])
      expect((await send("POST", `${path}restore/`, { batch })).status).toBe(404);
    const other = await add("other");
    expect(
      (await send("POST", `locations/${other}/restore/`, { batch: first.headers.get("batch-id") })).status,
    ).toBe(404);
  });

  test("batches of one record are found by its id, by those who may view it", async () => {
    const id = await add("Alone");
    await send("PATCH", `locations/${id}/`, { label: "Together" });
    await add("Another");
    const query = `batches/?resource=locations&record=${id}`;
    const { body } = await get(query);
    expect(body.total).toBe(2);
    expect(body.results).toMatchObject([
      { sentence: expect.stringContaining("renamed Alone"), cannot_undo: null },
      {},
    ]);
    expect((await get(query, "bob")).status).toBe(404);
    expect((await get(`batches/?record=${id}`)).status).toBe(400);
  });
});
