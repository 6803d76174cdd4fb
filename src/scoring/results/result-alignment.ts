import type { Homolog, MatchScore, PatternScores } from "../../motif/index.ts";
import type { PredictionReport } from "../prediction/prediction.ts";
import { patternName, queryName } from "../table/match-row.ts";
import { printDecimal } from "../table/print-tsv.ts";

interface AlignmentRow {
  /** Unique in the alignment, without white space and slash. */
  name: string;
  /**
   * One character per column: upper case at the positions of the match, `-` for a gap; lower case for insertions, `.` where
   * other rows have one.
   */
  text: string;
  /** Homolog of the row; null for the query. */
  homolog: Homolog | null;
  /** State of the match in the homolog; `query` for the query. */
  state: string;
}

interface MatchAlignment {
  /** Number of the match over all patterns, from 1. */
  number: number;
  pattern: PatternScores;
  match: MatchScore;
  /** The query, then its homologs, best first. */
  rows: AlignmentRow[];
  /** `x` for a position of the match, `.` for an insertion. */
  reference: string;
}

/** One alignment per match, in the order of patterns and matches. @param only number of the only one to make, from 1 */
export function listAlignments(
  { identifier, prediction }: PredictionReport,
  only?: number,
): MatchAlignment[] {
  const names = rowNames({ identifier, prediction });
  const matches = prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match) => ({ pattern, match })),
  );
  return matches.flatMap(({ pattern, match }, i): MatchAlignment[] => {
    if (only !== undefined && only !== i + 1) return [];
    const texts = [match.text, ...match.atHomologs.map(({ residues }) => residues)];
    const { rows, reference } = align(texts.map(findSlots));
    return [
      {
        number: i + 1,
        pattern,
        match,
        reference,
        rows: rows.map((text, row) => {
          if (row === 0) return { name: names[0], text, homolog: null, state: "query" };
          const { homolog, state } = match.atHomologs[row - 1];
          return { name: names[homolog + 1], text, homolog: prediction.homologs[homolog], state };
        }),
      },
    ];
  });
}

/** The character of a position, and the insertion after it. */
type Slot = { residue: string; insertion: string };

function findSlots(residues: string): Slot[] {
  const slots: Slot[] = [];
  for (const character of residues) {
    if (character < "a" || character > "z") slots.push({ residue: character, insertion: "" });
    else if (slots.length > 0) slots.at(-1)!.insertion += character;
  }
  return slots;
}

/** Pads rows to equal length, with room for the longest insertion after every position. */
function align(rows: Slot[][]): { rows: string[]; reference: string } {
  const widths = rows[0].map(() => 0);
  for (const slots of rows)
    for (let i = 0; i < widths.length; i++) widths[i] = Math.max(widths[i], slots[i]?.insertion.length ?? 0);
  return {
    rows: rows.map((slots) =>
      widths.map((width, i) => slots[i].residue + slots[i].insertion.padEnd(width, ".")).join(""),
    ),
    reference: widths.map((width) => `x${".".repeat(width)}`).join(""),
  };
}

/** Names of the query and its homologs that all formats allow; duplicates get a number. */
function rowNames({ identifier, prediction }: PredictionReport): string[] {
  const taken = new Set<string>();
  return [queryName(identifier), ...prediction.homologs.map(({ accession }) => accession)].map((name) => {
    const plain = name.replace(/[^A-Za-z0-9_.:|+-]/g, "_").slice(0, 200) || "_";
    let unique = plain;
    for (let i = 2; taken.has(unique); i++) unique = `${plain}_${i}`;
    taken.add(unique);
    return unique;
  });
}

// oxlint-disable-next-line no-control-regex -- control characters would break the line
const line = (text: string): string => text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]+/g, " ");

/**
 * Stockholm 1.0 (Eddy, HMMER user's guide, "The Stockholm format"), one alignment per match. The query's name has first and
 * last residue; `ST` is the state of the homolog, `WT` its weight, `conservation` the conservation in tenths (9 from 0.9).
 */
export function printStockholm(report: PredictionReport, only?: number): string {
  return listAlignments(report, only)
    .map((alignment) => {
      const { number, pattern, match, rows, reference } = alignment;
      const label = ({ name, homolog }: AlignmentRow): string =>
        homolog === null ? `${name}/${match.start}-${match.end}` : name;
      const width = Math.max("#=GC conservation".length, ...rows.map((row) => label(row).length)) + 2;
      const about: [string, string][] = [
        ["ID", `match_${number}`],
        ["DE", `${patternName(pattern)} at ${match.start}-${match.end} of ${queryName(report.identifier)}`],
        ["CC", describe(match)],
      ];
      return [
        "# STOCKHOLM 1.0",
        ...about.map(([feature, text]) => `#=GF ${feature}   ${line(text)}`),
        ...rows.flatMap(({ name, homolog, state }) =>
          homolog === null ? [] : remarks(name, homolog, state),
        ),
        ...rows.map((row) => label(row).padEnd(width) + row.text),
        "#=GC RF".padEnd(width) + reference,
        "#=GC conservation".padEnd(width) + tenths(match, reference),
        "//",
      ]
        .map((text) => `${text}\n`)
        .join("");
    })
    .join("");
}

/** The verdict, the conservation in words, and their numbers. */
function describe(match: MatchScore): string {
  const print = (value: number | null): string => printDecimal(value) || "none";
  return (
    `${match.verdict}: z ${print(match.z)}, p ${print(match.overallPValue)}; ` +
    `${match.conservationLevel}: cs ${print(match.score)}, expected ${print(match.expected)}, p ${print(match.pValue)}`
  );
}

function remarks(name: string, homolog: Homolog, state: string): string[] {
  const features: [string, string][] = [
    ["AC", homolog.accession],
    ["DE", homolog.description],
    ["OS", homolog.organism ?? ""],
    ["ST", state],
    ["WT", String(homolog.weight)],
  ];
  return features
    .filter(([, text]) => text.trim() !== "")
    .map(([feature, text]) => `#=GS ${name} ${feature} ${line(text)}`);
}

function tenths({ conservation }: MatchScore, reference: string): string {
  let position = 0;
  return [...reference]
    .map((mark) => {
      const value = mark === "x" ? conservation[position++] : null;
      return value === null || value === undefined ? "." : String(Math.min(9, Math.floor(value * 10)));
    })
    .join("");
}

/** Name in the form of UniProt's headers. */
const describeProtein = ({
  description,
  organism,
  gene,
}: Pick<Homolog, "description" | "organism" | "gene">): string =>
  [description, organism && `OS=${organism}`, gene && `GN=${gene}`].filter(Boolean).join(" ");

/**
 * The whole alignment as A3M (HH-suite, Steinegger M et al. (2019) BMC Bioinformatics 20:473): columns are the residues of
 * the query, insertions are in lower case.
 */
export function printA3m(report: PredictionReport): string {
  const { alignment, homologs } = report.prediction;
  const names = rowNames(report);
  const about = [
    report.protein ? describeProtein({ ...report.protein, description: report.protein.name }) : "",
    ...homologs.map(describeProtein),
  ];
  return [alignment.query, ...alignment.rows]
    .map((row, i) => `>${names[i]} ${line(about[i])}`.trimEnd() + `\n${row}\n`)
    .join("");
}

/** Aligned FASTA, upper case and `-` only. With `only` it is one alignment, with rows of equal length. */
export function printAlignedFasta(report: PredictionReport, only?: number): string {
  return listAlignments(report, only)
    .flatMap(({ pattern, match, rows }) =>
      rows.map(
        ({ name, text, state }) =>
          `>${name} ${line(patternName(pattern))} ${match.start}-${match.end} ${state}\n${text.toUpperCase().replaceAll(".", "-")}\n`,
      ),
    )
    .join("");
}
