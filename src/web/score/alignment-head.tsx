import type { AlignedFamily } from "./aligned-family.ts";
import { columnAt, type Range, columnSlot, type Slots } from "./aligned-rows.ts";
import { COLUMN, INSERTION_MARK } from "./alignment-rows.tsx";
import { pluralize } from "../format.tsx";
import { findNature } from "./residue-colours.ts";
import type { NumberedMatch } from "./result.ts";
import { type LogoLetter, makeLogo, MOST_BITS } from "./sequence-logo.ts";

interface HeadProps {
  family: AlignedFamily;
  slots: Slots;
  range: Range;
  match: NumberedMatch;
  toggle: (after: number) => void;
  height: number;
}

/** Pixels of the tallest possible letter, and of the ruler below the logo. */
const LOGO = 46;
const RULER = 26;
/** Height of a capital letter at its font size in the style sheet. */
const CAPITAL = 10.2;
/** Letters less tall than this cannot be read. */
const MIN_HEIGHT = 1.5;

/** Sequence logo, positions, and the marks that open insertions. */
export function AlignmentHead({ family, slots, range, match, toggle, height }: HeadProps) {
  const columns: { column: number; slot: number }[] = [];
  for (let slot = range.from; slot < range.to; slot++) {
    const { column, inserted } = columnAt(slot, slots);
    if (inserted === 0) columns.push({ column, slot });
  }
  const hasNumber = (column: number): boolean =>
    column === match.start || (column % 10 === 0 && Math.abs(column - match.start) > 2);
  return (
    <>
      {columns.map(({ column, slot }) => (
        <g key={column} class={column >= match.start && column <= match.end ? "matched" : undefined}>
          <LogoColumn family={family} column={column} x={slot * COLUMN} y={height - RULER} />
          {hasNumber(column) && (
            <text class="axis" x={(slot + 0.5) * COLUMN} y={height - 12}>
              {column}
            </text>
          )}
        </g>
      ))}
      {columns
        .filter(({ column }) => family.insertions.has(column))
        .map(({ column }) => (
          <InsertionButton
            key={column}
            {...{ family, column, toggle }}
            isOpen={slots.open?.after === column}
            x={(columnSlot(column, slots) + 1) * COLUMN}
            y={height - 4}
          />
        ))}
    </>
  );
}

function LogoColumn(props: { family: AlignedFamily; column: number; x: number; y: number }) {
  const { family, column, x, y } = props;
  return (
    <LogoLetters letters={makeLogo(family.homologs, family.weights, column)} {...{ x, y }} width={COLUMN} />
  );
}

/** A column of a sequence logo, whose lower left corner is at x and y. */
export function LogoLetters(props: { letters: readonly LogoLetter[]; x: number; y: number; width: number }) {
  const { x, y, width } = props;
  let base = y;
  const letters = props.letters.flatMap(({ residue, bits }) => {
    const height = (bits / MOST_BITS) * LOGO;
    if (height < MIN_HEIGHT) return [];
    const bottom = base;
    base -= height;
    return { residue, bottom, stretch: height / CAPITAL };
  });
  return (
    <>
      {letters.map(({ residue, bottom, stretch }) => (
        <text
          key={residue}
          class={`logo nature-${findNature(residue)}`}
          transform={`translate(${x + 0.5} ${bottom.toFixed(2)}) scale(1 ${stretch.toFixed(3)})`}
          textLength={width - 1}
          lengthAdjust="spacingAndGlyphs"
        >
          {residue}
        </text>
      ))}
    </>
  );
}

interface InsertionButtonProps {
  family: AlignedFamily;
  column: number;
  isOpen: boolean;
  toggle: (after: number) => void;
  x: number;
  y: number;
}

/** Opens and closes the insertions after a column. */
function InsertionButton({ family, column, isOpen, toggle, x, y }: InsertionButtonProps) {
  const { rows, longest } = family.insertions.get(column)!;
  const label = `Up to ${pluralize(longest, "residue")} inserted after residue ${column} in ${pluralize(rows, "homolog")}`;
  return (
    <g
      class="insertion opens"
      role="button"
      tabindex={0}
      aria-label={label}
      aria-pressed={isOpen}
      transform={`translate(${x} ${y})`}
      onClick={() => toggle(column)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        toggle(column);
      }}
    >
      <title>{label}</title>
      <rect class="ground" x={-6.5} y={-9} width={13} height={13} />
      <path d={INSERTION_MARK} />
    </g>
  );
}
