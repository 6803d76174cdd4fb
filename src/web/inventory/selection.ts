import { useEffect, useRef, useState } from "preact/hooks";
import type { Row } from "./record.tsx";

/** The records selected in a list: some of them, over several pages, or all that the filter finds. */
export interface Selection {
  ids: ReadonlySet<string>;
  isAll: boolean;
  count: number;
  isPageSelected: boolean;
  has: (id: string) => boolean;
  /** Selects a record or not; `isRange`: also all between it and the last one. */
  toggle: (id: string, isRange?: boolean) => void;
  togglePage: () => void;
  selectAll: () => void;
  clear: () => void;
}

/** `filter` changes whenever "all" means other records. */
export function useSelection(rows: readonly Row[], total: number, filter: string): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [isAll, setAll] = useState(false);
  const last = useRef<string | null>(null);
  useEffect(() => setAll(false), [filter]);
  const has = (id: string): boolean => isAll || ids.has(id);
  const isPageSelected = rows.length > 0 && rows.every(({ id }) => has(id));
  const set = (next: ReadonlySet<string>): void => {
    setAll(false);
    setIds(next);
  };
  const pageIds = rows.map(({ id }) => id);
  return {
    ids,
    isAll,
    count: isAll ? total : ids.size,
    isPageSelected,
    has,
    toggle(id, isRange = false) {
      const [from, to] = [pageIds.indexOf(last.current ?? ""), pageIds.indexOf(id)].toSorted((a, b) => a - b);
      const range = isRange && from >= 0 ? new Set(pageIds.slice(from, to + 1)) : new Set([id]);
      const before = isAll ? new Set(pageIds) : ids;
      last.current = id;
      set(before.has(id) ? before.difference(range) : before.union(range));
    },
    togglePage: () =>
      set(
        isPageSelected ? (isAll ? new Set() : ids.difference(new Set(pageIds))) : ids.union(new Set(pageIds)),
      ),
    selectAll: () => setAll(true),
    clear: () => set(new Set()),
  };
}
