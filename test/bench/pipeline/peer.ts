/**
 * The pipeline that labd takes the place of, as one would write it today: blastp, choice of homologs, MAFFT (FFT-NS-2),
 * quicktree, a scoring script. Every program gets the threads that labd has, the database is made beforehand, and
 * the patterns are the same.
 */
import { join } from "node:path";

export const PROGRAMS = ["makeblastdb", "blastp", "blastdbcmd", "mafft", "quicktree", "python3"];
export const missing = (): string[] => PROGRAMS.filter((program) => Bun.which(program) === null);

/** Milliseconds of each step. */
export interface PeerTimes {
  blastp: number;
  choice: number;
  mafft: number;
  quicktree: number;
  script: number;
}
export interface PeerAnswer {
  times: PeerTimes;
  /** Processor time of all programs in milliseconds. */
  processor: number;
  homologs: number;
  matches: number;
}

/** Processor time since the last call. */
let processor = 0;

async function run(...command: string[]): Promise<string> {
  const process = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [text, message, code] = await Promise.all([
    Bun.readableStreamToText(process.stdout),
    Bun.readableStreamToText(process.stderr),
    process.exited,
  ]);
  processor += Number(process.resourceUsage()!.cpuTime.total) / 1000;
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${message}`);
  return text;
}

const options = (...pairs: [string, string][]): string[] =>
  pairs.flatMap(([name, value]) => [`-${name}`, value]);

/** A peer over the proteins of a FASTA file; its files are written to `directory`. */
export async function openPeer(fasta: string, directory: string, threads: number) {
  const database = join(directory, "blast");
  await run("makeblastdb", "-in", fasta, "-dbtype", "prot", "-parse_seqids", "-out", database);
  // A shim of a version manager would be measured instead of Python.
  const python = (await run("python3", "-c", "import sys; print(sys.executable)")).trim();
  const script = join(import.meta.dir, "score.py");
  const at = (name: string): string => join(directory, name);

  return async (query: string, patterns: readonly string[]): Promise<PeerAnswer> => {
    processor = 0;
    const marks = [performance.now()];
    const mark = (): void => void marks.push(performance.now());
    await Bun.write(at("query.fa"), `>query\n${query}\n`);
    const hits = await run(
      "blastp",
      ...options(["db", database], ["query", at("query.fa")], ["evalue", "1e-5"]),
      ...options(["num_threads", String(threads)], ["max_target_seqs", "500"]),
      ...options(["outfmt", "6 saccver pident qstart qend slen"]),
    );
    mark();
    const chosen = new Set<string>();
    for (const line of hits.trim().split("\n")) {
      const [accession, identity, start, end, length] = line.split("\t");
      const coverage = (Number(end) - Number(start) + 1) / query.length;
      if (Number(identity) < 25 || coverage < 0.5 || Number(length) > 3 * query.length) continue;
      // One more than are wanted: the query itself may be among them.
      if (chosen.size <= 100) chosen.add(accession);
    }
    const found =
      chosen.size === 0 ? "" : await run("blastdbcmd", "-db", database, "-entry", [...chosen].join(","));
    const sequences = found
      .split(/^>/m)
      .slice(1)
      .map((record) => {
        const end = record.indexOf("\n");
        const letters = record.slice(end).replace(/\s/g, "");
        return {
          name: record
            .slice(0, end)
            .split(/\s/, 1)[0]
            .replace(/[^\w.]/g, "_"),
          letters,
        };
      })
      .filter(({ letters }) => letters !== query)
      .slice(0, 100);
    const homologs = sequences.length;
    const text = sequences.map(({ name, letters }) => `>${name}\n${letters}\n`).join("");
    await Bun.write(at("family.fa"), `>query\n${query}\n${text}`);
    mark();
    let matches = 0;
    // Three rows are the least that quicktree and a score make sense for.
    if (homologs >= 3) {
      const ways = "--retree 2 --maxiterate 0 --anysymbol --quiet".split(" ");
      const aligned = await run("mafft", ...ways, "--thread", String(threads), at("family.fa"));
      await Bun.write(at("aligned.fa"), aligned);
      const rows = aligned
        .split(/^>/m)
        .slice(1)
        .map((record) => record.replace(/\n/, " ").replace(/\n/g, "").toUpperCase());
      await Bun.write(
        at("aligned.sto"),
        `# STOCKHOLM 1.0\n${rows.map((row) => row.replace(/^QUERY /, "query ")).join("\n")}\n//\n`,
      );
      mark();
      await Bun.write(at("tree.nwk"), await run("quicktree", "-in", "a", "-out", "t", at("aligned.sto")));
      mark();
      const scores = await run(python, script, at("aligned.fa"), at("tree.nwk"), ...patterns);
      matches = scores.trim() === "" ? 0 : scores.trim().split("\n").length;
    }
    mark();
    const [begin, ...ends] = marks;
    const steps = ends.map((end, i) => end - (ends[i - 1] ?? begin));
    const [blastp, choice, mafft = 0, quicktree = 0, rest = 0] = homologs >= 3 ? steps : [steps[0], steps[1]];
    return { times: { blastp, choice, mafft, quicktree, script: rest }, processor, homologs, matches };
  };
}
