import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "bun";
import type { AlignedText } from "../../src/motif/query.ts";

/** The golden alignments and scores; test/golden/motif/README.md tells what they are. */
const FOLDER = join(import.meta.dir, "../golden/motif");

export type GoldenScore = Record<"acc" | "regex", string> & Record<string, string>;

export function goldenScores(): GoldenScore[] {
  const [head, ...lines] = readFileSync(join(FOLDER, "scores.tsv"), "utf8").trimEnd().split("\n");
  const names = head.split("\t");
  return lines.map((line) => {
    const values = line.split("\t");
    return Object.fromEntries(names.map((name, i) => [name, values[i]])) as GoldenScore;
  });
}

/** Rows by accession of the query, which is the first row. */
export function goldenAlignments(): Map<string, AlignedText[]> {
  const text = new TextDecoder().decode(gunzipSync(readFileSync(join(FOLDER, "alignments.fa.gz"))));
  return new Map(
    text
      .split("#")
      .slice(1)
      .map((block) => {
        const [accession, ...rows] = block.trimEnd().split(/\n>?/);
        const aligned: AlignedText[] = [];
        for (let i = 0; i < rows.length; i += 2) aligned.push({ name: rows[i], letters: rows[i + 1] });
        return [accession, aligned];
      }),
  );
}
