import { type AnyElysia, Elysia } from "elysia";
import { type Answers, openAnswers } from "./respond.ts";
import { openHistoryAnswers } from "./respond-with-history.ts";
import { Attachments } from "../records/attachments.ts";
import type { Actor } from "../model/access.ts";
import {
  bodySchema,
  LOOKUP_NOTE,
  listParameters,
  listSchema,
  recordSchema,
  valueSchema,
} from "../model/schema.ts";
import { isGuarded } from "../model/resource.ts";
import { withForms } from "./form-request.ts";
import { ROOT } from "./response.ts";
import { DECLARED, PEOPLE, RESOURCES, type RoutedResource } from "../resources/index.ts";
import type { SubResource } from "../resources/sub-resource.ts";
import { addAttachments } from "./route-attachments.ts";
import { addSubResources } from "./route-sub-resources.ts";
import { addImport } from "./route-import.ts";
import { addImports } from "./route-imports.ts";
import { type Imports, openImports } from "../imports/imports.ts";
import { content, type Detail, detail, refusalsOf } from "./route-description.ts";
import { addLabels } from "./route-labels.ts";
import { addPeople } from "./route-people.ts";
import { addSignIn } from "./route-session.ts";
import { addRelations } from "./route-relations.ts";
import { addScan } from "./route-scan.ts";
import { addStocktakes } from "./route-stocktakes.ts";
import { addSharing } from "./route-sharing.ts";
import { addHistory } from "./route-history.ts";
import { openStore } from "../records/store.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { DRY_RUN, MATCH, NONE_MATCH, ONCE, PATCH, PREVIEW } from "./write-parameters.ts";
import type { Clock } from "../../platform/clock.ts";
import { DIRECT, type PublicUrlOptions } from "../../platform/origin.ts";
import type { Database } from "../../platform/sqlite.ts";

export interface InventoryOptions {
  database: Database;
  clock: Clock;
  /** Who asks. @throws Problem unauthenticated */
  authenticate: (request: Request) => Actor;
  /** Whether callers without credentials may read public records. */
  anonymousRead: boolean;
  /** How clients reach the server; by default as their requests say. */
  reach?: PublicUrlOptions;
  /** Bytes that a body may have. */
  maxMessageBytes?: number;
  /** Files that are imported; whoever opened them closes them. */
  imports?: Imports;
  /** By default those of the program. */
  subResources?: readonly SubResource[];
  /** Without them there is no token-auth/, and accounts and groups have no addresses. */
  accounts?: Accounts;
}

const MAX_MESSAGE_BYTES = 10_000_000;

/**
 * The REST interface below /api/v2/: two addresses (with and without a slash at the end) for each collection and each
 * record of every declared resource. Handlers throw Problems, which the composing application turns into answers.
 */
export function inventoryRoutes(options: InventoryOptions): AnyElysia {
  const maxMessageBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  const store = openStore(options.database, options.clock, options.subResources);
  const answers = withForms(
    openAnswers({
      store,
      authenticate: options.authenticate,
      reach: options.reach ?? DIRECT,
      anonymousRead: options.anonymousRead,
      maxMessageBytes,
    }),
    maxMessageBytes,
  );
  const imports = options.imports ?? openImports(options.database, options.clock);
  const app = new Elysia({ name: "inventory" });
  addRoot(app, answers);
  addLookups(app, answers);
  for (const resource of RESOURCES) addResource(app, answers, resource);
  for (const resource of RESOURCES) addImport(app, answers, store, imports, resource, maxMessageBytes);
  addImports(app, answers, imports);
  const guarded = RESOURCES.filter(isGuarded);
  const history = openHistoryAnswers(answers, store, maxMessageBytes);
  addAttachments(app, {
    answers,
    store,
    attachments: new Attachments(store.statements, guarded),
    history,
    maxMessageBytes,
  });
  for (const resource of guarded)
    addSubResources(app, { answers, store, history, maxMessageBytes }, resource);
  addHistory(app, answers, store, history);
  addSharing(app, { answers, store, history, maxMessageBytes });
  addRelations(app, answers, store);
  addLabels(app, answers, store);
  addScan(app, answers, store);
  addStocktakes(app, answers, store, maxMessageBytes);
  if (options.accounts) {
    const { accounts, clock } = options;
    const reach = options.reach ?? DIRECT;
    addSignIn(app, { answers, store, accounts, clock, maxMessageBytes, reach });
    addPeople(app, { answers, history, store, accounts, maxMessageBytes });
  }
  return app as unknown as AnyElysia;
}

/** Parts of the path; null where one cannot be decoded, such as `%`. */
type Params = Record<string, string | null>;

/** Members of the answer of the resolver. */
const RESOLVED = ["id", "name", "model_type", "model_name", "app_name"];

const HIDDEN = { parse: "none", detail: { hide: true } } as const;

function addRoot(app: Elysia, answers: Answers): void {
  const root = ({ request }: { request: Request }) =>
    answers.root(request, [...RESOURCES, ...Object.values(PEOPLE)]);
  const shown = detail({
    summary: "Addresses of all lists",
    responses: {
      200: {
        description: "Segment and address of every list.",
        content: content({ type: "object", additionalProperties: { type: "string" } }),
      },
      ...refusals(401),
    },
  });
  app.get(ROOT, root, { detail: shown });
  for (const path of [ROOT, ROOT.slice(0, -1)]) app.all(path, root, HIDDEN);
  const version = ({ request }: { request: Request }) => answers.version(request);
  app.get(`${ROOT}version/`, version, {
    detail: detail({
      summary: "Version of the interface",
      responses: {
        200: {
          description: "Its version.",
          content: content({
            type: "object",
            required: ["version"],
            properties: { version: { type: "string" } },
          }),
        },
        ...refusals(401),
      },
    }),
  });
  for (const path of [`${ROOT}version/`, `${ROOT}version`]) app.all(path, version, HIDDEN);
}

/** What clients of LabID look up by address alone: what an id is. */
function addLookups(app: Elysia, answers: Answers): void {
  const resolve = ({ request, params }: { request: Request; params: Params }) =>
    answers.resolve(request, RESOURCES, params.id ?? "");
  const find = ({ request }: { request: Request }) => answers.resolve(request, RESOURCES);
  const responses = {
    200: {
      description: "id, name, model_type, model_name and app_name; all null where nothing is found.",
      content: content({
        type: "object",
        required: RESOLVED,
        properties: Object.fromEntries(RESOLVED.map((name) => [name, { type: "string", nullable: true }])),
      }),
    },
    ...refusals(401),
  };
  app.get(`${ROOT}resolver/`, find, {
    detail: detail({
      summary: "What a name or an id is",
      parameters: [
        {
          name: "query",
          in: "query",
          required: false,
          description: "An id, or the whole name of a record: the first list that has it.",
          schema: { type: "string" },
        },
      ],
      responses,
    }),
  });
  app.get(`${ROOT}resolver/:id/`, resolve, { detail: detail({ summary: "What an id is", responses }) });
  for (const end of ["", "/"]) {
    app.all(`${ROOT}resolver${end}`, find, HIDDEN);
    app.all(`${ROOT}resolver/:id${end}`, resolve, HIDDEN);
  }
}

function addResource(app: Elysia, answers: Answers, resource: RoutedResource): void {
  const docs = describe(resource);
  const collection = ({ request }: { request: Request }) => answers.collection(request, resource);
  const item = ({ request, params }: { request: Request; params: Params }) =>
    answers.item(request, resource, params.id ?? "");
  const bulk = ({ request }: { request: Request }) => answers.bulkDelete(request, resource);

  const path = `${ROOT}${resource.segment}/`;
  app
    .get(path, collection, { detail: docs.list })
    .post(path, collection, { parse: "none", detail: docs.create })
    .put(path, collection, { parse: "none", detail: docs.updateSeveral })
    .patch(path, collection, { parse: "none", detail: docs.updateSeveral })
    .get(`${path}:id/`, item, { detail: docs.read })
    .put(`${path}:id/`, item, { parse: "none", detail: docs.replace })
    .patch(`${path}:id/`, item, { parse: "none", detail: docs.change })
    .delete(`${path}:id/`, item, { parse: "none", detail: docs.remove })
    .delete(`${path}bulk_delete/`, bulk, { parse: "none", detail: docs.removeSeveral });

  for (const segment of [resource.segment, ...(resource.aliases ?? [])]) {
    const bare = `${ROOT}${segment}`;
    for (const end of ["", "/"]) {
      app.all(`${bare}${end}`, collection, HIDDEN);
      app.all(`${bare}/:id${end}`, item, HIDDEN);
      // The specification adds "/bulk_delete/" to the address of the list, which may end in a slash already.
      app.all(`${bare}/bulk_delete${end}`, bulk, HIDDEN);
      app.all(`${bare}//bulk_delete${end}`, bulk, HIDDEN);
    }
  }
}

const MEANINGS: Record<number, string> = {
  400: "A value or a parameter breaks a rule; the field is named.",
  403: "The caller may view this record, but not do that with it.",
  404: "No such record, or none that the caller may view; or no such page or format.",
  406: "The answer cannot be given as asked for.",
  409: "Other records refer to it, a test of a JSON Patch does not hold, or it would come out otherwise than confirmed.",
  412: "The record is not in the version that If-Match names.",
  415: "The body is no JSON.",
  422: "The Idempotency-Key was used with another request.",
};
const refusals = refusalsOf(MEANINGS);

/** What the OpenAPI document says of a resource's operations. */
function describe(
  resource: RoutedResource,
): Record<
  "list" | "create" | "updateSeveral" | "read" | "replace" | "change" | "remove" | "removeSeveral",
  Detail
> {
  const { segment, name } = resource;
  const record = recordSchema(DECLARED, resource);
  const security = [{ token: [] }];
  const parameters = listParameters(DECLARED, resource);
  const looks = parameters.filter((parameter) =>
    ["format", "response_format", "fields"].includes(parameter.name),
  );
  const one = (description: string) => ({ 200: { description, content: content(record) } });
  const sends = (schema: object, description: string) => ({
    required: true,
    description,
    content: content(schema),
  });
  const whole = bodySchema(DECLARED, resource, false);
  const part = bodySchema(DECLARED, resource, true);
  const several = {
    type: "array",
    items: {
      allOf: [
        {
          type: "object",
          required: ["id"],
          properties: { id: valueSchema(DECLARED, "id", resource.fields.id) },
        },
        part,
      ],
    },
  };
  const id = {
    name: "id",
    in: "path",
    required: true,
    description: `Identifier of the ${name}.`,
    schema: { type: "string" },
  };
  const deleted = parameters.filter((parameter) =>
    ["deleted", "strict", "explain", "as_of"].includes(parameter.name),
  );
  return {
    list: detail({
      summary: `List ${segment}`,
      description: `${resource.summary} ${LOOKUP_NOTE}`,
      parameters,
      responses: {
        200: { description: "One page.", content: content(listSchema(DECLARED, resource)) },
        ...refusals(400, 401, 404, 406),
      },
    }),
    create: detail({
      summary: `Add to ${segment}`,
      description:
        "A list of objects makes several records, all or none, and answers with a list; where some are wrong, with a list of what is wrong with each.",
      security,
      parameters: [...looks, ...DRY_RUN, ...ONCE],
      requestBody: sends(whole, 'The record; it may be wrapped as {"results": …}.'),
      responses: {
        201: { description: "The record as stored.", content: content(record) },
        200: { description: "Of a dry run: what would change.", content: content(PREVIEW) },
        ...refusals(400, 401, 409, 415, 422),
      },
    }),
    updateSeveral: detail({
      summary: `Change several of ${segment}`,
      description:
        "All or none. PUT wants the required fields of every record, PATCH only what changes. Also taken: a JSON Patch " +
        'whose paths are `/<id>/<field>`, `{"ids": […], "patch": […]}` with paths `/<field>`, and `{"items": [ids], <field>: <value>}`; ' +
        'or, for all that the filters in the address or in `{"filters": {…}}` find, the fields to change or a `patch`.',
      security,
      parameters: [...looks, ...DRY_RUN],
      requestBody: sends(several, "Objects with `id` and the fields to change."),
      responses: {
        200: { description: "The records as stored.", content: content({ type: "array", items: record }) },
        ...refusals(400, 401, 403, 404, 409, 415),
      },
    }),
    read: detail({
      summary: `One of ${segment}`,
      parameters: [id, ...looks, ...deleted, ...NONE_MATCH],
      responses: { ...one("The record."), ...refusals(401, 404, 406) },
    }),
    replace: detail({
      summary: `Replace one of ${segment}`,
      description: "The required fields must be there; others that are not there stay as they are.",
      security,
      parameters: [id, ...looks, ...DRY_RUN, ...MATCH],
      requestBody: sends(whole, "The record."),
      responses: { ...one("The record as stored."), ...refusals(400, 401, 403, 404, 409, 412, 415) },
    }),
    change: detail({
      summary: `Change one of ${segment}`,
      security,
      parameters: [id, ...looks, ...DRY_RUN, ...MATCH],
      requestBody: {
        ...sends(part, "The fields to change, or a JSON Patch whose paths begin with a field."),
        content: {
          ...content(part),
          "application/json-patch+json": { schema: PATCH as Record<string, unknown> },
        },
      },
      responses: { ...one("The record as stored."), ...refusals(400, 401, 403, 404, 409, 412, 415) },
    }),
    remove: detail({
      summary: `Delete one of ${segment}`,
      description: "It stays in the database; lists with `deleted=true` show it.",
      security,
      parameters: [id, ...DRY_RUN, ...MATCH],
      responses: {
        204: { description: "Done." },
        200: { description: "Of a dry run: what would change.", content: content(PREVIEW) },
        ...refusals(401, 403, 404, 409, 412),
      },
    }),
    removeSeveral: detail({
      summary: `Delete several of ${segment}`,
      description: "All or none, by ids or by the filters of the list.",
      security,
      parameters: [
        {
          name: "id",
          in: "query",
          required: false,
          description: "Identifiers, repeated or separated by commas.",
          schema: { type: "array", items: { type: "string" } },
        },
        ...DRY_RUN,
      ],
      responses: {
        200: {
          description: "How many, and which.",
          content: content({
            type: "object",
            required: ["deleted", "ids"],
            properties: { deleted: { type: "integer" }, ids: { type: "array", items: { type: "string" } } },
          }),
        },
        ...refusals(400, 401, 403, 404, 409),
      },
    }),
  };
}
