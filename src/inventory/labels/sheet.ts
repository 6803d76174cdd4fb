/** A part of a label. */
export type Area = Record<"x" | "y" | "width" | "height", number>;

interface Size {
  width: number;
  height: number;
}

/** A sheet or a roll of labels. Lengths are in millimetres. */
export interface Sheet {
  name: string;
  about: string;
  label: Size;
  /** The layout of a page. Each label of a roll is its own page. */
  grid?: {
    page: Size;
    columns: number;
    rows: number;
    left: number;
    top: number;
    /** Distances between the left and the top edges of neighbouring labels. */
    across: number;
    down: number;
  };
}

const A4 = { width: 210, height: 297 };
const LETTER = { width: 215.9, height: 279.4 };

/** Labels are centred on the page; rows have no gaps between them. */
function sheet(
  name: string,
  about: string,
  label: Size,
  { columns, rows, gap, page = A4 }: { columns: number; rows: number; gap: number; page?: Size },
): Sheet {
  const { width, height } = label;
  const left = (page.width - columns * width - (columns - 1) * gap) / 2;
  const top = (page.height - rows * height) / 2;
  return { name, about, label, grid: { page, columns, rows, left, top, across: width + gap, down: height } };
}

/** A sheet of A4 with a gap of 2.54 mm between columns. */
const a4 = (columns: number, rows: number, width: number, height: number, product: string): Sheet =>
  sheet(
    `a4-${columns}x${rows}`,
    `A4, ${columns * rows} labels of ${width} × ${height} mm, such as ${product}`,
    { width, height },
    { columns, rows, gap: 2.54 },
  );

const roll = (width: number, height: number, purpose = ""): Sheet => ({
  name: `${width}x${height}`,
  about: `Roll, ${width} × ${height} mm${purpose}`,
  label: { width, height },
});

/** Common sheets and rolls; other rolls are named by their size. */
export const SHEETS: readonly Sheet[] = [
  a4(3, 8, 63.5, 33.9, "Avery L7159"),
  a4(5, 13, 38.1, 21.2, "Avery L7651"),
  a4(4, 12, 45.7, 21.2, "Avery L7636"),
  a4(2, 7, 99.1, 38.1, "Avery L7163"),
  sheet(
    "letter-3x10",
    "Letter, 30 labels of 66.7 × 25.4 mm, such as Avery 5160",
    { width: 66.675, height: 25.4 },
    { columns: 3, rows: 10, gap: 3.175, page: LETTER },
  ),
  roll(25, 10, ", for tubes"),
  roll(33, 13, ", for cryogenic vials"),
  roll(38, 25),
  roll(50, 25),
  roll(57, 32),
];

const SMALLEST = { width: 15, height: 8 };
const LARGEST = { width: 150, height: 150 };

/** A sheet by its name, or a roll by its size, such as 40x20. */
export function findSheet(name: string): Sheet | undefined {
  const known = SHEETS.find((each) => each.name === name);
  const size = /^(\d{1,3}(?:\.\d)?)x(\d{1,3}(?:\.\d)?)$/.exec(name);
  if (known || !size) return known;
  const [width, height] = [Number(size[1]), Number(size[2])];
  const isTooSmall = width < SMALLEST.width || height < SMALLEST.height;
  const isTooLarge = width > LARGEST.width || height > LARGEST.height;
  return isTooSmall || isTooLarge ? undefined : roll(width, height);
}

const ROLL = { columns: 1, rows: 1, left: 0, top: 0, across: 0, down: 0 };

/** The corner of a label on its page, and whether it is the first of its page. */
export function placeLabel({ grid }: Sheet, index: number) {
  const { columns, rows, left, top, across, down } = grid ?? ROLL;
  const place = index % (columns * rows);
  return {
    isFirst: place === 0,
    x: left + (place % columns) * across,
    y: top + Math.floor(place / columns) * down,
  };
}
