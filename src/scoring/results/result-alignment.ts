import { type Homolog, type MatchScore, newickName, type PatternScores } from "../../motif/index.ts";
import type { PredictionReport } from "../prediction/prediction.ts";
import { patternName, queryName } from "../table/match-row.ts";
import { tableProvenance } from "../prediction/provenance.ts";
import { listProvenance } from "../table/provenance.ts";
import { printBounded, printDecimal } from "../table/print-tsv.ts";

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
export function rowNames({ identifier, prediction }: PredictionReport): string[] {
  const taken = new Set<string>();
  return [queryName(identifier), ...prediction.homologs.map(({ accession }) => accession)].map((name) => {
    const plain = name.replace(/[^A-Za-z0-9_.:|+-]/g, "_").slice(0, 200) || "_";
    let unique = plain;
    for (let i = 2; taken.has(unique); i++) unique = `${plain}_${i}`;
    taken.add(unique);
    return unique;
  });
}

export const oneLine = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters would break the line
  text.replace(/[\u0000-\u001F\u007F\u0085\u2028\u2029]+/g, " ");

type Labelled = readonly [label: string, text: string];

/**
 * The whole alignment as rows of equal length, with insertions; null for a result of an early version, which has none. The
 * second text marks the columns of matches.
 */
function wholeAlignment(
  report: PredictionReport,
): (Pick<MatchAlignment, "rows" | "reference"> & { marks: string }) | null {
  const { alignment, homologs, patterns } = report.prediction;
  if (alignment?.rows === undefined) return null;
  const names = rowNames(report);
  const { rows, reference } = align([alignment.query, ...alignment.rows].map(findSlots));
  const matches = patterns.flatMap((pattern) => pattern.matches);
  const residues = Array.from(alignment.query, (_, i) =>
    matches.some(({ start, end }) => start <= i + 1 && i + 1 <= end) ? "*" : ".",
  );
  let residue = 0;
  return {
    reference,
    marks: Array.from(reference, (mark) => (mark === "x" ? residues[residue++] : ".")).join(""),
    rows: rows.map((text, i) => ({ name: names[i], text, homolog: homologs[i - 1] ?? null, state: "" })),
  };
}

/**
 * Stockholm 1.0 (Eddy, HMMER user's guide, "The Stockholm format"). The whole alignment, with the columns of matches marked
 * in `matches`; or the columns of one match. The query's name then has first and last residue, `ST` is the state of the
 * homolog, `WT` its weight, `conservation` the conservation in tenths (9 from 0.9).
 */
export function printStockholm(report: PredictionReport, only?: number): string {
  const whole = only === undefined ? wholeAlignment(report) : null;
  if (!whole)
    return listAlignments(report, only)
      .map((one) => matchStockholm(report, one))
      .join("");
  const about = report.prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match): Labelled => [
      "CC",
      `${describePlace(pattern, match)}: ${describeMatch(match)}`,
    ]),
  );
  const { rows, reference, marks } = whole;
  return stockholm({
    about: [
      ["ID", rows[0].name],
      ["DE", `${queryName(report.identifier)} and its homologs`],
      ...about,
      ...origin(report),
    ],
    homologs: rows,
    rows: rows.map(({ name, text }) => [name, text]),
    columns: [
      ["RF", reference],
      ["matches", marks],
    ],
  });
}

const describePlace = (pattern: PatternScores, { start, end }: MatchScore): string =>
  `${patternName(pattern)} at ${start}-${end}`;

const matchStockholm = (
  report: PredictionReport,
  { number, pattern, match, rows, reference }: MatchAlignment,
): string =>
  stockholm({
    about: [
      ["ID", `match_${number}`],
      ["DE", `${describePlace(pattern, match)} of ${queryName(report.identifier)}`],
      ["CC", describeMatch(match)],
      ...origin(report),
    ],
    homologs: rows,
    rows: rows.map(({ name, text, homolog }) => [
      homolog === null ? `${name}/${match.start}-${match.end}` : name,
      text,
    ]),
    columns: [
      ["RF", reference],
      ["conservation", tenths(match, reference)],
    ],
  });

/** The provenance, without patterns and queries, which the alignment shows. */
function origin(report: PredictionReport): Labelled[] {
  const { patterns: _patterns, queries: _queries, ...rest } = tableProvenance(report) ?? {};
  return listProvenance(rest).map(([name, value]) => ["CC", `${name}: ${value}`]);
}

function stockholm(of: {
  about: readonly Labelled[];
  homologs: readonly AlignmentRow[];
  rows: readonly Labelled[];
  /** Texts with a character per column. */
  columns: readonly Labelled[];
}): string {
  const columns = of.columns.map(([name, text]): Labelled => [`#=GC ${name}`, text]);
  const width =
    Math.max(...[...of.rows, ...columns, ["#=GC conservation"]].map(([label]) => label.length)) + 2;
  return [
    "# STOCKHOLM 1.0",
    ...of.about.map(([feature, text]) => `#=GF ${feature}   ${oneLine(text)}`),
    ...of.homologs.flatMap(({ name, homolog, state }) =>
      homolog === null ? [] : remarks(name, homolog, state),
    ),
    ...[...of.rows, ...columns].map(([label, text]) => label.padEnd(width) + text),
    "//",
  ]
    .map((text) => `${text}\n`)
    .join("");
}

/** The verdict, the conservation in words, and their numbers. */
export function describeMatch(match: MatchScore): string {
  const print = (value: number | null): string => printDecimal(value) || "none";
  return (
    `${match.verdict}: z ${print(match.z)}, p ${printBounded(match.overallPValue, match.overallPValueIs) || "none"}; ` +
    `${match.conservationLevel}: cs ${print(match.score)}, expected ${print(match.expected)}, p ${printBounded(match.pValue, match.pValueIs) || "none"}`
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
    .map(([feature, text]) => `#=GS ${name} ${feature} ${oneLine(text)}`);
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
    .map((row, i) => `>${names[i]} ${oneLine(about[i])}`.trimEnd() + `\n${row}\n`)
    .join("");
}

/** Aligned FASTA, upper case and `-` only, with rows of equal length: the whole alignment, or the columns of one match. */
export function printAlignedFasta(report: PredictionReport, only?: number): string {
  const print = (name: string, about: string, text: string): string =>
    `>${name} ${oneLine(about)}`.trimEnd() + `\n${text.toUpperCase().replaceAll(".", "-")}\n`;
  const whole = only === undefined ? wholeAlignment(report) : null;
  if (whole)
    return whole.rows
      .map(({ name, text, homolog }) => print(name, homolog ? describeProtein(homolog) : "", text))
      .join("");
  return listAlignments(report, only)
    .flatMap(({ pattern, match, rows }) =>
      rows.map(({ name, text, state }) =>
        print(name, `${patternName(pattern)} ${match.start}-${match.end} ${state}`, text),
      ),
    )
    .join("");
}

/** Residues of each row in a line of Clustal. */
const CLUSTAL_LINE = 60;

/** Clustal (Larkin MA et al. (2007) Bioinformatics 23:2947): the whole alignment, or the columns of one match. */
export function printClustal(report: PredictionReport, only?: number): string {
  const whole = only === undefined ? wholeAlignment(report) : null;
  const { rows } = whole ?? listAlignments(report, only ?? 1)[0] ?? { rows: [] };
  const width = Math.max(0, ...rows.map(({ name }) => name.length)) + 2;
  const blocks = Array.from({ length: Math.ceil((rows[0]?.text.length ?? 0) / CLUSTAL_LINE) }, (_, block) =>
    rows.map(({ name, text }) => {
      const part = text.slice(block * CLUSTAL_LINE, (block + 1) * CLUSTAL_LINE);
      return `${name.padEnd(width)}${part.toUpperCase().replaceAll(".", "-")}\n`;
    }),
  );
  return `CLUSTAL W multiple sequence alignment, by labd\n${blocks.map((lines) => `\n\n${lines.join("")}`).join("")}`;
}

/** A leaf of Newick text, quoted or not. */
const LEAF = /(?<=[(,]|^)(?:'(?:[^']|'')*'|[^'(),:;]+)(?=[:;])/g;

/** The tree with the names of the rows of alignments; without homologs a single leaf, since the notation has no empty tree. */
export function printNewick(report: PredictionReport): string {
  const { tree, homologs } = report.prediction;
  const names = rowNames(report).map(newickName);
  const stored = new Map<string, string[]>();
  for (const [i, { accession }] of homologs.entries()) {
    const leaf = newickName(accession);
    stored.set(leaf, [...(stored.get(leaf) ?? []), names[i + 1]]);
  }
  // The query is the first leaf; a homolog may have its stored name, too.
  let isQuery = true;
  const name = (leaf: string): string => {
    const renamed = isQuery && leaf === "query" ? names[0] : (stored.get(leaf)?.shift() ?? leaf);
    if (leaf === "query") isQuery = false;
    return renamed;
  };
  return `${tree === "" ? `${names[0]};` : tree.replaceAll(LEAF, name)}\n`;
}
