import { listVariants, readVariant, VariantError } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  type ComparedMatch,
  type Comparison,
  type CorpusInfo,
  type NamedQuestion,
  printVariant,
  type Scored,
  type Scoring,
  variantComparisons,
  variantHead,
} from "../scoring/index.ts";
import { listChanges } from "../scoring/table/match-changes.ts";
import { VERDICTS } from "../scoring/table/verdict.ts";
import type { Call } from "./command.ts";
import { chooseFormat, TABLE_TEXT, WIDTH } from "./match-table.ts";
import { textTable } from "./text-table.ts";
import { type Printing, printScored } from "./print-scored.ts";

export const VARIANT_FLAGS = {
  "--variant VARIANTS":
    "Print the matches that substitutions break, weaken, strengthen or add, with the scores of both proteins: W23A, p.Trp23Ala or lines of position, reference and alternative, separated by commas; F19A+W23A is one protein with both. May be repeated.",
};

/** Refuses flags that do not go with --variant. @throws Problem usage */
export function checkVariantFlags(call: Call, isLimited: boolean, help: string): void {
  if (!call.has("--variant")) return;
  const flag = ["--resume", "--shard", "--joint", "--alignment"].find((name) => call.has(name));
  const reason = flag
    ? `does not go with ${flag}`
    : isLimited
      ? "does not go with filters and --order"
      : FORMATS.includes(chooseFormat(call, "tsv"))
        ? undefined
        : `needs --format ${FORMATS.join(", ")}`;
  if (reason) throw new Problem("usage", `--variant ${reason}. ${help}`);
}

/** Queries, each followed by its variants; the queries alone without --variant. @throws Problem invalid_request */
export function withVariants(call: Call, questions: readonly NamedQuestion[]): readonly NamedQuestion[] {
  const variants = call.values("--variant").flatMap(listVariants);
  if (variants.length === 0) return questions;
  return questions.flatMap((question) => [
    question,
    ...variants.map((text) => Object.assign({}, question, { variant: readFlag(text, question) })),
  ]);
}

function readFlag(text: string, { name, sequence }: NamedQuestion): string {
  try {
    return readVariant(text, sequence);
  } catch (error) {
    if (!(error instanceof VariantError)) throw error;
    throw new Problem("invalid_request", `--variant: ${name}: ${error.message}`, { cause: error });
  }
}

/** Formats of changes; JSON has a comparison with all matches on each line. */
const FORMATS = ["tsv", "json", TABLE_TEXT];

/** Prints the changes by the variants of all queries. */
export function printVariants(
  call: Call,
  scoring: Scoring,
  { results, output, shown, provenance, corpus }: Printing & { corpus: CorpusInfo | null },
): Promise<void> {
  const annotated = scoring.annotator(corpus);
  const compared = variantComparisons();
  const format: string = chooseFormat(call, "tsv");
  const print = (comparison: Comparison): string => {
    if (format === "json") return `${JSON.stringify(comparison)}\n`;
    return format === TABLE_TEXT ? changeTable(call, comparison) : printVariant(comparison);
  };
  const printer = {
    head: format === "tsv" ? variantHead(provenance) : "",
    print(scored: Scored): string {
      const comparison = compared(annotated(scored));
      return comparison ? print(comparison) : "";
    },
    tail: () => "",
  };
  return printScored(call, results, printer, output, shown);
}

/** The matches that a variant changes, below its name. */
function changeTable(call: Call, { b: { identifier, variant }, matches }: Comparison): string {
  const changes = listChanges(matches);
  const z = (numbers: ComparedMatch["a"]): string => numbers?.z?.toFixed(2) ?? "";
  const verdict = (numbers: ComparedMatch["a"]): string => (numbers ? VERDICTS[numbers.verdict] : "no match");
  const rows = changes.map(({ motif, text, start, end, change, a, b }) => [
    motif,
    text,
    `${start}-${end}`,
    change!,
    z(a),
    verdict(a),
    z(b),
    verdict(b),
  ]);
  const heads = ["motif", "match", "place", "change", "z", "without", "z", "with the variant"];
  const table = textTable(heads, rows, { width: call.streams.stdout.columns ?? WIDTH, flexible: [0, 1] });
  return `${identifier}, ${variant}: ${rows.length === 0 ? "no match changes\n" : `\n${table}`}\n`;
}
