import { expect, test } from "bun:test";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { findPlace, readProteinText } from "../../src/motif/protein-text.ts";

const P53 = "MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGPDEAPRMPEAAPR";

/** Blocks of ten letters, six in a line. */
const lines = (sequence: string): string[] =>
  (sequence.match(/.{1,60}/g) ?? []).map((line) => line.match(/.{1,10}/g)!.join(" "));

const genbank = (sequence: string): string =>
  lines(sequence.toLowerCase())
    .map((line, i) => `${String(60 * i + 1).padStart(9)} ${line}\n`)
    .join("");

const uniprot = (sequence: string): string =>
  lines(sequence)
    .map((line) => `     ${line}\n`)
    .join("");

/** As on the page of an entry: positions above the blocks. */
const ruled = (sequence: string): string =>
  lines(sequence)
    .map((line, i) => {
      const blocks = Math.floor(line.replaceAll(" ", "").length / 10);
      const marks = Array.from({ length: blocks }, (_, k) => String(60 * i + 10 * (k + 1)).padStart(10));
      return `${marks.join(" ")}\n${line}\n`;
    })
    .join("");

/** With the position of the last residue at the end of each line, as in EMBL and Clustal. */
const counted = (sequence: string): string => {
  let end = 0;
  return lines(sequence)
    .map((line) => `${line} ${(end += line.replaceAll(" ", "").length)}\n`)
    .join("");
};

const LAYOUTS: [name: string, print: (sequence: string) => string][] = [
  ["plain", (sequence) => sequence],
  ["lower case", (sequence) => sequence.toLowerCase()],
  ["soft-masked", (sequence) => sequence.slice(0, 20).toLowerCase() + sequence.slice(20)],
  ["with a stop", (sequence) => `${sequence}*`],
  ["lines of 60", (sequence) => sequence.replace(/.{60}/g, "$&\r\n")],
  ["single letters", (sequence) => sequence.toLowerCase().split("").join(" ")],
  ["GenBank", genbank],
  ["GenBank in one line", (sequence) => genbank(sequence).replaceAll("\n", " ")],
  ["GenBank section", (sequence) => `ORIGIN      \n${genbank(sequence)}//\n`],
  [
    "GenBank entry",
    (sequence) => `LOCUS  X 72 aa\nDEFINITION  tumor antigen.\nORIGIN\n${genbank(sequence)}//`,
  ],
  ["UniProt", uniprot],
  ["UniProt entry", (sequence) => `ID   P53_HUMAN\nSQ   SEQUENCE   72 AA;\n${uniprot(sequence)}//\n`],
  ["positions above", ruled],
  ["positions at the end", counted],
];

test.each(LAYOUTS)("reads every protein of the sample: %s", (_, print) => {
  const records = proteins.split(/^>.*\n/m).map((record) => record.replaceAll(/\s/g, ""));
  for (const sequence of [P53, ...records.filter((record) => record !== "")])
    expect(readProteinText(print(sequence))).toEqual({ sequence, fault: null });
});

test.each([
  ["", ""],
  [" \n", ""],
  ["61 dspaptpaap", "DSPAPTPAAP"],
  ["Query  61  DSPAPT  66\n67 AAP 69", null],
  ["MKUXBZOJ*", "MKUXBZOJ"],
  ["MKT *", "MKT"],
  ["MK\u00a0T", "MKT"],
  // The SOAP service accepts any capitals with any white space.
  ["MEEP QS DPSVEP", "MEEPQSDPSVEP"],
  ["HELLO", "HELLO"],
  // Blocks of ten or fewer; a line break may have divided the first of ten.
  ["mkv acdefghikl mnpqrstvwy", "MKVACDEFGHIKLMNPQRSTVWY"],
  ["acdefghikl mnpqrstvwy mkv", "ACDEFGHIKLMNPQRSTVWYMKV"],
  ["acdef ghikl mnp", "ACDEFGHIKLMNP"],
  ["a c d", "ACD"],
])("reads %p as %p", (text, sequence) => {
  expect(readProteinText(text).sequence).toBe(sequence);
});

test.each<[text: string, position: number, reason: string]>([
  ["hello world protein 123", 20, "the number 123 does not count"],
  ["hello world", 0, "look like words"],
  ["The quick brown fox jumps over the lazy dog", 0, "look like words"],
  ["the cat sat", 0, "look like words"],
  ["MEEPQSDPSV\nlorem ipsum dolor sit amet", 11, "look like words"],
  ["acde ghik mnpq", 0, "look like words"],
  ["acdef ghikl", 0, "look like words"],
  ["mkv acdefghik mnpqrstvw", 0, "look like words"],
  ["acdefghikl mkv mnpqrstvwy", 0, "look like words"],
  ["This is a sentence.", 18, "“.” is not an amino-acid letter"],
  ["hello", 0, "looks like a word"],
  ["Insulin", 0, "looks like a word"],
  ["HELLO WORLD PROTEIN", 0, "3 of 17 letters are O"],
  ["helloworldthisisnotaprotein", 0, "4 of 27 letters are O"],
  ["Met Glu Glu Pro", 0, "three-letter codes"],
  ["TP53", 2, "the digit 5 stands within letters"],
  ["MEEP1QS", 4, "the digit 1 stands within letters"],
  ["PROTEIN 123", 8, "the number 123 does not count"],
  ["123 456", 0, "only numbers"],
  ["MK*T", 2, "* (stop) is only allowed at the end"],
  ["MK-T", 2, "“-” is not an amino-acid letter"],
  ["MKé", 2, "U+00E9 is not"],
  ["MK😀", 2, "U+1F600 is not"],
])("rejects %p at %p", (text, position, reason) => {
  expect(readProteinText(text)).toEqual({
    sequence: null,
    fault: { position, reason: expect.stringContaining(reason) },
  });
});

test("counts lines and characters from 1", () => {
  expect(findPlace("MK\r\nT\rA\nB9", 9)).toEqual({ line: 4, character: 2 });
  expect(findPlace("MK", 0)).toEqual({ line: 1, character: 1 });
});

test("reads megabytes of hostile text in linear time", () => {
  const started = process.cpuUsage();
  for (const part of [" ", "\n", "1 ", "*", "* ", "//\n", "1\n", "a ", "ORIGIN\n", "x1"])
    readProteinText(`${part.repeat(1_000_000 / part.length)}!`);
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1000).toBeLessThan(5000);
});
