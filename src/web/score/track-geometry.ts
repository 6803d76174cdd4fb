import { listFirst } from "../format.tsx";

/** Residues from and to, counted from 1, both included. */
export interface Span {
  from: number;
  to: number;
}

/** Fewest residues shown. */
const CLOSEST = 12;

/** A span of so many residues, moved to lie within the protein. */
export function clamped(from: number, residues: number, length: number): Span {
  const count = Math.round(Math.min(length, Math.max(CLOSEST, residues)));
  const first = Math.round(Math.min(length - count + 1, Math.max(1, from)));
  return { from: first, to: first + count - 1 };
}

/** The span that an address asks for, else the whole protein. @param names parameters of both ends */
export function parseSpan(
  query: URLSearchParams,
  length: number,
  names: readonly string[] = ["from", "to"],
): Span {
  const [from, to] = names.map((name) => Number(query.get(name)));
  const isSpan = Number.isInteger(from) && Number.isInteger(to) && from >= 1 && to > from && to <= length;
  return isSpan ? { from, to } : { from: 1, to: Math.max(1, length) };
}

export const countResidues = ({ from, to }: Span): number => to - from + 1;

export const contains = (span: Span, { from, to }: Span): boolean => from >= span.from && to <= span.to;

/** The span moved as little as possible to show a part, or its start if it is longer. */
export function showing(span: Span, part: Span, length: number): Span {
  const residues = countResidues(span);
  const from = Math.min(part.from, Math.max(span.from, part.to - residues + 1));
  return clamped(from, residues, length);
}

/** A span of so many residues, centred on a part. */
export const centred = ({ from, to }: Span, residues: number, length: number): Span =>
  clamped((from + to + 1 - residues) / 2, residues, length);

/** Shows `factor` times as many residues; the residue `at` stays in its place. */
export function zoomed(span: Span, factor: number, at: number, length: number): Span {
  const residues = Math.min(length, Math.max(CLOSEST, countResidues(span) * factor));
  return clamped(at - ((at - span.from) * residues) / countResidues(span), residues, length);
}

/** The dragged part of the brush over the whole protein: an edge, all of it, or a new one from outside. */
export type BrushPart = "start" | "end" | "window" | "outside";

/** The part of the brush at a residue; edges can be grabbed `reach` residues to either side, a small brush only moved. */
export function brushPartAt(residue: number, span: Span, reach: number): BrushPart {
  const { from, to } = span;
  if (residue < from - reach || residue > to + reach) return "outside";
  if (countResidues(span) < 3 * reach) return "window";
  if (Math.abs(residue - from) <= reach) return "start";
  return Math.abs(residue - to) <= reach ? "end" : "window";
}

/** The span after dragging a part of its brush from one residue to another. */
export function brushed(
  part: BrushPart,
  span: Span,
  [start, at]: readonly [number, number],
  length: number,
): Span {
  if (part === "window") return clamped(span.from + at - start, countResidues(span), length);
  const fixed = { start: span.to, end: span.from, outside: start }[part];
  const residues = Math.max(CLOSEST, Math.abs(at - fixed) + 1);
  return clamped(at < fixed ? fixed - residues + 1 : fixed, residues, length);
}

/** The span that keeps two residues below two fingers; positions are fractions of the view's width. */
export function pinched(
  residues: readonly [number, number],
  [left, right]: readonly [number, number],
  length: number,
): Span {
  const shown = Math.abs((residues[1] - residues[0]) / (right - left || 0.01));
  const count = Math.min(length, Math.max(CLOSEST, shown));
  return clamped(residues[0] - left * count, count, length);
}

/** The geometry of a track: its residues, its edges in pixels, and pixels per residue. */
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

/** A step per residue, or per pixel if residues are narrower; no step without a value. */
function makeSteps(values: readonly (number | null)[], { span, left, width, scale }: Plot): Step[] {
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

/** An area of steps. `barHeight` and `ground` are counted downwards from the track's upper edge. */
export const areaPath = (
  values: readonly (number | null)[],
  plot: Plot,
  toHeight: (value: number) => number,
  ground: number,
): string =>
  makeSteps(values, plot)
    .map(
      ({ from, to, value }) =>
        `M${from.toFixed(1)} ${plot.y + ground}V${(plot.y + toHeight(value)).toFixed(1)}H${to.toFixed(1)}V${plot.y + ground}Z`,
    )
    .join("");

/** The upper edge of an area. */
export const linePath = (
  values: readonly (number | null)[],
  plot: Plot,
  toHeight: (value: number) => number,
): string =>
  makeSteps(values, plot)
    .map(
      ({ from, to, value }, i, steps) =>
        `${i === 0 || steps[i - 1].to < from ? "M" : "L"}${from.toFixed(1)} ${(plot.y + toHeight(value)).toFixed(1)}H${to.toFixed(1)}`,
    )
    .join("");

/** Positions to label: multiples of 1, 2 or 5 times a power of ten, at least 70 pixels apart. */
export function chooseTicks({ from, to }: Span, scale: number): number[] {
  const wanted = 70 / scale;
  const magnitude = 10 ** Math.floor(Math.log10(wanted));
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((n) => n * magnitude).find((n) => n >= wanted)!,
  );
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => first + i * step);
}

/** Ranges in which values reach a threshold, such as `1–93, 290–324`; `nowhere`, or the first ten of more. */
export function findRegions(
  values: readonly (number | null)[],
  threshold: number,
  { from, to }: Span,
): string {
  const regions: string[] = [];
  for (let first = from; first <= to; first++) {
    if ((values[first - 1] ?? -1) < threshold) continue;
    let last = first;
    while (last < to && (values[last] ?? -1) >= threshold) last++;
    regions.push(first === last ? `${first}` : `${first}–${last}`);
    first = last;
  }
  return regions.length === 0 ? "nowhere" : listFirst(regions, 10);
}

/** The items in view; where several start within so few pixels, only the best. */
export function thinned<Item extends { start: number; end: number }>(
  items: readonly Item[],
  { span, scale }: Plot,
  pixels: number,
  itemRank: (item: Item) => number,
): Item[] {
  const inView = items.filter(({ start, end }) => end >= span.from && start <= span.to);
  if (scale >= pixels) return inView;
  const best = new Map<number, Item>();
  for (const item of inView) {
    const place = Math.floor(((item.start - span.from) * scale) / pixels);
    const other = best.get(place);
    if (other === undefined || itemRank(item) < itemRank(other)) best.set(place, item);
  }
  return [...best.values()];
}
