import type { ImportReport, PreviewedRow } from "./import-report.ts";
import type { Actor } from "../model/access.ts";
import { ALIVE } from "../model/condition.ts";
import type { Store } from "../records/store.ts";

type Outcome = PreviewedRow["outcome"];

/** Slots that are noted, and boxes that a report shows. */
const MAX_SLOTS = 20_000;
const MAX_BOXES = 10;

/** The slots of boxes that the rows of a file name. */
export class RowSlots {
  readonly #boxes = new Map<string, Map<string, Outcome>>();
  #count = 0;

  /** Of several rows for one slot the last one holds, which has an error. */
  add({ box, position }: { box: string; position: string }, outcome: Outcome): void {
    if (this.#count++ >= MAX_SLOTS) return;
    const slots = this.#boxes.get(box) ?? new Map<string, Outcome>();
    this.#boxes.set(box, slots.set(position, outcome));
  }

  /** The boxes that exist and that the actor may view, those with most rows first. */
  describe({ reader, resources }: Store, actor: Actor): NonNullable<ImportReport["boxes"]> {
    const location = resources.get("location")!;
    const most = [...this.#boxes].toSorted((a, b) => b[1].size - a[1].size).slice(0, MAX_BOXES);
    return most.flatMap(([id, slots]) => {
      const rid = reader.find(location, id, ALIVE, actor);
      if (rid === undefined) return [];
      const [{ unique_path, grid_rows }] = reader.values(location, ["unique_path", "grid_rows"], actor, [
        rid,
      ]);
      return grid_rows === null ? [] : [{ id, name: String(unique_path), slots: Object.fromEntries(slots) }];
    });
  }
}
