import { describe, expect, test } from "bun:test";
import { readAsFasta } from "../../src/scoring/corpus/corpus-source.ts";
import { rejection } from "./rejection.ts";

/**
 * Entries of UniProtKB (CC BY 4.0) as lines of the flat file and members of JSON, with their headers in UniProt's FASTA;
 * sequences are shortened.
 */
const ENTRIES: { fasta: string; flat: string; json: object }[] = [
  {
    fasta:
      "sp|P00750|TPA_HUMAN Tissue-type plasminogen activator OS=Homo sapiens OX=9606 GN=PLAT PE=1 SV=1\nMDAMKRGLCCVLL",
    flat: `ID   TPA_HUMAN               Reviewed;          13 AA.
AC   P00750; A8K022; B2R8E8;
AC   Q9BU99;
DT   21-JUL-1986, integrated into UniProtKB/Swiss-Prot.
DT   21-JUL-1986, sequence version 1.
DT   10-AUG-2010, entry version 159.
DE   RecName: Full=Tissue-type plasminogen activator;
DE            Short=t-plasminogen activator;
DE            EC=3.4.21.68;
DE   AltName: INN=Alteplase;
DE   Contains:
DE     RecName: Full=Tissue-type plasminogen activator chain A;
DE   Flags: Precursor;
GN   Name=PLAT;
OS   Homo sapiens (Human).
OX   NCBI_TaxID=9606;
CC   -!- FUNCTION: Converts the abundant, but inactive, zymogen plasminogen.
PE   1: Evidence at protein level;
FT   SIGNAL          1..22
SQ   SEQUENCE   13 AA;  62917 MW;  6F8A2C4D1F2B3E4D CRC64;
     MDAMKRGLCC VLL
//
`,
    json: {
      entryType: "UniProtKB reviewed (Swiss-Prot)",
      primaryAccession: "P00750",
      secondaryAccessions: ["A8K022"],
      uniProtkbId: "TPA_HUMAN",
      entryAudit: { sequenceVersion: 1, entryVersion: 159 },
      organism: { scientificName: "Homo sapiens", commonName: "Human", taxonId: 9606 },
      proteinExistence: "1: Evidence at protein level",
      proteinDescription: {
        recommendedName: {
          fullName: { value: "Tissue-type plasminogen activator" },
          shortNames: [{ value: "t-PA" }],
        },
        flag: "Precursor",
      },
      genes: [{ geneName: { value: "PLAT" } }],
      sequence: { value: "MDAMKRGLCCVLL", length: 13 },
    },
  },
  {
    fasta:
      "tr|H2CNN8|H2CNN8_9ARCH Ammonia monooxygenase subunit A (Fragment) OS=uncultured ammonia-oxidizing archaeon OX=418404 GN=amoA PE=4 SV=1\nFIVVVAVNST",
    flat: `ID   H2CNN8_9ARCH            Unreviewed;        10 AA.
AC   H2CNN8;
DT   21-MAR-2012, sequence version 1.
DE   SubName: Full=Ammonia monooxygenase subunit A {ECO:0000313|EMBL:AEX14553.1};
DE   Flags: Fragment;
GN   Name=amoA {ECO:0000313|EMBL:AEX14553.1};
OS   uncultured ammonia-oxidizing archaeon.
OX   NCBI_TaxID=418404 {ECO:0000313|EMBL:AEX14553.1};
PE   4: Predicted;
SQ   SEQUENCE   10 AA;  21641 MW;  1E4E6A76ECF7AAA4 CRC64;
     FIVVVAVNST
//
`,
    json: {
      entryType: "UniProtKB unreviewed (TrEMBL)",
      primaryAccession: "H2CNN8",
      uniProtkbId: "H2CNN8_9ARCH",
      entryAudit: { sequenceVersion: 1 },
      organism: { scientificName: "uncultured ammonia-oxidizing archaeon", taxonId: 418404 },
      proteinExistence: "4: Predicted",
      proteinDescription: {
        submissionNames: [{ fullName: { value: "Ammonia monooxygenase subunit A" } }],
        flag: "Fragment",
      },
      genes: [{ geneName: { value: "amoA" } }],
      sequence: { value: "FIVVVAVNST", length: 10 },
    },
  },
  {
    fasta:
      "sp|P69905|HBA_HUMAN Hemoglobin subunit alpha OS=Homo sapiens OX=9606 GN=HBA1 PE=1 SV=2\nMVLSPADKTNVKAAW",
    flat: `ID   HBA_HUMAN               Reviewed;          15 AA.
AC   P69905;
DT   23-JAN-2007, sequence version 2.
DE   RecName: Full=Hemoglobin subunit alpha;
GN   Name=HBA1;
GN   and
GN   Name=HBA2;
OS   Homo sapiens (Human).
OX   NCBI_TaxID=9606;
PE   1: Evidence at protein level;
SQ   SEQUENCE   15 AA;  15258 MW;  15E13666573BBBAE CRC64;
     MVLSPADKTN VKAAW
//
`,
    json: {
      primaryAccession: "P69905",
      uniProtkbId: "HBA_HUMAN",
      entryAudit: { sequenceVersion: 2 },
      organism: { scientificName: "Homo sapiens", taxonId: 9606 },
      proteinExistence: "1: Evidence at protein level",
      proteinDescription: { recommendedName: { fullName: { value: "Hemoglobin subunit alpha" } } },
      genes: [{ geneName: { value: "HBA1" } }, { geneName: { value: "HBA2" } }],
      sequence: { value: "MVLSPADKTNVKAAW", length: 15 },
    },
  },
  {
    fasta:
      "sp|P18355|YPFU_ECOLI Uncharacterized protein in traD-traI intergenic region OS=Escherichia coli (strain K12) OX=83333 PE=3 SV=1\nMNKK",
    flat: `ID   YPFU_ECOLI              Reviewed;           4 AA.
AC   P18355;
DT   01-NOV-1990, sequence version 1.
DE   RecName: Full=Uncharacterized protein in traD-traI intergenic region;
OS   Escherichia coli (strain K12).
OX   NCBI_TaxID=83333;
PE   3: Inferred from homology;
SQ   SEQUENCE   4 AA;  500 MW;  15E13666573BBBAE CRC64;
     MNKK
//
`,
    json: {
      primaryAccession: "P18355",
      uniProtkbId: "YPFU_ECOLI",
      entryAudit: { sequenceVersion: 1 },
      organism: { scientificName: "Escherichia coli (strain K12)", taxonId: 83333 },
      proteinExistence: "3: Inferred from homology",
      proteinDescription: {
        recommendedName: { fullName: { value: "Uncharacterized protein in traD-traI intergenic region" } },
      },
      sequence: { value: "MNKK", length: 4 },
    },
  },
];
const FASTA = ENTRIES.map(({ fasta }) => `>${fasta}\n`).join("");
const FLAT = ENTRIES.map(({ flat }) => flat).join("");
const RESULTS = JSON.stringify({ results: ENTRIES.map(({ json }) => json) }, null, 1);

const readText = async (source: string | Uint8Array<ArrayBuffer>): Promise<string> => {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of readAsFasta(new Blob([source]))) text += decoder.decode(chunk, { stream: true });
  return text;
};

describe("proteins of UniProt's formats", () => {
  test.each([
    ["FASTA", FASTA],
    ["a flat file", FLAT],
    ["a flat file of Windows", FLAT.replaceAll("\n", "\r\n")],
    ["the answer of a search", RESULTS],
    ["a JSON entry per line", ENTRIES.map(({ json }) => `${JSON.stringify(json)}\n`).join("")],
    ["a flat file in gzip", Bun.gzipSync(FLAT)],
    ["JSON in zstd", Bun.zstdCompressSync(RESULTS)],
  ])("%s gives UniProt's FASTA", async (_, source) => {
    expect(await readText(source as string)).toBe(FASTA);
  });

  test.each([
    ["Homo sapiens (Human)", "Homo sapiens"],
    [
      "Saccharomyces cerevisiae (strain ATCC 204508 / S288c) (Baker's yeast)",
      "Saccharomyces cerevisiae (strain ATCC 204508 / S288c)",
    ],
    [
      "Agrobacterium fabrum (strain C58 / ATCC 33970) (Agrobacterium tumefaciens (strain C58))",
      "Agrobacterium fabrum (strain C58 / ATCC 33970)",
    ],
    [
      "Human immunodeficiency virus type 1 group M subtype B (isolate HXB2) (HIV-1)",
      "Human immunodeficiency virus type 1 group M subtype B (isolate HXB2)",
    ],
    ["Influenza A virus (A/swine/Iowa/15/1930(H1N1))", "Influenza A virus (A/swine/Iowa/15/1930(H1N1))"],
    ["Simian virus 40 (SV40)", "Simian virus 40"],
    ["Oryza sativa subsp. japonica (Rice)", "Oryza sativa subsp. japonica"],
  ])("the scientific name of %s", async (written, organism) => {
    // The line may be wrapped.
    const lines = written.replace(/ \(/, "\nOS   (");
    const flat = ENTRIES[3].flat.replace("Escherichia coli (strain K12)", lines);
    expect(await readText(flat)).toContain(` OS=${organism} OX=83333`);
  });

  test.each([
    ["GN   OrderedLocusNames=b0001, JW4367;", "b0001"],
    ["GN   ORFNames=F10A3.2, Z1.1 {ECO:0000255|X:1, ECO:0000255|X:2};", "F10A3.2"],
    ["GN   Name=nirQ {ECO:1|A:B}; Synonyms=x; OrderedLocusNames=PA0520;", "nirQ"],
  ])("the gene of %s", async (line, gene) => {
    expect(await readText(ENTRIES[3].flat.replace("OS  ", `${line}\nOS  `))).toContain(` GN=${gene} PE=3`);
  });

  test("leaves out entries that UniProt has withdrawn", async () => {
    const inactive = { entryType: "Inactive", primaryAccession: "P00001", uniProtkbId: "" };
    expect(await readText(JSON.stringify([inactive, ENTRIES[0].json]))).toBe(`>${ENTRIES[0].fasta}\n`);
  });

  test.each([
    ["no sequence", '{"primaryAccession":"P1"}', "line 1: the entry P1 has no sequence."],
    ["a lost line", FLAT.replace("     MNKK\n", ""), "line 48: the entry P18355 has no sequence."],
    [
      "a cut sequence",
      FLAT.replace(" VLL\n", "\n"),
      "line 1: the entry P00750 says 13 residues, but has 10.",
    ],
    ["a cut file", FLAT.slice(0, -4), "line 56: the last entry has no end (//). The file is truncated."],
    ["digits", FLAT.replace("MNKK", "MN 11"), 'line 48: the entry P18355 has "1" in its sequence.'],
    ["XML", "<?xml?>", "XML files are not supported."],
    ["other text", `${FLAT}what?\n`, "line 58: expected a code of two letters"],
  ])("rejects %s", async (_, source, message) => {
    expect((await rejection(readText(source))).message).toStartWith(message);
  });
});
