/**
 * Records the answers of an executable on sample data, to compare them with those of another one: outputs of commands,
 * every operation with several callers, every value of every parameter, SOAP messages, pages, and the database.
 *
 *   bun test/freeze/record.ts EXECUTABLE FOLDER [RECORDING]   RECORDING: calls the operations that this one has called
 *   bun test/freeze/record.ts --compare FOLDER FOLDER [LINES] LINES of each difference, 12 by default
 */
import { Database } from "bun:sqlite";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EveryOperation, type Listed, operationRank } from "../fixtures/every-operation.ts";
import type { Json } from "../fixtures/service.ts";
import { FINISHED, messageNamed, MESSAGES, makeRequest } from "../scoring/soap-messages.ts";
import { recordPages } from "./pages.ts";
import { bodyText, compare, Recording } from "./recording.ts";
import { waitFor } from "../wait.ts";
import PROTEINS from "../../src/sample/proteins.fasta" with { type: "text" };

const PASSWORD = "correct horse battery";
const findProtein = (accession: string): string =>
  `>${PROTEINS.split(/^>/m).find((entry) => entry.startsWith(accession))!}`;
const findSequence = (accession: string): string =>
  findProtein(accession).replace(/^.*$/m, "").replace(/\s/g, "");
type Headers = Record<string, string>;

/** Files that the commands read. */
const FILES = {
  "two.fasta": findProtein("P04637") + findProtein("P38936"),
  "batch.tsv": "P04637\tMDM2-SWIB\nTP53\tP..P\nCDKN1A\tQ..[ILM]..[FY][FY]\nMKLVACDEFGHIKLMNPQRSTVWY\tK.V\n",
  "elm_instances.tsv": "P04637\t18\t26\nP38936\t143\t160\n",
  "places.csv": "name,building,room\nNew room,A,099\n",
  password: PASSWORD,
};

const splitLines = (text: string): string[] => text.split("\n").map((line) => line.trim());

/** Command lines in their order; the output of those that end in `> FILE` is kept for later ones. */
const COMMANDS = [
  ...splitLines(`
    --version
    nothing
    score
    score --fasta missing.fasta --pattern P..P
    scan --max-q 2
    corpus add --sample
    corpus list
    corpus find TP53 --format json
    corpus find human p53
    corpus verify
    proteome build
    proteome list
    elm list
    wsdl
    openapi
    user add ada --admin --password-stdin
    user add kim --password-stdin
    user add max --full-name Max
    user list --json
    token add kim > kim
    token add kim --read-only > reader
    token add max > max
    features add elm_instances.tsv
    features list --json
    features show P04637
    check
    audit verify
    score --fasta two.fasta --pattern P..P --shard 1/2 --output part.1.tsv
    score --fasta two.fasta --pattern P..P --shard 2/2 --output part.2.tsv
    merge part.1.tsv part.2.tsv`),
  ...["tsv", "json", "gff3", "xml"].flatMap((format) => [
    `score --fasta two.fasta --pattern P..P --elm MDM2-SWIB --format ${format}`,
    `score --batch batch.tsv --skip-invalid --format ${format}`,
  ]),
  ...["tsv", "json", "gff3"].flatMap((format) => [
    `scan --fasta two.fasta --format ${format}`,
    `scan --fasta two.fasta --joint --known --format ${format}`,
    `scan --fasta two.fasta --outside-domains --disordered --max-q 0.5 --type DEG,LIG --format ${format}`,
    `scan --fasta two.fasta --near-phosphosite 5 --unknown --format ${format}`,
    `proteome search --pattern P..P --organism 9606 --format ${format}`,
    `proteome search --class LxCxE --disordered --max-q 0.9 --format ${format}`,
  ]),
];
/** Command lines that run after the server. */
const LATER = splitLines(`export locations --user ada --format csv
  export locations --user ada --format xlsx
  export locations --user ada --format json
  export locations --user ada --format eln
  import places.csv --resource places --user ada --dry-run
  import places.csv --resource places --user ada --json
  import places.csv --resource place --user ada
  webhook list --json
  backup --list
  compact
  audit export --action token
  user list
  token list
  doctor
  farm status`);

class Recorder {
  readonly directory: string;
  readonly environment: Headers;
  readonly recording: Recording;
  url = "";

  constructor(
    private readonly executable: string,
    folder: string,
  ) {
    rmSync(folder, { recursive: true, force: true });
    this.recording = new Recording(folder);
    // The name always has this length, because some output is wrapped or measured.
    this.directory = `/tmp/labd-record-${String(process.pid).padStart(8, "0")}`;
    this.recording.hide(this.directory, "DIRECTORY");
    this.environment = { PATH: "", LABD_DATA_DIR: join(this.directory, "data"), COLUMNS: "100" };
  }

  async runAll(lines: readonly string[], kind: string): Promise<void> {
    for (const line of lines) {
      const [command, target] = line.split(" > ");
      const run = Bun.spawn([this.executable, ...command.split(" ").filter((word) => word !== "")], {
        stdin: Bun.file(join(this.directory, "password")),
        stdout: "pipe",
        stderr: "pipe",
        cwd: this.directory,
        env: this.environment,
      });
      const [output, messages] = await Promise.all([
        new Response(run.stdout).bytes(),
        new Response(run.stderr).text(),
      ]);
      if (target) writeFileSync(join(this.directory, target), output);
      const type = /json|openapi/.test(command) ? "json" : "";
      const text = `${command}\n${await run.exited}\n${messages}\n${bodyText(output, type)}`;
      this.recording.write(`${kind}/${command.replaceAll(/[^\w.-]+/g, "_") || "none"}.txt`, text);
    }
  }

  /** Help of all commands, as the help of all lists them. */
  helpLines(): string[] {
    const { stdout } = Bun.spawnSync([this.executable, "--help"], { env: this.environment });
    const names = [...stdout.toString().matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name);
    return ["--help", ...names.map((name) => `${name} --help`)];
  }

  readonly send = (method: string, address: string, headers: Headers = {}, body?: BodyInit) =>
    fetch(this.url + address, {
      method,
      headers,
      body: method === "GET" ? null : (body ?? null),
      redirect: "manual",
    });

  /** Headers of a new session of the administrator; ending one of them does not end the others. */
  async administrator(): Promise<Headers> {
    const credentials = JSON.stringify({ username: "ada", password: PASSWORD });
    const response = await this.send(
      "POST",
      "/api/v2/session/",
      { "Content-Type": "application/json" },
      credentials,
    );
    if (!response.ok) throw new Error(`sign-in: ${await response.text()}`);
    return { Cookie: response.headers.get("set-cookie")!.split(";")[0], Origin: this.url };
  }

  token = (name: string): Headers => ({
    Authorization: `Token ${readFileSync(join(this.directory, name), "utf8").trim()}`,
  });

  /** Sends JSON. @returns the JSON of a success */
  async ask(
    headers: Headers,
    method: string,
    address: string,
    body = "{}",
    type = "application/json",
  ): Promise<Json> {
    const response = await this.send(method, address, { ...headers, "Content-Type": type }, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
    const found = (text === "" ? {} : JSON.parse(text)) as Json;
    // Random ids order some lists: the first entry is the same in every run only by its content.
    const normalizeEntry = (entry: Json) => this.recording.normalise(JSON.stringify(entry));
    if (method === "GET" && Array.isArray(found.results))
      found.results.sort((a: Json, b: Json) => (normalizeEntry(a) < normalizeEntry(b) ? -1 : 1));
    return found;
  }

  /** Adds one of each record. @returns two jobs */
  async makeRecords(every: EveryOperation): Promise<[string, string]> {
    const ada = await this.administrator();
    const post = (address: string, body: object, as = this.token("kim")) =>
      this.ask(as, "POST", address, JSON.stringify(body));
    await every.makeInventory();
    const jobs: string[] = [];
    for (const accession of ["P04637", "P38936"]) {
      const patterns = { patterns: ["P..P", "K.{2}R"], motifClasses: ["MDM2-SWIB", "PIP-box"] };
      const body = { identifier: accession, querySequence: findSequence(accession), ...patterns };
      jobs.push((await post("/api/scoring/jobs", body)).id as string);
      await (await this.send("GET", `/api/scoring/jobs/${jobs.at(-1)}/events`)).text();
    }
    await post("/api/scoring/watched-queries", { job: jobs[0] });
    const { id: search } = await post("/api/scoring/proteome/searches", { pattern: "P..P" });
    await waitFor(
      async () =>
        (await this.ask(ada, "GET", `/api/scoring/proteome/searches/${search}`)).state !== "running",
    );
    if (every.listed.some(({ path }) => path === "/api/scoring/batches")) {
      const batch = { table: FILES["batch.tsv"], skipInvalid: true };
      every.named["/api/scoring/batches"] = (await post("/api/scoring/batches", batch)).id;
    }
    const { id: build } = await post("/api/admin/proteome/builds", {}, ada);
    await post("/api/webhooks", { url: "https://lims.example/hook" });
    const [corpus] = (await this.ask(ada, "GET", "/api/admin/corpora")).results;
    await post("/api/admin/backups", {}, ada);
    const backups = async () => (await this.ask(ada, "GET", "/api/admin/backups")).results as Json[];
    await waitFor(async () => (await backups()).length > 0);
    Object.assign(every.named, {
      "/api/scoring/jobs": jobs[0],
      "/api/admin/jobs": jobs[0],
      "/api/scoring/corpora": corpus.hash,
      "/api/admin/corpora": corpus.hash,
      "/api/scoring/proteome/searches": search,
      "/api/admin/proteome/builds": build,
      "/api/admin/features": "elm_instances.tsv",
      "/api/admin/backups": (await backups())[0].name,
      "/soap": jobs[0],
    });
    return jobs as [string, string];
  }

  /** Waits until no job and no task of the server goes on, so that the next answer does not depend on its progress. */
  async untilIdle(): Promise<void> {
    const headers = await this.administrator();
    const lists = [
      "/api/admin/tasks",
      "/api/tasks",
      ...["running", "queued"].map((state) => `/api/admin/jobs?state=${state}`),
    ];
    for (const list of lists)
      await waitFor(
        async () =>
          !/"state": ?"(running|queued)"/.test(await (await this.send("GET", list, headers)).text()),
      );
  }

  /** Calls an operation as every caller, and once with a body or parameter that is not allowed. */
  async recordOperation(every: EveryOperation, each: Listed): Promise<void> {
    const { method, operation } = each;
    const callers: Record<string, () => Headers | Promise<Headers>> = {
      anonymous: () => ({}),
      other: () => this.token("max"),
      reader: () => this.token("reader"),
      owner: () => this.token("kim"),
      administrator: () => this.administrator(),
    };
    const call = async (
      caller: string,
      name: string,
      change: (address: string) => string,
      content?: string,
    ) => {
      const { address, body, type } = await every.makeCall(each);
      const headers = {
        ...(await callers[caller]()),
        ...(type === undefined ? {} : { "Content-Type": type }),
      };
      const response = await this.send(method, change(address), headers, content ?? body ?? "");
      const asked = `${method} ${change(address)}\n${typeof body === "string" ? (content ?? body) : ""}`;
      await this.recording.writeAnswer(`operations/${operation.operationId}/${name}`, asked, response);
      if (method !== "GET" && !each.path.startsWith("/api/v2/")) await this.untilIdle();
    };
    const more = (query: string) => (address: string) =>
      `${address}${address.includes("?") ? "&" : "?"}${query}`;
    const isRead = method === "GET" || !operation.requestBody;
    for (const caller of ["anonymous", "administrator"])
      await call(caller, `malformed-${caller}`, isRead ? more("no_such_parameter=1") : (same) => same, "{");
    if (method === "GET") await this.recordParameters(every, each);
    for (const caller of Object.keys(callers)) await call(caller, caller, (same) => same);
  }

  /** Calls an operation with every value of each parameter alone: those it enumerates, or its example. */
  async recordParameters(every: EveryOperation, each: Listed): Promise<void> {
    const { address } = await every.makeCall(each);
    const [path, query] = address.split("?");
    const given = new URLSearchParams(query);
    const headers = await this.administrator();
    for (const { name, in: place, schema, example, required } of each.operation.parameters) {
      if (place !== "query" || required) continue;
      for (const value of schema.enum ?? [given.get(name) ?? (example as string | undefined) ?? "1"]) {
        const kept = each.operation.parameters.filter((one) => one.required && given.has(one.name));
        const all = new URLSearchParams([
          ...kept.map((one) => [one.name, given.get(one.name)!]),
          [name, String(value)],
        ]);
        const asked = `${path}?${all.toString()}`;
        const file = `parameters/${each.operation.operationId}/${name}=${encodeURIComponent(String(value)).slice(0, 60)}`;
        await this.recording.writeAnswer(file, asked, await this.send("GET", asked, headers));
      }
    }
  }

  async recordSoap(): Promise<void> {
    const accepted = await this.send(
      "POST",
      "/soap/ConservationScorer",
      ...soapArguments("RunJob: accepted", FINISHED),
    );
    const finished = /JobIdentifier>([^<]*)/.exec(await accepted.text())![1];
    await (await this.send("GET", `/api/scoring/jobs/${finished}/events`)).text();
    for (const { name } of MESSAGES) {
      const response = await this.send("POST", "/soap/ConservationScorer", ...soapArguments(name, finished));
      await this.recording.writeAnswer(`soap/${name.replaceAll(/[^\w]+/g, "-")}`, name, response);
    }
  }

  /** The schema, and how many rows each table has. */
  recordDatabase(): void {
    using database = new Database(join(this.directory, "data/labd.sqlite"), { readonly: true });
    const rows = database.query("SELECT type, name, sql FROM sqlite_master ORDER BY name").all() as Json[];
    this.recording.write("database/schema.txt", rows.map(({ sql, name }) => sql ?? name).join(";\n"));
    // Deliveries are tried again with time.
    const tables = rows.filter(
      ({ type, name }) => type === "table" && !/_fts|^sqlite_|^webhook_delivery$/.test(name as string),
    );
    const counts = tables.map(({ name }) => {
      const [{ n }] = database.query(`SELECT count(*) n FROM "${name}"`).all() as [{ n: number }];
      return `${name} ${n}`;
    });
    this.recording.write("database/rows.txt", counts.join("\n"));
  }
}

function soapArguments(name: string, finished: string): [Headers, BodyInit] {
  const { headers, body } = makeRequest(messageNamed(name), finished);
  return [headers as Headers, body as BodyInit];
}

async function record(executable: string, folder: string, earlier?: string): Promise<void> {
  process.env.LABD = executable;
  const { serve } = await import("../executable/labd.ts");
  const recorder = new Recorder(executable, folder);
  const { directory, recording } = recorder;
  for (const [name, content] of Object.entries(FILES)) await Bun.write(join(directory, name), content);
  await recorder.runAll(recorder.helpLines(), "help");
  await recorder.runAll(COMMANDS, "commands");
  const server = await serve(join(directory, "data"), [
    "--workers",
    "1",
    "--log",
    "problems",
    "--backup-hours",
    "0",
  ]);
  recorder.url = server.url;
  const document = await (await recorder.send("GET", "/docs/json")).text();
  // Bytes are written as they are, so that it stays JSON.
  const readable = bodyText(Buffer.from(document), "json").replace(/"version": "[^"]*"/, '"version": ""');
  recording.write("document.json", Buffer.from(readable.replaceAll(server.url, "http://HOST")));
  const called = earlier === undefined ? document : readFileSync(join(earlier, "document.json"), "utf8");
  let session = await recorder.administrator();
  const ask = async (...call: [string, string, string?, string?]) => {
    // Some operations end all sessions.
    const { ok } = await recorder.send("GET", "/api/v2/session/", session);
    if (!ok) session = await recorder.administrator();
    return recorder.ask(session, ...call);
  };
  const every = new EveryOperation(JSON.parse(called), ask);
  const jobs = await recorder.makeRecords(every);
  for (const format of ["json", "tsv", "gff3"]) {
    const address = `/api/scoring/scans?jobs=${jobs.join()}&format=${format}`;
    await recording.writeAnswer(
      `parameters/joint-scan-${format}`,
      address,
      await recorder.send("GET", address),
    );
  }
  const [a, b] = jobs;
  const [{ id: location }] = (await ask("GET", "/api/v2/locations?page_size=1")).results as Json[];
  await recordPages(recording, recorder.url, session.Cookie, {
    a,
    b,
    search: every.named["/api/scoring/proteome/searches"],
    location,
  });
  await recorder.recordSoap();
  for (const each of every.listed.toSorted((x, y) => operationRank(x) - operationRank(y)))
    await recorder.recordOperation(every, each);
  recording.write("log.txt", server.log().replaceAll(/^.*serves http.*\n/gm, ""));
  await server.end("SIGTERM");
  await recorder.runAll(LATER, "commands-later");
  recorder.recordDatabase();
  rmSync(directory, { recursive: true });
}

const [first, ...others] = process.argv.slice(2);
if (first === "--compare") {
  const differences = compare(resolve(others[0]), resolve(others[1]));
  for (const { kind, lines, names } of differences) {
    console.log(
      `${kind}: ${names.length === 1 ? names[0] : `${names.length} answers: ${names.slice(0, 4).join(", ")}`}`,
    );
    for (const line of lines.slice(0, Number(others[2] ?? 12))) console.log(`    ${line.slice(0, 200)}`);
  }
  console.log(`${differences.length} differences`);
} else if (others.length > 0) {
  await record(resolve(first), resolve(others[0]), others[1]);
} else {
  console.error(
    "bun test/freeze/record.ts EXECUTABLE FOLDER [RECORDING], or --compare FOLDER FOLDER [LINES]",
  );
  process.exit(2);
}
