import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PFAM, PROTEIN2IPR } from "../fixtures/bulk-features.ts";
import { P53 } from "../scoring/scoring-harness.ts";
import { labd, scratch } from "./labd.ts";

/** The commands of the chapter "Get the data", on small files of the same formats. */

setDefaultTimeout(60_000);

const GUIDE = readFileSync(join(import.meta.dir, "../../docs/biologist.md"), "utf8");
const CHAPTER = GUIDE.slice(GUIDE.indexOf("\n## Get the data\n"), GUIDE.indexOf("\n## How to cite\n"));

const FASTA = `>sp|P04637|P53_HUMAN Cellular tumor antigen p53 OS=Homo sapiens OX=9606 GN=TP53 PE=1 SV=4\n${P53}\n`;
const FLAT = `ID   P53_HUMAN               Reviewed;         393 AA.
AC   P04637; Q15086;
DT   24-NOV-2009, sequence version 4.
DE   RecName: Full=Cellular tumor antigen p53;
GN   Name=TP53; Synonyms=P53;
OS   Homo sapiens (Human).
OX   NCBI_TaxID=9606;
PE   1: Evidence at protein level;
FT   MOD_RES         15
FT                   /note="Phosphoserine; by ATM"
SQ   SEQUENCE   393 AA;  43653 MW;  AD5C149FD8106131 CRC64;
     ${P53.match(/.{1,10}/g)!.join(" ")}
//
`;
/** Tables as ELM publishes them, with an expression of our own. */
const CLASSES = `#ELM_Classes_Download_Version: 1.4
"Accession"\t"ELMIdentifier"\t"FunctionalSiteName"\t"Description"\t"Regex"\t"Probability"\t"#Instances"\t"#Instances_in_PDB"
"ELME000184"\t"DEG_MDM2_SWIB_1"\t"MDM2 binding"\t"A helix that binds MDM2"\t"F..[ST]W"\t"0.0001"\t"1"\t"1"
`;
const INSTANCES = `#ELM_Instance_Download_Version: 1.4
"Accession"\t"ELMType"\t"ELMIdentifier"\t"ProteinName"\t"Primary_Acc"\t"Accessions"\t"Start"\t"End"\t"References"\t"Methods"\t"InstanceLogic"\t"PDB"\t"Organism"
"ELMI002256"\t"DEG"\t"DEG_MDM2_SWIB_1"\t"P53_HUMAN"\t"P04637"\t"P04637 Q15086"\t"19"\t"26"\t"8875929"\t"x-ray"\t"true positive"\t"1YCR"\t"Homo sapiens"
`;
const FILES: Readonly<Record<string, { content: string; output: string }>> = {
  "uniprot_sprot.fasta.gz": { content: FASTA, output: "* uniprot_sprot  " },
  "uniprot_sprot.dat.gz": { content: FLAT, output: "1 feature of 1 protein of uniprot_sprot" },
  "elm_classes.tsv": { content: CLASSES, output: "1 of them from elm_classes.tsv" },
  "elm_instances.tsv": { content: INSTANCES, output: "1 feature of 1 protein of uniprot_sprot" },
  "Pfam-A.regions.tsv.gz": { content: PFAM, output: "1 feature of 1 protein of uniprot_sprot" },
  "protein2ipr.dat.gz": { content: PROTEIN2IPR, output: "3 features of 1 protein of uniprot_sprot" },
};

test("each command of the chapter imports its file", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  const commands = [...CHAPTER.matchAll(/\| `labd ([^`|]+)` \|/g)].map(([, words]) => words.split(" "));
  const named = commands.map((words) => words.find((word) => word in FILES));
  expect(named.toSorted()).toEqual(Object.keys(FILES).toSorted());
  for (const [i, words] of commands.entries()) {
    const { content, output } = FILES[named[i]!];
    const path = join(place.directory, named[i]!);
    writeFileSync(path, path.endsWith(".gz") ? Bun.gzipSync(content) : content);
    const { code, stdout, stderr } = await labd(
      words.map((word) => (word === named[i] ? path : word)),
      { env },
    );
    expect(`${code}\n${stdout}${stderr}`).toStartWith("0\n");
    expect(stdout).toContain(output);
    expect(stdout).not.toContain("not shown");
  }
  const again = await labd(["corpus", "add", join(place.directory, "uniprot_sprot.dat.gz")], { env });
  expect(again.stderr).toContain("These proteins already exist as uniprot_sprot: nothing was added.");
});
