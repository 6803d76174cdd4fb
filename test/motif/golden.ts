import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "bun";
import { type Family, buildFamily, measureHomolog, passesThresholds } from "../../src/motif/divergence.ts";
import { DEFAULTS } from "../../src/motif/options.ts";
import { type AlignedText, readAlignment } from "../../src/motif/query.ts";

/** Golden alignments and scores, described in test/golden/motif/README.md. */
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

/** Family of an alignment's first row and the homologs that meet the default criteria. */
export function familyFrom(texts: readonly AlignedText[]): Family {
  const { query, rows } = readAlignment(texts);
  const homologs = rows
    .map((row) => measureHomolog(query, row))
    .filter((homolog) => passesThresholds(homolog, DEFAULTS));
  return buildFamily(query, homologs.slice(0, DEFAULTS.maxHomologs));
}

export const familyOfLetters = (...rows: string[]): Family =>
  familyFrom(rows.map((letters, i) => ({ name: `s${i}`, letters })));
