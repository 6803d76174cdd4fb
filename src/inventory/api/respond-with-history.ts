import { type Json, KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { DEFAULT_PAGE_SIZE, invalidPage } from "../model/listing.ts";
import { pageCount, pageInfo } from "../model/page.ts";
import { type Answers } from "./respond.ts";
import { runBatch, runInTurn, unwrap } from "./respond-to-write.ts";
import { listTag } from "./entity-tag.ts";
import { withIdempotencyKey } from "./idempotency.ts";
import type { HistoryPage } from "../records/history.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { showOther } from "./alternative-formats.ts";
import { readJson } from "./request-body.ts";
import { type Call, here, respond, ROOT } from "./response.ts";
import type { Resource } from "../model/resource.ts";
import { SUB_RESOURCES, PEOPLE, type RoutedResource } from "../resources/index.ts";
import type { Store } from "../records/store.ts";
import { Problem } from "../../problem.ts";

const READ = "GET, HEAD, OPTIONS";
const ACT = "POST, OPTIONS";
/** Changes in one answer of the feed. */
const FEED_SIZE = 1000;
const FEED_LIMIT = 10_000;

type Answer = Response | Promise<Response>;

/** What a history is of: a record, or a part of one, deleted or not. */
export interface Subject {
  resource: Resource;
  /** Its row. @throws Problem not_found where the caller may not view it */
  find(call: Call): number;
  /** The answer that shows it. */
  show(call: Call, rid: number): Response;
}

/** Requests about what was done to records. All throw a Problem. */
export interface HistoryAnswers {
  history(request: Request, subject: Subject): Answer;
  restore(request: Request, subject: Subject): Answer;
  purge(request: Request, subject: Subject): Answer;
  /** When an account joined and left groups, and who joined and left a group. */
  memberships(request: Request, kind: "user" | "group", find: () => number): Answer;
  batches(request: Request): Answer;
  batch(request: Request, id: string): Answer;
  undo(request: Request, id: string): Answer;
  changes(request: Request, resources: readonly RoutedResource[]): Answer;
}

export function openHistoryAnswers(answers: Answers, store: Store, maxMessageBytes: number): HistoryAnswers {
  const { history } = store;

  const show = (call: Call, value: Json, allow: string): Response => {
    const json = JSON.stringify(value);
    return showOther(call, json, { headers: { Allow: allow, ETag: listTag(json) } });
  };

  const options = (allow: string): Response => respond(null, 204, "", { Allow: allow });

  /** One page of something, in the envelope of a list. */
  const paged = (
    call: Call,
    part: (limit: number, offset: number) => HistoryPage,
    before: object = {},
  ): Response => {
    const { searchParams } = call.url;
    const size = sizeOf(searchParams, "page_size", DEFAULT_PAGE_SIZE);
    const typed = searchParams.get("page") ?? "1";
    if (!/^[1-9]\d{0,9}$/.test(typed)) throw invalidPage();
    const current = Number(typed);
    const { total, results } = store.statements.reading(() =>
      size === "max" ? part(-1, 0) : part(size, (current - 1) * size),
    );
    if (current > pageCount(total, size)) throw invalidPage();
    const where = pageInfo(here(call), searchParams, current, total, size);
    return show(call, { ...before, ...where, results } as unknown as Json, READ);
  };

  const flagOf = (body: Json, name: string): boolean => {
    const value = body !== null && typeof body === "object" && !Array.isArray(body) ? body[name] : undefined;
    if (value === undefined) return false;
    const parsed = KINDS.flag.parse(String(value));
    if (parsed === undefined) throw parameterProblem(name, "Must be a valid boolean.");
    return parsed === 1;
  };

  const body = async (call: Call): Promise<Json> => unwrap(await readJson(call.request, maxMessageBytes));

  return {
    history(request, { resource, find }) {
      const call = answers.begin(request, READ);
      const rid = find(call);
      if (call.method === "OPTIONS") return options(READ);
      return paged(call, (limit, offset) => history.ofRecord(resource, rid, call.actor, limit, offset));
    },
    memberships(request, kind, find) {
      const call = answers.beginKnown(request, READ);
      const rid = find();
      if (call.method === "OPTIONS") return options(READ);
      return paged(call, (limit, offset) =>
        kind === "user"
          ? history.ofMember(rid, call.actor, limit, offset)
          : history.ofRecord(PEOPLE.group, rid, call.actor, limit, offset),
      );
    },
    async restore(request, { resource, find, show }) {
      const call = answers.begin(request, ACT);
      if (call.method === "OPTIONS") return options(ACT);
      const value = await body(call);
      const version = versionOf(value);
      return store.enqueue(() =>
        withIdempotencyKey(store, call, value, () =>
          runBatch(
            store,
            call,
            { kind: "restore" },
            () => {
              const rid = find(call);
              store.undo.restore(resource, rid, version, call.actor);
              return rid;
            },
            (rid) => show(call, rid),
          ),
        ),
      );
    },
    purge(request, { resource, find }) {
      const call = answers.begin(request, ACT);
      if (call.method === "OPTIONS") return options(ACT);
      return runInTurn(
        store,
        call,
        "purge",
        (writing) => writing.purge(resource, find(call), call.actor),
        () => respond(null, 204, "", { Allow: ACT }),
      );
    },
    batches(request) {
      const call = answers.beginKnown(request, READ);
      if (call.method === "OPTIONS") return options(READ);
      const filter: { user?: string; kind?: string } = {};
      for (const [name, value] of call.url.searchParams) {
        if (name === "user" || name === "kind") filter[name] = value;
        else if (!["page", "page_size", "format"].includes(name))
          throw parameterProblem(name, "Choices: user, kind, page, page_size.");
      }
      return paged(call, (limit, offset) => history.batches(call.actor, filter, limit, offset));
    },
    batch(request, id) {
      const call = answers.beginKnown(request, READ);
      const batch = history.batch(id.toLowerCase(), call.actor);
      if (!batch) throw new Problem("not_found", "Not found.");
      if (call.method === "OPTIONS") return options(READ);
      return paged(
        call,
        (limit, offset) => history.ofBatch(batch.row, call.actor, limit, offset),
        batch.shown,
      );
    },
    async undo(request, id) {
      const call = answers.begin(request, ACT);
      if (call.method === "OPTIONS") return options(ACT);
      const value = await body(call);
      const forced = KINDS.flag.parse(call.url.searchParams.get("force") ?? "") === 1;
      const force = forced || flagOf(value, "force");
      return store.enqueue(() =>
        withIdempotencyKey(store, call, value, () => {
          const batch = history.batch(id.toLowerCase(), call.actor);
          if (!batch) throw new Problem("not_found", "Not found.");
          // Whether there is more than the caller may view is not told.
          if (batch.partly)
            throw new Problem("forbidden", "You do not have permission to perform this action.");
          let undone: string | null = null;
          const response = runBatch(
            store,
            call,
            { kind: "undo", undoes: batch.row },
            () => store.undo.undo(batch.row, force, call.actor),
            () => respond("{}", 200, MEDIA_TYPES.json, { Allow: ACT }),
          );
          undone = response.headers.get("batch-id");
          if (response.status !== 200 || undone === null) return response;
          const shown = history.batch(undone, call.actor)?.shown ?? {};
          return respond(JSON.stringify(shown), 200, MEDIA_TYPES.json, { Allow: ACT, "Batch-Id": undone });
        }),
      );
    },
    changes(request, resources) {
      const call = answers.begin(request, READ);
      if (call.method === "OPTIONS") return options(READ);
      const { searchParams } = call.url;
      const typed = searchParams.get("since") ?? "0";
      if (!/^\d{1,15}$/.test(typed))
        throw parameterProblem("since", "Expected the cursor of an earlier answer, or 0.");
      const segment = searchParams.get("resource");
      const choices: readonly Resource[] = [...resources, ...Object.values(SUB_RESOURCES)];
      const resource =
        segment === null ? undefined : choices.find((candidate) => candidate.segment === segment);
      if (segment !== null && !resource)
        throw parameterProblem("resource", `Choices: ${choices.map((one) => one.segment).join(", ")}.`);
      const size = sizeOf(searchParams, "page_size", FEED_SIZE);
      const limit = size === "max" ? FEED_LIMIT : Math.min(size, FEED_LIMIT);
      const feed = store.statements.reading(() =>
        history.since(Number(typed), call.actor, resource?.name, limit),
      );
      const next = new URLSearchParams(searchParams);
      next.set("since", String(feed.cursor));
      const value = {
        cursor: String(feed.cursor),
        more: feed.more,
        next: `${call.base}${call.url.pathname.slice(ROOT.length)}?${next.toString()}`,
        results: feed.results,
      };
      return show(call, value, READ);
    },
  };
}

/** `version` of a body; undefined where it has none. */
function versionOf(body: Json): number | undefined {
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw parameterProblem("non_field_errors", "Invalid data. Expected a dictionary.");
  const given = body;
  for (const name of Object.keys(given))
    if (name !== "version") throw parameterProblem(name, "Choices: version.");
  const version = given.version ?? undefined;
  if (version === undefined) return undefined;
  const parsed = typeof version === "boolean" ? undefined : KINDS.integer.parse(String(version));
  if (typeof parsed !== "number") throw parameterProblem("version", "A valid integer is required.");
  return parsed;
}

function sizeOf(parameters: URLSearchParams, name: string, usual: number): number | "max" {
  const typed = parameters.get(name);
  if (typed === "max" || typed === "all") return "max";
  return typed !== null && /^[1-9]\d{0,8}$/.test(typed) ? Number(typed) : usual;
}
