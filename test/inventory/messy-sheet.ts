import { writeXlsx } from "hucre/xlsx";

/** The spreadsheet of a freezer box as laboratories have it: 14 titles, mixed units and dates, a duplicate, two wrong cells. */

export const MESSY_HEADERS = [
  "Tube label",
  "What is it",
  "Type",
  "Freezer box",
  "Well",
  "Vol",
  "Conc. (uM)",
  "Ordered from",
  "Cat#",
  "Lot No.",
  "Received",
  "Exp. date",
  "Responsible",
  "Comments",
];

const row = (name: string, type: string, well: string, vol: string | number, ...more: unknown[]) => {
  const [cat, lot, received, expiry, box = "Box 1"] = more;
  return [
    name,
    "",
    type,
    box,
    well,
    vol,
    100,
    "Metabion",
    cat,
    lot,
    received,
    expiry,
    "Ana Petrova",
    "from Ana",
  ];
};

/** Rows below the header; the first is row 2. */
export const MESSY_ROWS = [
  row("p53 TAD F", "Oligo", "A1", "100 ul", "", "L221", "03.09.2026", "30.06.2028"),
  row("p53 TAD R", "Oligo", "A2", "100 \u03bcl", "", "L221", "03.09.2026", "30.06.2028"),
  row("anti-MDM2 SMP14", "Antibody", "A3", "0,2 mL", "sc-965", "K0415", "2026-09-12", "12/2027"),
  row("anti-GFP", "Antibody", "A4", "0,2 mL", "A-11122", "K1221", "2026-09-12", "12/2027"),
  row("BsaI-HFv2", "Enzyme", "A5", 50, "R3733S", "10123", "1/10/26", "1/10/27"),
  row("T4 ligase", "Enzyme", "A6", "20 \u00b5L", "M0202S", "10031", "15 Oct 2026", "Oct-2027"),
  row("Q5 polymerase", "Enzyme", "a7", "50 ul", "M0491S", "10158820", "15 Oct 2026", "15 Oct 2027"),
  row("His beads", "Resin", "A08", "1 ml", "", "", "", "n/a"),
  ...Array.from({ length: 11 }, (_, i) =>
    row(
      `MDM2 qPCR ${i + 1}`,
      "Oligo",
      i < 9 ? `B${i + 1}` : `C${i - 8}`,
      "50 µL",
      `25-00${i}`,
      "L311",
      45_992,
      46_356,
    ),
  ),
  row("MDM2 qPCR 12", "Oligo", "C3", "50 µL", "25-0010", "L311", 45_992, "31.02.2027", "Box 99"),
];

export const messySheet = async (): Promise<Uint8Array<ArrayBuffer>> =>
  (await writeXlsx({
    sheets: [{ name: "Freezer south", rows: [MESSY_HEADERS, ...MESSY_ROWS] as never }],
  })) as Uint8Array<ArrayBuffer>;
