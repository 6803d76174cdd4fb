import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Corpus, openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { Problem } from "../../src/problem.ts";
import { FeatureFiles } from "../../src/scoring/features/feature-files.ts";
import type { FeatureRecord } from "../../src/scoring/features/feature-reader.ts";
import { detectFormat, FEATURE_FORMATS } from "../../src/scoring/features/formats.ts";
import { importFeatures } from "../../src/scoring/features/import.ts";
import { readFeatures, readRecords } from "../fixtures/read-features.ts";
import { PFAM, PROTEIN2IPR } from "../fixtures/bulk-features.ts";
import { random } from "../fixtures/random-protein.ts";
import { P53 } from "./scoring-harness.ts";
import { openMigrated } from "../database.ts";

/** Four features of p53 (UniProt P04637, CC BY 4.0) in each of UniProt's formats. */
const FLAT = `ID   P53_HUMAN               Reviewed;         393 AA.
AC   P04637; Q15086;
DR   PDB; 1YCR; X-ray; 2.60 A; B=15-29.
FT   MOD_RES         15
FT                   /note="Phosphoserine; by PRPK, CDK5, PRKDC, ATR and
FT                   ""ATM"""
FT                   /evidence="ECO:0000269|PubMed:9733515"
FT   DNA_BIND        102..292
FT                   /evidence="ECO:0000250"
FT   VARIANT         72
FT                   /note="P -> R (in dbSNP:rs1042522)"
FT                   /id="VAR_005856"
FT   CROSSLNK        291..292
FT                   /note="Glycyl lysine isopeptide"
FT   VARIANT         ?
FT                   /note="nowhere"
FT   REGION          P04637-2:331..341
FT                   /note="of an isoform"
SQ   SEQUENCE   393 AA;  43653 MW;  AD5C149FD8106131 CRC64;
${P53.match(/.{1,60}/g)!
  .map((line) => `     ${line.match(/.{1,10}/g)!.join(" ")}`)
  .join("\n")}
//
`;
const OLD_FLAT = `ID   P53_HUMAN               Reviewed;         393 AA.
AC   P04637; Q15086;
DR   PDB; 1YCR; X-ray; 2.60 A; B=15-29.
FT   MOD_RES      15     15       Phosphoserine; by PRPK, CDK5, PRKDC, ATR
FT                                and "ATM" {ECO:0000269|PubMed:9733515}.
FT   DNA_BIND    102    292       {ECO:0000250}.
FT   VARIANT      72     72       P -> R (in dbSNP:rs1042522).
FT                                /FTId=VAR_005856.
FT   CROSSLNK    291    292       Glycyl lysine isopeptide.
FT   VARIANT       ?      ?       nowhere.
SQ   SEQUENCE   393 AA;  43653 MW;  AD5C149FD8106131 CRC64;
     ${P53}
//
`;
const ENTRY = {
  primaryAccession: "P04637",
  uniProtkbId: "P53_HUMAN",
  secondaryAccessions: ["Q15086"],
  features: [
    {
      type: "Modified residue",
      location: at(15),
      description: 'Phosphoserine; by PRPK, CDK5, PRKDC, ATR and "ATM"',
    },
    { type: "DNA binding", location: at(102, 292), description: "" },
    {
      type: "Natural variant",
      location: at(72),
      description: "(in dbSNP:rs1042522)",
      featureId: "VAR_005856",
      alternativeSequence: { originalSequence: "P", alternativeSequences: ["R"] },
    },
    { type: "Cross-link", location: at(291, 292), description: "Glycyl lysine isopeptide" },
    { type: "Natural variant", location: { start: { modifier: "UNKNOWN" }, end: { modifier: "UNKNOWN" } } },
    { type: "Region", location: { ...at(331, 341), sequence: "P04637-2" }, description: "of an isoform" },
  ],
  sequence: { value: P53, length: 393 },
  uniProtKBCrossReferences: [
    {
      database: "PDB",
      id: "1YCR",
      properties: [
        { key: "Method", value: "X-ray" },
        { key: "Resolution", value: "2.60 A" },
        { key: "Chains", value: "B=15-29" },
      ],
    },
  ],
};
const ELM = `#ELM_Instance_Download_Version: 1.4
"Accession"\t"ELMType"\t"ELMIdentifier"\t"ProteinName"\t"Primary_Acc"\t"Accessions"\t"Start"\t"End"\t"References"\t"Methods"\t"InstanceLogic"\t"PDB"\t"Organism"
"ELMI000001"\t"DEG"\t"DEG_MDM2_SWIB_1"\t"P53_HUMAN"\t"P04637"\t"P04637 Q15086"\t"19"\t"26"\t"8875929"\t"x-ray"\t"true positive"\t"1YCR 1T4F"\t"Homo sapiens"
"ELMI000009"\t"LIG"\t"LIG_NONE"\t"ODD_""HUMAN"\t"Q99999"\t""\t"1"\t"4"\t""\t""\t"false positive"\t""\t""
`;

function at(start: number, end = start) {
  return { start: { value: start, modifier: "EXACT" }, end: { value: end, modifier: "EXACT" } };
}

const SPAN = "P04637\t94\t289";
const GFF3 = `##gff-version 3
##sequence-region P04637 1 393
P04637\tUniProtKB\tModified residue\t15\t15\t.\t.\t.\tNote=Phosphoserine%3B by ATM;ID=x
P04637\tPfam\tprotein_match\t94\t289\t1e-9\t+\t.\tName=PF00870;signature_desc=P53 DNA-binding domain
P04637\t.\tpolypeptide\t1\t393\t.\t.\t.\tID=P04637
##FASTA
>P04637
not read
`;
const BED = `track name=domains\n# a comment\nP04637\t93\t289\tdomain\n`;
const INTERPRO = `P04637\tc133dfce69f606f20127494e1d1a5a4c\t393\tPfam\tPF00870\tP53 DNA-binding domain\t94\t289\t1.2E-99\tT\t01-01-2026\tIPR011615\tp53, DNA-binding domain\t-\t-\n`;
const SAMPLES = [
  ["elm", ELM],
  ["uniprot", FLAT],
  ["uniprot", OLD_FLAT],
  ["uniprot-json", JSON.stringify(ENTRY, null, 1)],
  ["gff3", GFF3],
  ["bed", BED],
  ["interpro", INTERPRO],
  ["protein2ipr", PROTEIN2IPR],
  ["pfam", PFAM],
] as const;

describe("reading features", () => {
  test.each([
    ["elm", ELM],
    ["uniprot", FLAT],
    ["uniprot-json", JSON.stringify(ENTRY)],
    ["uniprot-json", `[${JSON.stringify(ENTRY)}]`],
    ["gff3", GFF3],
    ["gff3", GFF3.split("\n").slice(2, 3).join("\n")],
    ["interpro", INTERPRO],
    ["protein2ipr", PROTEIN2IPR],
    ["pfam", PFAM],
    ["pfam", PFAM.replace("pfamseq_acc", "uniprot_acc").replace("\tali_start\tali_end", "")],
    ["pfam", PFAM.split("\n")[1]],
    ["bed", BED],
    ["bed", "chr1 0 5"],
  ])("detects %s", (format, text) => {
    expect(detectFormat(`\n${text}`)).toBe(format as never);
  });

  test("reads the same from each of UniProt's formats", () => {
    const flat = readRecords(FLAT);
    const [{ names, features: found, sequence }, isoform] = flat;
    expect(names).toEqual(["P04637", "P53_HUMAN", "Q15086"]);
    expect(sequence).toEqual({ residues: P53, length: 393 });
    expect(isoform).toMatchObject({ names: ["P04637-2"], features: [{ start: 331, end: 341 }] });
    expect(found.map(({ group, start, end, name, id }) => [group, start, end, name, id])).toEqual([
      ["structure", 15, 29, "1YCR, X-ray, 2.60 A", "1YCR"],
      ["ptm", 15, 15, 'Phosphoserine; by PRPK, CDK5, PRKDC, ATR and "ATM"', ""],
      ["domain", 102, 292, "DNA binding", ""],
      ["variant", 72, 72, "P -> R (in dbSNP:rs1042522)", "VAR_005856"],
      ["ptm", 291, 291, "Glycyl lysine isopeptide, bond to 292", ""],
      ["ptm", 292, 292, "Glycyl lysine isopeptide, bond to 291", ""],
    ]);
    const key = (records: FeatureRecord[]) =>
      records.map(({ features: some, ...record }) => ({
        ...record,
        // Names of types differ between the formats.
        features: some.map((one) => ({ ...one, type: "", name: one.name.startsWith("DNA") ? "" : one.name })),
      }));
    const expected = key(flat);
    for (const json of [
      JSON.stringify(ENTRY),
      `{"results":[${JSON.stringify(ENTRY, null, 2)}]}`,
      `[${JSON.stringify(ENTRY)}]\n`,
      `${JSON.stringify(ENTRY)}\n`,
    ])
      expect(key(readRecords(json))).toEqual(expected);
    expect(key(readRecords(OLD_FLAT))).toEqual(expected.slice(0, 1));
  });

  test("BED, GFF3 and InterProScan files give the same residues", () => {
    const domains = [BED, GFF3, INTERPRO].map((text) =>
      readFeatures(text).find(({ group }) => group === "domain")!,
    );
    expect(domains.map(({ start, end }) => `P04637\t${start}\t${end}`)).toEqual([SPAN, SPAN, SPAN]);
    expect(domains[1]).toMatchObject({ name: "P53 DNA-binding domain", id: "PF00870", source: "Pfam" });
    expect(domains[2]).toMatchObject({ name: "p53, DNA-binding domain", id: "PF00870, IPR011615" });
    const bond = "P00750\tUniProtKB\tDisulfide bond\t41\t71\t.\t.\t.\tStatus=By similarity\t\n";
    expect(readFeatures(bond).map(({ group, start, end, name }) => [group, start, end, name])).toEqual([
      ["ptm", 41, 41, "Disulfide bond, bond to 71"],
      ["ptm", 71, 71, "Disulfide bond, bond to 41"],
    ]);
    expect(readFeatures(GFF3)).toHaveLength(2);
    expect(readFeatures(GFF3)[0]).toMatchObject({ group: "ptm", name: "Phosphoserine; by ATM" });
  });

  test("reads ELM's instances", () => {
    expect(readRecords(ELM).map(({ names }) => names)).toEqual([
      ["P04637", "P53_HUMAN", "P04637", "Q15086"],
      ["Q99999", 'ODD_"HUMAN'],
    ]);
    expect(readFeatures(ELM)[0]).toEqual({
      group: "motif",
      type: "ELM instance",
      start: 19,
      end: 26,
      name: "DEG_MDM2_SWIB_1",
      id: "ELMI000001",
      source: "ELM",
      logic: "true positive",
      structures: ["1YCR", "1T4F"],
    });
  });

  test.each([
    ["", "The file is empty."],
    ["hello world, I am no table", "The format of the file is not supported"],
    [
      ELM.replace('"19"', '"x"'),
      'line 3: start and end: expected whole numbers from 1; "x" and "26" were given. The line: ',
    ],
    [ELM.replace('"26"', '"18"'), "line 3: the end 18 is before the start 19."],
    [ELM.replace('\t"Homo sapiens"', ""), "line 3: 12 cells for 13 columns."],
    [ELM.replace('"true positive"', '"true positive'), "line 3: a quotation mark is not closed"],
    [ELM.replace('"InstanceLogic"', '"Logic"'), "line 2: the columns InstanceLogic are missing."],
    [GFF3.replace("94\t289", "94"), "line 4: "],
    [GFF3.replace("\t94\t", "\t0\t"), "line 4: start and end"],
    [GFF3.replaceAll("\t", " "), "line 3: 1 columns; GFF3 has 9"],
    [BED.replace("93\t289", "289\t93"), "line 3: the end 93 is not after the start 289"],
    [`${BED}P04637\t1\n`, "line 4: expected a protein, a start from 0 and an end"],
    [INTERPRO + INTERPRO.replace("\t289\t", "\t1.5\t"), "line 2: start and end"],
    [`${PROTEIN2IPR}P04637\tIPR1\n`, "line 4: 2 columns; protein2ipr.dat has at least 6"],
    [PFAM.replace("\t94\t", "\t-\t"), "line 2: start and end"],
    [FLAT.replace("//\n", ""), "has no end (//)"],
    [FLAT.replace("MOD_RES         15", "MOD_RES         5a"), 'line 4: "5a" is no position.'],
    [FLAT.replace("AC   P04637", "<p>P04637"), "line 2: expected a code of two letters"],
    [
      "<uniprot><entry/></uniprot>",
      "XML files are not supported. Download the entries from UniProt as text or",
    ],
    [JSON.stringify(ENTRY).slice(0, -1), "The file is truncated."],
    ['{"results":[\n{"primaryAccession":"P1",}]}', "line 2: the entry that begins here is no valid JSON"],
    ['[\n\n{"accession":"P1"}]', "line 3: the entry that begins here has no primaryAccession."],
    ['{"primaryAccession":"P1","features":7}', "line 1: the entry P1 is not of UniProt's form."],
  ])("rejects malformed input: %#", (text, message) => {
    expect(() => {
      const reader = FEATURE_FORMATS[detectFormat(text)].read(
        () => {},
        text,
        () => false,
      );
      reader.write(text);
      reader.end();
    }).toThrow(message);
  });
});

test("damaged text of every format is read, or rejected with a line number", () => {
  const next = random(7);
  const pick = (count: number): number => Math.floor(next() * count);
  for (const [name, text] of SAMPLES) {
    for (let round = 0; round < 150; round++) {
      const letters = [...text];
      for (let edits = 1 + pick(4); edits > 0; edits--)
        letters.splice(
          pick(letters.length),
          pick(3),
          ['"', "<", "\t", "\n", "9", "}", "[", "", "é"][pick(9)],
        );
      const damaged = letters.join("");
      try {
        const reader = FEATURE_FORMATS[name].read(
          () => {},
          damaged,
          () => false,
        );
        for (let from = 0; from < damaged.length; from += 500) reader.write(damaged.slice(from, from + 500));
        reader.end();
      } catch (error) {
        expect(error, damaged).toBeInstanceOf(Problem);
        expect((error as Problem).message).toMatch(/^line \d+: /);
      }
    }
  }
});

describe("importing features", () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-features-"));
  const database = openMigrated();
  let files: FeatureFiles;
  let corpus: Corpus;
  beforeAll(() => {
    files = new FeatureFiles(directory);
    const fasta = `>sp|P04637|P53_HUMAN Cellular tumor antigen p53 OS=Homo sapiens OX=9606 GN=TP53\n${P53}\n>NP_000001.2 something [Homo sapiens]\nMKLVACDEFGHIK\n`;
    corpus = openCorpus(packCorpus("test", readFasta(fasta)));
  });
  afterAll(() => {
    files.close();
    rmSync(directory, { recursive: true });
  });
  const add = (text: string | Uint8Array, name: string, more: object = {}) =>
    importFeatures(
      { source: new Blob([text as string]), name, corpus, ...more },
      { files, database, clock: systemClock },
    );

  test("an import keeps features of proteins of the corpus, and counts other features", async () => {
    const file = Bun.gzipSync(ELM);
    const info = await add(file, "elm.tsv.gz");
    expect(info).toMatchObject({
      bytes: file.length,
      format: "elm",
      features: 1,
      proteins: 1,
      unmatched: { proteins: 1, features: 1, examples: ["Q99999"] },
    });
    expect(files.findByAccession(["P04637", "P99999"]).get("P04637")!.features).toMatchObject([
      { id: "ELMI000001" },
    ]);
    expect(files.findBySequence(new Bun.CryptoHasher("md5").update(P53).digest("hex"))).toMatchObject([
      { accession: "P04637" },
    ]);
    files.remove("elm.tsv.gz", database, systemClock);
    expect(files.list()).toEqual([]);
    expect(() => files.remove("elm.tsv.gz", database, systemClock)).toThrow(Problem);
  });

  test("flags features of another sequence, isoform or version, and beyond the end", async () => {
    const gff = (name: string, region: string, end = 5) =>
      `##gff-version 3\n${region}${name}\t.\tregion\t2\t${end}\t.\t.\t.\tID=r\n`;
    const cases: [string, object][] = [
      [FLAT, { isoform: 1 }],
      [FLAT.replace("MEEPQSDPSV", "MEEPQSDPSA"), { sequence: 6, isoform: 1 }],
      [gff("P04637", "##sequence-region P04637 1 400\n"), { sequence: 1 }],
      [gff("P04637", "##sequence-region P04637 1 393\n"), {}],
      [gff("P04637", "", 394), { length: 1 }],
      [gff("P04637-1", ""), {}],
      [gff("P04637-2", ""), { isoform: 1 }],
      [gff("NP_000001", ""), {}],
      [gff("NP_000001.2", ""), {}],
      [gff("NP_000001.1", ""), { version: 1 }],
      [gff("P53_HUMAN", ""), {}],
      [gff("sp%7CP04637%7CP53_HUMAN", ""), {}],
      [INTERPRO.replace("c133dfce", "00000000"), { sequence: 1 }],
    ];
    for (const [text, flagged] of cases) {
      const info = await add(text, "one");
      expect([text.slice(0, 60), info.flagged]).toEqual([text.slice(0, 60), flagged]);
      const shown = [...files.findByAccession(["P04637", "NP_000001.2"]).values()].flatMap(
        (one) => one.features,
      );
      const hidden = Object.values(flagged as Record<string, number>).reduce((sum, one) => sum + one, 0);
      expect(shown.length).toBe(info.features - hidden);
    }
    expect(files.list()).toHaveLength(1);
  });

  test("removes the files of a killed import, but not the files of a running import", async () => {
    const { pid } = Bun.spawnSync(["true"]);
    const [left, running] = [pid, process.pid].map((id) => join(files.directory, `0.features.${id}.part`));
    for (const path of [left, running]) writeFileSync(path, "");
    await add(GFF3, "one");
    expect([existsSync(left), existsSync(running)]).toEqual([false, true]);
    rmSync(running);
  });

  test("skips a damaged file and names it", async () => {
    const path = join(files.directory, "0123.features");
    writeFileSync(path, "no database");
    expect(files.damaged()).toEqual([path]);
    expect(files.list().map(({ name }) => name)).toEqual(["one"]);
    expect(files.findByAccession(["P04637"]).size).toBe(1);
    rmSync(path);
    expect(files.damaged()).toEqual([]);
  });

  test("skips a file whose damage is found during reading", async () => {
    await add(GFF3, "garbled");
    const { directory } = files;
    const path = readdirSync(directory)
      .map((name) => join(directory, name))
      .find((one) => readFileSync(one).includes("garbled"))!;
    const bytes = readFileSync(path);
    // All but the page with the schema and that with the description.
    const page = bytes.readUInt16BE(16);
    const kept = Math.floor(bytes.indexOf('"garbled"') / page);
    for (let at = page; at < bytes.length; at += page)
      if (Math.floor(at / page) !== kept) bytes.fill(0xff, at, at + page);
    writeFileSync(path, bytes);
    const opened = new FeatureFiles(join(directory, ".."));
    expect(opened.list().map(({ name }) => name)).toContain("garbled");
    expect(opened.findByAccession(["P04637"]).size).toBe(1);
    expect(opened.damaged()).toEqual([path]);
    opened.close();
    rmSync(path);
  });

  test("finds no protein by its gene", async () => {
    await expect(add("TP53\t0\t5\n", "gene")).rejects.toThrow(
      "names proteins such as TP53; the corpus has accessions such as",
    );
  });

  test("imports nothing from a file with a mistake", async () => {
    await expect(add(`${BED}P04637\t5\n`, "bad")).rejects.toThrow("line 4");
    expect(files.list().map(({ name }) => name)).toEqual(["one"]);
    expect(readdirSync(files.directory)).toHaveLength(1);
  });

  test("puts all features into a given group", async () => {
    const info = await add("P04637\t93\t289\tcore\n", "core.bed", { group: "domain" });
    expect(info.groups).toEqual({ domain: 1 });
  });
});
