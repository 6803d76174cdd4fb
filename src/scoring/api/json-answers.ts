import { type Corpus, explain, leastBits, METHOD, parsePattern, type Pattern } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { baseOf, type PublicUrlOptions } from "../../platform/origin.ts";
import type { Corpora, CorpusInfo } from "../corpus/corpus.ts";
import { calibrationOf, corpusFile } from "../corpus/corpus-download.ts";
import type { Handlers } from "./handlers.ts";
import type { JobRequest } from "../jobs/job.ts";
import { JobEvents } from "./job-events.ts";
import { FieldErrors, readObject } from "./json-body.ts";
import { type JobObject, jobObject } from "./json-job.ts";
import { problemOf, readSubmission, readText } from "./json-submission.ts";
import type { MotifClass, MotifClasses } from "../corpus/motif-classes.ts";
import type { Progress } from "../jobs/pool.ts";
import { chooseForm, RESULT_FORMS } from "./result-format.ts";
import type { JobView } from "../jobs/store.ts";

export interface JsonOptions {
  handlers: Handlers;
  /** A job's row, what it was asked (null once that is forgotten), and how far it is (null unless it runs). */
  job: (id: string) => JobView;
  request: (id: string) => JobRequest | null;
  progress: (id: string) => Progress | null;
  corpora: Corpora;
  classes: MotifClasses;
  /** Who asks, as a key by which clients take turns. */
  clientOf: (request: Request) => string;
  /** @throws Problem unauthenticated */
  requireUser: (request: Request) => void;
  maxQueryLength: number;
  /** Bytes that a body may have. */
  maxMessageBytes: number;
  /** How clients reach the service. */
  reach: PublicUrlOptions;
}

/** What the addresses of the JSON service answer; they throw Problems, which become JSON bodies where HTTP begins. */
export interface JsonAnswers {
  submit(request: Request): Promise<Response>;
  job(request: Request, id: string): Response;
  result(request: Request, id: string): Response;
  events(request: Request, id: string): Response;
  cancel(request: Request, id: string): Response;
  motifClasses(request: Request): Response;
  pattern(request: Request): Promise<Response>;
  corpus(request: Request): Response;
  corpusFile(request: Request, hash: string): Response;
  calibration(request: Request, hash: string): Response;
  /** A job may have ended: who watches is told. */
  notifyWatchers(): void;
  /** Ends the streams of events. */
  close(): void;
}

/** Jobs change, and an answer that is kept somewhere on the way would not. */
const NO_STORE = { "Cache-Control": "no-store" };

export function jsonAnswers(options: JsonOptions): JsonAnswers {
  const { handlers, classes, maxQueryLength, maxMessageBytes } = options;
  const corpus = corpusKeeper(options.corpora);
  const known = (id: string): void => {
    try {
      options.job(id);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "unknown_job") throw error;
      // The store's words are those of SOAP.
      throw new Problem(
        "unknown_job",
        "There is no job with this identifier. A submission is answered with one.",
      );
    }
  };
  const watch = (id: string, base: string): (() => JobObject) => {
    const asked = options.request(id);
    return () => jobObject(options.job(id), options.progress(id), asked, base);
  };
  const events = new JobEvents({ watch });
  const corpusOf = (request: Request, hash: string): CorpusInfo => {
    refuseParameters(request, []);
    options.requireUser(request);
    const found = options.corpora.list().find((one) => one.hash === hash);
    if (found) return found;
    throw new Problem("not_found", "There is no corpus of this hash here.");
  };
  const show = (request: Request, id: string): JobObject => watch(id, baseOf(request, options.reach))();

  return {
    async submit(request) {
      refuseParameters(request, []);
      const body = await readObject(request, maxMessageBytes);
      const submission = readSubmission(body, { corpus, classes, maxQueryLength });
      const id = await handlers.runJob(submission, options.clientOf(request));
      const job = show(request, id);
      return json(job, { status: 202, headers: { ...NO_STORE, Location: job.links.self } });
    },
    job(request, id) {
      refuseParameters(request, []);
      known(id);
      return json(show(request, id), { headers: NO_STORE });
    },
    result(request, id) {
      const { format, match } = refuseParameters(request, ["format", "match"]);
      const form = chooseForm(format ?? null, request.headers.get("accept"));
      known(id);
      const report = handlers.getResult(id);
      if (!report) {
        const { state } = options.job(id);
        throw new Problem("not_finished", `The job is ${state}: there is no result yet.`, {
          headers: { "Retry-After": "1" },
        });
      }
      const { contentType, extension, print } = RESULT_FORMS[form];
      return new Response(print(report, match === undefined ? undefined : readCount(match)), {
        headers: {
          ...NO_STORE,
          "Content-Type": contentType,
          "Content-Disposition": `inline; filename="${id}.${extension}"`,
          Vary: "Accept",
        },
      });
    },
    events(request, id) {
      refuseParameters(request, []);
      known(id);
      // The headers alone: a stream without a reader would be kept for nobody.
      if (request.method === "HEAD") {
        return new Response(null, {
          headers: { ...NO_STORE, "Content-Type": "text/event-stream; charset=utf-8" },
        });
      }
      return events.open(
        id,
        baseOf(request, options.reach),
        options.clientOf(request),
        request.headers.get("last-event-id"),
        request.signal,
      );
    },
    cancel(request, id) {
      refuseParameters(request, []);
      known(id);
      handlers.cancel(id);
      return json(show(request, id), { headers: NO_STORE });
    },
    motifClasses(request) {
      const { query = "" } = refuseParameters(request, ["query"]);
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const results = classes.classes
        .filter((motifClass) => words.every((word) => searchText(motifClass).includes(word)))
        .map(describeClass);
      return json({ total: results.length, results });
    },
    async pattern(request) {
      refuseParameters(request, []);
      return checkPattern(await readObject(request, maxMessageBytes));
    },
    corpus(request) {
      refuseParameters(request, []);
      const active = options.corpora.active();
      if (!active) throw new Problem("not_found", "There is no corpus. Add one with `labd corpus add FILE`.");
      const { name, hash, sequences, residues, bytes, added } = active;
      return json(
        { name, hash, sequences, residues, bytes, added: new Date(added).toISOString(), method: METHOD },
        { headers: NO_STORE },
      );
    },
    corpusFile: (request, hash) => corpusFile(request, corpusOf(request, hash)),
    calibration: (request, hash) => calibrationOf(request, corpusOf(request, hash)),
    notifyWatchers: () => events.checkSoon(),
    close: () => events.close(),
  };
}

/** Not Response.json: clients compare the type with "application/json" to the letter. */
const json = (
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
) =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });

/** The parameters of a request. @throws Problem invalid_request for one that is not known or repeated */
function refuseParameters<Name extends string>(
  request: Request,
  known: readonly Name[],
): Partial<Record<Name, string>> {
  const given = [...new URL(request.url).searchParams];
  const errors = new FieldErrors();
  const allowed =
    known.length > 0 ? `there ${known.length > 1 ? "are" : "is"} ${known.join(", ")}` : "there is none";
  if (given.some(([name]) => !(known as readonly string[]).includes(name))) {
    errors.add("parameters", `an unknown one; ${allowed}.`);
  }
  for (const name of known) {
    if (given.filter(([other]) => other === name).length > 1) errors.add(name, "it is there more than once.");
  }
  errors.check();
  return Object.fromEntries(given) as Partial<Record<Name, string>>;
}

/** @throws Problem invalid_request */
function readCount(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  const text = "expected the number of a match, from 1.";
  throw new Problem("invalid_request", `match: ${text}`, { fields: { match: [text] } });
}

/** The corpus in use, mapped once and again when another is taken into use. */
function corpusKeeper(corpora: Corpora): () => Corpus {
  let kept: { hash: string | null; corpus: Corpus } | undefined;
  return () => {
    const hash = corpora.active()?.hash ?? null;
    if (!kept || kept.hash !== hash) kept = { hash, corpus: corpora.openActive() };
    return kept.corpus;
  };
}

const searchText = ({ name, aliases, expression, description }: MotifClass): string =>
  [name, ...aliases, expression, description].join(" ").toLowerCase();

/** Reading an expression takes a while, and there may be hundreds of classes. */
const DESCRIBED = new WeakMap<MotifClass, object>();

function describeClass(motifClass: MotifClass): object {
  const known = DESCRIBED.get(motifClass);
  if (known) return known;
  const { name, aliases, expression, dialect, description, citation } = motifClass;
  const pattern = parsePattern(expression, dialect);
  const described = {
    name,
    aliases,
    expression,
    explanation: explain(pattern),
    informationContent: bitsOf(pattern),
    description,
    citation,
  };
  DESCRIBED.set(motifClass, described);
  return described;
}

/** Six decimals, as in results. */
const bitsOf = (pattern: Pattern): number => Math.round(leastBits(pattern.root) * 1e6) / 1e6;

/**
 * What an expression means. One without a meaning is a Problem like any other, with the character where it is wrong
 * besides, so that an editor can point there.
 */
function checkPattern(body: Record<string, unknown>): Response {
  const errors = new FieldErrors();
  errors.refuseOthers(body, ["pattern"]);
  const expression = readText(body, "pattern", errors);
  if (expression === null && !("pattern" in body && body.pattern !== null))
    errors.add("pattern", "it must be there.");
  errors.check();
  const wrong = problemOf(expression!);
  if (wrong) {
    errors.add("pattern", wrong.text, "invalid_pattern");
    const { fields, message, code, status } = errors.problem()!;
    return json({ ...fields, message, code, position: wrong.position }, { status });
  }
  const pattern = parsePattern(expression!, "soap");
  return json({ expression, explanation: explain(pattern), informationContent: bitsOf(pattern) });
}
