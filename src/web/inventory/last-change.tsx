import { useLoaded } from "../components/loaded.tsx";
import { unitSymbol } from "../format.tsx";
import { get } from "../request.ts";
import { api, type Declaration, declaration } from "./declaration.ts";
import { AUTOMATIC, type Change } from "./history.tsx";

/** Latest changes among which that of the record itself is looked for; the others are of its notes and files. */
const LOADED = 10;

/** A record of stock that was changed. */
export interface Changed {
  id: string;
  segment: string;
  unit__name: string | null;
  modified_by__username: string | null;
}

const CHANGED = "changed it";
/** What happened to all of a record. */
const WHOLE: Readonly<Record<string, string>> = { create: "added it", restore: "restored it" };

/** A change in words, after who made it: "used 12 µL"; `place` is where the record is now. */
export function changeText(
  change: Pick<Change, "op" | "before" | "after">,
  unit: string,
  place: string,
  fields: Partial<Declaration["fields"]> = {},
): string {
  const { op, before, after } = change;
  if (op !== "update" || !before || !after) return WHOLE[op] ?? CHANGED;
  const names = Object.keys(after).filter((name) => !AUTOMATIC.has(name));
  const isOnly = (...of: string[]): boolean => names.length > 0 && names.every((name) => of.includes(name));
  if (isOnly("location", "position"))
    return after.location === null ? "took it out" : `moved it${place === "" ? "" : ` to ${place}`}`;
  if (isOnly("amount", "status") && "amount" in after) {
    const used = Number((Number(before.amount ?? 0) - Number(after.amount ?? 0)).toPrecision(9));
    return `${used > 0 ? "used" : "added"} ${Math.abs(used)} ${unit}`.trim();
  }
  return `changed ${names.map((name) => fields[name]?.label.toLowerCase() ?? name).join(", ") || "it"}`;
}

/** What happened to a record last, and who did it. */
export function LastChange({ of, place }: { of: Changed; place: string }) {
  const { id, segment, unit__name: unit, modified_by__username: by } = of;
  const path = api(segment, `${id}/history/`);
  const { value } = useLoaded(path, async (signal) => {
    const { results } = await get<{ results: Change[] }>(path, { page_size: LOADED }, signal);
    const change = results.find(({ of }) => of === null);
    const { fields } = change?.op === "update" ? await declaration(segment) : {};
    return change && changeText(change, unit === null ? "" : unitSymbol(unit), place, fields);
  });
  return (
    <>
      {by ?? "A deleted user"} {value ?? CHANGED}
    </>
  );
}
