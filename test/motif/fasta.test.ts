import { describe, expect, test } from "bun:test";
import { decode } from "../../src/motif/alphabet.ts";
import {
  FastaError,
  FastaReader,
  MAX_HEADER_BYTES,
  readFasta,
  type FastaEntry,
} from "../../src/motif/fasta.ts";

const plain = (entries: FastaEntry[]): [string, string][] =>
  entries.map((entry) => [entry.accession, decode(entry.residues)]);

describe("records", () => {
  test("ignores line ends, case, blank lines and comments", () => {
    const wanted: [string, string][] = [
      ["A", "MKVL"],
      ["B", "ACD"],
    ];
    for (const text of [
      ">A\nMKVL\n>B\nACD\n",
      ">A\r\nMK\r\nVL\r\n\r\n>B\r\nACD",
      "\n\n>A x\nmk vl\n\n>B\nA\tCD*\n",
      ">A\rMKVL\r>B\rACD\r",
      "; made by hand\n>A\n;comment\nMKVL\n>B\nACD",
    ]) {
      expect(plain(readFasta(text))).toEqual(wanted);
    }
  });

  test("removes a final *, reads an inner one as X, keeps rare letters", () => {
    expect(plain(readFasta(">A\nMK*VL*\n>B\nBJOUXZ\n>C\nMK*\n*\n"))).toEqual([
      ["A", "MKXVL"],
      ["B", "BJOUXZ"],
      ["C", "MK"],
    ]);
  });

  test("returns the same entries wherever chunks are split", () => {
    const text = ">sp|P1|A_HUMAN n\u00e4me OS=Homo sapiens\r\nMKV\r\nLL*\r\n;c\n>B\rACD\n\n>C d\nWW\n";
    const bytes = new TextEncoder().encode(text);
    const whole = readFasta(bytes);
    expect(whole).toHaveLength(3);
    expect(whole[0].header).toContain("n\u00e4me");
    for (let size = 1; size < 12; size++) {
      const reader = new FastaReader();
      const got: FastaEntry[] = [];
      for (let at = 0; at < bytes.length; at += size) got.push(...reader.feed(bytes.subarray(at, at + size)));
      got.push(...reader.finish());
      expect(got).toEqual(whole);
    }
  });

  test("reads sequences longer than the buffer", () => {
    const letters = "ACDEFGHIKLMNPQRSTVWY".repeat(2000);
    expect(plain(readFasta(`>A\n${letters}\n`))).toEqual([["A", letters]]);
  });

  test("returns nothing for empty input", () => {
    expect(readFasta("")).toEqual([]);
    expect(readFasta("\n \r\n")).toEqual([]);
  });
});

describe("rejects invalid FASTA with the line number", () => {
  const cases: [string, string, number, RegExp][] = [
    ["a gap", ">A\nMK\nM-K\n", 3, /"-"/],
    ["a digit", ">A\nMK1\n", 2, /"1"/],
    ["a control character", ">A\nM\u0000K\n", 2, /byte 0x00/],
    ["text outside ASCII", ">A\nM\u00e4K\n", 2, /byte 0xc3/],
    ["residues before a header", "\nMKVL\n>A\nMK\n", 2, /before the first residues/],
    ["an empty record", ">A\n>B\nMK\n", 1, /no residues/],
    ["an empty record at the end", ">A\nMK\n>B", 3, /no residues/],
    ["a stop alone", ">A\n*\n", 1, /no residues/],
    ["no identifier", ">\nMK\n", 1, /no identifier/],
    ["a header without end", `>${"x".repeat(MAX_HEADER_BYTES + 1)}`, 1, /longer than/],
  ];
  test.each(cases)("%s", (_, text, line, reason) => {
    let error: unknown;
    try {
      readFasta(text);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(FastaError);
    expect((error as FastaError).line).toBe(line);
    expect((error as FastaError).message).toMatch(reason);
  });
});
