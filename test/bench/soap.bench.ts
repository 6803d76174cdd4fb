/**
 * GetStatus, RunJob (1,000 residues) and GetResult (1 MB) over SOAP, compared with npm soap and gSOAP where
 * installed. labd validates, stores the job before it answers, and scores meanwhile; the others do nothing,
 * except npm soap on Bun, which stores a row in SQLite per job. npm soap has the result of labd in memory.
 *
 *   bun run build && bun run test/bench/soap.bench.ts [SECONDS] [ROUNDS]
 *
 * wrk (else fetch) sends the load from another process. Wrong or too few answers end the run. Prints medians
 * of requests per second, processor time and bytes written per answer (Linux).
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClientAsync } from "soap";
import { element, ended, inEnvelope, NAMESPACE, post, runJobMessage, serve } from "../executable/labd.ts";
import { random } from "../fixtures/random-protein.ts";
import { median, say } from "./harness.ts";

const [seconds = 3, rounds = 5] = process.argv.slice(2).map(Number);
const CONNECTIONS = 16;
const PARTS = join(import.meta.dir, "soap");
const ROOT = join(import.meta.dir, "../..");
const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));

interface Peer {
  name: string;
  url: string;
  process: Bun.Subprocess;
}

/** Starts a server and waits for its address. */
async function start(name: string, words: string[], cwd: string): Promise<Peer> {
  const process = Bun.spawn(words, { cwd, stdout: "pipe", stderr: "inherit" });
  let written = "";
  for await (const chunk of process.stdout) {
    written += new TextDecoder().decode(chunk);
    const url = /serves (http:\S+)/.exec(written)?.[1];
    if (url) return { name, url, process };
  }
  throw new Error(`${name} ended: ${written}`);
}

function run(words: string[], cwd: string): void {
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd, stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${words[0]}: ${stderr.toString()}`);
}

/** gSOAP's server, generated from our WSDL; null where gSOAP is not installed. */
async function startGsoap(): Promise<Peer | null> {
  if (["wsdl2h", "soapcpp2", "gcc"].some((program) => Bun.which(program) === null)) return null;
  const folder = join(directory, "gsoap");
  mkdirSync(folder);
  run(["wsdl2h", "-c", "-s", "-o", "service.h", join(directory, "service.wsdl")], folder);
  run(["soapcpp2", "-c", "-SL", "-x", "-w", "service.h"], folder);
  const sources = [join(PARTS, "gsoap-server.c"), "soapC.c", "soapServer.c", "-lgsoap", "-lpthread"];
  run(["gcc", "-O2", "-w", "-I.", "-o", "server", ...sources], folder);
  return start("gSOAP", [join(folder, "server")], folder);
}

const NPM_SOAP = [
  join(PARTS, "npm-server.cjs"),
  join(directory, "service.wsdl"),
  join(directory, "result.json"),
];

async function startNpmSoap(): Promise<Peer | null> {
  const node = Bun.which("node");
  return node === null ? null : start("npm soap", [node, ...NPM_SOAP], ROOT);
}

/** Starts the npm soap server with stored jobs. */
function startNpmSoapKept(): Promise<Peer> {
  const words = [process.execPath, ...NPM_SOAP, join(directory, "npm-soap.sqlite")];
  return start("npm soap + SQLite", words, ROOT);
}

/** Processor time in microseconds and bytes written so far; NaN if the system does not say. */
function spent({ process: { pid } }: Peer): { microseconds: number; bytes: number } {
  try {
    const times = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    const written = /^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))![1];
    return { microseconds: (Number(times[11]) + Number(times[12])) * 10_000, bytes: Number(written) };
  } catch {
    return { microseconds: NaN, bytes: NaN };
  }
}

interface Load {
  right: number;
  wrong: number;
  broken: number;
  microseconds: number;
}

const WRK = Bun.which("wrk");

/** Runs the load in another process. @throws for wrong answers */
async function load(
  peer: Peer,
  file: string,
  expected: string,
  time = seconds,
): Promise<{ rate: number; right: number }> {
  const url = `${peer.url}/soap/ConservationScorer`;
  const words =
    WRK === null
      ? [process.execPath, join(PARTS, "load.ts"), url, file, expected, String(CONNECTIONS), String(time)]
      : [
          WRK,
          "-t1",
          `-c${CONNECTIONS}`,
          `-d${time}s`,
          "--timeout",
          "30s",
          "-s",
          join(PARTS, "load.lua"),
          url,
          "--",
          file,
          expected,
        ];
  const child = Bun.spawn(words, { stdout: "pipe", stderr: "inherit" });
  const output = await new Response(child.stdout).text();
  const { right, wrong, broken, microseconds } = JSON.parse(
    /RESULT (.*)/.exec(output)?.[1] ?? "null",
  ) as Load;
  if (wrong > 0 || broken > 0 || right === 0)
    throw new Error(`${peer.name}: ${right} right, ${wrong} wrong, ${broken} broken answers`);
  return { rate: (right / microseconds) * 1e6, right };
}

const data = join(directory, "data");
mkdirSync(data);
const limit = "100000000";
const words = `--log off --workers 1 --max-queued ${limit}`;
const labd = await serve(data, words.split(" "));
const peers: Peer[] = [];
try {
  writeFileSync(
    join(directory, "service.wsdl"),
    await (await fetch(`${labd.url}/soap/ConservationScorer?wsdl`)).text(),
  );
  const next = random(1);
  const sequence = Array.from({ length: 992 }, () => "ACDEFGHIKLMNPQRSTVWY"[Math.floor(next() * 20)]).join(
    "",
  );
  const finished = async (...patterns: string[]): Promise<string> => {
    const { text } = await post(labd.url, runJobMessage({ sequence, patterns }));
    const job = element(text, "JobIdentifier")!;
    if ((await ended(labd.url, job)) !== "finished") throw new Error("the first job did not finish");
    return job;
  };
  const job = await finished("L.C.E");
  const long = await finished(".{5}", "W..L");
  const client = await createClientAsync(join(directory, "service.wsdl"), {
    endpoint: `${labd.url}/soap/ConservationScorer`,
  });
  const [result] = (await client.GetResultAsync({ JobIdentifier: long })) as [object];
  writeFileSync(join(directory, "result.json"), JSON.stringify(result));
  const others = [await startNpmSoap(), await startNpmSoapKept(), await startGsoap()].filter(
    (peer) => peer !== null,
  );
  peers.push({ name: "labd", url: labd.url, process: labd.process }, ...others);
  say(
    `${peers.map(({ name }) => name).join(", ")}; ${WRK ? "wrk" : "fetch"}, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s`,
  );

  const asking = (operation: string, job: string): string =>
    inEnvelope(`<${operation} xmlns="${NAMESPACE}"><JobIdentifier>${job}</JobIdentifier></${operation}>`);
  const messages = {
    GetStatus: {
      text: asking("GetStatus", job),
      expected: "finished",
    },
    GetResult: { text: asking("GetResult", long), expected: "ConScorePrediction>" },
    // The load replaces the mark by eight residues.
    RunJob: {
      text: runJobMessage({ sequence: `${sequence}########`, patterns: ["W..L"] }),
      expected: "JobIdentifier>",
    },
  };
  for (const [operation, { text, expected }] of Object.entries(messages)) {
    const file = join(directory, `${operation}.xml`);
    writeFileSync(file, text);
    const size = (await post(labd.url, text)).text.length;
    const loaded = peers.filter(({ name }) => operation !== "GetResult" || name !== "gSOAP");
    const rates = new Map<string, number[]>(loaded.map(({ name }) => [name, []]));
    const costs = new Map<string, { microseconds: number[]; bytes: number[] }>(
      loaded.map(({ name }) => [name, { microseconds: [], bytes: [] }]),
    );
    let answers = 0;
    for (const peer of loaded) await load(peer, file, expected, 1);
    for (let round = 0; round < rounds; round++) {
      for (const peer of loaded) {
        const before = spent(peer);
        const { rate, right } = await load(peer, file, expected);
        const after = spent(peer);
        rates.get(peer.name)!.push(rate);
        costs.get(peer.name)!.microseconds.push((after.microseconds - before.microseconds) / right);
        costs.get(peer.name)!.bytes.push((after.bytes - before.bytes) / right);
        answers += right;
      }
    }
    const ours = median(rates.get("labd")!);
    say(`${operation} (${answers} answers checked, of ${size} characters)`);
    for (const [name, values] of rates) {
      const rate = median(values);
      const { microseconds, bytes } = costs.get(name)!;
      const times = median(microseconds) / median(costs.get("labd")!.microseconds);
      const ratio =
        name === "labd"
          ? ""
          : `  labd has ${(ours / rate).toFixed(2)} of it, ${times.toFixed(2)} by processor time`;
      const cost = `${median(microseconds).toFixed(0)} µs, ${(median(bytes) / 1000).toFixed(1)} kB written`;
      say(`  ${name.padEnd(17)} ${Math.round(rate).toString().padStart(7)}/s  ${cost.padEnd(24)}${ratio}`);
    }
  }
} finally {
  for (const peer of peers) peer.process.kill("SIGKILL");
  await labd[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
}
