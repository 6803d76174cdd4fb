import { LogoLetters } from "./alignment-head.tsx";
import { MOST_BITS } from "./sequence-logo.ts";

/** A part of a pattern: its residues, empty for any, and how many of them. */
interface Position {
  residues: string;
  isExcluded: boolean;
  times: string;
}

const [COLUMN, HEIGHT, RULER] = [24, 50, 16];
/** Excluded residues that are named. */
const NAMED = 2;

/** A pattern as a logo: residues by the information of their position, and how often below. */
export const PatternLogo = ({ of, label }: { of: readonly string[]; label: string }) => (
  <svg
    class="picture"
    width={of.length * COLUMN}
    height={HEIGHT + RULER}
    viewBox={`0 0 ${of.length * COLUMN} ${HEIGHT + RULER}`}
    role="img"
    aria-label={label}
  >
    {of.map(readPosition).map((position, i) => (
      <g key={i}>
        <LogoLetters letters={lettersOf(position)} x={i * COLUMN} y={HEIGHT} width={COLUMN} />
        {(position.residues === "" || position.isExcluded) && (
          <text class="axis" x={(i + 0.5) * COLUMN} y={HEIGHT - 2}>
            {anyText(position)}
          </text>
        )}
        <text class="axis" x={(i + 0.5) * COLUMN} y={HEIGHT + 13}>
          {position.times}
        </text>
      </g>
    ))}
    <line x2={of.length * COLUMN} y1={HEIGHT + 1} y2={HEIGHT + 1} stroke="currentColor" />
  </svg>
);

/** Equal parts of the information that a choice among so many residues has. */
const lettersOf = ({ residues, isExcluded }: Position) =>
  isExcluded
    ? []
    : [...residues].map((residue) => ({
        residue,
        bits: (MOST_BITS - Math.log2(residues.length)) / residues.length,
      }));

const anyText = ({ residues }: Position): string =>
  residues === "" ? "any" : residues.length <= NAMED ? `≠${residues}` : "≠…";

/** Reads a part such as `[^P]{2,3}`. */
function readPosition(part: string): Position {
  const [, not = "", residues = "", least, most] =
    /^\[?(\^?)([A-Z]*)\.?\]?(?:\{(\d+)(?:,(\d*))?\})?$/.exec(part) ?? [];
  const to = most === undefined ? "" : `–${most}`;
  const times = least === undefined ? "" : most === "" ? `≥${least}×` : `${least}${to}×`;
  return { residues, isExcluded: not !== "", times };
}
