import { ALIVE } from "../model/condition.ts";
import type { Actor } from "../model/access.ts";
import { selectVisible } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { hasPosition, readOccupied } from "../resources/position.ts";
import type { RackFile } from "./rack-file.ts";
import { scan } from "./scan.ts";

/** Compares the scan of a rack with the records in a box, and moves records to where they were scanned. */

/** `unread`: the scanner could not read the code; `blocked`: the record or the one in its slot may not be moved. */
export const RACK_RESULTS = ["matched", "moved", "missing", "unknown", "unread", "blocked"] as const;
/** Actions on missing records: they stay in the box, without a slot if that is taken; or they lose their location. */
export const MISSING_TUBES = ["keep", "take_out"] as const;

interface Tube {
  resource: RoutedResource;
  rid: number;
  id: string;
  name: string;
  /** True if it is in the box. */
  isHere: boolean;
  position: string;
  /** Its position in the box, or the path of its location with the position. */
  from: string;
  /** True if somebody has taken it out: its slot is reserved. */
  isOut: boolean;
  /** True if the caller may move it. */
  use: boolean;
}
export interface RackResult {
  position: string;
  code: string;
  result: (typeof RACK_RESULTS)[number];
  record: { segment: string; id: string; name: string } | null;
  /** Where a moved record was: its position in the box, or the path of its location. */
  from: string;
}

const STORED = RESOURCES.filter(hasPosition);
const FIELDS = ["id", "name", "position", "taken_out", "location__unique_path"];

/** Compares a scan with a box; `apply` makes its changes, in a batch that the caller opens. */
export class RackScan {
  readonly results: RackResult[];
  readonly #moves: { tube: Tube; position: string }[] = [];
  readonly #missing: readonly Tube[];

  constructor(
    private readonly store: Store,
    private readonly location: { rid: number; id: string },
    private readonly actor: Actor,
    { lines }: RackFile,
  ) {
    const here = this.#tubesIn();
    const scanned = lines.map((line) => ({ ...line, tube: this.#find(line.code) }));
    const seen = new Set(scanned.flatMap(({ tube }) => (tube ? key(tube) : [])));
    const unread = new Set(scanned.flatMap((line) => (line.unread ? line.position : [])));
    const missing = here.filter((tube) => !tube.isOut && !seen.has(key(tube)) && !unread.has(tube.position));
    this.#missing = missing;
    const blocked = this.#findBlocked(here, missing, scanned);
    const results = scanned.flatMap(({ position, code, unread: isUnread, tube }): RackResult[] => {
      if (isUnread)
        return [
          line(
            position,
            "",
            "unread",
            here.find((each) => each.position === position),
          ),
        ];
      if (code === null) return [];
      if (!tube) return [line(position, code, "unknown")];
      if (tube.isHere && tube.position === position) return [line(position, code, "matched", tube)];
      if (blocked.has(position)) return [line(position, code, "blocked", tube, tube.from)];
      this.#moves.push({ tube, position });
      return [line(position, code, "moved", tube, tube.from)];
    });
    this.results = [...results, ...missing.map((tube) => line(tube.position, "", "missing", tube))];
  }

  /** @throws Problem if a record may not be moved */
  apply(writer: RecordWriter, missing: (typeof MISSING_TUBES)[number]): void {
    const taken = new Set(this.#moves.map(({ position }) => position));
    const displaced = this.#missing.filter(
      ({ use, position }) => use && (missing === "take_out" || taken.has(position)),
    );
    const all = [...displaced, ...this.#moves.map(({ tube }) => tube)];
    writer.rearrange(
      all.map(({ resource, rid }) => [resource, rid] as const),
      () => {
        for (const { resource, rid } of displaced) {
          const place = missing === "take_out" ? { location: null } : {};
          writer.update(resource, rid, { ...place, position: "" }, "merge", this.actor);
        }
        for (const { tube, position } of this.#moves)
          writer.update(
            tube.resource,
            tube.rid,
            { location: this.location.id, position },
            "merge",
            this.actor,
          );
      },
    );
  }

  /** Positions into which no scanned record can be moved, because it, or what is there, stays where it is. */
  #findBlocked(
    here: readonly Tube[],
    missing: readonly Tube[],
    scanned: readonly { position: string; tube: Tube | undefined }[],
  ): Set<string> {
    const visible = new Map(here.map((tube) => [tube.position, tube]));
    const leaving = new Map(scanned.flatMap(({ tube, position }) => (tube ? [[key(tube), position]] : [])));
    const isMissing = new Set(missing.map(key));
    const occupied = readOccupied(this.store.statements, this.location.rid);
    const blocked = new Set<string>();
    const stays = (position: string): boolean => {
      if (!occupied.has(position)) return false;
      const tube = visible.get(position);
      if (!tube?.use) return true;
      const to = leaving.get(key(tube));
      return to === undefined ? !isMissing.has(key(tube)) : blocked.has(to);
    };
    // A record that stays blocks another one, which then stays, too.
    for (let before = -1; before < blocked.size;) {
      before = blocked.size;
      for (const { position, tube } of scanned)
        if (tube && !(tube.isHere && tube.position === position) && (!tube.use || stays(position)))
          blocked.add(position);
    }
    return blocked;
  }

  /** The record of a code; undefined if there is none, or several. */
  #find(code: string | null): Tube | undefined {
    if (code === null) return undefined;
    const [found, another] = scan(this.store.reader, STORED, code, this.actor);
    return found && !another ? this.#read(found.resource, [found.rid])[0] : undefined;
  }

  #tubesIn(): Tube[] {
    return STORED.flatMap((resource) => {
      const viewer = { resources: this.store.resources, actor: this.actor };
      const tail = " AND t.location = ? AND t.position <> ''";
      const { text, args } = selectVisible(viewer, resource, "t.rid AS rid", ALIVE, tail);
      const rows = this.store.statements.all({ text, args: [...args, this.location.rid] });
      return this.#read(
        resource,
        rows.map(({ rid }) => Number(rid)),
      );
    });
  }

  #read(resource: RoutedResource, rids: readonly number[]): Tube[] {
    const { reader, statements } = this.store;
    const rights = reader.rights(resource, this.actor, rids);
    return reader.values(resource, FIELDS, this.actor, rids).map((values, i) => {
      const rid = rids[i];
      const text = `SELECT location FROM ${resource.table} WHERE rid = ?`;
      const isHere = statements.get({ text, args: [rid] })?.location === this.location.rid;
      const { id, name, position, taken_out, location__unique_path: path } = values;
      const from = [isHere ? "" : path, position].filter(Boolean).join(", ");
      const use = rights.get(rid)?.use === true;
      return {
        resource,
        rid,
        id,
        name,
        isHere,
        position,
        from,
        isOut: taken_out === true,
        use,
      } as Tube;
    });
  }
}

const key = ({ resource, rid }: { resource: Resource; rid: number }): string => `${resource.name} ${rid}`;

function line(
  position: string,
  code: string,
  result: RackResult["result"],
  tube?: Tube,
  from = "",
): RackResult {
  const record = tube ? { segment: tube.resource.segment, id: tube.id, name: tube.name } : null;
  return { position, code, result, record, from };
}
