import { basename } from "node:path";
import { fetchCorpus } from "../farm/corpus-fetch.ts";
import { pluralize } from "../platform/words.ts";
import { Problem } from "../problem.ts";
import PROTEINS from "../sample/proteins.fasta" with { type: "text" };
import { type Corpora, findProteins, isEarlierFormat } from "../scoring/index.ts";
import type { Call, Command, Flags } from "./command.ts";
import { namedFile } from "./named-file.ts";
import { progressLine, transferLine } from "./progress.ts";
import { CORPUS_SOURCE_FLAGS, readToken } from "./token-file.ts";
import { textTable } from "./text-table.ts";
import { withScoring } from "./with-data.ts";

/** Name of the embedded corpus. */
export const SAMPLE_CORPUS = "sample";

const NO_CORPUS_MESSAGE = "There is no corpus yet. Add one: labd corpus add FILE\n";
const ADD_FLAGS: Flags = {
  "--name TEXT": "Name of the corpus; by default the file's name without extensions.",
  "--use": "Activate the corpus; the first corpus is always activated.",
  "--progress": "Report progress every second, even if the output is not a terminal.",
};

export const corpus: Command = {
  name: "corpus",
  summary: "Manage the protein collections in which homologs are found.",
  settings: ["data_dir", "workers"],
  removedFlags: {
    "--to": "Fetch the corpus on the other machine: labd corpus pull HASH --from https://server.",
  },
  example:
    "labd corpus add uniprot_sprot.fasta.gz --name swissprot --use\n" +
    "FASTA, or UniProt's flat file or JSON, plain or compressed with gzip or zstd; - reads standard input. After an\n" +
    "interruption the same command continues. Results keep the name of their corpus after its removal.\n" +
    "labd corpus find BRCA1 mouse\n" +
    "labd corpus pull $HASH --from https://labd.example.org --token-file token.txt",
  actions: {
    add: {
      summary: "Add a file of proteins.",
      operands: "[FILE]",
      flags: {
        ...ADD_FLAGS,
        "--sample": "Add the built-in proteins (Swiss-Prot 2014_01, CC BY 4.0) instead of a file.",
      },
      run: (call) => change(call, (corpora) => add(corpora, call)),
    },
    list: {
      summary: "List the corpora; a star marks the active one.",
      run: (call) => change(call, () => {}),
    },
    use: {
      summary: "Use a corpus for jobs from now on.",
      operands: "NAME",
      run: (call) => change(call, (corpora) => corpora.use(call.operands[0])),
    },
    find: {
      summary: "Find proteins of the active corpus by accession, name, gene or species.",
      operands: "WORD…",
      flags: {
        "--limit 1-1000": "Most proteins; 20 by default.",
        "--format text|json": "Output format; text by default.",
      },
      run: find,
    },
    verify: { summary: "Read every byte of one corpus or all.", operands: "[NAME]", run: verify },
    remove: {
      summary: "Remove a corpus.",
      operands: "NAME",
      run: (call) => change(call, (corpora) => corpora.remove(call.operands[0])),
    },
    pull: {
      summary: "Fetch a corpus by its hash from another server.",
      operands: "HASH",
      flags: { ...ADD_FLAGS, ...CORPUS_SOURCE_FLAGS },
      run: (call) => change(call, (corpora, directory) => pull(corpora, call, directory)),
    },
  },
};

/** Changes the corpora and lists them. */
const change = (call: Call, work: (corpora: Corpora, dataDirectory: string) => unknown): Promise<void> =>
  withScoring(call, async ({ corpora }, _, config) => {
    await work(corpora, config.data_dir);
    const all = corpora.list();
    for (const { name, path } of all) {
      if (isEarlierFormat(path))
        call.warn(
          `${name}: an earlier version of labd packed it, without genes and whole names. Add its FASTA file again: it replaces the corpus.`,
        );
    }
    const lines = all.map(
      ({ name, hash, sequences, residues, active }) =>
        `${active ? "*" : " "} ${name}  ${hash.slice(0, 12)}  ${sequences.toLocaleString("en")} sequences  ${residues.toLocaleString("en")} residues\n`,
    );
    await call.print(lines.join("") || NO_CORPUS_MESSAGE);
  });

async function add(corpora: Corpora, call: Call): Promise<void> {
  const [file] = call.operands;
  if ((file === undefined) !== call.has("--sample"))
    throw new Problem("usage", "labd corpus add needs a FILE or --sample. See labd corpus --help.");
  const progress = progressLine(call.streams.stderr, call.has("--progress"));
  const known = new Set(corpora.list().map(({ hash }) => hash));
  const added = await corpora.add({
    name: call.value("--name") ?? (file === undefined ? SAMPLE_CORPUS : corpusName(file)),
    bytes: file === undefined ? PROTEINS : namedFile(file),
    tell: (sentence) => call.warn(sentence),
    report: (sequences, residues) =>
      progress.show(`${sequences.toLocaleString("en")} sequences, ${residues.toLocaleString("en")} residues`),
  });
  progress.clear();
  if (known.has(added.hash)) call.warn(`These proteins already exist as ${added.name}: nothing was added.`);
  if (call.has("--use")) corpora.use(added.hash);
}

const corpusName = (file: string): string =>
  file === "-" ? "stdin" : basename(file).replace(/(\.(fasta|fa|faa|txt|dat|json))?(\.(gz|zst))?$/i, "");

function find(call: Call): Promise<void> {
  return withScoring(call, async ({ corpora }) => {
    if (!corpora.active()) throw new Problem("not_found", NO_CORPUS_MESSAGE.trim());
    const limit = Number(call.value("--limit") ?? 20);
    const found = findProteins(corpora.open(), call.operands.join(" "), limit);
    if (call.value("--format") === "json") return call.printJson(found);
    const { total, results, near, searched } = found;
    if (total === 0) {
      const names = near.map(({ accession, entryName, gene, organism }) =>
        [gene ?? entryName, organism, accession].filter(Boolean).join(" "),
      );
      const offer = names.length > 0 ? ` Near misses: ${names.join("; ")}.` : "";
      const size = pluralize(searched, "protein");
      throw new Problem("not_found", `No protein of the active corpus (${size}) has these words.${offer}`);
    }
    const rows = results.map(({ accession, entryName, gene, name, organism, length }) =>
      [accession, entryName, gene, name, organism, String(length)].map((cell) => cell ?? ""),
    );
    await call.print(textTable(["accession", "entry", "gene", "name", "species", "length"], rows));
    if (total > rows.length)
      call.warn(`${(total - rows.length).toLocaleString("en")} more; raise --limit or add words.`);
  });
}

async function pull(corpora: Corpora, call: Call, dataDirectory: string): Promise<void> {
  const [hash] = call.operands;
  const servers = call.values("--from");
  if (servers.length === 0)
    throw new Problem("usage", "Give the server to fetch from: --from https://server.");
  const known = corpora.list().some((corpus) => corpus.hash === hash);
  const line = transferLine(call.streams.stderr, call.has("--progress"));
  await fetchCorpus(hash, servers, dataDirectory, {
    token: await readToken(call),
    report: line.show,
    tell(sentence) {
      line.clear();
      call.warn(sentence);
    },
  });
  line.clear();
  const { name } = corpora.adopt(hash, call.value("--name"));
  if (known) call.warn(`It already exists as ${name}.`);
  if (call.has("--use")) corpora.use(hash);
}

function verify(call: Call): Promise<void> {
  return withScoring(call, async ({ corpora }) => {
    const [name] = call.operands;
    const wanted = name === undefined ? corpora.list() : [corpora.find(name)];
    if (wanted.length === 0) await call.print(NO_CORPUS_MESSAGE);
    for (const info of wanted) {
      corpora.verify(info);
      await call.print(`${info.name} is intact: ${info.hash}\n`);
    }
  });
}
