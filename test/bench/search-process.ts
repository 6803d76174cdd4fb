/**
 * Homolog search as a process, for comparison with other programs:
 *
 *   bun run test/bench/search-process.ts CORPUS FASTA THREADS [bounded]
 *
 * prints query, accession, raw score and E-value of every hit with E ≤ 1e-5, with the groups and threads of
 * `labd score`. `bounded` applies its length limits.
 */
import {
  DEFAULTS,
  decode,
  findHits,
  groupQueries,
  type Hit,
  openCorpus,
  readFasta,
} from "../../src/motif/index.ts";

interface Task {
  queries: string[];
  counter: Int32Array;
  file: string;
  bounded: boolean;
}

declare const self: Worker;

if (Bun.isMainThread) {
  const [file, fasta, threads, bounded] = Bun.argv.slice(2);
  const entries = readFasta(await Bun.file(fasta).bytes());
  const texts = entries.map(({ residues }) => decode(residues));
  const workers = Array.from({ length: Number(threads) }, () => new Worker(import.meta.url));
  const hits: Hit[][] = texts.map(() => []);
  const groups = groupQueries(texts.map((text) => text.length)).map((members) => ({
    members,
    counter: new Int32Array(new SharedArrayBuffer(4)),
  }));
  const work = async (worker: Worker): Promise<void> => {
    for (const { members, counter } of groups) {
      const task: Task = {
        queries: members.map((k) => texts[k]),
        counter,
        file,
        bounded: bounded === "bounded",
      };
      const { promise, resolve, reject } = Promise.withResolvers<Hit[][]>();
      worker.addEventListener("message", ({ data }: MessageEvent<Hit[][]>) => resolve(data), { once: true });
      worker.addEventListener("error", reject, { once: true });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
      worker.postMessage(task);
      for (const [i, found] of (await promise).entries()) hits[members[i]].push(...found);
    }
    worker.terminate();
  };
  const searches = workers.map(work);
  const corpus = openCorpus(Bun.mmap(file));
  await Promise.all(searches);
  const out: string[] = [];
  for (const [k, { accession }] of entries.entries()) {
    for (const { index, rawScore, eValue } of hits[k])
      out.push(`${accession}\t${corpus.accession(index)}\t${rawScore}\t${eValue}\n`);
  }
  process.stdout.write(out.join(""));
} else {
  self.addEventListener("message", ({ data }: MessageEvent<Task>) => {
    const options = data.bounded ? DEFAULTS : { ...DEFAULTS, minCoverage: 0, maxLengthRatio: Infinity };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    self.postMessage(findHits(data.queries, openCorpus(Bun.mmap(data.file)), options, data.counter));
  });
}
