import type { Count, RecordLine } from "../inventory/stocktake-parts.tsx";
import type { StocktakeRemoval, StocktakeScan } from "./queue.ts";
import { findCode, type KnownRecord, type KnownStocktake, type Snapshot } from "./snapshot.ts";

/** Lists that hold scanned records. */
const LISTS = ["found", "misplaced", "missing", "other"] as const;

type Judged = { list: "found" | "misplaced" | "other" | "places"; record: KnownRecord };
export type Verdict = Judged | { list: "unknown"; matches: KnownRecord[] };

/** Judges scans of a stocktake as the server does, by what this device knows. */
export class OfflineCount {
  readonly #locations: ReadonlyMap<string, KnownRecord>;
  readonly #root: string;

  constructor(
    private readonly known: Snapshot,
    { location }: KnownStocktake,
  ) {
    const locations = known.records.filter(({ segment }) => segment === "locations");
    this.#locations = new Map(locations.map((each) => [each.id, each]));
    this.#root = location;
  }

  judge({ code, place }: Pick<StocktakeScan, "code" | "place">): Verdict {
    const matches = findCode(this.known, code);
    const storable = matches.filter(({ segment }) => segment !== "equipment");
    const [record] = [matches, storable].find(({ length }) => length === 1) ?? [];
    if (!record) return { list: "unknown", matches };
    if (record.segment === "equipment") return { list: "other", record };
    if (record.segment === "locations") {
      const isAround = this.#isInside(this.#root, record.id);
      return {
        list: this.#isInside(record.id, this.#root) ? "places" : isAround ? "other" : "misplaced",
        record,
      };
    }
    const isFound =
      this.#isInside(record.location, place?.id ?? this.#root) && this.#isInside(record.location, this.#root);
    return { list: isFound ? "found" : "misplaced", record };
  }

  /** The last count with the scans and removals since; without one, all records in the location are missing at first. */
  count(last: Count | undefined, changes: readonly (StocktakeScan | StocktakeRemoval)[]): Count {
    let count = last ?? this.#expected();
    for (const change of changes)
      count = change.kind === "scan" ? this.#with(count, change) : this.#without(count, change);
    const counts = { ...count.counts };
    for (const list of [...LISTS, "unknown"] as const) counts[list] = count[list].length;
    return { ...count, counts };
  }

  #expected(): Count {
    const missing = this.known.records.filter(this.#isExpected).map((record) => this.#lineOf(record));
    const counts = {
      expected: missing.length,
      found: 0,
      misplaced: 0,
      missing: 0,
      unknown: 0,
      other: 0,
      places: 0,
    };
    const location = { id: this.#root, name: this.#nameOf(this.#root) ?? "" };
    return { location, counts, found: [], misplaced: [], missing, unknown: [], other: [] };
  }

  #with(count: Count, scan: StocktakeScan): Count {
    const { code } = scan;
    const verdict = this.judge(scan);
    if (verdict.list === "places") return count;
    const unknown = count.unknown.filter((line) => line.code !== code);
    if (verdict.list === "unknown") return { ...count, unknown: [...unknown, { code }] };
    const { list, record } = verdict;
    const others = Object.fromEntries(
      LISTS.map((name) => [name, count[name].filter(({ id }) => id !== record.id)]),
    ) as Pick<Count, (typeof LISTS)[number]>;
    const to = scan.place ?? { id: this.#root, name: this.#nameOf(this.#root) };
    const line = { ...this.#lineOf(record), code, ...(list === "misplaced" ? { to } : {}) };
    return { ...count, ...others, unknown, [list]: [...others[list], line] };
  }

  #without(count: Count, { code }: StocktakeRemoval): Count {
    const isOther = (line: { code?: string }): boolean => line.code !== code;
    const removed = LISTS.flatMap((name) => count[name]).filter((line) => !isOther(line));
    const absent = this.known.records.filter(
      (record) => this.#isExpected(record) && removed.some(({ id }) => id === record.id),
    );
    return {
      ...count,
      found: count.found.filter(isOther),
      misplaced: count.misplaced.filter(isOther),
      missing: [...count.missing, ...absent.map((record) => this.#lineOf(record))],
      unknown: count.unknown.filter(isOther),
      other: count.other.filter(isOther),
    };
  }

  #isExpected = ({ segment, location }: KnownRecord): boolean =>
    segment !== "locations" && this.#isInside(location, this.#root);

  #lineOf({ segment, id, name, location, position }: KnownRecord): RecordLine {
    const at = location === null ? null : { id: location, name: this.#nameOf(location) };
    return { segment, id, name, at, ...(position ? { position } : {}) };
  }

  #nameOf = (location: string): string | null => this.#locations.get(location)?.name ?? null;

  #isInside(inner: string | null, outer: string): boolean {
    const seen = new Set<string>();
    for (let at = inner; at !== null && !seen.has(at); at = this.#locations.get(at)?.location ?? null) {
      if (at === outer) return true;
      seen.add(at);
    }
    return false;
  }
}
