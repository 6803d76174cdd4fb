import { basename } from "node:path";
import { openData, openScoringOf } from "../app.ts";
import { type Call, unknown, type Verb } from "../command-line.ts";
import { Problem } from "../problem.ts";
import PROTEINS from "../sample/proteins.fasta" with { type: "text" };
import type { Corpora } from "../scoring/index.ts";
import { progressLine } from "./progress.ts";

/** Name under which the embedded proteins are kept. */
export const SAMPLE_CORPUS = "sample";

const ACTIONS = ["add", "list", "use", "verify"];

export const corpus: Verb = {
  name: "corpus",
  summary: "Manage the protein collections in which homologs are found.",
  operands: "add FILE | add --sample | list | use NAME | verify",
  flags: [
    {
      name: "--name",
      value: "TEXT",
      sentence: "Name for the corpus; by default the file's name without its endings.",
    },
    {
      name: "--sample",
      sentence: "Add the proteins that come with the program (Swiss-Prot 2014_01, CC BY 4.0).",
    },
    { name: "--use", sentence: "Take the corpus into use at once; the first one is so anyway." },
  ],
  settings: ["data_dir"],
  example:
    "labd corpus add uniprot_sprot.fasta.gz --name swissprot --use\n" +
    "FASTA, plain or compressed with gzip or zstd; - reads standard input.",
  async run(call) {
    const [action, operand, ...rest] = call.operands;
    if (!ACTIONS.includes(action))
      throw unknown("action of labd corpus", action ?? "(none)", ACTIONS, "labd corpus --help");
    const wants = action === "use" || (action === "add" && !call.has("--sample")) ? 1 : 0;
    if (rest.length > 0 || (operand === undefined ? 0 : 1) !== wants) {
      throw new Problem("usage", `Usage: labd corpus ${corpus.operands}. See labd corpus --help.`);
    }
    const { config } = call.configuration();
    const opened = await openData(config);
    try {
      const { corpora } = await openScoringOf(opened, config);
      if (action === "add") await add(corpora, call, operand);
      if (action === "use") corpora.use(operand);
      if (action === "verify") {
        corpora.verify();
        process.stdout.write(
          `${corpora.active() ? "The corpus in use is whole." : "There is no corpus yet."}\n`,
        );
      }
      if (action !== "verify") list(corpora);
    } finally {
      opened.close();
    }
    return 0;
  },
};

async function add(corpora: Corpora, call: Call, file: string | undefined): Promise<void> {
  const progress = progressLine();
  const name = call.value("--name") ?? (file === undefined ? SAMPLE_CORPUS : nameOf(file));
  const added = await corpora.add({
    name,
    bytes: file === undefined ? PROTEINS : await contentOf(file),
    report: (sequences, residues) =>
      progress.show(`${sequences.toLocaleString("en")} sequences, ${residues.toLocaleString("en")} residues`),
  });
  progress.clear();
  if (call.has("--use")) corpora.use(added.hash);
}

async function contentOf(file: string): Promise<ReadableStream<Uint8Array>> {
  if (file === "-") return Bun.stdin.stream();
  const handle = Bun.file(file);
  if (!(await handle.exists())) throw new Problem("not_found", `There is no file ${file}.`);
  return handle.stream();
}

function nameOf(file: string): string {
  return file === "-" ? "stdin" : basename(file).replace(/(\.(fasta|fa|faa|txt))?(\.(gz|zst))?$/i, "");
}

function list(corpora: Corpora): void {
  const all = corpora.list();
  if (all.length === 0) process.stdout.write("There is no corpus yet. Add one: labd corpus add FILE\n");
  for (const { name, hash, sequences, residues, active } of all) {
    process.stdout.write(
      `${active ? "*" : " "} ${name}  ${hash.slice(0, 12)}  ${sequences.toLocaleString("en")} sequences  ${residues.toLocaleString("en")} residues\n`,
    );
  }
}
