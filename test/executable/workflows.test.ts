import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { labd, LABD } from "./labd.ts";

setDefaultTimeout(300_000);

/** The workflows of packaging/workflows with the programs that they are for, on the example and its expected table. */

const WORKFLOWS = join(import.meta.dir, "../../packaging/workflows");
const EXAMPLE = join(WORKFLOWS, "example");
/** Settings of folder.yaml, apart from its comments. */
const MOTIFS = [
  "LIG_PCNA_PIPBox_1",
  "DEG_APCC_DBOX_1",
  "DEG_SCF_TRCP1_1",
  "DOC_CYCLIN_RxL_1",
  "TRG_NES_CRM1_1",
];

/** Debian's Python has the packages that Debian's programs need; another one on the path may not. */
const PATH = `/usr/bin:/bin:${process.env.PATH}`;
const find = (name: string): string | null => Bun.which(name, { PATH });
const hasMatplotlib =
  find("python3") !== null &&
  Bun.spawnSync([find("python3")!, "-c", "import matplotlib"], { stdout: "ignore", stderr: "ignore" })
    .exitCode === 0;
const missing = (program: string): string =>
  [find(program) === null && program, !hasMatplotlib && "python3-matplotlib"].filter(Boolean).join(" ");
const name = (title: string, lacks: string): string =>
  lacks === "" ? title : `${title} (SKIPPED: apt-get install ${lacks})`;

let directory: string;
let data: string;
let env: Record<string, string>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-workflows-"));
  data = join(directory, "data");
  mkdirSync(join(directory, "bin"));
  symlinkSync(LABD, join(directory, "bin/labd"));
  env = { PATH: `${join(directory, "bin")}:${PATH}`, HOME: directory };
  await labd(["corpus", "add", "--sample", "--data-dir", data]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs a program to its end in a folder of its own; its standard output, or an error with all that it printed. */
async function run(folder: string, command: string[]): Promise<string> {
  const cwd = join(directory, folder);
  mkdirSync(cwd, { recursive: true });
  const ended = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [printed, complaint] = await Promise.all([
    Bun.readableStreamToText(ended.stdout),
    Bun.readableStreamToText(ended.stderr),
  ]);
  if ((await ended.exited) !== 0) throw new Error(`${command.join(" ")}: ${printed}\n${complaint}`);
  return printed;
}

const read = (...path: string[]): string => readFileSync(join(directory, ...path), "utf8");
/** A table without the version of labd and the day. */
const stable = (table: string): string => table.replace(/^# (labd|date): .*\n/gm, "");
const expected = readFileSync(join(EXAMPLE, "scores.tsv"), "utf8");

function expectFigures(...path: string[]): void {
  for (const gene of ["TP53", "CTNNB1", "PKIA"]) {
    // Texts are outlines; matplotlib keeps their words as comments.
    expect(read(...path, "matches.svg")).toContain(`<!-- ${gene} (`);
    expect(read(...path, "motifs.svg")).toContain(`<!-- ${gene} (`);
  }
  expect(read(...path, "motifs.svg")).toContain("<!-- TRG_NES_CRM1_1 -->");
}

test("labd score gives the expected table of the example", async () => {
  const files = readdirSync(EXAMPLE)
    .filter((file) => file.endsWith(".fasta"))
    .sort();
  const fasta = files.map((file) => readFileSync(join(EXAMPLE, file), "utf8")).join("");
  const motifs = ["--pattern", "F...W..[LIV]", ...MOTIFS.flatMap((motif) => ["--elm", motif])];
  const scored = await labd(["score", "--fasta", "-", ...motifs, "--data-dir", data], { stdin: fasta });
  expect(stable(scored.stdout)).toBe(expected);
});

const noCwl = missing("cwltool");
test.skipIf(noCwl !== "")(
  name("CWL: a folder becomes a table with figures and checksums", noCwl),
  async () => {
    const job = readFileSync(join(EXAMPLE, "folder.yaml"), "utf8")
      .replace("location: .", `location: ${EXAMPLE}`)
      .replace(/^data_dir: .*/m, `data_dir: ${data}`);
    mkdirSync(join(directory, "cwl"));
    writeFileSync(join(directory, "cwl/job.yaml"), job);
    const outputs = JSON.parse(
      await run("cwl", ["cwltool", "--quiet", join(WORKFLOWS, "folder.cwl"), "job.yaml"]),
    ) as { table: { checksum: string } };
    const table = read("cwl", "scores.tsv");
    expect(stable(table)).toBe(expected);
    expect(outputs.table.checksum).toBe(`sha1$${new Bun.CryptoHasher("sha1").update(table).digest("hex")}`);
    const sum = new Bun.CryptoHasher("sha256").update(table).digest("hex");
    expect(read("cwl", "SHA256SUMS")).toBe(`${sum}  scores.tsv\n`);
    expectFigures("cwl", "figures");
    const again = await labd(["score", "--like", join(directory, "cwl/scores.tsv"), "--data-dir", data]);
    expect(stable(again.stdout)).toBe(expected);
  },
);

test.skipIf(noCwl !== "")(name("CWL: scan and proteome are tools", noCwl), async () => {
  const cwl = (tool: string, ...words: string[]): Promise<string> =>
    run("tools", ["cwltool", "--quiet", join(WORKFLOWS, tool), "--data_dir", data, ...words]);
  const fasta = join(EXAMPLE, "P53_HUMAN.fasta");
  await cwl("scan.cwl", "--fasta", fasta, "--max_q", "0.2");
  const scanned = await labd(["scan", "--fasta", fasta, "--max-q", "0.2", "--data-dir", data]);
  expect(stable(read("tools", "scan.tsv"))).toBe(stable(scanned.stdout));
  expect(scanned.stdout).toContain("FSDLWKLL");
  writeFileSync(join(directory, "proteins.txt"), "P04637\nP38936\n");
  const proteins = ["--proteins", join(directory, "proteins.txt")];
  await labd(["proteome", "build", ...proteins, "--data-dir", data]);
  await cwl("proteome.cwl", "--pattern", "F...W..[LIV]", ...proteins);
  expect(read("tools", "matches.tsv")).toContain("FSDLWKLL");
});

const noSnakemake = missing("snakemake");
test.skipIf(noSnakemake !== "")(
  name("Snakemake: a folder becomes a table, alone and as a module", noSnakemake),
  async () => {
    const settings = readFileSync(join(EXAMPLE, "snakemake.yaml"), "utf8")
      .replace(/^folder: .*/m, `folder: ${EXAMPLE}`)
      .replace(/^data_dir: .*/m, `data_dir: ${data}`);
    mkdirSync(join(directory, "snakemake"));
    writeFileSync(join(directory, "snakemake/settings.yaml"), settings);
    const snakefile = join(WORKFLOWS, "Snakefile");
    await run("snakemake", ["snakemake", "-s", snakefile, "--cores", "1", "--configfile", "settings.yaml"]);
    expect(stable(read("snakemake", "results/scores.tsv"))).toBe(expected);
    expectFigures("snakemake", "results", "figures");

    writeFileSync(
      join(directory, "snakemake/Snakefile"),
      `configfile: "module.yaml"
module labd:
    snakefile: "${snakefile}"
    config: config["labd"]
use rule * from labd as labd_*
rule count:
    default_target: True
    input: rules.labd_all.input
    output: "rows.txt"
    shell: "grep -v ^# {input[0]} | grep -c FSDLWKLL > {output}"
`,
    );
    const indented = settings.replace(/^(?=\w)/gm, "  ").replace("results: results", "results: module");
    writeFileSync(join(directory, "snakemake/module.yaml"), `labd:\n${indented}`);
    await run("snakemake", ["snakemake", "--cores", "1"]);
    expect(read("snakemake", "rows.txt")).toBe("1\n");
  },
);
