import type { Elysia } from "elysia";
import type { Answers } from "./respond.ts";
import type { HistoryAnswers, Subject } from "./respond-with-history.ts";
import { content, detail, inPath, inQuery, refusalsOf } from "./route-description.ts";
import { and } from "../model/condition.ts";
import { recordSchema } from "../model/schema.ts";
import { ROOT } from "./response.ts";
import { DECLARED, PEOPLE, RESOURCES, type RoutedResource } from "../resources/index.ts";
import type { Store } from "../records/store.ts";
import { DRY_RUN, ONCE } from "./write-parameters.ts";
import { Problem } from "../../problem.ts";

type Params = Record<string, string | null>;
type Context = { request: Request; params: Params };

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

const text = { type: "string" };
const count = { type: "integer" };
const maybe = (schema: object) => ({ ...schema, nullable: true });

const MEANINGS: Record<number, string> = {
  400: "A value breaks a rule; it is named.",
  403: "The caller may view this, but not do that with it.",
  404: "No such record or batch, or none that the caller may view.",
  409: "Others refer to it, or later changes would be lost; `rows` says which.",
};
const refusals = refusalsOf(MEANINGS);

const object = (properties: Record<string, object>, description: string) => ({
  type: "object",
  required: Object.keys(properties),
  properties,
  description,
});

const WHO = {
  at: { type: "string", format: "date-time" },
  user: text,
  token: maybe(object({ name: text, prefix: text }, "The token that was used; null for anybody else's.")),
};
const VALUES = maybe({ type: "object", additionalProperties: true });
const CHANGE = object(
  {
    cursor: text,
    resource: text,
    id: { oneOf: [text, count] },
    of: {
      ...maybe(object({ resource: text, id: { oneOf: [text, count], nullable: true } }, "")),
      description: "The record that it belongs to; null where it is a record itself.",
    },
    op: { type: "string", enum: ["create", "update", "delete", "restore"] },
    version: count,
    ...WHO,
    batch: text,
    before: { ...VALUES, description: "Values that changed, before; null for a new record." },
    after: { ...VALUES, description: "The same after; all values of a new record." },
  },
  "One write of one record.",
);
const BATCH = {
  id: text,
  kind: text,
  ...WHO,
  changes: {
    type: "object",
    additionalProperties: count,
    description: "Changes by list, of records that the caller may view.",
  },
  undoes: maybe(text),
  undone_by: maybe(text),
};
const envelope = (items: object, before: Record<string, object> = {}) =>
  object(
    {
      ...before,
      previous: maybe(text),
      next: maybe(text),
      current: count,
      total: count,
      total_pages: count,
      results: { type: "array", items },
    },
    "One page.",
  );
const ok = (schema: object, description: string) => ({ 200: { description, content: content(schema) } });

const PAGING = [
  inQuery("page", "Page number from 1."),
  inQuery("page_size", "How many on a page; max gives all."),
];
const security = [{ token: [] }];

/** What was done to records: histories, batches, the feed of changes, and the ways back. */
export function addHistory(app: Elysia, answers: Answers, store: Store, history: HistoryAnswers): void {
  for (const resource of RESOURCES)
    addHistoryOf(app, history, {
      paths: [resource.segment, ...(resource.aliases ?? [])].map((segment) => `${segment}/:id/`),
      parameters: [inPath("id", `Identifier of the ${resource.name}.`)],
      what: `one of ${resource.segment}`,
      restored: recordSchema(DECLARED, resource),
      subject: ({ id }) => recordSubject(answers, store, resource, id ?? ""),
    });

  const batches = ({ request }: { request: Request }) => history.batches(request);
  const batch = ({ request, params }: Context) => history.batch(request, params.id ?? "");
  const undo = ({ request, params }: Context) => history.undo(request, params.id ?? "");
  const changes = ({ request }: { request: Request }) => history.changes(request, RESOURCES);
  app
    .get(`${ROOT}batches/`, batches, {
      detail: detail({
        summary: "What was done, batch by batch",
        description: "Every request that wrote is one batch. Those with a change that the caller may view.",
        security,
        parameters: [
          inQuery("user", "Username of who wrote."),
          inQuery("kind", "As in the answer."),
          ...PAGING,
        ],
        responses: { ...ok(envelope(object(BATCH, "One batch.")), "The last first."), ...refusals(400, 401) },
      }),
    })
    .get(`${ROOT}batches/:id/`, batch, {
      detail: detail({
        summary: "One batch and its changes",
        security,
        parameters: [inPath("id", "Identifier of the batch: the header Batch-Id of the answer."), ...PAGING],
        responses: {
          ...ok(envelope(CHANGE, BATCH), "Changes in the order of writing."),
          ...refusals(401, 404),
        },
      }),
    })
    .post(`${ROOT}batches/:id/undo/`, undo, {
      parse: "none",
      detail: detail({
        summary: "Take a batch back",
        description:
          "All or nothing: what it made is deleted, what it deleted lives again, what it changed is as before. Refused, record by record, where later changes would be lost, unless `force`. Undoing is a batch itself.",
        security,
        parameters: [inPath("id", "Identifier of the batch."), ...DRY_RUN, ...ONCE],
        requestBody: {
          required: false,
          content: content({ type: "object", properties: { force: { type: "boolean" } } }),
        },
        responses: {
          200: { description: "The new batch, or what would change.", content: content({ type: "object" }) },
          ...refusals(400, 401, 403, 404, 409),
        },
      }),
    })
    .get(`${ROOT}changes/`, changes, {
      detail: detail({
        summary: "Changes since a cursor",
        description:
          "For synchronisation, in the order of commits, of records that the caller may view today. Follow `next` for ever; where `more` is false, wait a while before.",
        parameters: [
          inQuery("since", "`cursor` of the answer before; 0, the default, is the beginning."),
          inQuery("resource", "Segment of one list; annotations, notes, attachments, permissions, members."),
          inQuery("page_size", "How many at most; 1000 by default, up to 10000."),
        ],
        responses: {
          ...ok(
            object(
              {
                cursor: text,
                more: { type: "boolean" },
                next: text,
                results: { type: "array", items: CHANGE },
              },
              "Some changes.",
            ),
            "Some changes.",
          ),
          ...refusals(400, 401),
        },
      }),
    });
  for (const end of ["", "/"]) {
    app.all(`${ROOT}batches${end}`, batches, HIDDEN);
    app.all(`${ROOT}batches/:id${end}`, batch, HIDDEN);
    app.all(`${ROOT}batches/:id/undo${end}`, undo, HIDDEN);
    app.all(`${ROOT}changes${end}`, changes, HIDDEN);
  }
}

/** A record that the caller may view, deleted or not. */
function recordSubject(answers: Answers, store: Store, resource: RoutedResource, id: string): Subject {
  return {
    resource,
    find: (call) => {
      const rid = store.reader.find(resource, id, and(), call.actor);
      if (rid === undefined) throw new Problem("not_found", "Not found.");
      return rid;
    },
    show: (call, rid) => answers.showRecord(call, resource, rid, 200),
  };
}

/** Where the history of something lies, and what the document says of it. */
export interface HistoryRoute {
  /** Addresses below the interface with a slash at their ends, parameters in them; the first one is documented. */
  paths: readonly string[];
  /** Parameters of the address, for the document. */
  parameters: readonly object[];
  /** What it is, in words that follow "of". */
  what: string;
  /** The answer to a restoring. */
  restored: object;
  subject(params: Params): Subject;
}

/** `history/`, `restore/` and `purge/` below an address. */
export function addHistoryOf(
  app: Elysia,
  history: HistoryAnswers,
  { paths, parameters, what, restored, subject }: HistoryRoute,
): void {
  const read = ({ request, params }: Context) => history.history(request, subject(params));
  const restore = ({ request, params }: Context) => history.restore(request, subject(params));
  const purge = ({ request, params }: Context) => history.purge(request, subject(params));
  const path = `${ROOT}${paths[0]}`;
  app
    .get(`${path}history/`, read, {
      detail: detail({
        summary: `What was done to ${what}`,
        parameters: [...parameters, ...PAGING],
        responses: { ...ok(envelope(CHANGE), "The last change first."), ...refusals(401, 403, 404) },
      }),
    })
    .post(`${path}restore/`, restore, {
      parse: "none",
      detail: detail({
        summary: `Bring back a version of ${what}`,
        description: "Without a version, what is deleted lives again as it was.",
        security,
        parameters: [...parameters, ...DRY_RUN, ...ONCE],
        requestBody: {
          required: false,
          content: content({ type: "object", properties: { version: { type: "integer" } } }),
        },
        responses: { ...ok(restored, "As stored."), ...refusals(400, 401, 403, 404, 409) },
      }),
    })
    .post(`${path}purge/`, purge, {
      parse: "none",
      detail: detail({
        summary: `Remove ${what} and its history for good`,
        description: "For administrators, and only what is deleted. Refused while any record refers to it.",
        security,
        parameters: [...parameters, ...DRY_RUN],
        responses: { 204: { description: "It is gone." }, ...refusals(401, 403, 404, 409) },
      }),
    });
  for (const prefix of paths)
    for (const end of ["", "/"]) {
      app.all(`${ROOT}${prefix}history${end}`, read, HIDDEN);
      app.all(`${ROOT}${prefix}restore${end}`, restore, HIDDEN);
      app.all(`${ROOT}${prefix}purge${end}`, purge, HIDDEN);
    }
}

/** `groups/<name>/history/` and `users/<name>/history/`: memberships, for accounts and groups have no other history. */
export function addMemberships(
  app: Elysia,
  history: HistoryAnswers,
  kind: "user" | "group",
  find: (name: string) => number,
): void {
  const path = `${ROOT}${PEOPLE[kind].segment}/:name/history`;
  const read = ({ request, params }: Context) =>
    history.memberships(request, kind, () => find(params.name ?? ""));
  app.get(`${path}/`, read, {
    detail: detail({
      summary: kind === "user" ? "When an account joined and left groups" : "Who joined and left a group",
      security,
      parameters: [{ ...inPath("id", "Name or id."), name: "name" }, ...PAGING],
      responses: { ...ok(envelope(CHANGE), "The last change first."), ...refusals(401, 404) },
    }),
  });
  for (const end of ["", "/"]) app.all(`${path}${end}`, read, HIDDEN);
}
