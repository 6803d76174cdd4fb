import type { Grid } from "../../inventory/model/grid.ts";
import { subtractAmount } from "../../inventory/model/unit.ts";
import type { Count } from "../inventory/stocktake-parts.tsx";
import type { Move, MovedRecord, StockChange } from "./move.ts";

/** The key under which a device keeps the snapshot. */
export const SNAPSHOT = "snapshot";

/** The part of the inventory that scanning needs without a network: the records that this person may view. */
export interface Snapshot {
  person: { id: string; username: string };
  /** Milliseconds since 1970. */
  at: number;
  records: readonly KnownRecord[];
  stocktakes: readonly KnownStocktake[];
  /** The last counts of the server, by the id of the stocktake. */
  counts?: Readonly<Record<string, Count>>;
  /** Records on the server that are not in it, because there are too many. */
  left: number;
}

export interface KnownRecord {
  segment: string;
  id: string;
  name: string;
  barcode: string;
  version: number;
  /** The enclosing location, or that in which it is stored. */
  location: string | null;
  position?: string;
  equipment?: string | null;
  /** Building and room of a location or of equipment, such as `A 002`. */
  room: string;
  /** Grid of a location. */
  grid?: Grid;
  /** True if the person may change it. */
  change?: true;
  /** True if the person may use and move it. */
  use?: true;
  /** True if somebody has taken it out. */
  out?: boolean;
  /** What is left, and the name of its unit. */
  amount?: number;
  unit?: string;
  /** Its move waits for the network. */
  waits?: true;
}

/** A stocktake that has not been applied. */
export interface KnownStocktake {
  id: string;
  name: string;
  location: string;
}

/** Records of each list, most recently changed first, and their total on the server. */
type ReadList = (
  segment: string,
  query: Record<string, string>,
) => Promise<{ total: number; results: Row[] }>;
type Row = Record<string, unknown>;

const PAGE = 1000;
/** The most records of each list that a device keeps. */
export const MOST = { locations: 5000, equipment: 1000, "stocks/consumables": 7000, "stocks/specimen": 7000 };
const MOST_STOCKTAKES = 50;
const STOCK_FIELDS = "id,name,barcode,version,location,position,permissions,taken_out,amount,unit__name";
const FIELDS: Readonly<Record<string, string>> = {
  locations:
    "id,label,barcode,version,parent,equipment,place__building,place__room,permissions,grid_rows,grid_columns,numbering",
  equipment: "id,name,barcode,version,place__building,place__room,permissions",
};

/**
 * Reads the data for scanning through the lists of the REST API, which contain only records that this person may view.
 */
export async function takeSnapshot(
  read: ReadList,
  person: Snapshot["person"],
  now: number,
): Promise<Snapshot> {
  const lists = Object.entries(MOST).map(([segment, most]) => readAll(read, segment, most));
  const found = await Promise.all(lists);
  const stocktakes = await read("stocktakes", {
    fields: "id,name,location",
    state: "OPEN",
    ordering: "-modified",
    page_size: String(MOST_STOCKTAKES),
  });
  return {
    person: { id: person.id, username: person.username },
    at: now,
    records: found.flatMap(({ records }) => records),
    stocktakes: stocktakes.results as unknown as KnownStocktake[],
    left: found.reduce((sum, { records, total }) => sum + Math.max(0, total - records.length), 0),
  };
}

async function readAll(
  read: ReadList,
  segment: string,
  most: number,
): Promise<{ records: KnownRecord[]; total: number }> {
  const fields = FIELDS[segment] ?? STOCK_FIELDS;
  const byId = new Map<string, KnownRecord>();
  for (let page = 1; ; page++) {
    const { total, results } = await read(segment, {
      fields,
      ordering: "-modified",
      page: String(page),
      page_size: String(PAGE),
    });
    for (const row of results) byId.set(String(row.id), toRecord(segment, row));
    if (page * PAGE >= Math.min(total, most)) return { records: [...byId.values()], total };
  }
}

const amountIn = ({ amount, unit__name: unit }: Row): Pick<KnownRecord, "amount" | "unit"> =>
  typeof amount === "number" ? { amount, unit: String(unit ?? "") } : {};

function toRecord(segment: string, row: Row): KnownRecord {
  const { grid_rows: rows, grid_columns: columns, numbering, permissions } = row;
  const { actions } = (permissions ?? {}) as { actions?: { change?: boolean; use?: boolean } };
  return {
    segment,
    id: String(row.id),
    name: String(row.name ?? row.label),
    barcode: String(row.barcode ?? ""),
    version: Number(row.version),
    location: (row.parent ?? row.location ?? null) as string | null,
    ...(row.position ? { position: String(row.position) } : {}),
    equipment: (row.equipment ?? null) as string | null,
    room: [row.place__building, row.place__room].filter(Boolean).join(" "),
    ...(actions?.change ? { change: true as const } : {}),
    ...(actions?.use ? { use: true as const } : {}),
    ...(row.taken_out ? { out: true } : {}),
    ...amountIn(row),
    ...(rows && columns ? { grid: { rows, columns, numbering } as Grid } : {}),
  };
}

export const withCount = (known: Snapshot, stocktake: string, count: Count): Snapshot => ({
  ...known,
  counts: { ...known.counts, [stocktake]: count },
});

/** The snapshot after a move. @param waits whether the server does not have it yet */
export function withMove(
  known: Snapshot,
  change: Pick<Move, "location" | "records"> | StockChange,
  waits = false,
): Snapshot {
  const byId = new Map<string, Partial<MovedRecord>>(change.records.map((record) => [record.id, record]));
  const records = known.records.map((record) => {
    const { version, position } = byId.get(record.id) ?? {};
    if (version === undefined) return record;
    const place =
      "location" in change
        ? { location: change.location?.id ?? null, position, out: false }
        : change.action === "consume"
          ? amountAfter(record, change.body)
          : { out: change.action === "take_out" };
    const after = { version, ...place, ...(waits ? { waits: true } : {}) };
    return Object.assign({}, record, after);
  });
  return { ...known, records };
}

/** The amount after a use; as before if the server would refuse it. */
function amountAfter(
  { amount: left, unit: own = "" }: KnownRecord,
  { amount = 0, unit = own }: StockChange["body"],
) {
  const after = subtractAmount({ value: left ?? 0, unit: own }, { value: amount, unit });
  return left === undefined || after === undefined || after < 0 ? {} : { amount: after };
}

/** Digits of an id on labels. */
const ID_DIGITS = 8;

/** The records that a code on a label stands for: their barcode, their id, its beginning, or an address that ends with it. */
export function findCode({ records }: Snapshot, scanned: string): KnownRecord[] {
  const code = scanned.trim();
  const barcoded = records.filter(({ barcode }) => code !== "" && barcode === code);
  const id = (code.split(/[?#]/)[0].split("/").at(-1) ?? "").replaceAll("-", "").toLowerCase();
  if (barcoded.length > 0 || id.length < ID_DIGITS) return barcoded;
  return records.filter((record) => record.id.replaceAll("-", "").startsWith(id));
}

export const findRecord = ({ records }: Snapshot, id: string | null | undefined): KnownRecord | undefined =>
  id ? records.find((record) => record.id === id) : undefined;

/** The locations around a record, from outside in. */
function locationsAround(snapshot: Snapshot, record: KnownRecord): KnownRecord[] {
  const found: KnownRecord[] = [];
  for (let at = record.location; at !== null;) {
    const location = findRecord(snapshot, at);
    if (!location || found.includes(location)) break;
    found.unshift(location);
    at = location.location;
  }
  return found;
}

/** The place of a record, such as `A 002 › -80 North › Rack 2 › Box 7, A3`; empty if it is unknown. */
export function whereIs(snapshot: Snapshot, record: KnownRecord): string {
  const around = locationsAround(snapshot, record);
  const outer = around[0] ?? record;
  const equipment = findRecord(snapshot, outer.equipment);
  const room = outer.room || equipment?.room;
  const names = [room, equipment?.name, ...around.map(({ name }) => name)].filter(
    (name, i, all) => name && name !== all[i - 1],
  );
  return [names.join(" › "), record.position].filter(Boolean).join(", ");
}
