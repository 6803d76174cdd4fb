import type { Static } from "typebox";
import type { PatternRequest } from "../../motif/index.ts";
import { type Owner, type Ownership, requireOwner } from "../../accounts/owner.ts";
import { timestamp, timestampOrNull } from "../../platform/clock.ts";
import { readRepeatable } from "../../platform/idempotency-key.ts";
import { mount } from "../../platform/mount.ts";
import { type Guards, operation, Reply } from "../../platform/operation.ts";
import { type BatchTable, readBatch } from "../batch/batch-table.ts";
import type { Batch, Batches, NewBatch } from "../batch/batches.ts";
import type { BatchItem, NewItem } from "../batch/batch-items.ts";
import type { Corpora } from "../corpus/corpus.ts";
import type { FeatureSource } from "../features/annotation.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { type BatchRows, printBatch } from "../results/batch-matches.ts";
import { readFilters } from "../table/filters.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { withView } from "../table/provenance.ts";
import { TABLE_FORMATS } from "../table/table-formats.ts";
import { ProblemList } from "../../problem.ts";
import { batchProvenance, batchSource } from "./batch-provenance.ts";
import {
  type BatchObject,
  BatchSchema,
  BatchSubmission,
  ItemQuery,
  ItemsSchema,
  MatchesQuery,
  MAX_LISTED_ITEMS,
} from "./batch-schemas.ts";
import { describeContent, describeIdempotencyKey, OWNER_KEY } from "./openapi-parts.ts";
import { readBody } from "./json-schemas.ts";
import { readCommon, readProtein, type SubmissionContext } from "./submission.ts";

/** Patterns, and motif classes, of one job. */
const MAX_PER_JOB = 1000;

/** Dependencies of the operations of batches. */
export interface BatchParts extends SubmissionContext {
  batches: Batches;
  handlers: Pick<Handlers, "getPrediction" | "request">;
  corpora: Pick<Corpora, "list">;
  featureSource: () => FeatureSource;
  ownership: Ownership;
  identifyClient: (request: Request) => string;
  /** @throws Problem if the disk takes no batch */
  requireWritable: () => void;
}

const batchAccess = { access: "anyone", params: { id: "Id of the batch." }, errors: [404] } as const;

/** Batches: many proteins, whose jobs the server submits. */
export const batchOperations = [
  operation("POST /api/scoring/batches", {
    access: "anyone",
    summary: "Score many proteins",
    operationId: "submitScoringBatch",
    description:
      "The response is sent once the batch is stored durably; `Location` is its address. The server submits its jobs as the queue has room, also after a restart; they are ordinary jobs of the caller.",
    parameters: [OWNER_KEY, describeIdempotencyKey("batch")],
    body: BatchSubmission,
    status: 202,
    returns: BatchSchema,
    errors: [413, 415, 422, 503],
    run({ body, request, context }, parts: BatchParts) {
      const { batches, identifyClient, ownership } = parts;
      parts.requireWritable();
      const client = identifyClient(request);
      const repeatable = readRepeatable(request, JSON.stringify(body));
      const { key, headers } = ownership.claim(request);
      const stored =
        batches.findRepeated(client, repeatable) ??
        batches.start(readSubmittedBatch(body, parts), client, key, repeatable);
      const { keys, isAdministrator } = ownership.identify(request);
      const caller = { keys: key === null ? keys : [...keys, key], isAdministrator };
      const shown = showBatch(parts, stored, caller, context.baseUrl);
      return new Reply(shown, { headers: { ...headers, Location: shown.links.self } });
    },
  }),
  operation("GET /api/scoring/batches/:id", {
    ...batchAccess,
    summary: "Get a batch",
    operationId: "getScoringBatch",
    description: "Progress is sent by the events of its task.",
    returns: BatchSchema,
    run: ({ params, request, context }, parts: BatchParts) =>
      showBatch(parts, parts.batches.find(params.id), parts.ownership.identify(request), context.baseUrl),
  }),
  operation("GET /api/scoring/batches/:id/items", {
    ...batchAccess,
    summary: "Get the jobs of a batch",
    operationId: "getScoringBatchItems",
    query: ItemQuery,
    returns: ItemsSchema,
    run({ params: { id }, query: { offset = 0, limit = MAX_LISTED_ITEMS } }, { batches }: BatchParts) {
      const { counts } = batches.find(id);
      return { total: counts.total, items: batches.items(id, offset, limit) };
    },
  }),
  operation("GET /api/scoring/batches/:id/matches", {
    ...batchAccess,
    summary: "Download the matches of a batch",
    operationId: "downloadBatchMatches",
    description: "The matches of the finished jobs, in the order of the batch.",
    query: MatchesQuery,
    formats: describeContent(TABLE_FORMATS),
    async run({ params: { id }, query }, parts: BatchParts) {
      const { batches, handlers, featureSource } = parts;
      const { format = "tsv", rows = "all" } = query;
      const batch = batches.find(id);
      const { groups } = batch.request;
      const jobs = { items: allItems(batches, id), groups, handlers, source: featureSource() };
      const values = readFilters(MATCH_TABLES.batch.filters, query);
      const { contentType, extension } = TABLE_FORMATS[format];
      const headers = {
        "Cache-Control": "no-store",
        "Content-Type": contentType,
        "Content-Disposition": `inline; filename="batch-${id.slice(0, 8)}.${extension}"`,
      };
      const provenance = withView(batchProvenance(parts, batch), { values });
      const how = { format: TABLE_FORMATS[format], rows: rows as BatchRows, values, provenance };
      const file = await printBatch(jobs, how);
      return new Response(file, { headers });
    },
  }),
  operation("DELETE /api/scoring/batches/:id", {
    ...batchAccess,
    summary: "Cancel a batch",
    operationId: "cancelScoringBatch",
    description: "Cancels its jobs that have not ended. Results are kept.",
    parameters: [OWNER_KEY],
    returns: BatchSchema,
    errors: [404, 409],
    async run({ params: { id }, request, context }, parts: BatchParts) {
      const { batches, ownership } = parts;
      const caller = ownership.identify(request);
      requireOwner(caller, batches.find(id).owner, "batch");
      return showBatch(parts, await batches.cancel(id), caller, context.baseUrl);
    },
  }),
];

/** All jobs of a batch, read when they are needed. */
function* allItems(batches: Batches, id: string): Generator<BatchItem> {
  for (let offset = 0, page; (page = batches.items(id, offset, MAX_LISTED_ITEMS)).length > 0;) {
    yield* page;
    offset = page.at(-1)!.position + 1;
  }
}

/** The routes of batches. */
export const batchRoutes = (dependencies: BatchParts, guards: Guards) =>
  mount(batchOperations, { tag: "scoring", guards, dependencies, readBody });

/** @throws Problem with all errors by field, or naming lines of the table */
function readSubmittedBatch(body: Static<typeof BatchSubmission>, parts: BatchParts): NewBatch {
  const problems = new ProblemList();
  const { homologs, model, evidence, expressions, classes } = readCommon(body, parts, problems);
  if ((body.proteins === undefined) === (body.table === undefined))
    problems.add(["proteins"], "give exactly one of proteins and table.");
  const hasMotifs = expressions.length + classes.length > 0;
  const areWrong = problems.count("patterns") + problems.count("motifClasses") > 0;
  if (body.proteins && !hasMotifs && !areWrong)
    problems.add(["patterns"], "give a pattern or a motif class.");
  if (body.proteins && body.skipInvalid) problems.add(["skipInvalid"], "the parameter is for tables only.");
  problems.throwIfAny();
  if (body.table !== undefined) {
    const patterns = hasMotifs ? [...expressions, ...classes] : undefined;
    const table = readBatch(body.table, parts.corpus(), parts, {
      patterns,
      skipInvalid: body.skipInvalid ?? false,
    });
    return { model, homologs, ...evidence, ...makeItems(table) };
  }
  const groups = makeGroups(expressions, classes);
  const items = body.proteins!.flatMap((protein, i): NewItem[] => {
    const { name, sequence, failure } = readProtein(protein, parts);
    const item = {
      name: protein.identifier ?? (name || (protein.accession ?? `sequence ${i + 1}`)),
      line: protein.line ?? null,
      query: failure === null ? sequence : null,
      failure,
    };
    return groups.map((_, patterns) => ({ ...item, patterns }));
  });
  return { model, homologs, ...evidence, groups, items, warnings: [] };
}

/** Patterns and classes, divided by what one job takes. */
function makeGroups(
  patterns: readonly PatternRequest[],
  classes: readonly PatternRequest[] = [],
): PatternRequest[][] {
  const groups: PatternRequest[][] = [];
  for (let at = 0; at < Math.max(patterns.length, classes.length); at += MAX_PER_JOB)
    groups.push([...patterns.slice(at, at + MAX_PER_JOB), ...classes.slice(at, at + MAX_PER_JOB)]);
  return groups;
}

/** The jobs of a table. Queries with the same patterns share a group. */
function makeItems({
  questions,
  skipped,
  ambiguous,
}: BatchTable): Pick<NewBatch, "groups" | "items" | "warnings"> {
  const groups: PatternRequest[][] = [];
  const numbers = new Map<string, number>();
  const numberGroup = (group: PatternRequest[]): number => {
    const key = JSON.stringify(group);
    if (!numbers.has(key)) numbers.set(key, groups.push(group) - 1);
    return numbers.get(key)!;
  };
  const items = questions.flatMap(({ name, sequence, patterns }) =>
    makeGroups(patterns).map((group) => ({
      name,
      line: null,
      query: sequence,
      patterns: numberGroup(group),
      failure: null,
    })),
  );
  return { groups, items, warnings: [...ambiguous, ...skipped] };
}

function showBatch(
  parts: BatchParts,
  batch: Batch,
  { keys, isAdministrator }: Owner,
  base: string,
): BatchObject {
  const { id, subject, state, created, ended, message, owner, request, counts } = batch;
  const self = `${base}/api/scoring/batches/${id}`;
  return {
    id,
    title: subject,
    state,
    created: timestamp(created),
    ended: timestampOrNull(ended),
    message,
    fraction: (counts.finished + counts.failed) / counts.total,
    jobs: counts,
    scoringModel: request.model,
    groups: request.groups.map((group) => group.map(({ expression, name }) => ({ expression, name }))),
    provenance: batchSource(parts, batch),
    warnings: request.warnings,
    mayChange: isAdministrator || keys.includes(owner),
    links: { self, items: `${self}/items`, events: `${base}/api/tasks/${id}/events` },
  };
}
