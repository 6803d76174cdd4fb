import { Card } from "../components/layout.tsx";
import { formatCount } from "../format.tsx";
import type { Search } from "./proteome.ts";

type Bins = Search["pValues"];

const HEIGHT = 72;
/** Width of a bar, in parts of its place. */
const BAR = 0.8;

/**
 * Numbers of matches by P, next to the numbers expected by chance. Heights are square roots, so that small numbers stay
 * visible.
 */
export function PValueChart({ bins }: { bins: Bins }) {
  const most = Math.max(1, ...bins.flatMap(({ matches, expected }) => [matches, expected]));
  const barHeight = (matches: number): number => HEIGHT * Math.sqrt(matches / most);
  const width = 100 / bins.length;
  return (
    <Card
      title="Matches by P"
      actions={
        <ul class="legend">
          <li>
            <svg width="16" height="8" aria-hidden="true">
              <line class="expected" x1="0" x2="16" y1="4" y2="4" />
            </svg>
            expected by chance
          </li>
        </ul>
      }
    >
      <svg class="p-chart" height={HEIGHT + 18} role="img" aria-label={chartText(bins)}>
        {bins.map(({ p, matches, expected }, i) => (
          <g key={p}>
            <title>{binText(bins[i])}</title>
            <rect
              x={`${(i + (1 - BAR) / 2) * width}%`}
              width={`${BAR * width}%`}
              y={HEIGHT - barHeight(matches)}
              height={barHeight(matches)}
            />
            <line
              class="expected"
              x1={`${i * width}%`}
              x2={`${(i + 1) * width}%`}
              y1={HEIGHT - barHeight(expected)}
              y2={HEIGHT - barHeight(expected)}
            />
            <text x={`${(i + 0.5) * width}%`} y={HEIGHT + 14}>
              {i % 4 === 0 ? `≤ ${p}` : ""}
            </text>
          </g>
        ))}
      </svg>
    </Card>
  );
}

const binText = ({ p, matches, expected }: Bins[number]): string =>
  `P ≤ ${p}: ${formatCount(matches)}, expected ${expected < 10 ? expected : formatCount(Math.round(expected))}`;

/** The chart in words: where there are more matches than chance explains. */
export function chartText(bins: Bins): string {
  const enriched = bins.filter(
    ({ p, matches, expected }) => p <= 0.05 && matches > 2 * Math.max(1, expected),
  );
  const most =
    enriched.length === 0
      ? "No bin up to 0.05 has twice the expected number"
      : enriched.map(binText).join("; ");
  return `Numbers of matches by P value. ${most}.`;
}
