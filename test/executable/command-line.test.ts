import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../src/main.ts";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };
import { E7, killedAmid, LABD, labd, scratch, serve } from "./labd.ts";

test("--version has version and commit, --help every verb", async () => {
  const version = await labd(["--version"]);
  expect(version).toMatchObject({ code: 0, stderr: "" });
  expect(version.stdout).toMatch(/^labd \d+\.\d+\.\d+(\+\S+)?\n$/);
  const help = await labd(["--help"]);
  for (const { name, summary } of COMMANDS) {
    expect(help.stdout).toContain(`  ${name} `);
    expect(help.stdout.replace(/\s+/g, " ")).toContain(summary);
  }
});

test.each(COMMANDS.map(({ name }) => name))("labd %s --help teaches with an example", async (name) => {
  const help = await labd([name, "--help"]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("Example:\n  ");
  expect(help.stdout).toContain(`Usage: labd ${name}`);
});

test.each<[string[], number, string]>([
  [["sevre"], 64, "Did you mean serve?"],
  [["serve", "--prot", "1"], 64, "Did you mean --port?"],
  [
    ["serve", "--port", "70000"],
    78,
    'port: "70000" from flag --port is not allowed; expected a whole number from 0 to 65535.',
  ],
  [["score"], 64, "needs --fasta FILE"],
  [["score", "--fasta", "nowhere.fa", "--pattern", "P..P"], 66, "no file nowhere.fa"],
  [["score", "--fasta", "/", "--pattern", "P..P"], 64, "/ is a directory; expected a file."],
  [["corpus", "add", "/dev/null"], 65, "holds no sequence"],
  [["serve", "--data-dir", LABD], 74, "cannot be written: it is a file."],
  [["serve", "--port", "0", "--host", "203.0.113.1"], 78, "this machine has no such address"],
  [["corpus", "ad", "x"], 64, "Did you mean add?"],
  [["corpus", "add", "nowhere.fa"], 66, "no file nowhere.fa"],
  [["check", "--explain", "location"], 64, "Did you mean locations?"],
  [["user", "add"], 64, "takes one NAME"],
])("%p ends with %p and says %p", async (words, code, text) => {
  using place = scratch();
  const ended = await labd(words, { cwd: place.directory, env: { LABD_DATA_DIR: place.directory } });
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
  expect(ended.stderr).toContain(text);
  expect(ended.stderr).not.toContain("    at ");
});

test("check prints every setting with its origin and masks secrets", async () => {
  using place = scratch();
  writeFileSync(
    join(place.directory, "labd.toml"),
    'workers = 3\nport = 9001\nadmin_password = "hunter2hunter2"\n',
  );
  const { stdout, code } = await labd(["check", "--host", "::1"], {
    cwd: place.directory,
    env: { LABD_PORT: "9002" },
  });
  expect(code).toBe(0);
  const lines = Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => [line.split(/\s+/)[0], line]),
  );
  expect(lines.host).toMatch(/"::1"\s+# flag --host$/);
  expect(lines.port).toMatch(/9002\s+# variable LABD_PORT$/);
  expect(lines.workers).toMatch(/3\s+# file labd.toml$/);
  expect(lines.log).toMatch(/"requests"\s+# default$/);
  expect(lines.admin_password).toMatch(/\*{8}\s+# file labd.toml$/);
  expect(stdout).not.toContain("hunter2");
});

test("check --explain prints what a declaration became", async () => {
  const { stdout } = await labd(["check", "--explain", "locations"]);
  for (const part of ["label", "equipment", "place", "query_expression", "SELECT"])
    expect(stdout).toContain(part);
});

test("corpus add, list, verify; score in both formats; the numbers are those of the service", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  const added = await labd(["corpus", "add", "--sample"], { env });
  expect(added.stdout).toMatch(/^\* sample\s+[0-9a-f]{12}\s+496 sequences\s+201,250 residues\n$/);
  expect((await labd(["corpus", "add", "--sample"], { env })).stdout).toBe(added.stdout);
  expect((await labd(["corpus", "verify"], { env })).stdout).toContain("whole");
  const fasta = join(place.directory, "own.fasta");
  writeFileSync(fasta, Bun.gzipSync(`>A\n${E7}\n>B\n${E7.replace("D", "E")}\n`));
  expect((await labd(["corpus", "add", fasta, "--name", "own"], { env })).stdout).toContain("  own  ");

  const words = [
    "score",
    "--fasta",
    "-",
    "--pattern",
    "L.C.E",
    "--elm",
    "LIG_PCNA_PIPBox_1",
    "--model",
    "discontinuous",
  ];
  const tsv = await labd(words, { env, stdin: `>e7\n${E7}\n` });
  expect(tsv.code).toBe(0);
  const [head, match, none] = tsv.stdout
    .trim()
    .split("\n")
    .map((line) => line.split("\t"));
  expect(head).toEqual([
    "query",
    "pattern",
    "start",
    "end",
    "match",
    "homologs",
    "effective_homologs",
    "cs",
    "expected",
    "z",
    "p",
    "verdict",
  ]);
  expect(match.slice(0, 5)).toEqual(["e7", "L.C.E", "22", "26", "LYCYE"]);
  expect(match.at(-1)).toBe("conserved");
  expect(none).toEqual(["e7", "LIG_PCNA_PIPBox_1", "", "", "", "", "", "", "", "", "", "no match"]);
  const json = JSON.parse(
    (await labd([...words, "--format", "json"], { env, stdin: `>e7\n${E7}\n` })).stdout,
  );
  expect(Number(match[9])).toBeCloseTo(json.prediction.patterns[0].matches[0].z, 4);

  const bad = await labd(["score", "--fasta", "-", "--pattern", "A{5,2}"], { env, stdin: `>e7\n${E7}\n` });
  // Everything is checked before anything is printed.
  expect([bad.code, bad.stdout]).toEqual([65, ""]);
  expect(bad.stderr).toContain("regularExpression 1, character 2");
});

test("a batch that is killed goes on where it was, in every format, with the results of a single go", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory, LABD_WORKERS: "1" };
  await labd(["corpus", "add", "--sample"], { env });
  const table = join(place.directory, "batch.tsv");
  const records = PROTEINS.split(/^>/m).slice(1, 41);
  writeFileSync(table, records.map((record) => `${record.split(/\s/, 1)[0]}\tP..P\n`).join(""));
  for (const format of ["tsv", "xml"]) {
    const path = join(place.directory, `scores.${format}`);
    const words = ["score", "--batch", table, "--format", format];
    const single = await labd(words, { env });
    expect(await killedAmid([...words, "--output", path], env, path, 5)).toBeLessThan(40);
    expect((await labd([...words, "--output", path], { env })).stderr).toContain("--resume goes on with it");
    const resumed = await labd([...words, "--output", path, "--resume"], { env });
    expect([resumed.code, resumed.stdout]).toEqual([0, ""]);
    expect(readFileSync(path, "utf8")).toBe(single.stdout);
    expect(existsSync(`${path}.progress`)).toBe(false);
  }
});

test("without a corpus the answer says how to get one", async () => {
  using place = scratch();
  const ended = await labd(["score", "--fasta", "-", "--pattern", "L.C.E"], {
    env: { LABD_DATA_DIR: place.directory },
    stdin: `>e7\n${E7}\n`,
  });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain("insufficient data");
  expect(ended.stderr).toContain("labd corpus add");
});

test("wsdl and openapi print their documents", async () => {
  const wsdl = await labd(["wsdl", "--public-url", "https://lab.example"]);
  expect(wsdl.stdout).toContain('location="https://lab.example/soap/ConservationScorer"');
  const document = JSON.parse((await labd(["openapi"])).stdout);
  expect(document.openapi).toMatch(/^3\./);
  for (const segment of ["locations", "places", "annotationtypes", "custompropertytypes"]) {
    expect(Object.keys(document.paths)).toContain(`/api/v2/${segment}/`);
  }
});

test("users and tokens are made beside a running server", async () => {
  using place = scratch();
  await using server = await serve(place.directory);
  const env = { LABD_DATA_DIR: place.directory };
  const added = await labd(["user", "add", "kim", "--password-stdin"], { env, stdin: "a long password\n" });
  expect(added).toMatchObject({ code: 0, stderr: "" });
  expect((await labd(["user", "add", "kim"], { env })).code).toBe(75);
  const token = (await labd(["token", "add", "kim", "--days", "1"], { env })).stdout.trim();
  const made = await fetch(`${server.url}/api/v2/places/`, { headers: { authorization: `Token ${token}` } });
  expect(made.status).toBe(200);
  const signedIn = await fetch(`${server.url}/api/v2/token-auth/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "kim", password: "a long password" }),
  });
  expect([signedIn.status, Object.keys((await signedIn.json()) as object)]).toEqual([200, ["token"]]);
});

test("demo --once does both halves and leaves nothing behind", async () => {
  using place = scratch();
  const ended = await labd(["demo", "--once", "--port", "0"], {
    cwd: place.directory,
    env: { TMPDIR: place.directory },
  });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toMatch(/DEG_MDM2_SWIB_1\s+19–26\s+FSDLWKLL\s+.*\sconserved/);
  expect(ended.stdout).toContain("-80 North");
  expect([...new Bun.Glob("**").scanSync({ cwd: place.directory, dot: true })]).toEqual([]);
});

test("demo does not put its fictions among a laboratory's records", async () => {
  using place = scratch();
  await labd(["user", "add", "kim"], { env: { LABD_DATA_DIR: place.directory } });
  const ended = await labd(["demo", "--once", "--data-dir", place.directory]);
  expect(ended.code).toBe(78);
  expect(ended.stderr).toContain("holds records of its own");
});
