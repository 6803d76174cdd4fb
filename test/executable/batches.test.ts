import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { labd, LABD } from "./labd.ts";
import { SlurmCluster, whyNoSlurm } from "./slurm-cluster.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** The examples of packaging/workflows as they stand, with the programs that they are for. */

const EXAMPLES = join(import.meta.dir, "../../packaging/workflows");
const hasParallel = Bun.which("parallel") !== null;
let directory: string;
let env: Record<string, string>;
const records = proteins.split(/^>/m).slice(1);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-batches-"));
  mkdirSync(join(directory, "bin"));
  symlinkSync(LABD, join(directory, "bin/labd"));
  const PATH = `${join(directory, "bin")}:${process.env.PATH}`;
  env = { PATH, LABD_DATA_DIR: join(directory, "data"), HOME: directory };
  await labd(["corpus", "add", "--sample"], { env });
  const rows = (count: number): string =>
    records
      .slice(0, count)
      .map((record) => `${record.split(/\s/, 1)[0]}\tP..P\n`)
      .join("");
  writeFileSync(join(directory, "few pairs.tsv"), rows(8));
  writeFileSync(join(directory, "pairs.tsv"), rows(64));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const text = (name: string): string => readFileSync(join(directory, name), "utf8");
const whole = async (pairs: string, ...words: string[]): Promise<string> =>
  (await labd(["score", "--batch", pairs, ...words], { env, cwd: directory })).stdout;

/** Runs a command to its end; what it printed, or an error with it. */
async function run(command: string[], cwd = directory): Promise<string> {
  const ended = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [printed, complaint] = await Promise.all([
    Bun.readableStreamToText(ended.stdout),
    Bun.readableStreamToText(ended.stderr),
  ]);
  if ((await ended.exited) !== 0) throw new Error(`${command.join(" ")}: ${complaint}`);
  return printed;
}

/**
 * labd as Slurm's tasks find it: shards 2 and 3 stand still when two of their queries are done, until there is a file
 * "released". What is killed meanwhile is neither at its beginning nor at its end, on a machine of any speed.
 */
const HELD_LABD = `#!/bin/sh
shard=0
case "$* " in *"--shard 2/4 "*) shard=2 ;; *"--shard 3/4 "*) shard=3 ;; esac
if [ $shard = 0 ] || [ -e released ]; then exec '${LABD}' "$@"; fi
progress=scores.tsv.$shard.progress
while :; do
  '${LABD}' "$@" &
  while kill -0 $! 2>/dev/null; do
    if grep -Eqs '"queries":([2-9]|1[0-9])' $progress && kill -STOP $!; then
      if [ -e $progress ]; then
        touch held.$shard
        wait $!
        exit 1
      fi
      kill -CONT $!
    fi
    sleep .01
  done
  rm -f scores.tsv.$shard # it was done before it could be held: again
done
`;

test.skipIf(!hasParallel)(
  `GNU parallel${hasParallel ? "" : " (SKIPPED: apt-get install parallel)"}`,
  async () => {
    const command = [join(EXAMPLES, "parallel.sh"), "3", "by parallel.tsv", "--batch", "few pairs.tsv"];
    await run(command);
    const expected = await whole("few pairs.tsv");
    expect(text("by parallel.tsv")).toBe(expected);
    // Existing files are not computed again; lost ones are.
    rmSync(join(directory, "by parallel.tsv"));
    rmSync(join(directory, "by parallel.tsv.2"));
    const kept = Bun.file(join(directory, "by parallel.tsv.1")).lastModified;
    await run(command);
    expect(text("by parallel.tsv")).toBe(expected);
    expect(Bun.file(join(directory, "by parallel.tsv.1")).lastModified).toBe(kept);
  },
);

test("the tasks of the Nextflow script work in a shell", async () => {
  const [score, merge] = [
    ...readFileSync(join(EXAMPLES, "score.nf"), "utf8").matchAll(/"""\n([\s\S]*?)"""/g),
  ];
  const names = [1, 2, 3].map((shard) => `scores.${shard}.tsv`);
  const values = (shard: number): Record<string, string> => ({
    pairs: "'few pairs.tsv'",
    shard: String(shard),
    shards: names.join(" "),
    "params.shards": "3",
    "params.data_dir": env.LABD_DATA_DIR,
    "task.cpus": "1",
  });
  const filled = (script: string, shard: number): string =>
    script.replace(/\$\{([\w.]+)\}/g, (_, name: string) => {
      expect(Object.keys(values(shard))).toContain(name);
      return values(shard)[name];
    });
  for (const shard of [1, 2, 3]) await run(["sh", "-euc", filled(score[1], shard)]);
  await run(["sh", "-euc", filled(merge[1], 0)]);
  expect(text("merged.tsv")).toBe(await whole("few pairs.tsv"));
});

test.skipIf(whyNoSlurm !== null)(
  `a Slurm array of four continues after a requeued and a killed task${whyNoSlurm === null ? "" : ` (SKIPPED: ${whyNoSlurm})`}`,
  async () => {
    const place = join(directory, "slurm");
    mkdirSync(place);
    mkdirSync(join(place, "bin"));
    writeFileSync(join(place, "bin/labd"), HELD_LABD);
    chmodSync(join(place, "bin/labd"), 0o755);
    await using slurm = await SlurmCluster.start(place, 4);
    const PATH = `${join(place, "bin")}:${env.PATH}`;
    const inSlurm = (...command: string[]): Promise<string> =>
      slurm.run(command, { cwd: directory, env: { ...env, PATH } });
    const words = ["--batch", "pairs.tsv"];
    const states = async (job: string): Promise<string[]> => {
      const lines = await inSlurm("squeue", "-h", "-r", "-j", job, "-o", "%K %T").catch(() => "");
      return lines.split("\n").filter((line) => line !== "");
    };
    const log = async () => (await slurm.log()).slice(-4000);
    const done = (task: number): number => {
      const mark = join(directory, `scores.tsv.${task}.progress`);
      return existsSync(mark) ? (JSON.parse(readFileSync(mark, "utf8")) as { queries: number }).queries : 0;
    };
    const [array, merge] = (await inSlurm(join(EXAMPLES, "submit.sh"), "4", "scores.tsv", ...words)).split(
      " ",
    );
    await waitFor(() => [2, 3].every((shard) => existsSync(join(directory, `held.${shard}`))), log);
    writeFileSync(join(directory, "released"), "");
    await inSlurm("scontrol", "requeue", `${array}_2`);
    await inSlurm("scancel", `${array}_3`);
    await waitFor(async () => Bun.deepEquals(await states(array), ["2 PENDING"]), log);
    const [before, killed] = [done(2), done(3)];
    expect(Math.min(before, killed)).toBeGreaterThanOrEqual(2);
    expect([
      existsSync(join(directory, "scores.tsv.1")),
      existsSync(join(directory, "scores.tsv.1.progress")),
    ]).toEqual([true, false]);
    // Slurm would wait two minutes before it starts it again. At once is too early: its node refuses what has the
    // number of a task that it killed in the same second.
    await inSlurm("scontrol", "update", `jobid=${array}_2`, "StartTime=now+3");
    await waitFor(async () => (await states(array)).length === 0, log);
    // One of its tasks was killed, so that the job that merges does not begin.
    await waitFor(async () => (await states(merge)).length === 0, log);
    expect(existsSync(join(directory, "scores.tsv"))).toBe(false);
    const early = await labd(["merge", ...[1, 2, 3, 4].map((i) => `scores.tsv.${i}`)], {
      env,
      cwd: directory,
    });
    expect([early.code, early.stderr]).toEqual([75, expect.stringContaining("scores.tsv.3 is incomplete")]);

    const batch = (...command: string[]): Promise<string> => inSlurm("sbatch", "--parsable", ...command);
    const again = await batch("--array=3", join(EXAMPLES, "score.sbatch"), "4", "scores.tsv", ...words);
    await batch(`--dependency=afterok:${again}`, join(EXAMPLES, "merge.sbatch"), "4", "scores.tsv");
    await waitFor(() => existsSync(join(directory, "scores.tsv")), log);
    expect(text("scores.tsv")).toBe(await whole("pairs.tsv"));
  },
);
