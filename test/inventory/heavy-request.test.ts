import { beforeAll, expect, test } from "bun:test";
import type { Call } from "../../src/inventory/api/call.ts";
import { isHeavyList, isLarge } from "../../src/inventory/api/heavy-request.ts";
import { openStore } from "../../src/inventory/records/store.ts";
import { RESOURCES } from "../../src/inventory/index.ts";
import { type Lab, openLab } from "./harness.ts";
import { indexTexts } from "./text-index.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const alice = lab.accounts.userId("alice");
  const [[group]] = lab.database.query("SELECT rid FROM user_group WHERE name = 'Genomics'").values() as [
    [number],
  ];
  lab.database.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
     INSERT INTO location (id, label, label_fold, description, created, modified, created_by, modified_by, owner, owned_by, public)
     SELECT printf('20000000-0000-4000-8000-%012d', i), 'Box ' || i, 'box ' || i, 'Box of number ' || i,
       1700000000000000 + i, 1700000000000000 + i, ${alice}, ${alice}, ${alice}, ${group}, i % 5 = 0 FROM n`,
  );
  lab.database.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
     INSERT INTO field_type (id, kind, name, name_fold, description_fold, type, preferred_view_widget, preferred_edit_widget,
       preferred_list_widget, field_meta, created, modified, created_by, modified_by, owner, owned_by)
     SELECT printf('30000000-0000-4000-8000-%012d', i), 'annotation', 'type ' || i, 'type ' || i, '', 'TEXT', 'TEXT', 'TEXTINPUT',
       'TEXT', (SELECT min(rid) FROM field_meta), i, i, ${alice}, ${alice}, ${alice}, ${group} FROM n`,
  );
  indexTexts(lab.database);
});

function isHeavy(path: string, as: string | undefined): boolean | Promise<boolean> {
  const url = new URL(`http://lab/api/v2/${path}`);
  const resource = RESOURCES.find(({ segment }) => url.pathname === `/api/v2/${segment}/`)!;
  const headers = as === undefined ? {} : { Authorization: `Token ${lab.tokens[as]}` };
  const actor = lab.accounts.authenticate(new Request(url, { headers }));
  return isHeavyList({ url, actor, store: openStore(lab.database, lab.clock) } as unknown as Call, resource);
}

const ID = "20000000-0000-4000-8000-000000000001";

test.each([
  ["locations/", false],
  ["locations/?page_size=50&page=300&format=api", false],
  ["locations/?label__istartswith=box 12", false],
  ["locations/?owner=bob&ordering=-label", false],
  [`locations/?id=${ID}`, false],
  ["places/?page_size=max&ordering=room&building__icontains=a", false],
  ["locations/?page_size=max", true],
  ["locations/?format=csv", true],
  ["locations/?page_size=1000", true],
  ["locations/?as_of=2026-01-01", true],
  ["locations/?explain=1", true],
  ["locations/?description__icontains=number 12", true],
  ["locations/?query=box 12", true],
  ["locations/?notes__content__icontains=frozen", true],
  ["locations/?ordering=description", true],
  ["locations/?ordering=owner__username", true],
  ["locations/?owner__username__icontains=li", true],
  ["annotationtypes/?name=type 123", false],
  ["annotationtypes/?ordering=owner__username", true],
  ["locations/?created__gte=2026-01-01", true],
] as const)("%s is heavy for every caller: %p", (path, expected) => {
  for (const as of [undefined, "admin", "alice"])
    expect({ as, heavy: isHeavy(path, as) }).toEqual({ as, heavy: expected });
});

test("a heavy list becomes light after another process has read its row sets", async () => {
  const { reader } = openStore(lab.database, lab.clock);
  let reads = 0;
  reader.loadRowsWith(async (request) => {
    reads++;
    return reader.readRows(request);
  });
  const path = "locations/?owner__username__icontains=li&ordering=description";
  expect(await isHeavy(path, "alice")).toBe(false);
  const first = reads;
  expect(first).toBeGreaterThan(0);
  expect(isHeavy(path, "alice")).toBe(false);
  await lab.send("alice", "POST", "locations/", { label: "Box of today" });
  expect([isHeavy(path, "alice"), reads]).toEqual([false, first]);
  // Writes of another process are unknown here.
  reader.forget();
  reader.loadRowsWith(() => Promise.reject(new Error("Too busy.")));
  expect(await isHeavy(path, "alice")).toBe(true);
});

test("another process sorts a list only if it is long, and reads little for callers who view little", async () => {
  const { reader } = openStore(lab.database, lab.clock);
  let read: string[] = [];
  reader.loadRowsWith(async (request) => {
    read.push(...Object.keys(request.content));
    return reader.readRows(request);
  });
  const readFor = async (path: string, as?: string) => {
    read = [];
    expect(await isHeavy(path, as)).toBe(false);
    return read.toSorted();
  };
  reader.forget();
  const since = (i: number) =>
    `locations/?ordering=-modified&created__gte=2023-11-14T22:13:20.${String(i).padStart(6, "0")}Z`;
  expect(await readFor(since(19_000), "admin")).toEqual(["holding", "holding"]);
  expect(await readFor(since(1000), "admin")).toEqual(["holding", "inOrder"]);
  reader.forget();
  // Of these, anonymous callers may view none.
  lab.database.run("UPDATE location SET public = 0");
  expect(await readFor(since(1000))).toEqual(["holding", "holding", "holding"]);
  expect(await readFor(since(500))).toEqual([]);
  expect((await lab.ask("GET", since(500))).body.total).toBe(0);
  expect((await lab.send("admin", "GET", `${since(500)}&description=19999`)).body.total).toBe(1);
});

test("another process reads nothing of a search that the trigram index answers", async () => {
  const { reader } = openStore(lab.database, lab.clock);
  let reads = 0;
  reader.loadRowsWith(async (request) => {
    reads++;
    return reader.readRows(request);
  });
  reader.forget();
  expect([isHeavy("locations/?query=4321", "alice"), reads]).toEqual([false, 0]);
  await isHeavy("locations/?owner__username__icontains=li", "alice");
  const before = reads;
  for (let time = 0; time < 2; time++) {
    expect(isHeavy("locations/?query=1234", "alice")).toBe(false);
    expect((await lab.send("alice", "GET", "locations/?query=1234")).status).toBe(200);
  }
  expect(reads - before).toBe(0);
});

test("reads of a whole table are heavy if it is large, or if it is not small and the filter is long", () => {
  lab.database.run("UPDATE consumable SET rid = 1000 WHERE rid = (SELECT max(rid) FROM consumable)");
  const large = (table: string, search: string): boolean => {
    const url = new URL(`http://lab/${search}`);
    return isLarge({ url, store: openStore(lab.database, lab.clock) } as unknown as Call, table);
  };
  const long = `?field=owner&notes__content__icontains=${"a".repeat(300)}`;
  const found = ["place", "consumable", "location"].map((table) => [large(table, ""), large(table, long)]);
  expect(found).toEqual([
    [false, false],
    [false, true],
    [true, true],
  ]);
});
