import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encode } from "../../src/motif/alphabet.ts";
import { findMatches, lookaroundTable } from "../../src/motif/automaton-matches.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { motifClasses, starterClasses } from "../../src/scoring/corpus/motif-classes.ts";

/**
 * Starter classes: found by name and alias, parsed, and matched in every sample protein as by JavaScript's
 * RegExp.
 */

const SAMPLE = join(import.meta.dir, "../../src/sample");
const SEQUENCES = readFileSync(join(SAMPLE, "proteins.fasta"), "utf8")
  .split(/^>/m)
  .slice(1)
  .map((record) => record.slice(record.indexOf("\n")).replaceAll("\n", ""));
const CLASSES = motifClasses(starterClasses());

test("every name and alias finds its class", () => {
  for (const motifClass of starterClasses()) {
    for (const name of [motifClass.name, ...motifClass.aliases]) {
      expect(CLASSES.find(name)).toEqual(motifClass);
    }
  }
  expect(CLASSES.find("DEG_MDM2_SWIB_1").expression).toBe("F...W..[ILV]");
});

test.each([...CLASSES.classes])("$name matches the sample proteins as RegExp does", ({ expression }) => {
  const { automaton } = parsePattern(expression);
  const regExp = new RegExp(`(?=(${expression}))`, "g");
  let total = 0;
  for (const sequence of SEQUENCES) {
    const residues = encode(sequence);
    const ours = findMatches(automaton, residues, lookaroundTable(automaton, residues));
    const theirs = [...sequence.matchAll(regExp)].map((m) => ({
      start: m.index,
      end: m.index + m[1].length,
    }));
    expect(ours).toEqual(theirs);
    total += ours.length;
  }
  expect(total).toBeGreaterThan(0);
});
