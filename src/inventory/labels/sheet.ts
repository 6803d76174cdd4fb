/** Stock that labels are printed on. All lengths are millimetres. */
export interface Sheet {
  name: string;
  /** What to look for on the box. */
  about: string;
  label: { width: number; height: number };
  /** Labels on a page, and where they lie; a roll has one to a page, and the page is the label. */
  grid?: {
    page: { width: number; height: number };
    columns: number;
    rows: number;
    left: number;
    top: number;
    /** From the left edge of a label to that of the next, and from upper edge to upper edge. */
    across: number;
    down: number;
  };
}

const A4 = { width: 210, height: 297 };
const LETTER = { width: 215.9, height: 279.4 };

const sheet = (
  name: string,
  about: string,
  [columns, rows]: readonly [number, number],
  [width, height]: readonly [number, number],
  gap: number,
  page = A4,
): Sheet => ({
  name,
  about,
  label: { width, height },
  // Sheets have their labels in the middle, and none between rows.
  grid: {
    page,
    columns,
    rows,
    left: (page.width - columns * width - (columns - 1) * gap) / 2,
    top: (page.height - rows * height) / 2,
    across: width + gap,
    down: height,
  },
});

const roll = (width: number, height: number, about: string): Sheet => ({
  name: `${width}x${height}`,
  about,
  label: { width, height },
});

/** Sheets by the sizes that makers give; further rolls by their size alone. */
export const SHEETS: readonly Sheet[] = [
  sheet("a4-3x8", "A4, 24 labels of 63.5 × 33.9 mm, such as Avery L7159", [3, 8], [63.5, 33.9], 2.54),
  sheet("a4-5x13", "A4, 65 labels of 38.1 × 21.2 mm, such as Avery L7651", [5, 13], [38.1, 21.2], 2.54),
  sheet("a4-4x12", "A4, 48 labels of 45.7 × 21.2 mm, such as Avery L7636", [4, 12], [45.7, 21.2], 2.54),
  sheet("a4-2x7", "A4, 14 labels of 99.1 × 38.1 mm, such as Avery L7163", [2, 7], [99.1, 38.1], 2.54),
  sheet(
    "letter-3x10",
    "Letter, 30 labels of 66.7 × 25.4 mm, such as Avery 5160",
    [3, 10],
    [66.675, 25.4],
    3.175,
    LETTER,
  ),
  roll(25, 10, "Roll, 25 × 10 mm, for tubes"),
  roll(33, 13, "Roll, 33 × 13 mm, for cryogenic vials"),
  roll(38, 25, "Roll, 38 × 25 mm"),
  roll(50, 25, "Roll, 50 × 25 mm"),
  roll(57, 32, "Roll, 57 × 32 mm"),
];

const SMALLEST = { width: 15, height: 8 };
const LARGEST = { width: 150, height: 150 };

/** A sheet by its name, or a roll by the size of its labels, such as 40x20; undefined where there is none. */
export function sheetNamed(name: string): Sheet | undefined {
  const known = SHEETS.find((each) => each.name === name);
  const size = /^(\d{1,3}(?:\.\d)?)x(\d{1,3}(?:\.\d)?)$/.exec(name);
  if (known || !size) return known;
  const [width, height] = [Number(size[1]), Number(size[2])];
  const fits =
    width >= SMALLEST.width &&
    height >= SMALLEST.height &&
    width <= LARGEST.width &&
    height <= LARGEST.height;
  return fits ? roll(width, height, `Roll, ${width} × ${height} mm`) : undefined;
}
