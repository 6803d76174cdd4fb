import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULTS, type Options, predict, type ScoringModel } from "../../src/motif/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openHttp } from "../../src/platform/http.ts";
import { DIRECT, type PublicUrlOptions } from "../../src/platform/origin.ts";
import { closeDatabase, type Database } from "../../src/platform/sqlite.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import { runProvenance } from "../../src/scoring/prediction/provenance.ts";
import { identify } from "../../src/scoring/corpus/find-proteins.ts";
import { openScoring, type Scoring, type ScoringOptions } from "../../src/scoring/index.ts";
import { openMigrated } from "../database.ts";
import { waitFor } from "../wait.ts";

export interface RequestOptions {
  /** Sent as JSON; text and bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ParsedResponse {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into responses freely
  json: any;
}

/** The scoring service alone, behind the program's own HTTP stack, in a temporary directory. */
export interface ScoringAlone {
  scoring: Scoring;
  database: Database;
  directory: string;
  settings: ScoringOptions;
  send(request: Request): Promise<Response>;
  /** Sends a request to the JSON service; a response in JSON is parsed. */
  ask(method: string, path: string, options?: RequestOptions): Promise<ParsedResponse>;
  close(): Promise<void>;
}

export interface HarnessOptions extends Partial<ScoringOptions> {
  /** True if the sample proteins are the corpus. */
  corpus?: boolean;
  reach?: PublicUrlOptions;
  allowedHosts?: string[];
}

export async function openScoringAlone({
  corpus = false,
  reach = DIRECT,
  allowedHosts = [],
  ...options
}: HarnessOptions = {}): Promise<ScoringAlone> {
  const directory = mkdtempSync(join(tmpdir(), "labd-scoring-"));
  const database = openMigrated(join(directory, "labd.sqlite"));
  const settings = {
    database,
    clock: systemClock,
    log: { info: () => {}, problem: () => {} },
    dataDirectory: directory,
    workers: 0,
    jobTimeoutSeconds: 30,
    maxQueryLength: 1000,
    maxMessageBytes: 100_000,
    namespace: "urn:test",
    ...options,
  };
  const scoring = await openScoring(settings);
  if (corpus) await scoring.corpora.add({ name: "sample", bytes: proteins });
  const send = openHttp({
    log: settings.log,
    clock: systemClock,
    maxMessageBytes: settings.maxMessageBytes,
    admit: () => {},
    notReadyReasons: () => [],
    reach,
    documentation: { version: "0", introduction: "", tags: [] },
    services: [scoring.routes],
    reject: scoring.reject,
    allowedHosts,
  });
  return {
    scoring,
    database,
    directory,
    settings,
    send,
    ask: (method, path, options) => ask(send, method, path, options),
    async close() {
      await scoring.close();
      closeDatabase(database);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function ask(
  send: (request: Request) => Promise<Response>,
  method: string,
  path: string,
  { body, headers = {} }: RequestOptions = {},
): Promise<ParsedResponse> {
  const isRaw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  const sent = isRaw ? (body as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(body);
  const request = new Request(path.startsWith("http") ? path : `http://lab/api/scoring${path}`, {
    method,
    headers: { ...(sent === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const response = await send(request);
  const text = await response.text();
  const isJson = response.headers.get("content-type") === "application/json" && text !== "";
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null };
}

/** Waits until the job has ended. */
export const ended = ({ ask }: ScoringAlone, id: string): Promise<ParsedResponse["json"]> =>
  waitFor(async () => {
    const { json } = await ask("GET", `/jobs/${id}`);
    return json.ended !== null && json;
  });

/** Submits a job and waits until it has ended. @returns its id */
export async function scoreJob(service: ScoringAlone, body: object): Promise<string> {
  const { status, json } = await service.ask("POST", "/jobs", { body });
  expect([status, json.message]).toEqual([202, undefined]);
  await ended(service, json.id);
  return json.id;
}

export const P53 = proteins.split(">P04637")[1].split("\n>")[0].split("\n").slice(1).join("");

/** Scores each record of FASTA with the library, without workers, as the reference for every other way of scoring. */
export function scoreDirectly(
  scoring: Scoring,
  {
    scoringModel: model,
    options,
    ...input
  }: Parameters<Scoring["readSequences"]>[0] & { scoringModel: ScoringModel; options?: Partial<Options> },
) {
  const corpus = scoring.corpora.open();
  return scoring.readSequences(input).map((question) => ({
    accession: question.name,
    description: question.description,
    protein: identify(() => corpus, { identifier: question.name, query: question.sequence }),
    provenance: runProvenance({ at: Date.now(), options, questions: [question] }),
    prediction: predict({ query: question.sequence, patterns: question.patterns, model }, corpus, {
      ...DEFAULTS,
      ...options,
    }),
  }));
}
