/** How far something is: `fraction` 0..1, or undefined while that is not known. */
export function Progress({ label, fraction }: { label: string; fraction?: number | undefined }) {
  const percent = fraction === undefined ? undefined : Math.round(fraction * 100);
  return (
    <p class="progress">
      <progress aria-label={label} max={100} value={percent} />
      <span>
        {label}
        {percent !== undefined && ` · ${percent} %`}
      </span>
    </p>
  );
}
