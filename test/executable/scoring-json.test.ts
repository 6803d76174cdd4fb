import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { withoutComments } from "../fixtures/without-comments.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MATCH_TABLES } from "../../src/scoring/table/match-tables.ts";
import { listHeads } from "../../src/scoring/table/print-tsv.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { E7, LABD, labd, scratch, serve, type Server } from "./labd.ts";

setDefaultTimeout(300_000);

/** The JSON service of the executable, called as docs/scoring-api.md says, and the forms of `labd score`. */

const place = scratch();
const env = { LABD_DATA_DIR: place.directory };
let server: Server;
beforeAll(async () => {
  await labd(["corpus", "add", "--sample"], { env });
  server = await serve(place.directory);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const GUIDE = readFileSync(join(import.meta.dir, "../../docs/scoring-api.md"), "utf8");
const block = (language: string): string =>
  GUIDE.split(`\`\`\`${language}\n`)[1].split("```")[0].replaceAll("http://127.0.0.1:8480", server.url);

async function run(command: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = Bun.spawn(command, { cwd: place.directory, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

interface Job {
  id: string;
  state: string;
  ended: string | null;
  links: { self: string; events: string; result: string };
}

async function submit(body: object): Promise<Job> {
  const answer = await fetch(`${server.url}/api/scoring/jobs`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(202);
  return (await answer.json()) as Job;
}

describe("the examples of the guide", () => {
  test.skipIf(!Bun.which("curl"))("runs the curl examples (SKIPPED without curl)", async () => {
    const { code, stdout, stderr } = await run(["bash", "-euc", block("sh")]);
    expect([code, stderr]).toEqual([0, ""]);
    const [head, match, none] = withoutComments(stdout).split("\n");
    expect(head).toBe(listHeads(MATCH_TABLES.result).join("\t"));
    expect(match).toMatch(/^E7\tL\.C\.E\t22\t26\tLYCYE\t.*\t(likely functional|possible|no evidence)\t/);
    expect(none).toMatch(/\tno match\t{14}Q\.\.\[ILM\]\S+\tQ, then [^\t]*\tLIG\t{5}labd-\d\t{3,}$/);
    expect(readFileSync(join(place.directory, "events.txt"), "utf8")).toMatch(
      /event: state\nid: finished\ndata: .*\n\n$/,
    );
  });

  test.skipIf(!Bun.which("python3"))("runs the Python example (SKIPPED without Python)", async () => {
    const { code, stdout, stderr } = await run(["python3", "-c", block("python")]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^L\.C\.E 22 LYCYE (likely functional|possible|no evidence) [a-z ]*conserved[a-z ]*\n$/,
    );
  });

  const httr =
    Bun.which("Rscript") !== null &&
    Bun.spawnSync(["Rscript", "-e", "library(httr); library(jsonlite)"], { stderr: "ignore" }).exitCode === 0;
  test.skipIf(!httr)("runs the R example (SKIPPED without httr)", async () => {
    const { code, stdout } = await run(["Rscript", "-e", block("r")]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/E7 +L\.C\.E +22 +LYCYE .* conserved/);
  });

  test.skipIf(!Bun.which("Rscript"))("R parses its example (SKIPPED without R)", async () => {
    writeFileSync(join(place.directory, "example.R"), block("r"));
    const { code, stdout } = await run(["Rscript", "-e", 'cat(length(parse("example.R")))']);
    expect([code, Number(stdout) > 5]).toEqual([0, true]);
  });
});

test("the executable prints the OpenAPI document and responses match it", async () => {
  const document = JSON.parse((await labd(["openapi"])).stdout) as { paths: object };
  expect(Object.keys(document.paths)).toContain("/api/scoring/jobs/{id}/result");
  const job = await submit({ identifier: "E7", querySequence: E7, patterns: ["L.C.E"] });
  await (await fetch(job.links.events)).text();
  const fasta = `>E7\n${E7}\n`;
  for (const format of ["tsv", "gff3"]) {
    const printed = await labd(["score", "--fasta", "-", "--pattern", "L.C.E", "--format", format], {
      env,
      stdin: fasta,
    });
    expect(await (await fetch(`${job.links.result}?format=${format}`)).text()).toBe(printed.stdout);
  }
  const xml = await labd(["score", "--fasta", "-", "--pattern", "L.C.E", "--format", "xml"], {
    env,
    stdin: fasta,
  });
  const lines = xml.stdout.split("\n");
  expect(lines.length).toBe(5);
  expect((await (await fetch(`${job.links.result}?format=xml`)).text()).split("\n")[1]).toBe(lines[2]);
});

test("stopping the server does not wait for clients of event streams", async () => {
  using elsewhere = scratch();
  await using other = await serve(elsewhere.directory, ["--workers", "1"]);
  // Without a corpus a job ends at once; long ones one after the other keep the last waiting.
  const jobs = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const answer = await fetch(`${other.url}/api/scoring/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ querySequence: "ML".repeat(10_000 + i), patterns: [".{0,400}", "M.{0,400}"] }),
      });
      return (await answer.json()) as Job;
    }),
  );
  // It is watched as soon as there are headers.
  const watching = (await fetch(jobs.at(-1)!.links.events)).text();
  const started = performance.now();
  const code = await other.end("SIGTERM");
  expect(code).toBe(0);
  // Open event streams have thirty seconds to end.
  expect(performance.now() - started).toBeLessThan(29_000);
  const text = await watching;
  expect(text).toMatch(/^retry: \d+\n\nevent: state\n/);
  expect(text).not.toContain('"state":"finished"');
}, 300_000);

describe("labd score", () => {
  test("--batch prints a row as soon as it is scored", async () => {
    const accessions = [...proteins.matchAll(/^>(\w+)/gm)].map(([, accession]) => accession).slice(0, 40);
    const child = Bun.spawn([LABD, "score", "--batch", "-"], {
      stdin: new Blob([accessions.map((accession) => `${accession}\tP..P\n`).join("")]),
      stdout: "pipe",
      stderr: "ignore",
      env: { PATH: "", ...env },
    });
    const counts: number[] = [];
    let text = "";
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk);
      counts.push(
        new Set(
          withoutComments(text)
            .split("\n")
            .slice(1, -1)
            .map((row) => row.split("\t")[0]),
        ).size,
      );
    }
    expect(counts.at(-1)).toBe(40);
    // Some were there when most were not.
    expect(counts.some((count) => count > 0 && count < 20)).toBe(true);
  });

  test("--alignment scores with the alignment of the user", async () => {
    const alignment = join(place.directory, "own.fa");
    writeFileSync(alignment, `>q\nMKLTF-DLWKLLPE\n>a\nMKVTFSDLWRLLPE\n>b\nMKITF-ELWKLLPD\n`);
    const { code, stdout } = await labd(["score", "--alignment", alignment, "--pattern", "F.{1,3}W..L"], {
      env,
    });
    expect(code).toBe(0);
    expect(withoutComments(stdout).split("\n")[1]).toMatch(/^q\tF\.\{1,3\}W\.\.L\t5\t11\tFDLWKLL\t2\t/);
  });

  test.each<[string[], number, string]>([
    [["--fasta", "-", "--pattern", "A", "--skip-invalid"], 64, "--skip-invalid needs --batch FILE"],
    [["--batch", "-", "--fasta", "-"], 64, "--fasta and --batch cannot be combined"],
    [["--alignment", "-"], 64, "needs --pattern or --elm"],
    [
      ["--fasta", "-", "--pattern", "A", "--format", "pdf"],
      64,
      '--format: "pdf" is not one of tsv, gff3, bed, xlsx, json, xml, table',
    ],
    [["--batch", "-"], 65, "Batch line 1 (“P04637”), pattern: empty"],
    [["--alignment", "-", "--pattern", "A"], 65, "expected a header that starts with >"],
  ])("rejects %p", async (words, code, message) => {
    const ended = await labd(["score", ...words], { env, stdin: "P04637\n" });
    expect([ended.code, ended.stdout.includes("conserved")]).toEqual([code, false]);
    expect(ended.stderr).toContain(message);
  });
});
