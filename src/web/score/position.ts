import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Query } from "../address.ts";
import { useQuery } from "../page.tsx";
import type { Span } from "./track-geometry.ts";

/** Residues that the keys go; comma and full stop where the arrows turn a model. */
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ",": -1, ".": 1 };
/** Steps at once with Shift. */
const LEAP = 10;

/**
 * The residue, from 1, to which the pictures of one protein point: the one below the pointer or that the keys moved to, or
 * else the selected one. Pictures subscribe, so that pointing draws only marks and the readout again.
 */
export class Position {
  pointed: number | null = null;
  selected: number | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly length: number,
    /** Selects a residue, at a match that was chosen already or not. */
    readonly select: (residue: number, isAtMatch?: boolean) => void = () => {},
  ) {}

  get residue(): number | null {
    return this.pointed ?? this.selected;
  }

  /** Points to a residue; to none for null, and outside of the part that a picture shows. */
  point(residue: number | null, { from, to }: Span = { from: 1, to: this.length }): void {
    const next = residue !== null && residue >= from && residue <= to ? residue : null;
    if (next !== this.pointed) this.#change({ pointed: next });
  }

  markSelected(residue: number | null): void {
    if (residue !== this.selected) this.#change({ selected: residue });
  }

  /** @returns what ends the subscription */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Arrow keys move by a residue, with Shift by ten; Enter selects.
   * @param first where the keys start without a residue
   * @returns true for one of these keys
   */
  onKey({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent, first: number): boolean {
    if (ctrlKey || metaKey || altKey) return false;
    const at = this.residue;
    if (key === "Enter" && at !== null) this.select(at);
    else if (key in STEPS) {
      const by = STEPS[key] * (shiftKey ? LEAP : 1);
      this.point(at === null ? first : Math.min(this.length, Math.max(1, at + by)));
    } else return false;
    return true;
  }

  #change(change: Partial<Pick<Position, "pointed" | "selected">>): void {
    Object.assign(this, change);
    for (const listener of this.#listeners) listener();
  }
}

const PositionContext = createContext(new Position(0));
export const PositionProvider = PositionContext.Provider;

/** The position that the pictures below a provider share. */
export const useSharedPosition = (): Position => useContext(PositionContext);

/** The residue to which the pictures point, or the selected one; null without one. */
export function useResidue(which: "residue" | "selected" = "residue"): number | null {
  const position = useSharedPosition();
  const [residue, set] = useState(position[which]);
  useEffect(() => {
    const update = (): void => set(position[which]);
    update();
    return position.subscribe(update);
  }, [position]);
  return residue;
}

/**
 * The position of a protein whose selected residue is in the address as `at`. Selecting a residue again removes it.
 * @param changes what else selecting a residue changes in the address
 */
export function usePosition(
  length: number,
  changes: (residue: number, isAtMatch: boolean) => Query = () => ({}),
): Position {
  const [query, setQuery] = useQuery();
  const latest = useRef(changes);
  latest.current = changes;
  const position: Position = useMemo(
    () =>
      new Position(length, (residue, isAtMatch = false) => {
        const next =
          residue === position.selected
            ? { at: null }
            : { at: residue, ...latest.current(residue, isAtMatch) };
        setQuery(next, { replace: true });
      }),
    [length],
  );
  const at = Number(query.get("at"));
  useEffect(
    () => position.markSelected(Number.isInteger(at) && at >= 1 && at <= length ? at : null),
    [position, at],
  );
  return position;
}
