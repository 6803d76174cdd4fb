import { existsSync } from "node:fs";
import type { Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import { PRINTERS, type Run, writeDurably } from "../scoring/index.ts";
import { openShard, resultsOf, type ShardFile } from "./shard-file.ts";

const HELP = "See labd merge --help.";

export const merge: Command = {
  name: "merge",
  summary: "Put the shards of labd score --shard together: all of one run, or none.",
  operands: "FILE…",
  flags: [
    {
      name: "--output",
      value: "FILE",
      sentence: "File to write to instead of standard output; it must not be there yet.",
    },
  ],
  settings: [],
  example: "labd merge scores.*.tsv --output scores.tsv",
  async run(call) {
    const paths = call.operands;
    const output = call.value("--output");
    if (paths.length === 0) throw new Problem("usage", `labd merge needs the files of all shards. ${HELP}`);
    if (output !== undefined && existsSync(output))
      throw new Problem("conflict", `${output} is there already: remove it, or choose another --output.`);
    const shards = inOrder(paths);
    if (output !== undefined) {
      writeDurably(output, merged(shards));
      return 0;
    }
    // What was printed cannot be taken back, so that everything is looked at first.
    for (const shard of shards) for (const _ of resultsOf(shard));
    for (const chunk of merged(shards)) {
      // The chunk is written over by the next, which a slow reader may not have taken yet.
      await new Promise<void>((resolve) => process.stdout.write(chunk.slice(), () => resolve()));
    }
    return 0;
  },
};

/** What one run without shards would have printed. */
function* merged(shards: readonly ShardFile[]): Generator<Uint8Array> {
  const { head, tail } = PRINTERS[shards[0].format];
  yield new TextEncoder().encode(head);
  for (const shard of shards) yield* resultsOf(shard);
  yield new TextEncoder().encode(tail);
}

/**
 * The shards of one run, each once, in their order. Everything that is wrong is told at once, a line for each file.
 * @throws Problem not_finished where something is still to be computed; invalid_request where a file does not belong
 */
function inOrder(paths: readonly string[]): ShardFile[] {
  const complaints: { unfinished: boolean; text: string }[] = [];
  const shards: ShardFile[] = [];
  for (const path of paths) {
    try {
      shards.push(openShard(path));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      complaints.push({ unfinished: false, text: error.message });
    }
  }
  const reference = mostCommon(shards);
  const { of } = reference?.beginning ?? { of: 0 };
  const found = new Map<number, ShardFile>();
  for (const shard of shards) {
    const { beginning, path } = shard;
    const differs = reference && differenceOf(shard, reference);
    const twin = found.get(beginning.shard);
    if (differs) {
      complaints.push({
        unfinished: false,
        text: `${path} is of another run than ${reference.path}: ${differs}. Leave it out, or run it again as the others.`,
      });
    } else if (twin) {
      complaints.push({
        unfinished: false,
        text: `${path} is shard ${beginning.shard} of ${of}, as ${twin.path} is: leave one out.`,
      });
    } else {
      found.set(beginning.shard, shard);
      if (shard.sha256 === null) {
        complaints.push({
          unfinished: true,
          text: `${path} is cut off: shard ${beginning.shard} of ${of} has no end. Run its command again; with --output and --resume it goes on.`,
        });
      }
    }
  }
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((number) => !found.has(number));
  if (missing.length > 0) {
    const these = missing.length === 1 ? "Shard" : "Shards";
    complaints.push({
      unfinished: true,
      text: `${these} ${rangesOf(missing)} of ${of} ${missing.length === 1 ? "is" : "are"} missing: give the files, or run labd score with --shard I/${of} for each.`,
    });
  }
  if (complaints.length > 0) {
    const isUnfinished = complaints.every(({ unfinished }) => unfinished);
    throw new Problem(
      isUnfinished ? "not_finished" : "invalid_request",
      complaints.map(({ text }) => text).join("\n"),
    );
  }
  return [...found.values()].sort((a, b) => a.beginning.shard - b.beginning.shard);
}

const runKey = ({ beginning: { run, of, total } }: ShardFile): string => JSON.stringify([run, of, total]);

/** A shard of the run that most belong to: one stray file among many is what is wrong, whichever comes first. */
function mostCommon(shards: readonly ShardFile[]): ShardFile | undefined {
  const groups = new Map<string, ShardFile[]>();
  for (const shard of shards) groups.set(runKey(shard), [...(groups.get(runKey(shard)) ?? []), shard]);
  return [...groups.values()].sort((a, b) => b.length - a.length)[0]?.[0];
}

/** What may differ, in the order in which it is told; of hashes only that they do. */
const WORDS: Record<keyof Run, string> = {
  labd: "version of labd",
  format: "--format",
  queries: "other queries",
  patterns: "other patterns",
  model: "--model",
  options: "method or its options",
  corpus: "another corpus",
  calibration: "method or null of the corpus",
};

function differenceOf(shard: ShardFile, reference: ShardFile): string | null {
  const [one, other] = [shard.beginning, reference.beginning];
  for (const [field, words] of Object.entries(WORDS) as [keyof Run, string][]) {
    if (one.run[field] === other.run[field]) continue;
    const isHash = /^[0-9a-f]{64}$/.test(one.run[field]);
    return isHash ? words : `${words}: ${one.run[field]} instead of ${other.run[field]}`;
  }
  return one.of === other.of ? null : `${one.of} shards instead of ${other.of}`;
}

/** `1, 3-5, 8` */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(", ");
}
