import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../../src/problem.ts";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import type { Scoring, ScoringOptions } from "../../src/scoring/index.ts";
import { problemResponse } from "../../src/platform/http.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { openScoringAlone } from "./scoring-harness.ts";

/** The scoring service with the sample proteins, asked without a socket. */
export interface Service {
  scoring: Scoring;
  database: Database;
  /** An answer, and its body as JSON where it is that. */
  ask(method: string, path: string, options?: Asked): Promise<Answered>;
  close(): Promise<void>;
}

export interface Asked {
  /** Sent as JSON; text and bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look at answers freely
  json: any;
}

export const API = "http://lab/api/scoring";

export async function openService(options: Partial<ScoringOptions> = {}, corpus = true): Promise<Service> {
  const { scoring, database, close } = await openScoringAlone({ workers: 1, ...options });
  if (corpus) await scoring.corpora.add({ name: "sample", bytes: proteins });
  const app = new Elysia({ handler: { standardHostname: false }, systemRouter: false, strictPath: true })
    .onError({ as: "global" }, ({ error, code }) =>
      problemResponse(
        code === "NOT_FOUND" ? new Problem("not_found", "No such address.") : Problem.from(error),
      ),
    )
    .use(scoring.routes)
    .use(swagger({ path: "/docs" }) as AnyElysia);
  return {
    scoring,
    database,
    async ask(method, path, { body, headers = {} } = {}) {
      const isRaw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
      const sent = isRaw ? (body as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(body);
      const request = new Request(path.startsWith("http") ? path : API + path, {
        method,
        headers: { ...(sent === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
        ...(sent === undefined ? {} : { body: sent }),
      });
      const response = await app.fetch(request);
      const text = await response.text();
      const isJson = response.headers.get("content-type") === "application/json";
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson && text !== "" ? JSON.parse(text) : null,
      };
    },
    close,
  };
}

/** Asks until the job has ended. */
export async function ended({ ask }: Service, id: string): Promise<Answered["json"]> {
  for (let i = 0; i < 2000; i++) {
    const { json } = await ask("GET", `/jobs/${id}`);
    if (json.ended !== null) return json;
    await Bun.sleep(5);
  }
  throw new Error("the job did not end");
}

export const P53 = proteins.split(">P04637")[1].split("\n>")[0].split("\n").slice(1).join("");
