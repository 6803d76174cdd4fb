import { openData, openScoringOf } from "../app.ts";
import type { Verb } from "../command-line.ts";
import { SCORING_MODELS, type ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import type { Scored } from "../scoring/index.ts";
import { progressLine } from "./progress.ts";

const FORMATS = ["tsv", "json"] as const;
const COLUMNS = [
  "query",
  "pattern",
  "start",
  "end",
  "match",
  "homologs",
  "effective_homologs",
  "cs",
  "expected",
  "z",
  "p",
  "verdict",
];

export const score: Verb = {
  name: "score",
  summary: "Score motif matches in sequences against the corpus in use, without a server.",
  flags: [
    { name: "--fasta", value: "FILE", sentence: "Sequences to score; - reads standard input." },
    { name: "--pattern", value: "P", sentence: "A regular expression over residues; may be repeated." },
    { name: "--elm", value: "NAME", sentence: "A motif class by name or ELM identifier; may be repeated." },
    {
      name: "--model",
      value: "MODEL",
      sentence: `${SCORING_MODELS.join(" or ")}; the first is the default.`,
    },
    {
      name: "--format",
      value: "FORMAT",
      sentence: `${FORMATS.join(" or ")}; the first is the default. JSON is one object a line.`,
    },
  ],
  settings: ["data_dir", "max_query_length"],
  example:
    "labd corpus add --sample\nlabd score --fasta p53.fasta --pattern 'F...W..[LIV]' --elm LIG_PCNA_PIPBox_1",
  async run(call) {
    const file = call.value("--fasta");
    if (file === undefined)
      throw new Problem("usage", "labd score needs --fasta FILE. See labd score --help.");
    const regularExpression = call.values("--pattern");
    const elmIdentifierName = call.values("--elm");
    if (regularExpression.length + elmIdentifierName.length === 0) {
      throw new Problem("usage", "labd score needs a --pattern or an --elm. See labd score --help.");
    }
    const scoringModel = chosen("--model", call.value("--model"), SCORING_MODELS);
    const format = chosen("--format", call.value("--format"), FORMATS);
    const { config } = call.configuration();
    const fasta = await textOf(file);
    const opened = openData(config);
    try {
      const scoring = await openScoringOf(opened, config);
      const progress = progressLine();
      const report = (accession: string, stage: string, fraction: number): void =>
        progress.show(`${accession}: ${stage} ${Math.round(fraction * 100)} %`);
      if (format === "tsv") process.stdout.write(`${COLUMNS.join("\t")}\n`);
      const warned = new Set<string>();
      for (const scored of scoring.scoreNow({
        fasta,
        regularExpression,
        elmIdentifierName,
        scoringModel,
        report,
      })) {
        progress.clear();
        process.stdout.write(format === "tsv" ? rowsOf(scored) : `${JSON.stringify(scored)}\n`);
        for (const warning of scored.prediction.warnings) {
          if (!warned.has(warning)) process.stderr.write(`labd: ${scored.accession}: ${warning}\n`);
          warned.add(warning);
        }
      }
    } finally {
      opened.close();
    }
    return 0;
  },
};

function chosen<T extends string>(flag: string, value: string | undefined, choices: readonly T[]): T {
  const found = value === undefined ? choices[0] : choices.find((choice) => choice === value);
  if (found === undefined) throw new Problem("usage", `${flag}: expected ${choices.join(" or ")}.`);
  return found as T & ScoringModel;
}

async function textOf(file: string): Promise<Uint8Array> {
  if (file === "-") return Bun.stdin.bytes();
  const handle = Bun.file(file);
  if (!(await handle.exists())) throw new Problem("not_found", `There is no file ${file}.`);
  return handle.bytes();
}

/** One row per match; a pattern without a match gives one row with nothing between its name and its verdict. */
function rowsOf({ accession, prediction }: Scored): string {
  const number = (value: number | null): string =>
    value === null ? "" : String(Math.round(value * 1e4) / 1e4);
  const rows = prediction.patterns.flatMap(({ name, expression, matches }) => {
    const pattern = name ?? expression;
    if (matches.length === 0) return [[accession, pattern, "", "", "", "", "", "", "", "", "", "no match"]];
    return matches.map((match) => [
      accession,
      pattern,
      String(match.start),
      String(match.end),
      match.text,
      String(match.homologs),
      number(match.effectiveHomologs),
      number(match.score),
      number(match.expected),
      number(match.z),
      number(match.pValue),
      match.verdict,
    ]);
  });
  return rows.map((row) => `${row.join("\t")}\n`).join("");
}
