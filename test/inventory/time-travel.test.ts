import { expect, test } from "bun:test";
import type { Json } from "../../src/inventory/model/field.ts";
import { type Answered, type Lab, openLab } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { IDS } from "./sample.ts";

/** Random histories against plain copies: `as_of` reads the state of that time, and undo returns to it. */

type Record_ = { [name: string]: Json };
const SEGMENTS = ["locations", "equipment", "vocabularies/categories", "stocks/consumables"];
const USERS = ["alice", "bob", "admin"];

async function everything(lab: Lab, as: string, more = ""): Promise<Record<string, Record_[]>> {
  const lists = SEGMENTS.map(async (segment) => {
    const path = `${segment}/?page_size=max&fields=*&deleted=all&ordering=id${more}`;
    const { body, status } = await lab.ask("GET", path, { as });
    expect({ path, status }).toEqual({ path, status: 200 });
    return [segment, body.results as Record_[]] as const;
  });
  return Object.fromEntries(await Promise.all(lists));
}

/** The records that are not deleted, without the fields that every write changes. */
const living = (all: Record<string, Record_[]>): Record<string, Record_[]> =>
  Object.fromEntries(
    Object.entries(all).map(([segment, records]) => [
      segment,
      records
        .filter(({ deleted }) => deleted === false)
        .map((record) =>
          Object.fromEntries(Object.entries(record).filter(([name]) => !/^(version|modified.*)$/.test(name))),
        ),
    ]),
  );

/** One request that writes, or is refused. */
async function step(lab: Lab, random: Random, batches: readonly string[]): Promise<Answered> {
  const segment = random.pick(SEGMENTS);
  const name = segment === "locations" ? "label" : "name";
  const as = random.pick(USERS);
  const known = (await lab.ask("GET", `${segment}/?page_size=max&fields=id&deleted=all`, { as })).body
    .results as { id: string }[];
  const some = () => random.pick(known)?.id ?? IDS.shelf;
  const several = () => Array.from({ length: 1 + random.below(4) }, some);
  const values = (): Record_ => ({
    [name]: `n${random.below(30)}`,
    ...(random.chance(0.3) ? { description: random.pick(["", "one", "two"]) } : {}),
    ...(random.chance(0.3) ? { public: random.chance(0.5) } : {}),
    ...(segment === "stocks/consumables" ? { amount: random.pick([null, 0.5, 3]), model_type: "OTHER" } : {}),
    ...(segment === "locations" && random.chance(0.4) ? { parent: random.pick([null, some()]) } : {}),
    ...(segment === "locations" && random.chance(0.4)
      ? { place: random.pick([null, IDS.a101, IDS.a102]) }
      : {}),
  });
  const send = (method: string, path: string, body?: unknown) =>
    lab.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
  switch (random.below(11)) {
    case 0:
      return send("POST", `${segment}/`, values());
    case 1:
      return send("POST", `${segment}/`, Array.from({ length: 1 + random.below(4) }, values));
    case 2:
      return send("PATCH", `${segment}/${some()}/`, values());
    case 3:
      return send(
        "PATCH",
        `${segment}/`,
        Array.from(several(), (id) => Object.assign(values(), { id })),
      );
    case 4:
      return send("PATCH", `${segment}/?can_change=true&${name}__lt=n2`, {
        description: random.pick(["x", "y"]),
      });
    case 5: {
      const operation = { op: "replace", path: "/description", value: random.pick(["p", "q"]) };
      return send("PATCH", `${segment}/${some()}/`, [operation]);
    }
    case 6:
      return send("DELETE", `${segment}/${some()}/`);
    case 7:
      return send("POST", `${segment}/bulk_delete/`, several());
    case 8:
      return send(
        "POST",
        `${segment}/${some()}/restore/`,
        random.pick([{}, { version: 1 + random.below(4) }]),
      );
    case 9:
      return send("DELETE", `${segment}/bulk_delete/?can_delete=true&${name}=n${random.below(30)}`);
    default:
      return send("POST", `batches/${random.pick([...batches, "none"])}/undo/`, {
        force: random.chance(0.4),
      });
  }
}

interface Moment {
  /** When the write was made; empty for an undo. */
  at: string;
  batch: string;
  state: Record<string, Record_[]>;
}

/** Writes at random, undoes some of it, and returns the states after each write. */
async function writeHistory(lab: Lab, seed: number): Promise<Moment[]> {
  const random = seeded(seed);
  const taken: Moment[] = [];
  let undone = 0;
  for (let i = 0; i < 40; i++) {
    const before = await everything(lab, "admin");
    // In some histories the clock stands still; the batches stay in order.
    if (seed % 3 !== 0) lab.clock.set(lab.clock.now() + (random.chance(0.1) ? 0 : 1 + random.below(1000)));
    const known = taken.map(({ batch }) => batch);
    const answer = await step(lab, random, known);
    expect(answer.status).toBeLessThan(500);
    const batch = answer.headers.get("batch-id");
    const after = await everything(lab, "admin");
    if (answer.status >= 400 || batch === null) {
      expect(after).toEqual(before);
      continue;
    }
    taken.push({ at: new Date(lab.clock.now()).toISOString(), batch, state: after });
    if (!random.chance(0.4)) continue;
    const undo = await lab.ask("POST", `batches/${batch}/undo/`, { as: "admin" });
    // An undo may be refused: a record that the batch deleted may refer to another deleted one.
    if (undo.status !== 200) {
      expect([400, 409]).toContain(undo.status);
      expect(await everything(lab, "admin")).toEqual(after);
      continue;
    }
    undone++;
    const back = await everything(lab, "admin");
    expect(living(back)).toEqual(living(before));
    // Without a change there is nothing to undo.
    const undoing = undo.headers.get("batch-id");
    if (undoing !== null) taken.push({ at: "", batch: undoing, state: back });
  }
  expect(undone).toBeGreaterThan(0);
  return taken;
}

/** True if a user with these groups could view a record as it was. */
const couldView = (
  user: string,
  groups: readonly unknown[],
  { public: open, owner, owned_by }: Record_,
): boolean => user === "admin" || open === true || owner === user || groups.includes(owned_by);

/** A state as a user sees it, who could view its records and may view them today, with the rights of today. */
function visibleState(
  { user, groups }: { user: string; groups: readonly unknown[] },
  state: Record<string, Record_[]>,
  today: Record<string, Record_[]>,
): Record<string, Record_[]> {
  return Object.fromEntries(
    SEGMENTS.map((segment) => {
      const mine = new Map(today[segment].map((record) => [record.id, record]));
      const records = state[segment]
        .filter((record) => mine.has(record.id) && couldView(user, groups, record))
        .map((record) => {
          const { actions } = mine.get(record.id)!.permissions as Record_;
          return Object.assign({}, record, { permissions: { public: record.public, actions } });
        });
      return [segment, records];
    }),
  );
}

/** Histories, batches and the feed show everything that the user may view today and could view then, and nothing else. */
async function checkFeed(
  lab: Lab,
  user: string,
  today: Record<string, Record<string, Record_[]>>,
  taken: readonly Moment[],
): Promise<void> {
  const ask = async (path: string) => (await lab.ask("GET", path, { as: user })).body;
  const told = (await ask("changes/?page_size=max")).results as { id: Json; batch: string; at: string }[];
  const mine = SEGMENTS.flatMap((segment) => today[user][segment].map(({ id }) => ({ segment, id })));
  const of = (id: Json) => told.filter((change) => change.id === id).length;
  for (const { segment, id } of mine) {
    const { total } = await ask(`${segment}/${String(id)}/history/?page_size=1`);
    expect({ user, id, total }).toEqual({ user, id, total: of(id) });
  }
  const hidden = SEGMENTS.flatMap((segment) => today.admin[segment])
    .map(({ id }) => id)
    .filter((id) => !mine.some((record) => record.id === id));
  expect(hidden.filter((id) => of(id) > 0)).toEqual([]);
  const batches = (await ask("batches/?page_size=max")).results as { id: string; changes: object }[];
  const counts = batches.map(({ changes }) => Object.values(changes).reduce((a, b) => a + b, 0));
  // Batches leave out what migrations wrote, which has no time.
  const timed = told.filter(({ at }) => !at.startsWith("1970"));
  expect(counts.reduce((a, b) => a + b, 0)).toBe(timed.length);
  expect(new Set(batches.map(({ id }) => id))).toEqual(new Set(timed.map(({ batch }) => batch)));
  for (const { batch } of taken) {
    const known = batches.some(({ id }) => id === batch);
    const { status } = await lab.ask("GET", `batches/${batch}/`, { as: user });
    expect({ user, status }).toEqual({ user, status: known ? 200 : 404 });
  }
}

const SEEDS = process.env.LABD_HEAVY ? 60 : 3;
test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))(
  "past states match a model with random writes, seed %i",
  async (seed) => {
    const lab = await openLab();
    try {
      const taken = await writeHistory(lab, seed);
      const today = Object.fromEntries(
        await Promise.all(USERS.map(async (user) => [user, await everything(lab, user)] as const)),
      );
      const groups = new Map(
        await Promise.all(
          USERS.map(async (user) => {
            const { body } = await lab.ask("GET", `users/${user}/`, { as: "admin" });
            return [user, (body.groups as { name: string }[]).map(({ name }) => name)] as const;
          }),
        ),
      );
      for (const [i, { at, batch, state }] of taken.entries()) {
        // By the clock, where no later batch has the same time.
        const next = taken[i + 1]?.at;
        const byClock = seed % 3 !== 0 && at !== "" && next !== at && next !== "";
        for (const time of byClock ? [batch, at] : [batch])
          for (const user of USERS) {
            const past = await everything(lab, user, `&as_of=${time}`);
            const reader = { user, groups: groups.get(user)! };
            expect([time, user, past]).toEqual([time, user, visibleState(reader, state, today[user])]);
          }
      }
      for (const user of USERS) await checkFeed(lab, user, today, taken);
    } finally {
      lab.database.close();
    }
  },
  300_000,
);
