/** Residues from and to, counted from 1, both included. */
export interface Span {
  from: number;
  to: number;
}

/** Where a track is drawn: its residues, its edges in pixels, and pixels per residue. */
export interface Plot {
  span: Span;
  left: number;
  width: number;
  scale: number;
  y: number;
}

/**
 * An area of steps, one per residue, or the mean per pixel where residues are narrower; gaps where there is no value.
 * `heightOf` and `ground` are counted downwards from the track's upper edge.
 */
export function areaPath(
  values: readonly (number | null)[],
  { span, left, width, scale, y }: Plot,
  heightOf: (value: number) => number,
  ground: number,
): string {
  const step = Math.max(1, Math.ceil((span.to - span.from + 1) / (width - left)));
  const x = (residue: number): string => (left + (residue - span.from) * scale).toFixed(1);
  const parts: string[] = [];
  for (let first = span.from; first <= span.to; first += step) {
    const last = Math.min(span.to, first + step - 1);
    const known = values.slice(first - 1, last).filter((value) => value !== null);
    if (known.length === 0) continue;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    parts.push(`M${x(first)} ${y + ground}V${(y + heightOf(mean)).toFixed(1)}H${x(last + 1)}V${y + ground}Z`);
  }
  return parts.join("");
}

/** Positions to label: multiples of 1, 2 or 5 times a power of ten, at least 70 pixels apart. */
export function ticksOf({ from, to }: Span, scale: number): number[] {
  const wanted = 70 / scale;
  const magnitude = 10 ** Math.floor(Math.log10(wanted));
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((n) => n * magnitude).find((n) => n >= wanted)!,
  );
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => first + i * step);
}
