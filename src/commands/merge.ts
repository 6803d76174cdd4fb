import { existsSync } from "node:fs";
import { Problem } from "../problem.ts";
import { writeDurably } from "../platform/durable-file.ts";
import { type Run, seriesPrinter } from "../scoring/index.ts";
import type { Command } from "./command.ts";
import { openShard, readResults, type ShardFile } from "./shard-file.ts";

export const merge: Command = {
  name: "merge",
  summary: "Join all shards of one run of labd score --shard.",
  operands: "FILE…",
  flags: { "--output FILE": "File to write instead of standard output; it must not exist." },
  settings: [],
  example: "labd merge scores.*.tsv --output scores.tsv",
  async run(call) {
    const output = call.value("--output");
    if (output !== undefined && existsSync(output))
      throw new Problem("conflict", `${output} already exists. Remove it, or choose another --output.`);
    const shards = orderedShards(call.operands);
    if (output !== undefined) return writeDurably(output, merged(shards));
    // Output cannot be withdrawn, so all hashes are checked before the first byte.
    for (const shard of shards) for (const _ of readResults(shard));
    // Chunks share a buffer, which a slow reader may not have emptied yet.
    for (const chunk of merged(shards)) await call.print(chunk.slice());
  },
};

/** The output of the run as one piece. */
function* merged(shards: readonly ShardFile[]): Generator<Uint8Array> {
  const { format, beginning } = shards[0];
  const { head, tail } = seriesPrinter(format, undefined, beginning.provenance);
  yield new TextEncoder().encode(head);
  for (const shard of shards) yield* readResults(shard);
  yield new TextEncoder().encode(tail);
}

interface Finding {
  text: string;
  /** Scoring has not finished; otherwise a file does not belong. */
  isUnfinished: boolean;
}

/**
 * The shards of one run, each once, in order. All findings are reported at once, one line each.
 * @throws Problem not_finished where scoring has to go on; invalid_request where a file does not belong
 */
function orderedShards(paths: readonly string[]): ShardFile[] {
  const { shards, findings } = openShards(paths);
  const reference = mostCommon(shards);
  const found = new Map<number, ShardFile>();
  for (const shard of shards) {
    const finding = findProblem(shard, reference!, found);
    if (finding) findings.push(finding);
    if (!finding || finding.isUnfinished) found.set(shard.beginning.shard, shard);
  }
  const of = reference?.beginning.of ?? 0;
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((number) => !found.has(number));
  if (missing.length > 0) {
    const subject = missing.length === 1 ? "Shard" : "Shards";
    findings.push({
      isUnfinished: true,
      text: `${subject} ${printRanges(missing)} of ${of} ${missing.length === 1 ? "is" : "are"} missing. Give the files, or run labd score with --shard I/${of} for each.`,
    });
  }
  if (findings.length > 0)
    throw new Problem(
      findings.every(({ isUnfinished }) => isUnfinished) ? "not_finished" : "invalid_request",
      findings.map(({ text }) => text).join("\n"),
    );
  return [...found.values()].sort((a, b) => a.beginning.shard - b.beginning.shard);
}

function openShards(paths: readonly string[]): { shards: ShardFile[]; findings: Finding[] } {
  const shards: ShardFile[] = [];
  const findings: Finding[] = [];
  for (const path of paths) {
    try {
      shards.push(openShard(path));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      findings.push({ isUnfinished: false, text: error.message });
    }
  }
  return { shards, findings };
}

function findProblem(
  shard: ShardFile,
  reference: ShardFile,
  found: ReadonlyMap<number, ShardFile>,
): Finding | null {
  const { path, sha256 } = shard;
  const { shard: number, of } = shard.beginning;
  const difference = findDifference(shard, reference);
  if (difference !== null)
    return {
      isUnfinished: false,
      text: `${path} is of another run than ${reference.path}: ${difference}. Omit it, or score it again like the others.`,
    };
  const duplicate = found.get(number);
  if (duplicate)
    return {
      isUnfinished: false,
      text: `${path} is shard ${number} of ${of}, like ${duplicate.path}. Leave one out.`,
    };
  if (sha256 !== null) return null;
  return {
    isUnfinished: true,
    text: `${path} is incomplete: shard ${number} of ${of} has no end. Run its command again; with --output and --resume it continues.`,
  };
}

const runKey = ({ beginning: { run, of, total } }: ShardFile): string => JSON.stringify([run, of, total]);

/** A shard of the run that most belong to: one stray file among many is the wrong one, even if it comes first. */
function mostCommon(shards: readonly ShardFile[]): ShardFile | undefined {
  const groups = Object.values(Object.groupBy(shards, runKey)) as ShardFile[][];
  return groups.sort((a, b) => b.length - a.length)[0]?.[0];
}

/** The properties of a run by name, in the order in which a difference is reported. */
const PROPERTIES: Record<keyof Run, string> = {
  labd: "version of labd",
  format: "--format",
  queries: "other queries",
  patterns: "other patterns",
  knowledge: "other features or class models, or flags that leave them out",
  model: "--model",
  options: "method or its options",
  corpus: "another corpus",
  method: "method",
};

function findDifference(shard: ShardFile, reference: ShardFile): string | null {
  const [one, other] = [shard.beginning, reference.beginning];
  for (const [field, name] of Object.entries(PROPERTIES) as [keyof Run, string][]) {
    if (one.run[field] === other.run[field]) continue;
    const isHash = field === "knowledge" || /^[0-9a-f]{64}$/.test(one.run[field]!);
    return isHash ? name : `${name}: ${one.run[field]} instead of ${other.run[field]}`;
  }
  return one.of === other.of ? null : `${one.of} shards instead of ${other.of}`;
}

/** `1, 3-5, 8` */
function printRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(", ");
}
