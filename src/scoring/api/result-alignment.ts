import type { Homolog, MatchScore, PatternScores } from "../../motif/index.ts";
import type { PredictionReport } from "../contract/prediction.ts";
import { patternName, printDecimal, queryName } from "./result-rows.ts";

/**
 * The alignments of a prediction's matches: query first, then its homologs, best first; their columns are those of the match, in
 * which homologs may hold residues that are not aligned (loose ends).
 */

export interface AlignmentRow {
  /** Unique within the alignment, without white space and slash. */
  name: string;
  /** One character per column: upper case for residues at the match's positions, `-` for a gap there; lower case for insertions, `.` where others have one. */
  text: string;
  /** Null for the query. */
  homolog: Homolog | null;
  /** What became of the match in the homolog; `query` for the query. */
  state: string;
}

export interface MatchAlignment {
  /** Of the match, over all patterns, from 1: rows of the table count the same where every pattern matches. */
  number: number;
  pattern: PatternScores;
  match: MatchScore;
  rows: AlignmentRow[];
  /** `x` for a position of the match, `.` for an insertion. */
  reference: string;
}

/**
 * One alignment per match, in the order of the patterns and their matches; `only` counts from 1 and picks one of them
 * (none where there are fewer).
 */
export function alignmentsOf({ identifier, prediction }: PredictionReport, only?: number): MatchAlignment[] {
  const names = uniqueNames([
    queryName(identifier),
    ...prediction.homologs.map(({ accession }) => accession),
  ]);
  const matches = prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match) => ({ pattern, match })),
  );
  return matches.flatMap(({ pattern, match }, i): MatchAlignment[] => {
    if (only !== undefined && only !== i + 1) return [];
    const texts = [match.text, ...match.atHomologs.map(({ residues }) => residues)];
    const { rows, reference } = align(texts.map(slotsOf));
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

/** A position's character, and the insertion behind it. */
type Slot = { residue: string; insertion: string };

function slotsOf(residues: string): Slot[] {
  return [...residues.matchAll(/([^a-z])([a-z]*)/g)].map(([, residue, insertion]) => ({
    residue,
    insertion,
  }));
}

/** Rows of equal length: behind every position there is room for the longest insertion. */
function align(rows: Slot[][]): { rows: string[]; reference: string } {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((slots) => slots[i]?.insertion.length ?? 0)));
  return {
    rows: rows.map((slots) =>
      widths.map((width, i) => slots[i].residue + slots[i].insertion.padEnd(width, ".")).join(""),
    ),
    reference: widths.map((width) => `x${".".repeat(width)}`).join(""),
  };
}

/** Names as both formats can hold them; where two are the same, later ones get a number. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const plain = name.replace(/[^A-Za-z0-9_.:|+-]/g, "_").slice(0, 200) || "_";
    let unique = plain;
    for (let i = 2; taken.has(unique); i++) unique = `${plain}_${i}`;
    taken.add(unique);
    return unique;
  });
}

/** Free text in one line. */
// oxlint-disable-next-line no-control-regex -- control characters have no place in a line
const line = (text: string): string => text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]+/g, " ");

/**
 * Stockholm 1.0 (Eddy, HMMER user's guide, "The Stockholm format"): one alignment per match, each ended by `//`. The
 * query's name carries first and last residue; `ST` is the homolog's state, `WT` its weight by the tree, the column
 * `conservation` the conservation in tenths, 9 for nine tenths and more.
 */
export function printStockholm(report: PredictionReport, only?: number): string {
  return alignmentsOf(report, only)
    .map((alignment) => {
      const { number, pattern, match, rows, reference } = alignment;
      const label = ({ name, homolog }: AlignmentRow): string =>
        homolog === null ? `${name}/${match.start}-${match.end}` : name;
      const width = Math.max("#=GC conservation".length, ...rows.map((row) => label(row).length)) + 2;
      const about: [string, string][] = [
        ["ID", `match_${number}`],
        ["DE", `${patternName(pattern)} at ${match.start}-${match.end} of ${queryName(report.identifier)}`],
        [
          "CC",
          `${match.verdict}; cs ${printDecimal(match.score) || "none"}, z ${printDecimal(match.z) || "none"}, p ${printDecimal(match.pValue) || "none"}`,
        ],
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

/**
 * The whole alignment in the notation A3M (HH-suite, Steinegger M et al. (2019) BMC Bioinformatics 20:473): columns are the
 * query's residues, insertions are in lower case. Empty for predictions of before it was kept.
 */
export function printA3m({ identifier, prediction }: PredictionReport): string {
  const { alignment, homologs } = prediction;
  if (!alignment) return "";
  const names = uniqueNames([queryName(identifier), ...homologs.map(({ accession }) => accession)]);
  return [alignment.query, ...alignment.rows]
    .map((row, i) => `>${names[i]} ${line(homologs[i - 1]?.description ?? "")}`.trimEnd() + `\n${row}\n`)
    .join("");
}

/**
 * Aligned FASTA: letters in upper case and `-`, so that every reader takes it. The matches' alignments follow each
 * other; with `only` there is one, which is then a file of equally long rows.
 */
export function printAlignedFasta(report: PredictionReport, only?: number): string {
  return alignmentsOf(report, only)
    .flatMap(({ pattern, match, rows }) =>
      rows.map(
        ({ name, text, state }) =>
          `>${name} ${line(patternName(pattern))} ${match.start}-${match.end} ${state}\n${text.toUpperCase().replaceAll(".", "-")}\n`,
      ),
    )
    .join("");
}
