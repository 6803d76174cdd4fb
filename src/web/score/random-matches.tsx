import type { RandomMatches } from "../../scoring/index.ts";
import { decimal, percent } from "./result.ts";

const HEIGHT = 48;
const BARS = 28;
/** z on either side of the distribution. */
const MARGIN = 0.3;

/** Share of random matches that reach a z: linear between two known ones, and along the same lines beyond. */
function shareAbove({ shares, z }: RandomMatches, value: number): number {
  const from = Math.min(
    Math.max(
      0,
      z.findLastIndex((one) => value >= one),
    ),
    z.length - 2,
  );
  const slope = (shares[from + 1] - shares[from]) / (z[from + 1] - z[from]);
  return Math.min(1, Math.max(0, shares[from] + slope * (value - z[from])));
}

/** The z at which the share of random matches is 1 or 0, along the first or last known slope. */
function ends({ shares, z }: RandomMatches): [first: number, last: number] {
  const n = z.length - 1;
  const slope = (i: number): number => (z[i + 1] - z[i]) / (shares[i] - shares[i + 1]);
  return [z[0] - (1 - shares[0]) * slope(0), z[n] + shares[n] * slope(n - 1)];
}

/** Bars of equal width, each with its share of the random matches. */
export function makeBars(of: RandomMatches, z: number): { from: number; to: number; share: number }[] {
  const [first, last] = ends(of);
  const [left, right] = [Math.min(first, z) - MARGIN, Math.max(last, z) + MARGIN];
  const step = (right - left) / BARS;
  return Array.from({ length: BARS }, (_, i) => {
    const [from, to] = [left + i * step, left + (i + 1) * step];
    return { from, to, share: shareAbove(of, from) - shareAbove(of, to) };
  });
}

/** The histogram in words. */
export function histogramText({ shares, z: all }: RandomMatches, z: number): string {
  const [middle, high] = [0.5, 0.05].map((share) => shares.indexOf(share));
  const known = [
    middle >= 0 && `half of them reach z ${decimal(all[middle])}`,
    high >= 0 && `5 % reach ${decimal(all[high])}`,
  ];
  return `Random matches with which this match is compared: ${known.filter(Boolean).join(", ")}. This match has z ${decimal(z)}.`;
}

/** How z of random matches is distributed, with that of a match marked. Below the lowest known share it is extrapolated and pale. */
export function RandomMatchesChart({ of, z }: { of: RandomMatches; z: number }) {
  if (of.z.length < 2) return null;
  const bars = makeBars(of, z);
  const [left, right] = [bars[0].from, bars.at(-1)!.to];
  const most = Math.max(...bars.map(({ share }) => share));
  const x = (value: number): string => `${(100 * (value - left)) / (right - left)}%`;
  const ticks = Array.from(
    { length: Math.floor(right) - Math.ceil(left) + 1 },
    (_, i) => Math.ceil(left) + i,
  );
  return (
    <figure class="random-matches">
      <svg class="p-chart" height={HEIGHT + 18} role="img" aria-label={histogramText(of, z)}>
        {bars.map(({ from, to, share }) => (
          <rect
            key={from}
            class={to <= of.z[0] ? "extrapolated" : from >= z ? "reached" : undefined}
            x={x(from)}
            width={`${80 / BARS}%`}
            y={HEIGHT - (HEIGHT * share) / most}
            height={(HEIGHT * share) / most}
          />
        ))}
        <line class="own-z" x1={x(z)} x2={x(z)} y1={0} y2={HEIGHT} />
        {ticks.map((tick) => (
          <text key={tick} x={x(tick)} y={HEIGHT + 14}>
            {decimal(tick, 0)}
          </text>
        ))}
      </svg>
      <figcaption class="hint">
        z of the random matches with which it is compared, and of this match (line: {decimal(z)}).
        {of.shares[0] < 1 && ` The lower ${percent(1 - of.shares[0])} (pale) are extrapolated.`}
      </figcaption>
    </figure>
  );
}
