import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { LABD, labd, serve } from "./labd.ts";
import { type Host, Hosts } from "./network-hosts.ts";
import { waitFor } from "../wait.ts";

/** A server, Redis and two workers, each on its own machine (network-hosts.ts), while parts are killed and cut off. */

export type Part = "server" | "redis" | "worker1" | "worker2";
const PARTS: readonly Part[] = ["redis", "server", "worker1", "worker2"];
const WORKERS: readonly Part[] = ["worker1", "worker2"];
const PORT = 8480;

export interface StageOptions {
  /** Holds the files of all parts. */
  directory: string;
  /** Setting queue_local. */
  local: "away" | "always" | "never";
  /** True if Redis persists its data. */
  redisKeeps: boolean;
  /** FASTA file for the corpus; by default the sample. */
  proteins?: string;
  /** Concurrent jobs of each worker. */
  concurrency?: number;
}

export interface Question {
  identifier: string;
  querySequence: string;
  patterns: string[];
}

/** Different questions: proteins of the sample with expressions that differ from round to round. */
export function makeQuestions(count: number): Question[] {
  const records = proteins.split(/^>/m).slice(1);
  return Array.from({ length: count }, (_, i) => {
    const [header, ...lines] = records[i % records.length].trim().split("\n");
    const gap = Math.floor(i / records.length) + 1;
    return {
      identifier: `${i} ${header.split(/\s/, 1)[0]}`,
      querySequence: lines.join(""),
      patterns: ["P..P", `[ST]P.{${gap}}[KR]`, "L.C.E"],
    };
  });
}

/** The fate of all jobs: everything but `accepted` and `besides` must be 0. */
export interface Account {
  accepted: number;
  /** Accepted, but not in the database. */
  lost: number;
  /** In the database, but their acceptance was not received. */
  besides: number;
  unfinished: number;
  endedTwice: number;
  endUnreported: number;
  /** With another result than that of one machine. */
  differing: number;
}

const postJson = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });

export class FarmStage implements AsyncDisposable {
  readonly #running = new Map<Part, Bun.Subprocess>();
  /** `webhook-id` and job of each delivery without repetitions. */
  readonly deliveredEvents = { ends: new Map<string, string>(), deliveries: 0 };
  readonly #receiver: Bun.Server<undefined>;

  private constructor(
    private readonly options: StageOptions,
    private readonly hosts: Hosts,
  ) {
    const { deliveredEvents } = this;
    this.#receiver = Bun.serve({
      hostname: hosts.address,
      port: 0,
      async fetch(request) {
        const { type, data } = (await request.json()) as { type: string; data: { id: string } };
        deliveredEvents.deliveries++;
        if (type.startsWith("job.")) deliveredEvents.ends.set(request.headers.get("webhook-id")!, data.id);
        return new Response();
      },
    });
  }

  static async open(options: StageOptions): Promise<FarmStage> {
    const { directory, proteins = "--sample" } = options;
    for (const part of PARTS) mkdirSync(join(directory, part), { recursive: true });
    const env = { LABD_DATA_DIR: join(directory, "server") };
    const added = await labd(["corpus", "add", proteins], { env });
    if (added.code !== 0) throw new Error(added.stderr);
    await labd(["user", "add", "farm", "--admin"], { env });
    const token = (await labd(["token", "add", "farm"], { env })).stdout;
    writeFileSync(join(directory, "worker.token"), token, { mode: 0o600 });
    const stage = new FarmStage(options, await Hosts.create(PARTS));
    try {
      for (const part of PARTS) stage.start(part);
      await stage.untilAnswers();
      const events = ["job.finished", "job.failed", "job.cancelled"];
      const webhook = { url: stage.#receiver.url.href, events };
      const authorization = { Authorization: `Token ${token.trim()}` };
      const registered = await postJson(`${stage.url}/api/webhooks/`, webhook, authorization);
      if (!registered.ok) throw new Error(await registered.text());
      for (const worker of WORKERS) await stage.untilTakesWork(worker);
      return stage;
    } catch (error) {
      const log = stage.log();
      await stage[Symbol.asyncDispose]();
      throw new Error(log, { cause: error });
    }
  }

  get url(): string {
    return `http://${this.hosts.host("server").address}:${PORT}`;
  }

  /** Starts a part, also again after it was killed. */
  start(part: Part): void {
    const { directory, local, redisKeeps, concurrency = 1 } = this.options;
    const { address } = this.hosts.host(part);
    const queue = `redis://${this.hosts.host("redis").address}:6379/0`;
    const data = join(directory, part);
    const network = this.hosts.address.replace(/\.\d+$/, ".0/24");
    const worker = `${LABD} worker --queue ${queue} --concurrency ${concurrency} --data-dir ${data} --from ${this.url} --token-file ${join(directory, "worker.token")}`;
    const commands: Record<Part, string> = {
      redis: `redis-server --bind ${address} --port 6379 --protected-mode no --dir ${data} --save '' --appendonly ${redisKeeps ? "yes" : "no"} --maxmemory-policy noeviction`,
      server: `${LABD} serve --host ${address} --port ${PORT} --data-dir ${data} --queue ${queue} --queue-local ${local} --workers 1 --backup-hours 0 --log problems --webhook-allow ${network}`,
      worker1: worker,
      worker2: worker,
    };
    const words = commands[part].split(" ").map((word) => (word === "''" ? "" : word));
    const started = this.hosts.host(part).start(words, this.#logFile(part), { HOME: directory });
    this.#running.set(part, started);
  }

  async kill(part: Part): Promise<void> {
    const process = this.#running.get(part)!;
    if (process.exitCode !== null) throw new Error(`${part} had ended by itself: ${this.log()}`);
    process.kill("SIGKILL");
    await process.exited;
  }

  /** Deletes the data of a worker, as if it started on a new machine. */
  wipe(worker: Part): void {
    rmSync(join(this.options.directory, worker), { recursive: true });
  }

  cut(part: Part, how: Parameters<Host["cut"]>[0]): Promise<void> {
    return this.hosts.host(part).cut(how);
  }
  heal(part: Part): Promise<void> {
    return this.hosts.host(part).heal();
  }

  #logFile = (part: Part): string => join(this.options.directory, `${part}.log`);

  /** The last log lines of each part. */
  log(): string {
    return PARTS.map(this.#logFile)
      .filter((file) => existsSync(file))
      .map((file) => `--- ${file}\n${readFileSync(file, "utf8").slice(-3000)}`)
      .join("\n");
  }

  async untilAnswers(): Promise<void> {
    await waitFor(
      () =>
        fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
          ({ ok }) => ok,
          () => false,
        ),
      () => this.log(),
    );
  }

  /** Waits until a worker has logged so many times that it takes work. */
  async untilTakesWork(worker: Part, times = 1): Promise<void> {
    const logged = (): number => readFileSync(this.#logFile(worker), "utf8").split('"takes work"').length - 1;
    await waitFor(
      () => logged() >= times,
      () => `${worker} takes no work: ${this.log()}`,
    );
  }

  /** Submits a question until it is accepted. A job whose acceptance was lost on the way may exist besides. */
  async submit(question: Question): Promise<string> {
    for (;;) {
      const response = await postJson(`${this.url}/api/scoring/jobs`, question).catch(() => null);
      const job = response?.ok ? ((await response.json().catch(() => null)) as { id: string } | null) : null;
      if (job) return job.id;
      if (response && response.status >= 400 && response.status < 500 && response.status !== 429)
        throw new Error(`${response.status}: ${await response.text()}`);
      await Bun.sleep(100);
    }
  }

  /** Submits all, four at a time. @returns the identifiers in order */
  async submitAll(questions: readonly Question[], pause = 0): Promise<string[]> {
    const ids: string[] = [];
    const left = [...questions.entries()];
    const submitter = async (): Promise<void> => {
      for (let next; (next = left.shift());) {
        ids[next[0]] = await this.submit(next[1]);
        if (pause > 0) await Bun.sleep(pause);
      }
    };
    await Promise.all([1, 2, 3, 4].map(submitter));
    return ids;
  }

  #query<Row>(sql: string): Row[] {
    using database = new Database(join(this.options.directory, "server/labd.sqlite"), { readonly: true });
    return database.query(sql).all() as Row[];
  }

  /** Finished jobs by worker; those answered from an earlier result have no attempts. */
  byWorker(): Record<string, number> {
    const rows = this.#query<{ worker: string; n: number }>(
      "SELECT coalesce(substr(worker, 1, 30), 'pool') AS worker, count(*) AS n FROM job WHERE state = 'finished' AND attempts > 0 GROUP BY 1",
    );
    return Object.fromEntries(rows.map(({ worker, n }) => [worker, n]));
  }

  /** Waits until so many workers have each finished a job. */
  async untilHandedIn(workers: number): Promise<void> {
    const finishers = (): number => Object.keys(this.byWorker()).length;
    await waitFor(
      () => finishers() >= workers,
      () => `only ${JSON.stringify(this.byWorker())}: ${this.log()}`,
    );
  }

  /** Waits until no job waits or runs. @throws after so many seconds without the end of a job */
  async untilDone(patience = 200): Promise<void> {
    let best = Infinity;
    for (let since = performance.now(); ; await Bun.sleep(100)) {
      const [{ n }] = this.#query<{ n: number }>(
        "SELECT count(*) AS n FROM job WHERE state IN ('queued', 'running')",
      );
      if (n === 0) return;
      if (n !== best) since = performance.now();
      best = n;
      if (performance.now() - since > patience * 1000)
        throw new Error(`${n} jobs remain, and none ends: ${this.log()}`);
    }
  }

  /**
   * Compares the jobs with what was accepted, what was delivered, and the results of one machine.
   * @param ids in the order of `expected`
   */
  async account(ids: readonly string[], expected: readonly string[]): Promise<Account> {
    const jobs = this.#query<{ id: string; state: string }>("SELECT id, state FROM job");
    await waitFor(() => this.deliveredEvents.ends.size >= jobs.length);
    // Time for deliveries that should not come.
    await Bun.sleep(1500);
    const known = new Set(jobs.map(({ id }) => id));
    const notified = new Map<string, number>();
    for (const job of this.deliveredEvents.ends.values()) notified.set(job, (notified.get(job) ?? 0) + 1);
    let differing = 0;
    for (const [i, id] of ids.entries()) {
      const response = await fetch(`${this.url}/api/scoring/jobs/${id}/result`);
      if ((await response.text()) !== expected[i]) differing++;
    }
    return {
      accepted: new Set(ids).size,
      lost: ids.filter((id) => !known.has(id)).length,
      besides: jobs.length - ids.length,
      unfinished: jobs.filter(({ state }) => state !== "finished").length,
      endedTwice: [...notified.values()].filter((times) => times > 1).length,
      endUnreported: jobs.filter(({ id }) => !notified.has(id)).length,
      differing,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver.stop(true);
    await this.hosts[Symbol.asyncDispose]();
  }
}

/** The results of one machine for the same questions: a server without a queue, on a copy of the corpus. */
export async function resultsOfOne(
  directory: string,
  questions: readonly Question[],
  proteins = "--sample",
): Promise<string[]> {
  mkdirSync(directory, { recursive: true });
  await labd(["corpus", "add", proteins], { env: { LABD_DATA_DIR: directory } });
  await using server = await serve(directory, ["--log", "problems", "--backup-hours", "0"]);
  const links: { events: string; result: string }[] = [];
  for (const question of questions) {
    const response = await postJson(`${server.url}/api/scoring/jobs`, question);
    if (!response.ok) throw new Error(`${question.identifier}: ${await response.text()}`);
    links.push(((await response.json()) as { links: { events: string; result: string } }).links);
  }
  const results: string[] = [];
  for (const { events, result } of links) {
    await (await fetch(events)).text();
    results.push(await (await fetch(result)).text());
  }
  return results;
}
