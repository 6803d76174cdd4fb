/**
 * Sensitivity of the prefilter against exhaustive search, and E-values compared with blastp and ssearch36
 * where installed (docs/method.md).
 *
 *   bun run test/bench/search-exactness.bench.ts FASTA [QUERIES [FROM]]
 *   bun run test/bench/search-exactness.bench.ts FASTA e-values WORK_DIRECTORY
 *
 * Draws QUERIES (500) proteins of 40 to 2,500 residues and searches every tenth protein, starting with query
 * FROM. The other programs get the first 60.
 *
 * `e-values` compares the E-values of all homologs of 100 proteins with those of blastp, by protein: four known
 * for low complexity, 36 with biased compositions, 60 drawn from all. WORK_DIRECTORY keeps blastp's results.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alignLocal } from "../../src/motif/align.ts";
import {
  DEFAULTS,
  decode,
  type FastaEntry,
  openCorpus,
  packCorpus,
  readFasta,
} from "../../src/motif/index.ts";
import { findHomologs } from "../../src/motif/homologs.ts";
import { readResidues, search } from "../../src/motif/search.ts";
import { eValue } from "../../src/motif/statistics.ts";
import { random } from "../fixtures/random-protein.ts";

const SEED = 500;
const COMPARED = 60;
const PART = 10;
const E = 1e-5;
/** Smaller E-values are rounded differently. */
const TINY = 1e-170;

const [fasta, count = "500", from = "0"] = Bun.argv.slice(2);
if (fasta === undefined) throw new Error("usage: search-exactness.bench.ts FASTA [QUERIES [FROM]]");
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const entries = readFasta(await Bun.file(fasta).bytes());
if (count === "e-values") {
  await compareWithBlastp(from);
  process.exit();
}
const tenth = entries.filter((_, k) => k % PART === 0);
const corpus = openCorpus(packCorpus("tenth", tenth));

const next = random(SEED);
const selected = new Set<FastaEntry>();
while (selected.size < Number(count)) {
  const entry = entries[Math.floor(next() * entries.length)];
  if (entry.residues.length >= 40 && entry.residues.length <= 2500) selected.add(entry);
}
const queries = [...selected].slice(Number(from));
say(`${corpus.sequenceCount} proteins, ${corpus.residueCount} residues; queries ${from} to ${count}`);

sensitivity();
if (Number(from) === 0) await eValues();

function sensitivity(): void {
  const row = (name: string, identity: number, coverage: number) => ({
    name,
    identity,
    coverage,
    hits: 0,
    found: 0,
    parts: [] as number[],
  });
  const rows = [
    row("identity >= 30 %, coverage >= 50 %", 0.3, 0.5),
    row("identity >= 25 %, coverage >= 50 %", 0.25, 0.5),
    row("all", 0, 0),
  ];
  const report = (done: number): void => {
    for (const { name, hits, found, parts } of rows) {
      const mean = parts.reduce((a, b) => a + b, 0) / parts.length;
      const shares = `${((100 * found) / hits).toFixed(2)} %, mean over queries ${(100 * mean).toFixed(2)} %`;
      say(`${done} queries, ${parts.length} with hits of ${name}: ${found} of ${hits} found, ${shares}`);
    }
  };
  const bounds = { maxEValue: E, minLength: 0, maxLength: 1e9 };
  for (const [done, { residues }] of queries.entries()) {
    const quick = new Set(
      search(residues, corpus, { ...bounds, exhaustive: false }).map(({ index }) => index),
    );
    const all = search(residues, corpus, { ...bounds, exhaustive: true });
    const aligned = alignLocal(
      residues,
      all.map(({ index }) => readResidues(corpus, index)),
    );
    for (const row of rows) {
      const good = all.filter(
        (_, k) => aligned[k].identity >= row.identity && aligned[k].coverage >= row.coverage,
      );
      if (good.length === 0) continue;
      const found = good.filter(({ index }) => quick.has(index)).length;
      row.hits += good.length;
      row.found += found;
      row.parts.push(found / good.length);
    }
    if ((done + 1) % 50 === 0) report(done + 1);
  }
  report(queries.length);
}

/** E-values of homologs reported by all programs, and the fraction within a factor of 10. */
async function eValues(): Promise<void> {
  const missing = ["makeblastdb", "blastp", "ssearch36"].filter((program) => Bun.which(program) === null);
  if (missing.length > 0)
    return say(`SKIPPED: ${missing.join(", ")} not installed; E-values are not compared`);
  const directory = mkdtempSync(join(tmpdir(), "labd-exactness-"));
  const at = (name: string): string => join(directory, name);
  const write = (path: string, of: readonly FastaEntry[]): Promise<number> =>
    Bun.write(path, of.map((one) => `>${one.accession}\n${decode(one.residues)}\n`).join(""));
  try {
    const compared = queries.slice(0, COMPARED);
    await write(at("corpus"), tenth);
    await write(at("queries"), compared);
    await run(["makeblastdb", "-in", at("corpus"), "-dbtype", "prot", "-out", at("blast")]);
    const many = ["-evalue", "1e-3", "-max_target_seqs", "100000", "-num_threads", "2"];
    const format = ["-outfmt", "6 qseqid sseqid evalue"];
    const blast = table(
      await run(["blastp", "-db", at("blast"), "-query", at("queries"), ...many, ...format]),
      2,
    );
    explainMissing(compared, blast);
    const matrix = ["-s", "BL62", "-f", "-11", "-g", "-1"];
    const ssearch = table(
      await run([
        "ssearch36",
        "-q",
        "-m",
        "8",
        "-E",
        "1e-3",
        "-T",
        "2",
        ...matrix,
        at("queries"),
        at("corpus"),
      ]),
      10,
    );
    const pairs = compared.flatMap(({ accession, residues }) =>
      findHomologs(residues, corpus, { ...DEFAULTS, maxHomologs: 1e9 }).flatMap(({ index, eValue: ours }) => {
        const name = `${accession} ${corpus.accession(index)}`;
        const [b, s] = [blast.get(name), ssearch.get(name)];
        return b === undefined || s === undefined || Math.min(b, s, ours) <= TINY ? [] : [{ ours, b, s }];
      }),
    );
    const within = (a: number, b: number): boolean => Math.abs(Math.log10(a / b)) <= 1;
    for (const [name, high, low] of [
      ["all", Infinity, 0],
      ["> 1e-20", Infinity, 1e-20],
      ["1e-60 to 1e-20", 1e-20, 1e-60],
      ["1e-170 to 1e-60", 1e-60, 0],
    ] as const) {
      const inRange = pairs.filter(({ b }) => b <= high && b > low);
      const share = (holds: (pair: (typeof pairs)[number]) => boolean): string =>
        `${((100 * inRange.filter(holds).length) / inRange.length).toFixed(1)} %`;
      const either = share((pair) => within(pair.ours, pair.b) || within(pair.ours, pair.s));
      const each = `of blastp's ${share(({ ours, b }) => within(ours, b))}, of ssearch36's ${share(({ ours, s }) => within(ours, s))}`;
      const peers = `blastp and ssearch36 of each other ${share(({ b, s }) => within(b, s))}`;
      say(`E ${name}: ${inRange.length} homologs, within 10 of the nearer ${either}, ${each}; ${peers}`);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The proteins of `e-values` by kind. */
function biasedAndOtherProteins(): Map<string, FastaEntry[]> {
  const drawOne = random(15);
  const share = (residues: Uint8Array, letters: string): number =>
    [...decode(residues)].filter((letter) => letters.includes(letter)).length / residues.length;
  const suitable = entries.filter(({ residues }) => residues.length >= 40 && residues.length <= 2500);
  const taken = new Set<FastaEntry>();
  const draw = (from: readonly FastaEntry[], number: number): FastaEntry[] => {
    const drawn: FastaEntry[] = [];
    while (drawn.length < number) {
      const entry = from[Math.floor(drawOne() * from.length)];
      if (taken.has(entry)) continue;
      taken.add(entry);
      drawn.push(entry);
    }
    return drawn;
  };
  // FUS, calreticulin, MDM2 and elastin, if the FASTA file contains them.
  const names = new Set(["P35637", "P27797", "Q00987", "P15502"]);
  const named = entries.filter(({ accession }) => names.has(accession));
  for (const entry of named) taken.add(entry);
  const kinds = new Map([["named", named]]);
  for (const [kind, letters, least] of [
    ["acidic", "DE", 0.22],
    ["glutamine and asparagine", "QN", 0.18],
    ["proline", "P", 0.12],
    ["serine and glycine", "SG", 0.22],
  ] as const) {
    kinds.set(
      kind,
      draw(
        suitable.filter(({ residues }) => share(residues, letters) > least),
        9,
      ),
    );
  }
  return kinds.set("any", draw(suitable, 60));
}

/** Prints for each protein how many of the homologs that blastp reports, too, have an E-value within 10 of blastp's. */
async function compareWithBlastp(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const at = (name: string): string => join(directory, name);
  const write = (path: string, of: readonly FastaEntry[]): Promise<number> =>
    Bun.write(path, of.map((one) => `>${one.accession}\n${decode(one.residues)}\n`).join(""));
  const whole = openCorpus(packCorpus("whole", entries));
  const kinds = biasedAndOtherProteins();
  await write(at("queries"), [...kinds.values()].flat());
  if (!existsSync(at("blast.pin"))) {
    await write(at("fasta"), entries);
    await run(["makeblastdb", "-in", at("fasta"), "-dbtype", "prot", "-out", at("blast")]);
  }
  const search = async (name: string, ...flags: string[]): Promise<Map<string, number>> => {
    const limits = ["-evalue", "1e-3", "-max_target_seqs", "100000", "-num_threads", "2"];
    const format = ["-outfmt", "6 qseqid sseqid evalue", "-out", at(name)];
    if (!existsSync(at(name)))
      await run(["blastp", "-db", at("blast"), "-query", at("queries"), ...limits, ...format, ...flags]);
    return table(await Bun.file(at(name)).text(), 2);
  };
  const [defaults, masked] = [await search("defaults"), await search("masked", "-seg", "yes")];
  say("kind, protein\thomologs\tshared\twithin 10\tshared with -seg yes\twithin 10");
  const totals = [0, 0, 0, 0, 0];
  for (const [kind, proteins] of kinds) {
    for (const { accession, residues } of proteins) {
      const homologs = findHomologs(residues, whole, DEFAULTS);
      const compare = (theirs: ReadonlyMap<string, number>): [shared: number, within: number] => {
        const ratios = homologs.flatMap(({ index, eValue: ours }) => {
          const other = theirs.get(`${accession} ${whole.accession(index)}`);
          if (other === undefined || Math.max(other, ours) <= TINY) return [];
          return [Math.abs(Math.log10(Math.max(TINY, ours) / Math.max(TINY, other)))];
        });
        return [ratios.length, ratios.filter((ratio) => ratio <= 1).length];
      };
      const row = [homologs.length, ...compare(defaults), ...compare(masked)];
      say([`${kind}, ${accession}`, ...row].join("\t"));
      for (const [i, value] of row.entries()) totals[i] += value;
    }
  }
  const share = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`;
  say(["all", ...totals].join("\t"));
  const [, shared, within, sharedMasked, withinMasked] = totals;
  say(
    `within 10 of blastp ${share(within, shared)}, of blastp -seg yes ${share(withinMasked, sharedMasked)}`,
  );
}

/** Reasons why good hits of blastp are missing. */
function explainMissing(compared: readonly FastaEntry[], blast: ReadonlyMap<string, number>): void {
  const bounds = { minLength: 0, maxLength: 1e9 };
  const counts = { good: 0, prefilter: 0, composition: 0, masking: 0, matrix: 0 };
  for (const { accession, residues } of compared) {
    const theirs = [...corpus.offsets.keys()].filter(
      (index) =>
        index < corpus.sequenceCount &&
        (blast.get(`${accession} ${corpus.accession(index)}`) ?? Infinity) <= E,
    );
    const aligned = alignLocal(
      residues,
      theirs.map((index) => readResidues(corpus, index)),
    );
    const good = theirs.flatMap((index, k) =>
      aligned[k].identity >= 0.3 && aligned[k].coverage >= 0.5 ? [{ index, score: aligned[k].score }] : [],
    );
    if (good.length === 0) continue;
    const found = (exhaustive: boolean, maxEValue: number): Map<number, number> =>
      new Map(
        search(residues, corpus, { ...bounds, exhaustive, maxEValue }).map(({ index, rawScore }) => [
          index,
          rawScore,
        ]),
      );
    const [quick, all, scores] = [found(false, E), found(true, E), found(true, 1e300)];
    for (const { index, score } of good) {
      const chance = (raw: number): number =>
        eValue(raw, residues.length, readResidues(corpus, index).length, corpus.residueCount);
      counts.good++;
      if (quick.has(index)) continue;
      if (all.has(index)) counts.prefilter++;
      else if (chance(scores.get(index) ?? 0) <= E) counts.composition++;
      else if (chance(score) <= E) counts.masking++;
      else counts.matrix++;
    }
  }
  say(
    `of ${counts.good} good hits of blastp with E <= ${E}: ${counts.prefilter} missed by the prefilter, above the limit ` +
      `${counts.composition} by the scaled score, ${counts.masking} by masking, ${counts.matrix} by the adjusted matrix`,
  );
}

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "pipe" });
  const [text, message] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${message}`);
  return text;
}

/** Best E-value of each pair. */
function table(text: string, column: number): Map<string, number> {
  const best = new Map<string, number>();
  for (const line of text.split("\n").filter((each) => each !== "" && !each.startsWith("#"))) {
    const cells = line.split("\t");
    const name = `${cells[0]} ${cells[1]}`;
    best.set(name, Math.min(best.get(name) ?? Infinity, Number(cells[column])));
  }
  return best;
}
