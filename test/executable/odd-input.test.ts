import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import {
  ask,
  element,
  ended,
  type Ended,
  inEnvelope,
  labd,
  NAMESPACE,
  post,
  scratch,
  serve,
} from "./labd.ts";

/**
 * Queries, patterns and corpora that are odd, asked of the executable by its three faces. What each answers is the table in
 * test/golden/odd-input.md; `DOCS=write` writes it.
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

interface Case {
  what: string;
  sequence: string;
  pattern?: string;
  corpus?: "cut short" | "altered" | "none";
}
const pattern = `${query[40]}.${query[42]}`;
const CASES: Case[] = [
  { what: "an empty sequence", sequence: "" },
  { what: "white space alone", sequence: " \t\n " },
  { what: "one residue", sequence: "W", pattern: "W" },
  { what: "35,000 residues", sequence: decode(randomProtein(random(6), 35_000)) },
  { what: "more residues than are scored", sequence: "MK".repeat(20_001) },
  { what: "X only", sequence: "X".repeat(80) },
  {
    what: "B, J, O, U, X and Z among others",
    sequence: [...query].map((letter, i) => (i % 15 === 7 ? "BJOUXZ"[(i / 15) | 0] : letter)).join(""),
  },
  { what: "a character that is no letter", sequence: `${query.slice(0, 50)}7${query.slice(50)}` },
  { what: "no homolog", sequence: stranger, pattern: stranger.slice(40, 43) },
  { what: `${FAMILY.toLocaleString("en")} homologs`, sequence: query },
  { what: "a pattern that matches everywhere", sequence: query, pattern: "." },
  { what: "a pattern that matches nowhere", sequence: query, pattern: "WWWWWW" },
  { what: "a pattern that matches nothing but the empty text", sequence: query, pattern: "A{0}" },
  { what: "a pattern without meaning", sequence: query, pattern: "A{5,2}" },
  { what: "no corpus", sequence: query, corpus: "none" },
  { what: "a corpus cut short", sequence: query, corpus: "cut short" },
  { what: "a corpus whose tables are altered", sequence: query, corpus: "altered" },
];

/** What a prediction says, in words that can be compared between faces. */
function told(homologs: number, verdicts: string[], warnings: number): string {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const found = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ") || "no match";
  return `${homologs} homologs; ${found}; ${warnings} warnings`;
}

function byCommand({ code, stdout, stderr }: Ended): string {
  if (code !== 0) return `exit ${code}: ${stderr.replace(/^labd: /, "").trim()}`;
  const { homologs, patterns, warnings } = JSON.parse(stdout).prediction;
  const matches = patterns.flatMap((one: { matches: { verdict: string }[] }) => one.matches);
  return told(
    homologs.length,
    matches.map((match: { verdict: string }) => match.verdict),
    warnings.length,
  );
}

async function byJson(url: string, { sequence, pattern: own = pattern }: Case): Promise<string> {
  const response = await fetch(`${url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ querySequence: sequence, patterns: [own] }),
  });
  const job = (await response.json()) as { code: string; message: string; links: Record<string, string> };
  if (response.status !== 202) return `${response.status} ${job.code}: ${job.message}`;
  await (await fetch(job.links.events)).text();
  const result = await fetch(job.links.result);
  const answer = await result.json();
  if (result.status !== 200) return `${result.status} ${answer.code}: ${answer.message}`;
  return byCommand({ code: 0, stdout: JSON.stringify({ prediction: answer }), stderr: "" });
}

async function bySoap(url: string, { sequence, pattern: own = pattern }: Case): Promise<string> {
  const body = `<RunJob xmlns="${NAMESPACE}"><identifier>odd</identifier><querySequence>${sequence}</querySequence><scoringModel>continuous</scoringModel><regularExpression>${own}</regularExpression></RunJob>`;
  const started = await post(url, inEnvelope(body));
  const job = element(started.text, "JobIdentifier");
  if (job === undefined) return `fault: ${element(started.text, "faultstring")}`;
  await ended(url, job);
  const { text } = await ask(url, "GetResult", job);
  const fault = element(text, "faultstring");
  if (fault !== undefined) return `fault: ${fault}`;
  const verdicts = [...text.matchAll(/<(?:\w+:)?verdict>([^<]*)</g)].map(([, verdict]) => verdict);
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  // Warnings of matches stand within them; those of the prediction stand last.
  const last = text.slice(text.lastIndexOf("</p:pattern>"));
  return told(count(/<(?:\w+:)?homolog>/g), verdicts, last.match(/<(?:\w+:)?warning>/g)?.length ?? 0);
}

/** The text without what differs from run to run. */
const steady = (text: string): string =>
  text
    .replace(/corpora\/[0-9a-f]{64}/g, "corpora/…")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…")
    .replace(/\s+/g, " ")
    .replaceAll("|", "\\|");

test("SOAP, JSON and command line respond to unusual input as test/golden/odd-input.md says", async () => {
  using place = scratch();
  const directories = new Map<string, string>();
  const fasta = [...family, ...strangers].map((letters, i) => `>P${i}\n${letters}\n`).join("");
  for (const state of ["whole", "cut short", "altered", "none"]) {
    const directory = join(place.directory, state.replace(" ", "-"));
    mkdirSync(directory);
    directories.set(state, directory);
    const env = { LABD_DATA_DIR: directory };
    if (state === "none") continue;
    await labd(["corpus", "add", "-", "--name", "odd"], { env, stdin: fasta });
    if (state === "whole") continue;
    const [path] = [...new Bun.Glob("corpora/*.labc").scanSync({ cwd: directory, absolute: true })];
    const bytes = readFileSync(path);
    if (state === "cut short") truncateSync(path, bytes.length - 8);
    else writeFileSync(path, bytes.fill(255, bytes.length - 20_000, bytes.length - 10_000));
  }
  const rows: string[][] = [];
  for (const [state, directory] of directories) {
    await using server = await serve(directory, ["--workers", "2", "--log", "off"]);
    for (const odd of CASES.filter(({ corpus = "whole" }) => corpus === state)) {
      const [json, soap] = [await byJson(server.url, odd), await bySoap(server.url, odd)];
      rows.push([odd.what, json, soap]);
    }
    expect(server.process.exitCode).toBe(null);
  }
  const written: string[] = [];
  for (const odd of CASES) {
    const [, json, soap] = rows.find(([what]) => what === odd.what)!;
    const words = ["score", "--fasta", "-", "--pattern", odd.pattern ?? pattern, "--format", "json"];
    const env = { LABD_DATA_DIR: directories.get(odd.corpus ?? "whole")! };
    const command = byCommand(await labd(words, { env, stdin: `>odd\n${odd.sequence}\n` }));
    // What is scored has the same numbers everywhere.
    if (json.includes("homologs;") && command.includes("homologs;")) expect(command).toBe(json);
    if (json.includes("homologs;")) expect(soap).toBe(json);
    const cells = json === soap && soap === command ? [json, "the same", "the same"] : [command, json, soap];
    written.push(`| ${[odd.what, ...cells].map(steady).join(" | ")} |\n`);
  }
  const table = `\n| Input | \`labd score\` | JSON | SOAP |\n|---|---|---|---|\n${written.join("")}\n`;
  const page = readFileSync(PAGE, "utf8");
  const fresh = page.replace(TABLE, (_, begin, end) => `${begin}${table}${end}`);
  if (process.env.DOCS === "write") writeFileSync(PAGE, fresh);
  else expect(page).toBe(fresh);
}, 300_000);
