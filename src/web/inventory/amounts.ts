import type { Change } from "../../inventory/api/route-history.ts";
import { useLoaded } from "../components/loaded.tsx";
import { api, type Declaration } from "./declaration.ts";
import type { Row } from "./record.tsx";
import { readHistory } from "./read-list.ts";

/** Changes of an amount in which the last refill is looked for. */
const READ_AMOUNTS = 100;

/** Facts about the amount of a record from its history. */
export interface Amounts {
  /** The amount after the last refill, or the first one. */
  full?: number | undefined;
  /** Time of the last withdrawal. */
  lastUsed?: string | undefined;
  /** Amount of the last withdrawal. */
  lastAmount?: number | undefined;
}

/** Computed from the changes of the amount, the latest first. */
export function amountsIn(changes: readonly Pick<Change, "at" | "before" | "after">[]): Amounts {
  const amounts = changes.map(({ after }) => after?.amount);
  const refilled = amounts.findIndex((amount, i) => Number(amounts[i + 1] ?? -1) < Number(amount ?? 0));
  const used = changes.find(({ before, after }) => Number(after?.amount ?? 0) < Number(before?.amount ?? 0));
  const lastAmount = used && Number(used.before!.amount) - Number(used.after!.amount);
  return {
    full: typeof amounts[refilled] === "number" ? amounts[refilled] : undefined,
    lastUsed: used?.at,
    lastAmount: lastAmount && Number(lastAmount.toPrecision(12)),
  };
}

/** Unit; empty until the record is loaded, and for records without an amount. */
export function useAmounts(of: Declaration, { id, version, values }: Row): Amounts {
  const path = api(of.name, `${id}/history/`);
  const isTracked = typeof values.amount === "number";
  const { value } = useLoaded(isTracked ? `${path} ${version}` : null, async (signal) => {
    const query = { field: "amount", page_size: READ_AMOUNTS };
    return amountsIn((await readHistory(of.name, id, query, signal)).results);
  });
  return value ?? {};
}
