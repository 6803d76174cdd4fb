import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { E7 } from "../executable/messages.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import { labd, scratch, serveHere } from "./labd.ts";

/** Commands in this process, as people type them. */

setDefaultTimeout(60_000);

test.each<[string[], number, string]>([
  [["serve", "--prot", "1"], 64, "Did you mean --port?"],
  [
    ["serve", "--port", "70000"],
    78,
    'port: "70000" from flag --port is not allowed; expected a whole number from 0 to 65535.',
  ],
  [["score"], 64, "needs --fasta FILE"],
  [["score", "--fasta", "nowhere.fa", "--pattern", "P..P"], 66, "no file nowhere.fa"],
  [["score", "--fasta", "/", "--pattern", "P..P"], 64, "/ is a directory; expected a file."],
  [["corpus", "add", "/dev/null"], 65, "contains no sequence"],
  [["corpus", "ad", "x"], 64, "Did you mean add?"],
  [["corpus", "add", "nowhere.fa"], 66, "no file nowhere.fa"],
  [["check", "--explain", "location"], 64, "Did you mean locations?"],
])("%p exits with %p and prints %p", async (words, code, text) => {
  using place = scratch();
  const ended = await labd(words, { env: { LABD_DATA_DIR: place.directory } });
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
  expect(ended.stderr).toContain(text);
  expect(ended.stderr).not.toContain("    at ");
});

test("check prints every setting with its source and masks secrets", async () => {
  using place = scratch();
  writeFileSync(
    join(place.directory, "labd.toml"),
    'workers = 3\nport = 9001\nadmin_password = "hunter2hunter2"\n',
  );
  const settings = join(place.directory, "labd.toml");
  const words = ["check", "--host", "::1", "--config", settings];
  const { stdout, code } = await labd(words, { env: { LABD_PORT: "9002" } });
  expect(code).toBe(0);
  const lines = Object.fromEntries(
    stdout
      .trim()
      .split("\n")
      .map((line) => [line.split(/\s+/)[0], line]),
  );
  expect(lines.host).toMatch(/"::1"\s+# flag --host$/);
  expect(lines.port).toMatch(/9002\s+# variable LABD_PORT$/);
  expect(lines.workers).toMatch(/3\s+# file .*labd.toml$/);
  expect(lines.log).toMatch(/"requests"\s+# default$/);
  expect(lines.admin_password).toMatch(/\*{8}\s+# file .*labd.toml$/);
  expect(stdout).not.toContain("hunter2");
});

test("check --explain prints a resource", async () => {
  const { stdout } = await labd(["check", "--explain", "locations"]);
  for (const part of ["label", "equipment", "place", "query_expression", "SELECT"])
    expect(stdout).toContain(part);
});

test("adds and verifies corpora, and scores", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  const added = await labd(["corpus", "add", "--sample"], { env });
  expect(added.stdout).toMatch(/^\* sample\s+[0-9a-f]{12}\s+496 sequences\s+201,250 residues\n$/);
  expect((await labd(["corpus", "add", "--sample"], { env })).stdout).toBe(added.stdout);
  expect((await labd(["corpus", "verify"], { env })).stdout).toContain("is intact");
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
  const [head, match, none] = withoutComments(tsv.stdout)
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
    "kept",
    "overall_p",
    "overall_verdict",
    "p_is",
    "overall_p_is",
    "accession",
    "gene",
    "name",
    "organism",
    "known_instance",
    "also_annotated_in",
    "entry",
    "number",
    "expression",
    "explanation",
    "type",
    "disorder",
    "disordered",
    "domains",
    "phosphosite_distance",
    "method",
    "conservation",
    "nearby",
    "probability",
    "kept_in_orthologs",
    "orthologs",
    "kept_in_paralogs",
    "paralogs",
  ]);
  expect(match.slice(0, 5)).toEqual(["e7", "L.C.E", "22", "26", "LYCYE"]);
  expect(none.slice(0, 12)).toEqual(["e7", "LIG_PCNA_PIPBox_1", ...Array(9).fill(""), "no match"]);
  expect(none[head.indexOf("expression")]).toBe("Q..[ILM]..[FY][FY]");
  const json = JSON.parse(
    (await labd([...words, "--format", "json"], { env, stdin: `>e7\n${E7}\n` })).stdout,
  );
  const [scored] = json.prediction.patterns[0].matches;
  expect(Number(match[9])).toBeCloseTo(scored.z, 4);
  const { verdict, kept, nearby, conservationLevel } = scored;
  expect([11, 12, 14, 33, 34].map((column) => match[column])).toEqual(
    [verdict, kept, verdict, conservationLevel, nearby].map(String),
  );
  expect(conservationLevel).toBe("conserved");

  const bad = await labd(["score", "--fasta", "-", "--pattern", "A{5,2}"], { env, stdin: `>e7\n${E7}\n` });
  expect([bad.code, bad.stdout]).toEqual([65, ""]);
  expect(bad.stderr).toContain("--pattern 1, character 2");
});

test("score without a corpus explains how to add one", async () => {
  using place = scratch();
  const ended = await labd(["score", "--fasta", "-", "--pattern", "L.C.E"], {
    env: { LABD_DATA_DIR: place.directory },
    stdin: `>e7\n${E7}\n`,
  });
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain("insufficient data");
  expect(ended.stderr).toContain("labd corpus add");
});

test("wsdl prints the WSDL and openapi the OpenAPI document", async () => {
  const wsdl = await labd(["wsdl", "--public-url", "https://lab.example"]);
  expect(wsdl.stdout).toContain('location="https://lab.example/soap/ConservationScorer"');
  const document = JSON.parse((await labd(["openapi"])).stdout);
  expect(document.openapi).toMatch(/^3\./);
  for (const segment of ["locations", "places", "annotationtypes", "custompropertytypes"]) {
    expect(Object.keys(document.paths)).toContain(`/api/v2/${segment}`);
  }
});

const UTF_16 = Uint8Array.from([0xff, 0xfe, ...Buffer.from("long enough")]);
test.each<[string, string | Uint8Array<ArrayBuffer>, number, string]>([
  ["user add kim --password-stdin", "short", 65, "password: Expected at least 8 characters."],
  ["user add kim --password-stdin", "two lines\nof words", 65, "password: Expected one line"],
  ["user add kim --password-stdin", UTF_16, 65, "is not UTF-8"],
  ["user add kim --email nonsense", "", 65, "email: Expected an e-mail address."],
  ["user add a,b", "", 65, "username: expected 1 to 150 letters"],
  ["user add system", "", 75, "the user system already exists"],
  ["user ad kim", "", 64, "Did you mean add?"],
  ["user disable system", "", 75, "The system account cannot sign in."],
  ["user disable ada", "", 75, "only active administrator"],
  ["user totp kim", "", 66, "There is no user kim."],
  ["token add kim", "", 66, "There is no active user kim."],
  ["token add ada --name ", "", 65, "name: "],
  [`token add ada --name ${"x".repeat(256)}`, "", 65, "name: "],
  ["token revoke labd_x", "", 66, "no valid token"],
  ["token revoke", "", 64, "needs an ID"],
])("labd %s with %p as input exits with %d: %s", async (line, stdin, code, text) => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["user", "add", "ada", "--admin"], { env });
  const ended = await labd(line.split(" "), { env, stdin });
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(text)]);
  const { stdout } = await labd(["user", "list", "--json"], { env });
  const users = JSON.parse(stdout) as { username: string; is_active: boolean }[];
  expect(users.map(({ username }) => username)).toEqual(["ada", "system"]);
});

test("labd user and labd token manage accounts while the server runs", async () => {
  using place = scratch();
  await using server = await serveHere(place.directory);
  const run = async (line: string, stdin = ""): Promise<string> => {
    const ended = await labd(line.split(" "), { env: { LABD_DATA_DIR: place.directory }, stdin });
    if (ended.code !== 0) throw new Error(`labd ${line}: ${ended.stderr}`);
    return ended.stdout;
  };
  const ask = async (path: string, token: string, body?: object): Promise<number> => {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Token ${token}` }) };
    const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
    return (await fetch(`${server.url}/api/v2/${path}/`, { headers, ...init })).status;
  };
  const signIn = (password: string) => ask("token-auth", "", { username: "ada", password });

  await run("user add ada --admin --full-name Ada --email ada@lab --password-stdin", "a long password\r\n");
  expect(await signIn("a long password")).toBe(200);
  expect((await fetch(server.setUp!)).status).toBe(404);
  const token = (await run("token add ada --name cron --days 30")).trim();
  const reading = (await run("token add ada --read-only")).trim();
  expect([token, reading].map((one) => /^labd_[\w-]{43}$/.test(one))).toEqual([true, true]);
  expect([await ask("users", token), await ask("users", reading)]).toEqual([200, 200]);
  expect(await ask("projects", token, { name: "a" })).toBe(201);
  expect(await ask("projects", reading, { name: "b" })).toBe(403);
  const listed = JSON.parse(await run("token list ada --json")) as { name: string; scope: string }[];
  expect(listed.map(({ name, scope }) => `${name} ${scope}`)).toEqual([
    "command line read",
    "cron write",
    "token-auth write",
  ]);
  const table = await run("token list");
  expect([table.includes(token.slice(0, 12)), table.includes(token.slice(0, 16))]).toEqual([true, false]);
  await run(`token revoke ${token.slice(0, 12)}`);
  expect([await ask("users", token), await ask("users", reading)]).toEqual([401, 200]);
  expect(await run("token revoke --user ada")).toContain("Revoked 2 tokens of ada.");
  expect(await ask("users", reading)).toBe(401);
  expect(await run("token list")).not.toContain("labd_");
  expect(await run("token list --all")).toContain(token.slice(0, 12));

  await run("user password ada --password-stdin", "another password");
  expect([await signIn("a long password"), await signIn("another password")]).toEqual([401, 200]);
  await run("user add kim");
  await run("user disable kim");
  expect(await run("user list")).toMatch(/^kim .* disabled /m);
  await run("user enable kim");
  expect(await run("user list")).toMatch(/^kim .* active /m);
});

test("demo rejects a data directory with other records", async () => {
  using place = scratch();
  await labd(["user", "add", "kim"], { env: { LABD_DATA_DIR: place.directory } });
  const ended = await labd(["demo", "--once", "--data-dir", place.directory]);
  expect(ended.code).toBe(78);
  expect(ended.stderr).toContain("contains other records");
});

test("corpus pull fetches from a server with a token, and messages for removed flags name the replacement", async () => {
  using place = scratch();
  const [from, to, token] = ["from", "to", "token"].map((name) => join(place.directory, name));
  await labd(["corpus", "add", "--sample", "--data-dir", from]);
  await labd(["user", "add", "ada", "--data-dir", from]);
  writeFileSync(token, (await labd(["token", "add", "ada", "--data-dir", from])).stdout);
  await using server = await serveHere(from);
  const { hash } = server.scoring.corpora.active()!;
  const pull = ["corpus", "pull", hash, "--from", server.url, "--data-dir", to];
  expect(await labd(pull)).toMatchObject({ code: 77, stderr: expect.stringContaining("requires a token") });
  const named = [...pull, "--token-file", token, "--name", "ours"];
  expect(await labd(named)).toMatchObject({ code: 0, stdout: expect.stringContaining("* ours  ") });
  expect((await labd(named)).stderr).toContain("It already exists as ours.");
  expect((await labd(["corpus", "verify", "--data-dir", to])).stdout).toBe(`ours is intact: ${hash}\n`);
  for (const [words, text] of [
    [["corpus", "pull", hash], "Give the server to fetch from"],
    [["corpus", "pull", hash, "--from", "s3://lab"], "is not the address of a server"],
    [["corpus", "add", "--to", "s3://lab"], "--to was removed. Fetch the corpus on the other machine"],
    [["install", "--socket"], "--socket was removed."],
    [["corpus", "add"], "labd corpus add needs a FILE or --sample."],
    [["corpus", "pull", hash, "--from", server.url, "--token-file", "/dev/null"], "contains no token"],
  ] as [string[], string][])
    expect((await labd(words, { env: { LABD_DATA_DIR: `${to}2` } })).stderr).toContain(text);
});

test("scores with chosen homologs", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  const fasta = join(place.directory, "e7.fasta");
  writeFileSync(fasta, `>E7\n${E7}\n`);
  const score = (...words: string[]) =>
    labd(["score", "--fasta", fasta, "--pattern", "L.C.E", "--format", "json", ...words], { env });
  const all = JSON.parse((await score()).stdout).prediction;
  const [first, second] = all.homologs;
  const few = await score("--leave-out", first.accession, "--max-homologs", "4", "--min-identity", "40");
  expect(few.code).toBe(0);
  const { homologs, warnings } = JSON.parse(few.stdout).prediction;
  expect([homologs.length, homologs[0].accession]).toEqual([4, second.accession]);
  expect(warnings[0]).toBe(
    `Homologs were chosen: with 40 % to 100 % identity; at most 4; without ${first.accession}. P values hold for the default choice, here roughly.`,
  );
  const unknown = await score("--organism", "Homo sapeins");
  expect([unknown.code, unknown.stdout]).toEqual([65, ""]);
  expect(unknown.stderr).toContain('no protein of "Homo sapeins"');
  const aligned = await labd(["score", "--alignment", fasta, "--pattern", "L.C.E", "--max-homologs", "4"], {
    env,
  });
  expect([aligned.code, aligned.stderr]).toEqual([64, expect.stringContaining("rows of the file")]);
});
