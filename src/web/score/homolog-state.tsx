import type { State } from "./result.ts";

/** What a homolog has at the site of a match. */
export const STATES: Readonly<Record<State, string>> = {
  conserved: "kept",
  shifted: "nearby",
  substituted: "lost: substituted",
  gap: "lost: deleted",
  missing: "not reached",
};

/** The shape of a state, so that colour is not all that tells it. */
export function StateMark({ state, x, y }: { state: State; x: number; y: number }) {
  const shape = {
    conserved: <circle cx={x} cy={y} r={4} />,
    shifted: <path d={`M${x} ${y - 5}l5 5l-5 5l-5 -5z`} />,
    substituted: <path d={`M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`} />,
    gap: <path d={`M${x - 4.5} ${y}h9`} />,
    missing: <circle cx={x} cy={y} r={3.5} />,
  }[state];
  return <g class={`state-mark ${state}`}>{shape}</g>;
}
