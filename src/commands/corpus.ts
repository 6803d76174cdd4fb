import { basename } from "node:path";
import { openData, openScoringOf } from "../app/data-directory.ts";
import { type Call, unknown, type Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import PROTEINS from "../sample/proteins.fasta" with { type: "text" };
import type { Corpora } from "../scoring/index.ts";
import { STORE_SETTINGS } from "../config.ts";
import { calibrate } from "./calibrate.ts";
import { pullCorpus, pushCorpus } from "./corpus-transfer.ts";
import { namedFile } from "./named-file.ts";
import { progressLine } from "./progress.ts";

/** Name under which the embedded proteins are kept. */
export const SAMPLE_CORPUS = "sample";

const ACTIONS = ["add", "list", "use", "verify", "calibrate", "remove", "push", "pull"];

export const corpus: Command = {
  name: "corpus",
  summary: "Manage the protein collections in which homologs are found.",
  operands:
    "add FILE | add --sample | list | use NAME | verify [NAME] | calibrate [NAME] | remove NAME | push NAME | pull HASH",
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
    {
      name: "--progress",
      sentence: "add, push, pull: say every second how far it is, also where nobody watches.",
    },
    { name: "--use", sentence: "Take the corpus into use at once; the first one is so anyway." },
    { name: "--to", value: "s3://…", sentence: "push: bucket and prefix of a store of objects." },
    {
      name: "--from",
      value: "ADDRESS",
      sentence:
        "pull: a labd server (https://server) or a store (s3://bucket/prefix); the next one given is asked where it fails.",
    },
    {
      name: "--token-file",
      value: "FILE",
      sentence: "pull: file with a token of the server; - reads standard input.",
    },
  ],
  settings: ["data_dir", "workers", ...STORE_SETTINGS],
  example:
    "labd corpus add uniprot_sprot.fasta.gz --name swissprot --use\n" +
    "FASTA, plain or compressed with gzip or zstd; - reads standard input. Where this was cut off, the same\n" +
    "command goes on. A corpus that is removed stays named in the results that were made with it.\n" +
    "labd corpus push swissprot --to s3://lab/corpora --s3-endpoint http://127.0.0.1:3900\n" +
    "labd corpus pull $HASH --from https://labd.example.org --token-file token.txt --from s3://lab/corpora",
  async run(call) {
    const [action, operand, ...rest] = call.operands;
    if (!ACTIONS.includes(action))
      throw unknown("action of labd corpus", action ?? "", ACTIONS, "labd corpus --help");
    const given = operand === undefined ? 0 : 1;
    const takesOne =
      ["use", "remove", "verify", "calibrate", "push", "pull"].includes(action) ||
      (action === "add" && !call.has("--sample"));
    const isOptional = action === "verify" || action === "calibrate";
    const fits = takesOne ? given === 1 || isOptional : given === 0;
    if (rest.length > 0 || !fits) {
      throw new Problem("usage", `Usage: labd corpus ${corpus.operands}. See labd corpus --help.`);
    }
    const { config } = call.configuration();
    const opened = await openData(config);
    try {
      const { corpora, classes } = await openScoringOf(opened, config);
      if (action === "add") await add(corpora, call, operand);
      if (action === "use") corpora.use(operand);
      if (action === "remove") corpora.remove(operand);
      if (action === "pull") await pullCorpus(corpora, call, config, operand);
      if (action === "push") await pushCorpus(corpora, call, config, operand);
      else if (action === "verify") verify(corpora, operand);
      else if (action === "calibrate") {
        await calibrate(corpora, operand, classes, config.workers);
        const detail = operand === undefined ? {} : { name: operand };
        opened.accounts.audit.log.record({ action: "corpus.calibrate", detail });
      } else list(corpora);
    } finally {
      opened.close();
    }
    return 0;
  },
};

async function add(corpora: Corpora, call: Call, file: string | undefined): Promise<void> {
  const progress = progressLine(process.stderr, undefined, call.has("--progress") ? 1000 : undefined);
  const name = call.value("--name") ?? (file === undefined ? SAMPLE_CORPUS : nameOf(file));
  const before = new Set(corpora.list().map(({ hash }) => hash));
  const added = await corpora.add({
    name,
    bytes: file === undefined ? PROTEINS : namedFile(file),
    tell: (sentence) => void process.stderr.write(`labd: ${sentence}\n`),
    report: (sequences, residues) =>
      progress.show(`${sequences.toLocaleString("en")} sequences, ${residues.toLocaleString("en")} residues`),
  });
  progress.clear();
  if (before.has(added.hash)) {
    process.stderr.write(`labd: These proteins are there already, as ${added.name}: nothing was added.\n`);
  }
  if (call.has("--use")) corpora.use(added.hash);
}

function verify(corpora: Corpora, name: string | undefined): void {
  const wanted = name === undefined ? corpora.list() : [corpora.find(name)];
  if (wanted.length === 0) process.stdout.write("There is no corpus yet.\n");
  for (const info of wanted) {
    corpora.verify(info);
    process.stdout.write(`${info.name} is whole: ${info.hash}\n`);
  }
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
