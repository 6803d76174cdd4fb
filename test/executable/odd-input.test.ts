import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { ask, element, ended, inEnvelope, labd, NAMESPACE, post, scratch, serve } from "./labd.ts";

/**
 * Unusual queries, patterns and corpora, sent to the executable by command line, JSON and SOAP. test/golden/odd-input.md
 * has the responses; `DOCS=write` writes it.
 */

const PAGE = join(import.meta.dir, "../golden/odd-input.md");
const TABLE = /(<!-- odd input -->\n)[^]*?(<!-- end of odd input -->)/;

const next = random(31);
const founder = randomProtein(next, 90);
const FAMILY = 3000;
const family = Array.from({ length: FAMILY }, () => decode(mutated(next, founder, 0.1 + 0.3 * next())));
const strangers = Array.from({ length: 300 }, () => decode(randomProtein(next, 200)));
const query = decode(founder);
const stranger = decode(randomProtein(random(5), 120));

type CorpusState = "intact" | "cut short" | "altered" | "missing";

interface Case {
  name: string;
  sequence: string;
  pattern?: string;
  corpus?: CorpusState;
}
const PATTERN = `${query[40]}.${query[42]}`;
const CASES: Case[] = [
  { name: "an empty sequence", sequence: "" },
  { name: "white space alone", sequence: " \t\n " },
  { name: "one residue", sequence: "W", pattern: "W" },
  { name: "35,000 residues", sequence: decode(randomProtein(random(6), 35_000)) },
  { name: "more residues than are scored", sequence: "MK".repeat(20_001) },
  { name: "X only", sequence: "X".repeat(80) },
  {
    name: "B, J, O, U, X and Z among others",
    sequence: [...query].map((letter, i) => (i % 15 === 7 ? "BJOUXZ"[(i / 15) | 0] : letter)).join(""),
  },
  { name: "a character that is no letter", sequence: `${query.slice(0, 50)}7${query.slice(50)}` },
  { name: "words", sequence: "hello world protein 123" },
  { name: "a sequence as in GenBank", sequence: `        1 ${query.toLowerCase().replace(/.{10}/g, "$& ")}` },
  { name: "no homolog", sequence: stranger, pattern: stranger.slice(40, 43) },
  { name: `${FAMILY.toLocaleString("en")} homologs`, sequence: query },
  { name: "a pattern that matches everywhere", sequence: query, pattern: "." },
  { name: "a pattern that matches nowhere", sequence: query, pattern: "WWWWWW" },
  { name: "a pattern that matches nothing but the empty text", sequence: query, pattern: "A{0}" },
  { name: "a pattern without meaning", sequence: query, pattern: "A{5,2}" },
  { name: "a pattern in another notation", sequence: query, pattern: "P-x(2)-P" },
  { name: "no corpus", sequence: query, corpus: "missing" },
  { name: "a corpus cut short", sequence: query, corpus: "cut short" },
  { name: "a corpus whose tables are altered", sequence: query, corpus: "altered" },
];

/** Summary of a prediction, the same for command line, JSON and SOAP. */
function summarize(homologs: number, verdicts: string[], warnings: number): string {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const found = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ") || "no match";
  return `${homologs} homologs; ${found}; ${warnings} warnings`;
}

interface Prediction {
  homologs: unknown[];
  patterns: { matches: { verdict: string; conservationLevel: string }[] }[];
  warnings: unknown[];
}

const inWords = (conservation: string, verdict = "not scored"): string => `${conservation} (${verdict})`;

function summarizeJson({ homologs, patterns, warnings }: Prediction): string {
  const verdicts = patterns.flatMap(({ matches }) =>
    matches.map(({ verdict, conservationLevel }) => inWords(conservationLevel, verdict)),
  );
  return summarize(homologs.length, verdicts, warnings.length);
}

async function scoreByCommand(directory: string, { sequence, pattern = PATTERN }: Case): Promise<string> {
  const words = ["score", "--fasta", "-", "--pattern", pattern, "--format", "json"];
  const env = { LABD_DATA_DIR: directory };
  const { code, stdout, stderr } = await labd(words, { env, stdin: `>odd\n${sequence}\n` });
  if (code !== 0) return `exit ${code}: ${stderr.replace(/^labd: /, "").trim()}`;
  return summarizeJson(JSON.parse(stdout).prediction);
}

async function scoreByJson(url: string, { sequence, pattern = PATTERN }: Case): Promise<string> {
  const response = await fetch(`${url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ querySequence: sequence, patterns: [pattern] }),
  });
  const job = (await response.json()) as { code: string; message: string; links: Record<string, string> };
  if (response.status !== 202) return `${response.status} ${job.code}: ${job.message}`;
  await (await fetch(job.links.events)).text();
  const result = await fetch(job.links.result);
  const answer = await result.json();
  if (result.status !== 200) return `${result.status} ${answer.code}: ${answer.message}`;
  return summarizeJson(answer);
}

async function scoreBySoap(url: string, { sequence, pattern = PATTERN }: Case): Promise<string> {
  const body = `<RunJob xmlns="${NAMESPACE}"><identifier>odd</identifier><querySequence>${sequence}</querySequence><scoringModel>continuous</scoringModel><regularExpression>${pattern}</regularExpression></RunJob>`;
  const submitted = await post(url, inEnvelope(body));
  const job = element(submitted.text, "JobIdentifier");
  if (job === undefined) return `fault: ${element(submitted.text, "faultstring")}`;
  await ended(url, job);
  const { text } = await ask(url, "GetResult", job);
  const fault = element(text, "faultstring");
  if (fault !== undefined) return `fault: ${fault}`;
  const verdicts = text
    .split("<p:motifMatch>")
    .slice(1)
    .map((match) => inWords(element(match, "verdict")!, element(match, "overallVerdict")));
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  // Warnings of matches are inside them; those of the prediction are last.
  const last = text.slice(text.lastIndexOf("</p:pattern>"));
  return summarize(count(/<(?:\w+:)?homolog>/g), verdicts, last.match(/<(?:\w+:)?warning>/g)?.length ?? 0);
}

/** The text without the parts that differ between runs, for a table cell. */
const normalize = (text: string): string =>
  text
    .replace(/corpora\/[0-9a-f]{64}/g, "corpora/…")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")
    .replace(/\s+/g, " ")
    .replaceAll("|", "\\|");

/** A data directory for each state of the corpus. */
async function prepareCorpora(parent: string): Promise<Record<CorpusState, string>> {
  const at = (name: string): string => join(parent, name);
  const directories = {
    intact: at("intact"),
    "cut short": at("cut-short"),
    altered: at("altered"),
    missing: at("missing"),
  };
  for (const directory of Object.values(directories)) mkdirSync(directory);
  const fasta = [...family, ...strangers].map((letters, i) => `>P${i}\n${letters}\n`).join("");
  await labd(["corpus", "add", "-", "--name", "odd"], {
    env: { LABD_DATA_DIR: directories.intact },
    stdin: fasta,
  });
  for (const copy of ["cut short", "altered"] as const)
    cpSync(directories.intact, directories[copy], { recursive: true });
  const packed = (directory: string): string =>
    [...new Bun.Glob("corpora/*.labc").scanSync({ cwd: directory, absolute: true })][0];
  const bytes = readFileSync(packed(directories.intact));
  truncateSync(packed(directories["cut short"]), bytes.length - 8);
  writeFileSync(packed(directories.altered), bytes.fill(255, bytes.length - 20_000, bytes.length - 10_000));
  return directories;
}

test("SOAP, JSON and command line respond to unusual input as test/golden/odd-input.md says", async () => {
  using place = scratch();
  const directories = await prepareCorpora(place.directory);
  const rows: string[] = [];
  for (const [corpus, cases] of Map.groupBy(CASES, (one) => one.corpus ?? "intact")) {
    const directory = directories[corpus];
    await using server = await serve(directory, ["--workers", "2", "--log", "off"]);
    for (const one of cases) {
      const json = await scoreByJson(server.url, one);
      const soap = await scoreBySoap(server.url, one);
      const command = await scoreByCommand(directory, one);
      const isScored = json.includes("homologs;");
      if (isScored && soap.includes("homologs;")) expect(soap).toBe(json);
      if (isScored && command.includes("homologs;")) expect(command).toBe(json);
      const cells =
        json === soap && soap === command ? [json, "the same", "the same"] : [command, json, soap];
      rows.push(`| ${[one.name, ...cells].map(normalize).join(" | ")} |\n`);
    }
    expect(server.process.exitCode).toBe(null);
  }
  const table = `\n| Input | \`labd score\` | JSON | SOAP |\n|---|---|---|---|\n${rows.join("")}\n`;
  const page = readFileSync(PAGE, "utf8");
  const updated = page.replace(TABLE, (_, begin, end) => `${begin}${table}${end}`);
  if (process.env.DOCS === "write") writeFileSync(PAGE, updated);
  else expect(page).toBe(updated);
}, 300_000);
