import { afterAll, expect, test } from "bun:test";
import type { Actor } from "../../src/inventory/model/access.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { parseListing } from "../../src/inventory/model/listing.ts";
import { RecordReader } from "../../src/inventory/records/record-reader.ts";
import type { RecordWriter } from "../../src/inventory/records/record-writer.ts";
import { Sharing } from "../../src/inventory/records/sharing.ts";
import { openStore, type Store } from "../../src/inventory/records/store.ts";
import { DECLARED, SUB_RESOURCES } from "../../src/inventory/resources/index.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { cacheCounter } from "../../src/platform/cache-counter.ts";
import { fixedClock } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { openMigrated } from "../database.ts";

/** Lists from sets and orders in memory, compared with the same lists by statements. */

const database = openMigrated();
afterAll(() => database.close());
const clock = fixedClock();
const store: Store = openStore(database, clock);
const accounts = new Accounts(database, clock);
const random: Random = seeded(31);
const location = DECLARED.get("location")!;
const equipment = DECLARED.get("equipment")!;

const WORDS = ["Box", "box 42", "424", "Drawer", "ﬁlm", "Ärmel", "a", "42", "Shelf 1", "İ", "number 424 of"];
const word = (): string => random.pick(WORDS);

async function people(): Promise<Actor[]> {
  await accounts.addUser({ username: "root", superuser: true });
  await accounts.addUser({ username: "ann", group: "G1" });
  await accounts.addUser({ username: "ben", group: "G2" });
  const actors = ["root", "ann", "ben"].map((username): Actor => {
    const row = database
      .query("SELECT rid, primary_group FROM user_account WHERE username = ?")
      .get(username) as { rid: number; primary_group: number };
    return {
      user: row.rid,
      username,
      superuser: username === "root",
      groups: [row.primary_group],
      primaryGroup: row.primary_group,
    };
  });
  return [...actors, { user: null, username: null, superuser: false, groups: [], primaryGroup: null }];
}

/** Parameters of a list of locations. */
function parameters(): URLSearchParams {
  const chosen: [string, string][] = [];
  const filters: (() => [string, string])[] = [
    () => ["name", word()],
    () => ["query", random.chance(0.5) ? `${word()} ${word()}` : word()],
    () => ["description", word()],
    () => ["label__contains", word()],
    () => ["label__iexact", word()],
    () => ["description__endswith", random.pick(["4", "of"])],
    () => ["equipment__name__icontains", word()],
    () => ["equipment__isnull", random.pick(["true", "false"])],
    () => ["owner", random.pick(["ann", "ben"])],
    () => ["parent__label__icontains", word()],
    () => ["notes__content__icontains", word()],
    () => ["deleted", random.pick(["true", "all"])],
    () => ["public", random.pick(["true", "false"])],
    () => ["can_change", random.pick(["true", "false"])],
  ];
  for (let i = random.below(3); i > 0; i--) chosen.push(random.pick(filters)());
  if (random.chance(0.6))
    chosen.push([
      "ordering",
      random.pick([
        "-label",
        "owner__username,-created",
        "equipment__name,label",
        "-equipment__name",
        "parent__label,-label",
        "description",
        "-barcode,label",
        "public",
      ]),
    ]);
  chosen.push(["page_size", random.pick(["3", "10", "max"])]);
  return new URLSearchParams(Object.fromEntries(chosen));
}

const rids: number[] = [];
const machines: number[] = [];

function body(actor: Actor): Record<string, Json> {
  const readId = (table: string, rid: number) =>
    (database.query(`SELECT id FROM ${table} WHERE rid = ?`).get(rid) as { id: string } | null)?.id ?? null;
  return {
    label: `${word()} ${random.below(500)}`,
    description: random.chance(0.3)
      ? ""
      : `Description ${random.below(50)}, number ${400 + random.below(50)} of`,
    barcode: random.chance(0.5) ? "" : String(random.below(5)),
    public: random.chance(0.4),
    ...(actor.superuser ? { owner: random.pick(["ann", "ben"]) } : {}),
    equipment: machines.length > 0 && random.chance(0.6) ? readId("equipment", random.pick(machines)) : null,
  };
}

/** Lets ann view a record, or no longer. */
function share(writer: RecordWriter, root: Actor): void {
  const ann = accounts.userId("ann");
  const given = { view: random.chance(0.7), change: false, delete: false };
  new Sharing(store.statements, writer).set(
    location,
    random.pick(rids),
    { user: [{ rid: ann, given }] } as never,
    "merge",
    root,
  );
}

/** One random write. */
function write(root: Actor): void {
  const kind = random.below(13);
  // As if there were more writes than are remembered.
  if (rids.length > 0 && random.chance(0.02))
    for (let i = 0; i < 3000; i++) store.reader.note(location, random.pick(rids));
  store.write((writer) => {
    if (kind < 4 || rids.length < 50) rids.push(writer.create(location, body(root), root));
    else if (kind < 8) writer.update(location, random.pick(rids), body(root), "merge", root);
    else if (kind === 8 && machines.length > 0)
      writer.update(equipment, random.pick(machines), { name: `${word()} machine` }, "merge", root);
    else if (kind === 9)
      machines.push(
        writer.create(equipment, { name: `${word()} ${random.below(9)}`, public: random.chance(0.5) }, root),
      );
    else if (kind === 10) {
      const parent = { object_kind: "location", object_rid: random.pick(rids) };
      if (random.chance(0.5)) writer.create(SUB_RESOURCES.note, { content: word() }, root, undefined, parent);
      else writer.remove(location, [parent.object_rid], root);
    } else if (kind === 11) {
      const [rid] = rids.splice(random.below(rids.length), 1);
      writer.remove(location, [rid], root);
      writer.purge(location, rid, root);
    } else share(writer, root);
  });
}

test("random lists from memory equal lists by statements, with random writes between them", async () => {
  const actors = await people();
  const [root] = actors;
  for (let i = 0; i < 300; i++) write(root);
  const plain = new RecordReader(store.statements, DECLARED, { indexed: false });
  const counts = cacheCounter("counts");
  const before = counts.hits;
  let nonempty = 0;
  for (let i = 0; i < 1200; i++) {
    const asked = parameters();
    const actor = random.pick(actors);
    // Twice: the second time reads the sets, which the writes afterwards change.
    for (let time = 0; time < 2; time++) {
      if (random.chance(0.3)) write(root);
      const listing = parseListing(DECLARED, location, asked, actor);
      const expected = plain.list(location, { ...listing, page: 1 }, actor);
      const pages = listing.size === "max" ? 1 : Math.max(1, Math.ceil(expected.total / listing.size));
      const page = 1 + random.below(pages);
      const found = store.reader.list(location, { ...listing, page }, actor);
      const same = plain.list(location, { ...listing, page }, actor);
      expect({ asked: asked.toString(), user: actor.username, ...found }).toEqual({
        asked: asked.toString(),
        user: actor.username,
        ...same,
      });
      if (found.total > 0 && found.total < rids.length) nonempty++;
    }
  }
  // Lists that memory does not answer, or that hold nothing or everything, would prove little.
  expect(counts.hits - before).toBeGreaterThan(1000);
  expect(nonempty).toBeGreaterThan(700);
}, 60_000);
