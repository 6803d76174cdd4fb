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
