import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { LABD, labd, serve } from "./labd.ts";
import { type Host, type Hosts, makeHosts } from "./network-hosts.ts";

/**
 * A server, Redis and two workers, each on a machine of its own (network-hosts.ts), and what is asked of them: jobs that
 * go on being submitted while parts are killed and cut off, and a ledger of what became of each.
 */

export type Part = "server" | "redis" | "worker1" | "worker2";
const PARTS: readonly Part[] = ["server", "redis", "worker1", "worker2"];
const WORKERS: readonly Part[] = ["worker1", "worker2"];
const PORT = 8480;
/** File with what workers show to the server for its corpus. */
const TOKEN = "worker.token";

export interface StageOptions {
  /** Holds everything that the parts write. */
  directory: string;
  /** Whether the server's own pool works: setting queue_local. */
  local: "away" | "always" | "never";
  /** Whether Redis writes down what it has. */
  redisKeeps: boolean;
  /** FASTA file for the corpus; by default the sample. */
  proteins?: string;
  /** Jobs at a time, of each worker. */
  concurrency?: number;
}

/** One job to be asked for. */
export interface Question {
  identifier: string;
  querySequence: string;
  patterns: string[];
}

/** So many questions, no two alike: proteins of the sample with expressions that differ from round to round. */
export function questionsOf(count: number): Question[] {
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

/** What was heard of the jobs' ends. */
export interface Heard {
  /** `webhook-id` and job of each delivery, repetitions left out. */
  ends: Map<string, string>;
  deliveries: number;
}

/** What became of the jobs: all but the first and `besides` have to be 0. */
export interface Account {
  accepted: number;
  /** Accepted, and not there. */
  lost: number;
  /** There, and nobody heard that it was accepted. */
  besides: number;
  unfinished: number;
  endedTwice: number;
  endUntold: number;
  /** With another result than that of one machine. */
  differing: number;
}

export class FarmStage implements AsyncDisposable {
  readonly #running = new Map<Part, Bun.Subprocess>();
  readonly heard: Heard = { ends: new Map(), deliveries: 0 };
  readonly #receiver: Bun.Server<undefined>;

  private constructor(
    private readonly options: StageOptions,
    private readonly hosts: Hosts,
  ) {
    const { heard } = this;
    this.#receiver = Bun.serve({
      hostname: hosts.address,
      port: 0,
      async fetch(request) {
        const { type, data } = (await request.json()) as { type: string; data: { id: string } };
        heard.deliveries++;
        if (type.startsWith("job.")) heard.ends.set(request.headers.get("webhook-id")!, data.id);
        return new Response();
      },
    });
  }

  static async open(options: StageOptions): Promise<FarmStage> {
    const { directory, proteins } = options;
    for (const part of PARTS) mkdirSync(join(directory, part), { recursive: true });
    const what = proteins === undefined ? ["--sample"] : [proteins];
    const env = { LABD_DATA_DIR: join(directory, "server") };
    const added = await labd(["corpus", "add", ...what], { env });
    if (added.code !== 0) throw new Error(added.stderr);
    await labd(["user", "add", "farm", "--password-stdin"], { env, stdin: "a long password\n" });
    const token = await labd(["token", "add", "farm"], { env });
    writeFileSync(join(directory, TOKEN), token.stdout, { mode: 0o600 });
    const stage = new FarmStage(options, await makeHosts(PARTS));
    try {
      for (const part of ["redis", "server", ...WORKERS] as Part[]) stage.start(part);
      await stage.untilAnswers();
      await stage.#register();
      for (const worker of WORKERS) await stage.untilTakesWork(worker);
      return stage;
    } catch (error) {
      const said = stage.log();
      await stage[Symbol.asyncDispose]();
      throw new Error(said, { cause: error });
    }
  }

  get url(): string {
    return `http://${this.#host("server").address}:${PORT}`;
  }
  get queue(): string {
    return `redis://${this.#host("redis").address}:6379/0`;
  }

  #host(part: Part): Host {
    return this.hosts.host(part);
  }

  /** Starts a part, or starts it again after it was killed. */
  start(part: Part): void {
    const { directory, local, redisKeeps, concurrency = 1 } = this.options;
    const { address } = this.#host(part);
    const data = join(directory, part);
    const network = this.hosts.address.replace(/\.\d+$/, ".0/24");
    const work =
      `${LABD} worker --queue ${this.queue} --concurrency ${concurrency} --data-dir ${data} --from ${this.url} ` +
      `--token-file ${join(directory, TOKEN)}`;
    const commands: Record<Part, string> = {
      redis:
        `redis-server --bind ${address} --port 6379 --protected-mode no --dir ${data} ` +
        `--save '' --appendonly ${redisKeeps ? "yes" : "no"} --maxmemory-policy noeviction`,
      server:
        `${LABD} serve --host ${address} --port ${PORT} --data-dir ${data} --queue ${this.queue} --queue-local ${local} ` +
        `--workers 1 --backup-hours 0 --log problems --webhook-allow ${network}`,
      worker1: work,
      worker2: work,
    };
    const env = { LABD_ADMIN_PASSWORD: "correct horse battery", HOME: directory };
    this.#running.set(
      part,
      this.#host(part).start(
        commands[part].split(" ").map((word) => (word === "''" ? "" : word)),
        this.#logFile(part),
        env,
      ),
    );
  }

  /** Ends a part without a word. */
  async kill(part: Part): Promise<void> {
    const process = this.#running.get(part)!;
    if (process.exitCode !== null) throw new Error(`${part} had ended by itself: ${this.log()}`);
    process.kill("SIGKILL");
    await process.exited;
  }

  /** Takes away what a worker has on its disk, as if it came on a new machine. */
  wipe(worker: Part): void {
    rmSync(join(this.options.directory, worker), { recursive: true });
  }

  cut(part: Part, how: Parameters<Host["cut"]>[0]): Promise<void> {
    return this.#host(part).cut(how);
  }
  heal(part: Part): Promise<void> {
    return this.#host(part).heal();
  }

  #logFile = (part: Part): string => join(this.options.directory, `${part}.log`);

  get #database(): string {
    return join(this.options.directory, "server/labd.sqlite");
  }

  /** The last that each part said. */
  log(): string {
    return PARTS.map((part) => {
      const file = this.#logFile(part);
      return existsSync(file) ? `--- ${part}\n${readFileSync(file, "utf8").slice(-3000)}` : "";
    }).join("\n");
  }

  async untilAnswers(): Promise<void> {
    for (let i = 0; i < 600; i++) {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(1000) }).catch(
        () => null,
      );
      if (answer?.ok) return;
      await Bun.sleep(50);
    }
    throw new Error(`the server does not answer: ${this.log()}`);
  }

  /** Waits until a worker, the so-manieth that was started there, has said that it takes work. */
  async untilTakesWork(worker: Part, times = 1): Promise<void> {
    const said = (): number => readFileSync(this.#logFile(worker), "utf8").split('"takes work"').length - 1;
    for (let i = 0; said() < times; i++) {
      if (i === 2400) throw new Error(`${worker} takes no work: ${this.log()}`);
      await Bun.sleep(100);
    }
  }

  /** Has itself told of the end of each job. */
  async #register(): Promise<void> {
    const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${this.url}${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as { token?: string };
    };
    const { token } = await post("/api/v2/token-auth/", {
      username: "admin",
      password: "correct horse battery",
    });
    await post(
      "/api/webhooks/",
      { url: this.#receiver.url.href, events: ["job.finished", "job.failed", "job.cancelled"] },
      { Authorization: `Token ${token}` },
    );
  }

  /**
   * Submits a question until it is accepted, whatever is away meanwhile. Where an answer was lost, the job that it told of may
   * be there besides.
   */
  async submit(question: Question): Promise<string> {
    for (;;) {
      const answer = await fetch(`${this.url}/api/scoring/jobs`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(question),
        signal: AbortSignal.timeout(5000),
      }).catch(() => null);
      if (answer?.status === 202) {
        const job = (await answer.json().catch(() => null)) as { id: string } | null;
        if (job) return job.id;
      } else if (answer && answer.status < 500 && answer.status !== 429) {
        throw new Error(`${answer.status}: ${await answer.text()}`);
      }
      await Bun.sleep(100);
    }
  }

  /** Submits all, some at a time. @returns the identifier of each */
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

  /** Number of jobs by state, as the database has them. */
  counts(): Record<string, number> {
    using database = new Database(this.#database, { readonly: true });
    const rows = database.query("SELECT state, count(*) AS n FROM job GROUP BY state").all();
    return Object.fromEntries((rows as { state: string; n: number }[]).map(({ state, n }) => [state, n]));
  }

  /**
   * Who has scored how many of those that are finished. A question whose answer to the client was lost with the server is
   * asked again, and may be answered without a worker.
   */
  byWorker(): Record<string, number> {
    using database = new Database(this.#database, { readonly: true });
    const rows = database
      .query(
        "SELECT coalesce(substr(worker, 1, 30), 'pool') AS who, count(*) AS n FROM job WHERE state = 'finished' AND attempts > 0 GROUP BY who",
      )
      .all();
    return Object.fromEntries((rows as { who: string; n: number }[]).map(({ who, n }) => [who, n]));
  }

  /** Waits until so many workers have each finished a job. */
  async untilHandedIn(workers: number): Promise<void> {
    for (let i = 0; Object.keys(this.byWorker()).length < workers; i++) {
      if (i === 4800) throw new Error(`only ${JSON.stringify(this.byWorker())}: ${this.log()}`);
      await Bun.sleep(50);
    }
  }

  /** Waits until no job waits or runs. @throws after so many seconds without the end of a job */
  async untilDone(patience = 200): Promise<void> {
    let best = "";
    for (let since = performance.now(); ; await Bun.sleep(100)) {
      const { queued = 0, running = 0, ...ended } = this.counts();
      if (queued + running === 0) return;
      if (JSON.stringify(ended) !== best) since = performance.now();
      best = JSON.stringify(ended);
      if (performance.now() - since > patience * 1000)
        throw new Error(`${queued} queued, ${running} running, nothing ends: ${this.log()}`);
    }
  }

  /** Result of a job, as its owner gets it. */
  async result(id: string): Promise<string> {
    const answer = await fetch(`${this.url}/api/scoring/jobs/${id}/result`);
    if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  }

  /** Waits until the end of every job was told, and a little longer for what should not come. */
  async untilTold(jobs: number): Promise<void> {
    for (let i = 0; i < 4800 && this.heard.ends.size < jobs; i++) await Bun.sleep(50);
    await Bun.sleep(1500);
  }

  /**
   * Holds what became of the jobs against what was accepted, what was told, and what one machine says.
   * @param ids of the jobs, in the order of what is expected
   */
  async account(ids: readonly string[], expected: readonly string[]): Promise<Account> {
    using database = new Database(this.#database, { readonly: true });
    const jobs = database.query("SELECT id, state FROM job").all() as { id: string; state: string }[];
    await this.untilTold(jobs.length);
    const known = new Set(jobs.map(({ id }) => id));
    const told = new Map<string, number>();
    for (const job of this.heard.ends.values()) told.set(job, (told.get(job) ?? 0) + 1);
    const differing: string[] = [];
    for (const [i, id] of ids.entries()) if ((await this.result(id)) !== expected[i]) differing.push(id);
    return {
      accepted: new Set(ids).size,
      lost: ids.filter((id) => !known.has(id)).length,
      besides: jobs.length - ids.length,
      unfinished: jobs.filter(({ state }) => state !== "finished").length,
      endedTwice: [...told.values()].filter((times) => times > 1).length,
      endUntold: jobs.filter(({ id }) => !told.has(id)).length,
      differing: differing.length,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver.stop(true);
    await this.hosts[Symbol.asyncDispose]();
  }
}

/** What one machine says to the same questions: a server without a queue, on a copy of the same corpus. */
export async function resultsOfOne(
  directory: string,
  questions: readonly Question[],
  proteins?: string,
): Promise<string[]> {
  mkdirSync(directory, { recursive: true });
  const what = proteins === undefined ? ["--sample"] : [proteins];
  await labd(["corpus", "add", ...what], { env: { LABD_DATA_DIR: directory } });
  await using server = await serve(directory, ["--log", "problems", "--backup-hours", "0"]);
  const results: { events: string; result: string }[] = [];
  for (const question of questions) {
    const answer = await fetch(`${server.url}/api/scoring/jobs`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
    });
    if (answer.status !== 202) throw new Error(`${question.identifier}: ${await answer.text()}`);
    results.push(((await answer.json()) as { links: { events: string; result: string } }).links);
  }
  const texts: string[] = [];
  for (const { events, result } of results) {
    await (await fetch(events)).text();
    const answer = await fetch(result);
    if (answer.status !== 200) throw new Error(`${result}: ${await answer.text()}`);
    texts.push(await answer.text());
  }
  return texts;
}
