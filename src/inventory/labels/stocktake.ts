import { type Actor, visible } from "../model/access.ts";
import { and, ALIVE } from "../model/condition.ts";
import type { Json } from "../model/field.ts";
import { plan } from "../model/plan.ts";
import { columnOf } from "../model/resource.ts";
import { compile } from "../model/sql.ts";
import { DECLARED, RESOURCES, type RoutedResource } from "../resources/index.ts";
import { scan } from "./scan.ts";
import type { Store } from "../records/store.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import { Problem } from "../../problem.ts";

/** What should be in a location and in those inside it, what was scanned there, and what follows from that. */

const LOCATION = DECLARED.get("location") as RoutedResource;
export const STOCKTAKE = DECLARED.get("stocktake") as RoutedResource;

/** Lists of things that are kept in locations, by the field that says where. */
const KEPT_IN: ReadonlyMap<string, string> = new Map(
  RESOURCES.flatMap(({ name, fields }): [string, string][] => {
    const field = name === "location" ? "parent" : "location";
    return fields[field]?.to === "location" ? [[name, field]] : [];
  }),
);
/** Things that should be there: locations inside are where things are, and not looked for themselves. */
const EXPECTED = RESOURCES.filter(({ name }) => KEPT_IN.has(name) && name !== "location");

/** Things that one stocktake can be about. */
const MOST = 50_000;
const MOST_SCANS = 50_000;
const LONGEST_CODE = 1000;

/** What to do with things that are missing. */
export const MISSING = ["keep", "status", "clear"] as const;
export type Missing = (typeof MISSING)[number];
/** Status that tells that a thing was looked for and not found. */
const MISSING_STATUS = "MISSING";

type Verdict = "found" | "misplaced" | "place" | "unknown" | "other";

/** A thing, and where it is recorded to be. */
interface Thing {
  segment: string;
  id: string;
  name: string;
  barcode: string | null;
  at: { id: string; name: string | null } | null;
}
interface Known extends Thing {
  key: string;
  rid: number;
  resource: RoutedResource;
}

/** What a stocktake has come to so far; once applied, as it was then. */
export interface Count {
  location: { id: string; name: string };
  counts: Record<"expected" | "found" | "misplaced" | "missing" | "unknown" | "other" | "places", number>;
  found: Json[];
  misplaced: Json[];
  missing: Json[];
  unknown: Json[];
  other: Json[];
  places: Json[];
}

/** One scan, as whoever scanned is told of it at once. */
export interface ScanVerdict {
  code: string;
  verdict: Verdict;
  /** Whether the code was there already. */
  again: boolean;
  record: { segment: string; id: string; name: string } | null;
  /** All that an unclear code may mean. */
  matches: { segment: string; id: string; name: string }[];
}

export interface Stocktaking {
  /** Notes codes, each once, and says what each is. `place`: the location inside in which they were scanned. */
  scan(rid: number, codes: readonly string[], place: string | null, actor: Actor): ScanVerdict[];
  /** Takes a scan back; false where the code was not there. */
  forget(rid: number, code: string): boolean;
  count(rid: number, actor: Actor): Count;
  /** Writes what was found: moves what was misplaced, marks what is missing, keeps the report. Within a batch. */
  apply(writing: RecordWriter, rid: number, missing: Missing, actor: Actor): Count;
}

export function openStocktaking(store: Store): Stocktaking {
  const { statements, reader } = store;

  const stored = (rid: number) =>
    statements.get({ text: "SELECT location, state, report FROM stocktake WHERE rid = ?", args: [rid] })!;
  const requireOpen = (rid: number): void => {
    if (stored(rid).state !== "OPEN")
      throw new Problem("conflict", "The stocktake was applied. Undo that, or begin another.");
  };

  /** Rows of a list that the actor may view and whose column has one of the values. */
  const rowsBy = (
    resource: RoutedResource,
    column: string,
    values: readonly number[],
    actor: Actor,
  ): number[] => {
    const where = compile(and(visible(resource, actor), ALIVE), plan(DECLARED, resource, actor));
    return statements
      .all({
        text:
          `SELECT t.rid AS rid FROM ${resource.table} AS t WHERE t.${column} IN (SELECT value FROM json_each(?))` +
          ` AND (${where.text}) ORDER BY t.${columnOf(resource, resource.key)}, t.rid LIMIT ${MOST + 1}`,
        args: [JSON.stringify(values), ...where.args],
      })
      .map(({ rid }) => Number(rid));
  };

  /** The location and all inside it, each with the one that it lies in. @throws Problem not_found */
  const inside = (id: string, actor: Actor): Map<number, number | null> => {
    const root = reader.find(LOCATION, id, ALIVE, actor);
    if (root === undefined)
      throw new Problem("not_found", "The location of this stocktake is deleted, or not for you to see.");
    const found = new Map<number, number | null>([[root, null]]);
    for (let level = [root]; level.length > 0;) {
      const next = rowsBy(LOCATION, "parent", level, actor).filter((rid) => !found.has(rid));
      for (const rid of next) found.set(rid, Number(parentOf(rid)));
      level = next;
    }
    return found;
  };
  const parentOf = (rid: number) =>
    statements.get({ text: "SELECT parent FROM location WHERE rid = ?", args: [rid] })?.parent ?? null;

  /** Whether `rid` is `place` or lies in it. */
  const within = (tree: ReadonlyMap<number, number | null>, rid: number | null, place: number): boolean => {
    for (let here = rid; here !== null; here = tree.get(here) ?? null) if (here === place) return true;
    return false;
  };

  const things = (resource: RoutedResource, rids: readonly number[], actor: Actor): Known[] => {
    const field = KEPT_IN.get(resource.name);
    const spans = field === undefined ? [] : [field, `${field}__label`];
    const barcode = "barcode" in resource.fields ? ["barcode"] : [];
    const look = {
      format: undefined,
      shape: "flat",
      fields: ["id", resource.key, ...barcode, ...spans],
    } as const;
    const { values } = reader.records(resource, look, actor, rids, { base: "", format: undefined });
    return values.map((record, i): Known => {
      const at = field === undefined ? null : record[field];
      return {
        resource,
        rid: rids[i],
        key: `${resource.name} ${rids[i]}`,
        segment: resource.segment,
        id: String(record.id),
        name: String(record[resource.key]),
        barcode: record.barcode ? String(record.barcode) : null,
        at:
          at === null ? null : { id: String(at), name: (record[`${field}__label`] as string | null) ?? null },
      };
    });
  };

  /** Rows of the locations in which things are recorded to be. */
  const wheres = (resource: RoutedResource, rids: readonly number[]): Map<number, number | null> => {
    const field = KEPT_IN.get(resource.name);
    if (field === undefined) return new Map();
    const text = `SELECT rid, ${columnOf(resource, field)} AS place FROM ${resource.table} WHERE rid IN (SELECT value FROM json_each(?))`;
    return new Map(
      statements
        .all({ text, args: [JSON.stringify(rids)] })
        .map(({ rid, place }) => [Number(rid), place === null ? null : Number(place)]),
    );
  };

  /** What a thing that was scanned in `place` (or somewhere in the whole) is, by where it is recorded. */
  const judge = (
    tree: ReadonlyMap<number, number | null>,
    root: number,
    { resource, rid }: { resource: RoutedResource; rid: number },
    where: number | null,
    place: number | null,
  ): Verdict => {
    if (!KEPT_IN.has(resource.name)) return "other";
    if (resource === LOCATION) {
      if (tree.has(rid)) return "place";
      // What the location itself lies in is not misplaced in it.
      for (let up: unknown = root; up !== null; up = parentOf(Number(up))) if (up === rid) return "other";
      return "misplaced";
    }
    return where !== null && tree.has(where) && within(tree, where, place ?? root) ? "found" : "misplaced";
  };

  interface Sorted {
    root: Known;
    tree: ReadonlyMap<number, number | null>;
    expected: Known[];
    scanned: { code: string; thing: Known | undefined; verdict: Verdict; place: number | null }[];
    places: Map<number, Known>;
  }

  const sort = (rid: number, actor: Actor): Sorted => {
    const tree = inside(String(stored(rid).location), actor);
    const [rootRid] = tree.keys();
    const expected = EXPECTED.flatMap((resource) =>
      things(resource, rowsBy(resource, "location", [...tree.keys()], actor), actor),
    );
    if (expected.length > MOST) throw new Problem("too_large", `More than ${MOST} things are there.`);
    const places = new Map(things(LOCATION, [...tree.keys()], actor).map((thing) => [thing.rid, thing]));
    const scans = statements.all({
      text: "SELECT code, object_kind, object_rid, place FROM stocktake_scan WHERE stocktake = ? ORDER BY at, code",
      args: [rid],
    });
    const found = new Map<string, Known>();
    const where = new Map<string, number | null>();
    for (const resource of RESOURCES) {
      const rids = scans
        .filter((each) => each.object_kind === resource.name)
        .map((each) => Number(each.object_rid));
      if (rids.length === 0) continue;
      // What is gone, or not to be seen any more, is unknown again.
      const left = rowsBy(resource, "rid", rids, actor);
      for (const thing of things(resource, left, actor)) found.set(thing.key, thing);
      for (const [each, place] of wheres(resource, left)) where.set(`${resource.name} ${each}`, place);
    }
    const scanned = scans.map((each) => {
      const key = `${each.object_kind} ${each.object_rid}`;
      const thing = found.get(key);
      const place = each.place !== null && tree.has(Number(each.place)) ? Number(each.place) : null;
      const verdict = thing ? judge(tree, rootRid, thing, where.get(key) ?? null, place) : "unknown";
      return { code: String(each.code), thing, verdict, place };
    });
    return { root: places.get(rootRid)!, tree, expected, scanned, places };
  };

  const plain = ({ segment, id, name, barcode, at }: Known): Record<string, Json> => ({
    segment,
    id,
    name,
    barcode,
    at,
  });

  const countOf = ({ root, expected, scanned, places }: Sorted): Count => {
    // Of a thing that was scanned by two codes, the last.
    const last = new Map(scanned.map((each) => [each.thing?.key ?? each.code, each]));
    const of = (verdict: Verdict) => [...last.values()].filter((each) => each.verdict === verdict);
    const shown = (verdict: Verdict) =>
      of(verdict).map(({ code, thing }): Json => Object.assign(plain(thing!), { code }));
    const misplaced = of("misplaced").map(({ code, thing, place }): Json => {
      const to = place === null ? root : places.get(place)!;
      return Object.assign(plain(thing!), { code, to: { id: to.id, name: to.name } });
    });
    const unknown = of("unknown").map(({ code }): Json => ({ code }));
    const missing = expected.filter(({ key }) => !last.has(key)).map(plain);
    const [found, other, seen] = [shown("found"), shown("other"), shown("place")];
    return {
      location: { id: root.id, name: root.name },
      counts: {
        expected: expected.length,
        found: found.length,
        misplaced: misplaced.length,
        missing: missing.length,
        unknown: unknown.length,
        other: other.length,
        places: seen.length,
      },
      found,
      misplaced,
      missing,
      unknown,
      other,
      places: seen,
    };
  };

  return {
    scan(rid, codes, place, actor) {
      requireOpen(rid);
      const tree = inside(String(stored(rid).location), actor);
      const [root] = tree.keys();
      const at = place === null ? null : (reader.find(LOCATION, place, ALIVE, actor) ?? null);
      if (place !== null && (at === null || !tree.has(at)))
        throw new Problem("invalid_request", "place: No such location inside the one that is counted.", {
          fields: { place: ["No such location inside the one that is counted."] },
        });
      const total = statements.get({
        text: "SELECT count(*) AS total FROM stocktake_scan WHERE stocktake = ?",
        args: [rid],
      });
      if (Number(total?.total) + codes.length > MOST_SCANS)
        throw new Problem("too_large", `At most ${MOST_SCANS} codes belong to one stocktake.`);
      const now = Math.round(store.clock.now() * 1000);
      return codes.map((typed): ScanVerdict => {
        const code = typed.trim().slice(0, LONGEST_CODE);
        const matches = scan(reader, RESOURCES, code, actor);
        // Of several, the one that can lie here.
        const kept = matches.filter(({ resource }) => KEPT_IN.has(resource.name));
        const match = matches.length === 1 ? matches[0] : kept.length === 1 ? kept[0] : undefined;
        const known = statements.get({
          text: "SELECT 1 AS found FROM stocktake_scan WHERE stocktake = ? AND code = ?",
          args: [rid, code],
        });
        statements.run({
          text:
            "INSERT INTO stocktake_scan (stocktake, code, object_kind, object_rid, place, at, user_rid) VALUES (?, ?, ?, ?, ?, ?, ?)" +
            " ON CONFLICT (stocktake, code) DO UPDATE SET object_kind = excluded.object_kind, object_rid = excluded.object_rid," +
            " place = excluded.place, at = excluded.at, user_rid = excluded.user_rid",
          args: [rid, code, match?.resource.name ?? null, match?.rid ?? null, at, now, actor.user],
        });
        const where = match ? (wheres(match.resource, [match.rid]).get(match.rid) ?? null) : null;
        const named = (each: (typeof matches)[number]) => ({
          segment: each.resource.segment,
          id: each.id,
          name: each.name,
        });
        return {
          code,
          verdict: match ? judge(tree, root, match, where, at) : "unknown",
          again: known !== null,
          record: match ? named(match) : null,
          matches: match ? [] : matches.map(named),
        };
      });
    },
    forget(rid, code) {
      requireOpen(rid);
      const args = [rid, code.trim()];
      const where = "stocktake = ? AND code = ?";
      const known = statements.get({ text: `SELECT 1 AS found FROM stocktake_scan WHERE ${where}`, args });
      statements.run({ text: `DELETE FROM stocktake_scan WHERE ${where}`, args });
      return known !== null;
    },
    count(rid, actor) {
      const { state, report } = stored(rid);
      if (state === "APPLIED" && report !== null) return JSON.parse(String(report)) as Count;
      return statements.reading(() => countOf(sort(rid, actor)));
    },
    apply(writing, rid, how, actor) {
      requireOpen(rid);
      const sorted = sort(rid, actor);
      const count = countOf(sorted);
      const known = new Map<string, Known>();
      for (const thing of [...sorted.expected, ...sorted.scanned.flatMap((each) => each.thing ?? [])])
        known.set(`${thing.segment} ${thing.id}`, thing);
      /** Writes it where the actor may, and notes what was done. */
      const change = (line: Json, body: Record<string, Json>, done: string): Json => {
        const item = line as Record<string, Json>;
        const { resource, rid: row } = known.get(`${item.segment} ${item.id}`)!;
        if (!writing.allows(resource, row, "change", actor)) return { ...item, done: "not permitted" };
        writing.update(resource, row, body, "merge", actor);
        return { ...item, done };
      };
      const misplaced = count.misplaced.map((line) => {
        const { segment, to } = line as { segment: string; to: { id: string } };
        return change(line, { [segment === LOCATION.segment ? "parent" : "location"]: to.id }, "moved");
      });
      const missing = count.missing.map((line) => {
        if (how === "clear") return change(line, { location: null }, "location emptied");
        if (how === "status") return change(line, { status: MISSING_STATUS }, "marked as missing");
        return { ...(line as object), done: "left" };
      });
      const report: Count = { ...count, misplaced, missing };
      writing.setValues(STOCKTAKE, rid, { state: "APPLIED", report: JSON.stringify(report) }, actor);
      return report;
    },
  };
}
