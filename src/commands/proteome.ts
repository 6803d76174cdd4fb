import { type PatternRequest, SCORING_MODELS } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  buildFamilies,
  type BuildPlan,
  type CorpusInfo,
  familiesPath,
  listFamilies,
  MATCH_TABLES,
  onThreads,
  planBuild,
  printProteome,
  PROTEOME_FORMATS,
  type ProteomeFormatName,
  type ProteomeTable,
  removeFamilies,
  type Scoring,
  searchProteome,
  searchProvenance,
  viewRows,
  withView,
  withRowNotes,
} from "../scoring/index.ts";
import type { TableRow } from "../scoring/table/match-row.ts";
import type { Call, Command } from "./command.ts";
import { EVIDENCE_FLAGS, readOptions, readView, viewFlags, warnWithoutFeatures } from "./filter-flags.ts";
import {
  chooseCorpus,
  type Like,
  LIKE_FLAGS,
  likeEvidence,
  likeModel,
  likePatterns,
  likeView,
  readLike,
  reportDifferences,
} from "./like.ts";
import { chooseFormat, matchTable, TABLE_TEXT } from "./match-table.ts";
import { readText } from "./print-scored.ts";
import { progressLine } from "./progress.ts";
import { parseShard } from "./shard-flag.ts";
import { withScoring } from "./with-data.ts";

const HELP = "See labd proteome --help.";
const TABLE = MATCH_TABLES.proteome;
const FORMATS = Object.keys(PROTEOME_FORMATS) as ProteomeFormatName[];
const CORPUS = { "--corpus NAME": "Corpus by name or hash; by default the active one." };
const SELECTION = {
  "--organism NAME":
    "Only proteins of this organism, by scientific name, NCBI's number or UniProt's mnemonic.",
  "--proteins FILE":
    "Only these proteins: a file with one accession, entry name or gene per line; - reads standard input.",
};

export const proteome: Command = {
  name: "proteome",
  summary: "Search all proteins of an organism or a corpus for a motif.",
  settings: ["data_dir", "workers"],
  flagNames: { patterns: "--pattern", motifClasses: "--class" },
  example:
    "labd proteome build --organism 9606\n" +
    "labd proteome search --pattern 'F...W..[LIV]' --organism 9606\n" +
    "labd proteome search --class LIG_PCNA_PIPBox_1 --max-q 0.2 --format gff3\n" +
    "build computes the family of each protein once (homologs, alignment, tree, disorder) and stores it beside the\n" +
    "corpus. It can be interrupted: the same command continues. Families of another corpus, such as the release before,\n" +
    "are carried over unless added or removed proteins change them. search scores any pattern with these families, with\n" +
    "the numbers of labd score. q is the expected fraction of random matches among a match and those above it\n" +
    "(Benjamini and Hochberg, over all matches found); stands_out says whether it is at most 0.05 or 0.2. q does not\n" +
    "change the verdict, and label is an earlier name of verdict. A server may run on the data directory meanwhile. Shards built on other machines with the\n" +
    "same corpus are joined by copying their *.labf files into the directory that labd proteome list names.",
  actions: {
    build: {
      summary: "Compute the families that are missing.",
      flags: {
        ...CORPUS,
        ...SELECTION,
        "--shard I/N": "Compute part I of N (from 1), each with about the same amount of work.",
        "--progress": "Report progress every second, even if the output is not a terminal.",
      },
      run: build,
    },
    search: {
      summary: "Print all matches of a pattern by z, the highest first.",
      flags: {
        "--pattern P": "A regular expression over residues.",
        "--class NAME": "A motif class by name or ELM identifier, instead of a pattern.",
        ...LIKE_FLAGS,
        ...SELECTION,
        ...EVIDENCE_FLAGS,
        ...viewFlags(TABLE),
        [`--model ${SCORING_MODELS.join("|")}`]: "Scoring model; the first is the default.",
        [`--format ${[...FORMATS, TABLE_TEXT].join("|")}`]:
          "Output format; a table on terminals, otherwise the first is the default. JSON is one match per line.",
      },
      run: search,
    },
    list: { summary: "List the corpora with families, and their directories.", run: list },
    remove: {
      summary: "Remove the families of a corpus. The corpus remains.",
      operands: "NAME",
      run: (call) =>
        withScoring(call, ({ corpora }) => {
          const { name, path } = corpora.find(call.operands[0]);
          removeFamilies(path);
          return call.print(`${name}: the families were removed.\n`);
        }),
    },
  },
};

function findCorpus(call: Call, scoring: Scoring, like: Like | null = null): CorpusInfo {
  const corpus = chooseCorpus(call, scoring, like);
  if (!corpus) throw new Problem("not_found", "There is no corpus yet. Add one: labd corpus add FILE");
  return corpus;
}

async function readSelection(call: Call) {
  const file = call.value("--proteins");
  const names = file === undefined ? undefined : new TextDecoder().decode(await readText(file));
  return { organism: call.value("--organism"), names };
}

async function build(call: Call): Promise<void> {
  const shard = parseShard(call, HELP) ?? undefined;
  const selection = await readSelection(call);
  // Closed again before the work, so that a server can start meanwhile.
  const { plan, workers } = await withScoring(call, (scoring, _, config) => ({
    plan: planBuild({
      corpus: findCorpus(call, scoring),
      selection,
      shard,
      others: scoring.corpora.list(),
    }),
    workers: config.workers,
  }));
  call.warn(announceBuild(plan, workers));
  const progress = progressLine(call.streams.stderr, call.has("--progress"));
  const started = performance.now();
  const { carried } = await buildFamilies(plan, onThreads(workers), ({ proteins, spent, left }) => {
    const seconds = ((performance.now() - started) / 1000) * (left / spent);
    progress.show(`${count(proteins)} of ${count(plan.missing.length)} proteins, ${duration(seconds)} left`);
  });
  progress.clear();
  if (plan.carryOvers.length > 0) call.warn(`Families carried over: ${count(carried)}.`);
  await call.print(formatCorpus(plan.corpus));
}

/** Announces a build: its size, and the expected time and disk. */
function announceBuild(
  { corpus, missing, existing, carryOvers, seconds, bytes }: BuildPlan,
  workers: number,
): string {
  const exist = existing > 0 ? ` Existing: ${count(existing)}.` : "";
  if (missing.length === 0) return `${corpus.name}: no family is missing.${exist}`;
  const onAll = workers > 1 ? ` (${duration(seconds / workers)} with ${workers} workers)` : "";
  const carried = carryOvers.map(
    ({ from, proteins }) => ` Carried over from ${from} if nothing changed them: ${count(proteins.length)}.`,
  );
  return `${corpus.name}: families to compute: ${count(missing.length)}.${exist}${carried.join("")} Expected: about ${duration(seconds)} of processor time${onAll} and ${megabytes(bytes)} on disk.`;
}

/** The pattern that is given, else that of the file of --like. @throws Problem usage for several or none */
function readPattern(call: Call, scoring: Scoring, like: Like | null): PatternRequest {
  const [patterns, motifClasses] = [call.values("--pattern"), call.values("--class")];
  const isGiven = patterns.length + motifClasses.length > 0;
  const found = isGiven ? scoring.readPatterns({ patterns, motifClasses }) : (likePatterns(like) ?? []);
  if (found.length === 1) return found[0];
  const source = like && !isGiven ? `--like ${like.file} has ${found.length} patterns: ` : "";
  throw new Problem("usage", `${source}labd proteome search needs one --pattern or one --class. ${HELP}`);
}

/** The proteins that are given, else those of the file of --like. @throws Problem invalid_request if it has only their hash */
async function readSearched(call: Call, like: Like | null) {
  const { organism = like?.provenance.organism, names } = await readSelection(call);
  if (like?.provenance.queries_sha256 !== undefined && names === undefined)
    throw new Problem(
      "invalid_request",
      `--like ${like.file}: it does not list its proteins. Give them with --proteins.`,
    );
  return { organism, names };
}

async function search(call: Call): Promise<number> {
  const like = await readLike(call);
  const view = likeView(readView(call, TABLE, HELP), like);
  const selection = await readSearched(call, like);
  const model = likeModel(call, like);
  const evidence = likeEvidence(call, like);
  const options = readOptions(call, like?.provenance.options);
  const request = await withScoring(call, (scoring, _, { workers }) => {
    const pattern = readPattern(call, scoring, like);
    const corpus = findCorpus(call, scoring, like);
    warnWithoutFeatures(call, scoring, TABLE, view);
    const source = { ...scoring.featureSource(), corpusPath: corpus.path };
    const found = scoring.knowledge.forProteome(pattern, evidence, corpus.hash);
    const features = found.features && { ...found.features, dataDirectory: source.dataDirectory };
    const { classModel } = found;
    return { corpus, pattern, model, ...options, selection, workers, source, features, classModel };
  });
  const progress = progressLine(call.streams.stderr);
  const table = await searchProteome(request, ({ searched, total }) =>
    progress.show(`${count(searched)} of ${count(total)} proteins searched`),
  );
  progress.clear();
  const { pattern: motif, source } = request;
  const rows = viewRows(TABLE, withRowNotes(table.rows, motif.name, source), view);
  const format = chooseFormat<ProteomeFormatName>(call, FORMATS[0]);
  const { corpus, organism } = { ...request, ...selection };
  const provenance = searchProvenance({
    at: Date.now(),
    corpus,
    model,
    pattern: motif,
    organism,
    queries: selection.names,
    features: request.features,
    classModel: request.classModel,
    evidence,
    ...options,
  });
  await call.print(
    format === TABLE_TEXT
      ? matchTable(call, rows, ["protein", proteinText])
      : await printProteome(format, rows, withView(provenance, view)),
  );
  call.warn(describeResult(table));
  return reportDifferences(call, like, provenance);
}

/** `TP53 Homo sapiens P04637` */
const proteinText = ({ protein }: TableRow): string =>
  [protein?.gene, protein?.organism, protein?.accession].filter(Boolean).join(" ");

function describeResult({ searched, missing, matching, rows }: ProteomeTable): string {
  const found = `${formatAmount(rows.length, "match", "matches")} in ${count(matching)} of ${formatAmount(searched, "protein", "proteins")}.`;
  return missing === 0
    ? found
    : `${found} ${formatAmount(missing, "protein without a family was", "proteins without a family were")} not searched. Run labd proteome build.`;
}

async function list(call: Call): Promise<void> {
  await withScoring(call, ({ corpora }) => {
    const lines = corpora.list().flatMap((corpus) => formatCorpus(corpus));
    return call.print(lines.join("") || "There is no corpus yet. Add one: labd corpus add FILE\n");
  });
}

function formatCorpus(corpus: CorpusInfo): string {
  const files = listFamilies(corpus);
  const proteins = new Set(files.flatMap((file) => file.proteins)).size;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${corpus.name}  ${count(proteins)} of ${formatAmount(corpus.sequences, "protein", "proteins")}  ${megabytes(bytes)}  ${familiesPath(corpus.path)}\n`;
}

const count = (value: number): string => value.toLocaleString("en");
const formatAmount = (value: number, one: string, many: string): string =>
  `${count(value)} ${value === 1 ? one : many}`;
const megabytes = (bytes: number): string => `${count(Math.ceil(bytes / 1e5) / 10)} MB`;

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${count(Math.ceil(seconds / 360) / 10)} h`;
}
