/** Progress of something: `fraction` is 0 to 1, or undefined while it is unknown. */
export function Progress({ label, fraction }: { label: string; fraction?: number | undefined }) {
  const percent = fraction === undefined ? undefined : Math.round(fraction * 100);
  return (
    <div class="progress">
      <div class="row between">
        <span>{label}</span>
        {percent !== undefined && <span class="count">{percent} %</span>}
      </div>
      <progress aria-label={label} max={100} value={percent} />
    </div>
  );
}

/** Shows a level: shares of 0 to 1, with a line at the minimum. */
export const Meter = ({
  label,
  share,
  mark,
  state = mark !== undefined && share < mark ? "low" : null,
}: {
  label: string;
  share: number;
  mark?: number | undefined;
  /** Colour: low, empty, expiring or expired; by default low below the minimum. */
  state?: string | null;
}) => (
  <svg class={state ? `meter meter-${state}` : "meter"} role="img" aria-label={label}>
    <rect width={`${100 * Math.min(1, share)}%`} height="100%" />
    {mark !== undefined && <line x1={`${100 * mark}%`} x2={`${100 * mark}%`} y1="0" y2="100%" />}
  </svg>
);
