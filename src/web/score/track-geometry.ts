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

/** The mean value of one residue, or of several that share a pixel, and its edges in pixels. */
interface Step {
  from: number;
  to: number;
  value: number;
}

/** A step per residue, or per pixel where residues are narrower; none where there is no value. */
function stepsOf(values: readonly (number | null)[], { span, left, width, scale }: Plot): Step[] {
  const residues = Math.max(1, Math.ceil((span.to - span.from + 1) / (width - left)));
  const x = (residue: number): number => left + (residue - span.from) * scale;
  const steps: Step[] = [];
  for (let first = span.from; first <= span.to; first += residues) {
    const last = Math.min(span.to, first + residues - 1);
    const known = values.slice(first - 1, last).filter((value) => value !== null);
    if (known.length === 0) continue;
    const value = known.reduce((sum, each) => sum + each, 0) / known.length;
    steps.push({ from: x(first), to: x(last + 1), value });
  }
  return steps;
}

/** An area of steps. `heightOf` and `ground` are counted downwards from the track's upper edge. */
export const areaPath = (
  values: readonly (number | null)[],
  plot: Plot,
  heightOf: (value: number) => number,
  ground: number,
): string =>
  stepsOf(values, plot)
    .map(
      ({ from, to, value }) =>
        `M${from.toFixed(1)} ${plot.y + ground}V${(plot.y + heightOf(value)).toFixed(1)}H${to.toFixed(1)}V${plot.y + ground}Z`,
    )
    .join("");

/** The upper edge of an area without gaps. */
export const linePath = (
  values: readonly number[],
  plot: Plot,
  heightOf: (value: number) => number,
): string =>
  stepsOf(values, plot)
    .map(
      ({ from, to, value }, i) =>
        `${i === 0 ? "M" : "L"}${from.toFixed(1)} ${(plot.y + heightOf(value)).toFixed(1)}H${to.toFixed(1)}`,
    )
    .join("");

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

/** Where values reach a threshold, such as `1–93, 290–324`; `nowhere`, or the first ten of more. */
export function regionsFrom(values: readonly number[], threshold: number, { from, to }: Span): string {
  const regions: string[] = [];
  for (let first = from; first <= to; first++) {
    if (values[first - 1] < threshold) continue;
    let last = first;
    while (last < to && values[last] >= threshold) last++;
    regions.push(first === last ? `${first}` : `${first}–${last}`);
    first = last;
  }
  if (regions.length === 0) return "nowhere";
  const more = regions.length - 10;
  return `${regions.slice(0, 10).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
